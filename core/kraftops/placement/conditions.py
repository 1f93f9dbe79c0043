"""Conditions of a cluster that can be waited for, as `broker=103:fenced`."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from kraftops.display.sizes import many
from kraftops.errors import UsageError
from kraftops.placement.placement import Placement, TopicPartition

_BROKERS = re.compile(r"brokers=([0-9]{1,10})(:unfenced)?")
_BROKER = re.compile(r"broker=([0-9]{1,10}):([a-z]+)")


class Condition(NamedTuple):
    """A condition; *check* returns why a placement does not meet it, or None."""

    text: str
    check: Callable[[Placement], str | None]


def parse_condition(text: str) -> Condition:
    """Parse a condition to wait for, of the cluster or of brokers (`broker=ID:STATE`).

    Raises:
        UsageError: there is none.
    """
    if text in _OF_CLUSTER:
        return Condition(text, _OF_CLUSTER[text])
    broker = _BROKER.fullmatch(text)
    if broker and broker[2] in _OF_BROKER:
        broker_id, check = int(broker[1]), _OF_BROKER[broker[2]]
        return Condition(text, lambda placement: check(placement, broker_id))
    if brokers := _BROKERS.fullmatch(text):
        least, only_unfenced = int(brokers[1]), brokers[2] is not None
        return Condition(
            text, lambda placement: _too_few(placement, least, only_unfenced=only_unfenced)
        )
    forms = [
        "brokers=N",
        "brokers=N:unfenced",
        *(f"broker=ID:{state}" for state in _OF_BROKER),
        *_OF_CLUSTER,
    ]
    raise UsageError(f"{text!r} is not a condition", hint=f"conditions are {', '.join(forms)}")


def _too_few(placement: Placement, least: int, *, only_unfenced: bool) -> str | None:
    count = sum(not (only_unfenced and place.is_fenced) for place in placement.brokers.values())
    return None if count >= least else f"{many(count, 'broker')} there, not {least}"


def _fenced(placement: Placement, broker: int, *, should_be: bool = True) -> str | None:
    place = placement.brokers.get(broker)
    if place is None:
        return f"broker {broker} is not registered"
    if place.is_fenced is should_be:
        return None
    return f"broker {broker} is {'' if place.is_fenced else 'not '}fenced"


def _gone(placement: Placement, broker: int) -> str | None:
    return f"broker {broker} is registered" if broker in placement.brokers else None


def _empty(placement: Placement, broker: int) -> str | None:
    count = sum(1 for _ in placement.on(frozenset({broker})))
    return f"broker {broker} has {many(count, 'replica')}" if count else None


def _no_under_replicated(placement: Placement) -> str | None:
    lagging = [
        partition
        for partition, replicas in placement.partitions.items()
        if len(replicas.isr) < len(replicas.target)
    ]
    return _there_are(lagging, "partition", "under-replicated")


def _no_reassignments(placement: Placement) -> str | None:
    return _there_are([*placement.moving], "reassignment", "in flight")


def _there_are(partitions: Sequence[TopicPartition], noun: str, state: str) -> str | None:
    if not partitions:
        return None
    verb = "is" if len(partitions) == 1 else "are"
    return f"{many(len(partitions), noun)} {verb} {state}, as {partitions[0]}"


_OF_BROKER: dict[str, Callable[[Placement, int], str | None]] = {
    "fenced": _fenced,
    "unfenced": partial(_fenced, should_be=False),
    "gone": _gone,
    "empty": _empty,
}
_OF_CLUSTER: dict[str, Callable[[Placement], str | None]] = {
    "no-under-replicated": _no_under_replicated,
    "no-reassignments": _no_reassignments,
}

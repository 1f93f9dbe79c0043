"""`kafka-cluster wait --for`: wait until conditions are true, all at one moment."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from kraftops.errors import KraftopsError, UsageError, WireError
from kraftops.placement.conditions import Condition, parse_condition
from kraftops.reassign.access import ClusterAccess, Endpoints
from kraftops.wire.config.settings import TIMEOUT
from kraftops.wire.rpc.error_codes import may_pass
from kraftops_cli.cluster.target import Target
from kraftops_cli.terminal.answer import print_answer
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.escaping import escaped

_PAUSE_SECONDS = 0.5


def wait_until(terminal: Terminal, form: str, texts: Sequence[str], target: Target) -> int:
    """Wait for conditions; return the exit code.

    Raises:
        UsageError: a text is not a condition, or cannot be answered by these servers.
        KraftopsError: the time is over, or the question is not permitted.
    """
    conditions = [parse_condition(text) for text in texts]
    # The time for all may be much more than that for one question, which is asked again.
    settings = replace(target.settings, timeout=min(target.settings.timeout, TIMEOUT))
    endpoints = Endpoints(target.bootstrap, settings, target.expected_id)
    is_log = target.is_of_controllers
    access = ClusterAccess(
        None if is_log else endpoints, endpoints if is_log else None, deadline=target.deadline
    )
    with access:
        _wait(access, conditions, target)
    print_answer(
        terminal,
        form,
        "wait",
        lambda: {"conditions": [*texts]},
        lambda: "".join(f"{escaped(text)}: true\n" for text in texts),
    )
    return 0


def _wait(access: ClusterAccess, conditions: Sequence[Condition], target: Target) -> None:
    reason = ""
    is_checked = False
    while True:
        try:
            found = access.placement()
            if not is_checked:
                _check_answers(access, conditions)
                is_checked = True
        except WireError as error:
            if not may_pass(error):
                raise
            # An earlier answer tells more than the missing time for another one.
            if not reason or not target.deadline.is_over:
                reason = error.message
        else:
            missing = [text for each in conditions if (text := each.check(found)) is not None]
            if not missing:
                return
            reason = "; ".join(missing)
        if target.deadline.is_over:
            raise KraftopsError(
                f"after {target.deadline.seconds:g} s: {reason}",
                hint="--timeout SECONDS waits longer",
                code="not-in-time",
            )
        time.sleep(max(0.0, min(_PAUSE_SECONDS, target.deadline.left)))


def _check_answers(access: ClusterAccess, conditions: Sequence[Condition]) -> None:
    """Refuse conditions that these servers cannot answer."""
    texts = [condition.text for condition in conditions]
    of_partitions = [text for text in texts if text.endswith(":empty") or text.startswith("no-")]
    if of_partitions:
        access.refuse_hidden_topics()
    of_brokers = {*texts}.difference(of_partitions)
    if not access.lists_fenced and any(text.startswith("broker=") for text in of_brokers):
        raise UsageError(
            "brokers before Kafka 4.0 do not list fenced brokers",
            hint="-C reads the metadata log, which has them",
        )

"""Outcomes of work on several things, one after another, each reported as it happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

from kraftops.errors import (
    AnswerError,
    KraftopsError,
    RefusedError,
    UnknownOutcomeError,
    WireError,
)

K = TypeVar("K")


class Outcome(StrEnum):
    """The outcome of work on one thing."""

    DONE = "done"
    ALREADY = "already"
    """Nothing was to be done."""
    REFUSED = "refused"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """It was sent, without an answer, and what was looked at afterwards does not show it."""
    UNTRIED = "untried"
    """Work ended before it."""


class RepairOutcome(StrEnum):
    """What became of a partition that had lost replicas."""

    PLANNED = "planned"
    REPAIRED = "repaired"
    ELECTED = "elected"
    LEADERLESS = "leaderless"
    NO_BROKER = "no-broker"
    NOT_MOVED = "not-moved"


class OutcomeMeaning(NamedTuple):
    """What an outcome means, and what to do; None where that is nothing."""

    title: str
    action: str | None = None


MEANINGS = {
    Outcome.DONE: OutcomeMeaning("It is done"),
    Outcome.ALREADY: OutcomeMeaning("It was done before"),
    Outcome.REFUSED: OutcomeMeaning(
        "It would lose data or availability", "Decide by the option that the hint names."
    ),
    Outcome.FAILED: OutcomeMeaning("It could not be done", "The error beside it says why."),
    Outcome.UNKNOWN: OutcomeMeaning(
        "It was sent, and whether it is done is unknown", "Look, then run the command again."
    ),
    Outcome.UNTRIED: OutcomeMeaning(
        "The command ended before it", "Mend what ended it, and run the command again."
    ),
    RepairOutcome.PLANNED: OutcomeMeaning("Another broker gets the replica"),
    RepairOutcome.REPAIRED: OutcomeMeaning("Another broker has the replica, in sync"),
    RepairOutcome.ELECTED: OutcomeMeaning("It is repaired after an unclean election"),
    RepairOutcome.LEADERLESS: OutcomeMeaning(
        "The partition has no leader to copy from",
        "Start a broker of LAST IN SYNC; without one, repair --from reads copies of disks, and"
        " --elect-unclean loses the records that the new leader lacks.",
    ),
    RepairOutcome.NO_BROKER: OutcomeMeaning(
        "No other broker may take the replica",
        "Add a broker, or uncordon one, and run repair again.",
    ),
    RepairOutcome.NOT_MOVED: OutcomeMeaning(
        "The replica was to be moved, and was not", "Run repair again."
    ),
}
"""By outcome."""


@dataclass(frozen=True, slots=True)
class Result(Generic[K]):
    """The outcome of one thing: *key* names it, *error* is the reason where there is one.

    *known* are further JSON fields.
    """

    key: K
    outcome: Outcome
    error: KraftopsError | None = None
    known: Mapping[str, object] = field(default_factory=dict)


def work_through(
    keys: Sequence[K], act: Callable[[K], bool], look: Callable[[K], bool | None]
) -> Iterator[Result[K]]:
    """Do the work on each key; yield each result as it happens.

    Work ends after an unknown outcome, without an answer, and without permission: then the other
    keys are untried. Another error ends the work on its key only.

    Args:
        keys: They are worked on in this order.
        act: Does the work, by a deadline of its own; returns False if nothing was to be done.
        look: Looks whether the work is done, after `act` raised UnknownOutcomeError; None if that
            cannot be seen.
    """
    for number, key in enumerate(keys):
        result = _worked_on(key, act, look)
        yield result
        if result.error and _ends_work(result.error):
            for other in keys[number + 1 :]:
                yield Result(other, Outcome.UNTRIED)
            return


def _worked_on(key: K, act: Callable[[K], bool], look: Callable[[K], bool | None]) -> Result[K]:
    try:
        return Result(key, Outcome.DONE if act(key) else Outcome.ALREADY)
    except UnknownOutcomeError as error:
        if look(key):
            return Result(key, Outcome.DONE)
        return Result(key, Outcome.UNKNOWN, error)
    except RefusedError as error:
        return Result(key, Outcome.REFUSED, error)
    except KraftopsError as error:
        return Result(key, Outcome.FAILED, error)


def _ends_work(error: KraftopsError) -> bool:
    is_about_one = isinstance(error, AnswerError) and error.code != "not-permitted"
    return isinstance(error, WireError) and not is_about_one


def worst_error(results: Sequence[Result[K]]) -> KraftopsError | None:
    """Return the error that gives the exit code: of an unknown outcome, a failure, a refusal."""
    for outcome in (Outcome.UNKNOWN, Outcome.FAILED, Outcome.REFUSED):
        for result in results:
            if result.outcome is outcome and result.error:
                return result.error
    return None

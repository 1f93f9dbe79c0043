"""Outcomes of work on several things, one after another, each reported as it happens."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

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

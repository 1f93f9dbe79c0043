"""Work on several things: each has an outcome, and an unknown one is looked at."""

import pytest

from kraftops.errors import (
    AnswerError,
    AuthError,
    KraftopsError,
    RefusedError,
    UnknownOutcomeError,
    WireError,
)
from kraftops.outcomes import Outcome, Result, work_through, worst_error


def outcomes(errors: dict[int, KraftopsError], *, seen: bool | None = None) -> dict[int, str]:
    """Return the outcomes of five things; the second has nothing to do."""

    def act(key: int) -> bool:
        if key in errors:
            raise errors[key]
        return key != 2

    found = list(work_through(range(1, 6), act, lambda _: seen))
    return {result.key: result.outcome.value for result in found}


def test_each_has_an_outcome() -> None:
    assert outcomes({}) == {1: "done", 2: "already", 3: "done", 4: "done", 5: "done"}


def test_error_about_one_is_its_own() -> None:
    found = outcomes({3: AnswerError("not registered", error_code=102)})

    assert found == {1: "done", 2: "already", 3: "failed", 4: "done", 5: "done"}


@pytest.mark.parametrize(
    "error",
    [WireError("gone"), AuthError("no"), AnswerError("no", error_code=31)],
    ids=["no-answer", "login", "permission"],
)
def test_error_about_all_leaves_the_others_untried(error: KraftopsError) -> None:
    found = outcomes({3: error})

    assert found == {1: "done", 2: "already", 3: "failed", 4: "untried", 5: "untried"}


@pytest.mark.parametrize("seen", [False, None])
def test_unknown_outcome_that_is_not_seen_ends_the_work(seen: bool | None) -> None:
    found = outcomes({3: UnknownOutcomeError("silent")}, seen=seen)

    assert found == {1: "done", 2: "already", 3: "unknown", 4: "untried", 5: "untried"}


def test_unknown_outcome_that_is_seen_is_done() -> None:
    found = outcomes({3: UnknownOutcomeError("silent")}, seen=True)

    assert found == {1: "done", 2: "already", 3: "done", 4: "done", 5: "done"}


def test_worst_error_gives_the_exit_code() -> None:
    refused = Result(1, Outcome.REFUSED, RefusedError("no"))
    failed = Result(2, Outcome.FAILED, WireError("gone"))
    unknown = Result(3, Outcome.UNKNOWN, UnknownOutcomeError("silent"))

    assert worst_error([Result(1, Outcome.DONE)]) is None
    assert worst_error([refused, failed]) is failed.error
    assert worst_error([refused, failed, unknown]) is unknown.error

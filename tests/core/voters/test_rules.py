"""Which changes and stops leave the quorum its majority."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.voters.rules import VoterSet, majority, why_not_add, why_not_remove, why_not_stop

IDS = st.frozensets(st.integers(1, 9), min_size=1)


def quorum(voters: str, down: str = "") -> VoterSet:
    ids = frozenset(map(int, voters))
    return VoterSet(ids, ids - frozenset(map(int, down)))


@pytest.mark.parametrize(
    ("voters", "down", "may"),
    [
        ("1", "", True),
        ("12", "", True),
        ("123", "", True),
        ("123", "3", False),
        ("12345", "5", True),
    ],
)
def test_newcomer_does_not_count_before_it_votes(voters: str, down: str, may: bool) -> None:
    assert (why_not_add(quorum(voters, down), 9) is None) is may


@pytest.mark.parametrize(
    ("voters", "down", "node", "may"),
    [("1", "", 1, False), ("12", "", 1, True), ("123", "3", 3, True), ("123", "3", 1, False),
     ("1234", "4", 1, True), ("12345", "45", 1, False), ("12345", "45", 4, True)],
)  # fmt: skip
def test_voters_that_are_down_do_not_count(voters: str, down: str, node: int, may: bool) -> None:
    assert (why_not_remove(quorum(voters, down), node) is None) is may


@given(IDS, IDS, IDS)
def test_stop_is_refused_only_if_it_takes_the_majority(
    voters: frozenset[int], running: frozenset[int], stopping: frozenset[int]
) -> None:
    quorum = VoterSet(voters, voters & running)
    changes = bool(quorum.caught_up & stopping)
    keeps = len(quorum.caught_up - stopping) >= majority(len(voters))

    assert (why_not_stop(quorum, stopping) is None) is (keeps or not changes)


def test_reason_names_who_is_up() -> None:
    assert why_not_add(quorum("123", "3"), 4) == (
        "of 4 voters 3 must agree, and only controllers 1 and 2 are up and caught up: if"
        " controller 4 fails, the majority is lost"
    )
    assert why_not_stop(quorum("123"), [1, 2]) == (
        "the quorum would lose its majority: 2 of 3 voters must agree, and only controller 3 would be"
        " up and caught up"
    )
    assert (why_not_stop(quorum("1"), [1]) or "").endswith("and none would be up and caught up")

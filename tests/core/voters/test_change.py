"""Voters of a quorum in memory, changed one at a time."""

import random
from contextlib import suppress

import pytest

from kraftops.errors import AnswerError, KraftopsError, RefusedError, UnknownOutcomeError
from tests.helpers.wire.voting_quorum import Killed, VotingQuorum, directory


def three(*observers: int) -> VotingQuorum:
    quorum = VotingQuorum(3)
    for node in observers:
        quorum.observe(node)
    return quorum


def test_voter_is_added_once_and_said_to_be_there() -> None:
    quorum = three(4)

    assert quorum.run("add", 4)
    assert not quorum.run("add", 4)
    assert [*quorum.voters] == [1, 2, 3, 4]


def test_leader_is_removed_and_another_one_asked() -> None:
    quorum = three()

    assert quorum.run("remove", 1)
    assert not quorum.run("remove", 1)
    assert [*quorum.voters] == [2, 3]


def test_voter_that_is_up_is_removed_after_its_successor_votes() -> None:
    quorum = three(4)

    assert quorum.run("replace", 1, 4)
    assert not quorum.run("replace", 1, 4)
    assert quorum.changes == ["+4", "-1"]


def test_voter_that_is_down_is_removed_before_its_successor_votes() -> None:
    quorum = three(4)
    quorum.down.add(3)

    assert quorum.run("replace", 3, 4)
    assert quorum.changes == ["-3", "+4"]


def test_only_voter_is_replaced() -> None:
    quorum = VotingQuorum(1)
    quorum.observe(2)

    assert quorum.run("replace", 1, 2)
    assert [*quorum.voters] == [2]


def test_same_id_votes_with_its_new_disk() -> None:
    quorum = three()
    quorum.down.add(3)
    quorum.observe(3, 2)

    assert quorum.run("replace", 3, 3)
    assert not quorum.run("replace", 3, 3)
    assert quorum.voters[3] == directory(3, 2)


@pytest.mark.parametrize("change", [("remove", 3), ("replace", 3, 4)])
def test_the_last_voter_that_nodes_would_find_stays(change: tuple[str, int]) -> None:
    """Brokers whose addresses lead to no voter stay without a leader until they are restarted."""
    quorum = three(4)
    quorum.servers = {101: {3}, 102: {1, 3}}

    with pytest.raises(RefusedError, match=r"look for the quorum: 101$") as refused:
        quorum.run(*change)

    assert refused.value.code == "quorum-not-found"
    assert quorum.changes == []


def test_nodes_that_find_the_successor_or_look_elsewhere_are_no_reason() -> None:
    """An address that no controller is known by may be another name of one."""
    quorum = three(4)
    quorum.servers = {101: {3, 4}, 102: {3, 99}}

    assert quorum.run("replace", 3, 4)


def test_broker_is_no_controller_that_has_been_removed() -> None:
    quorum = three(101)

    with pytest.raises(KraftopsError, match="no controller has the id 101") as missing:
        quorum.run("remove", 101)

    assert missing.value.exit_code == 4


@pytest.mark.parametrize("change", [("add", 4), ("remove", 1), ("replace", 1, 4)])
def test_change_is_refused_while_another_voter_is_down(change: tuple[str, int]) -> None:
    quorum = three(4)
    quorum.down.add(3)

    with pytest.raises(RefusedError) as refused:
        quorum.run(*change)

    assert (refused.value.code, refused.value.exit_code) == ("majority-at-risk", 3)
    assert quorum.changes == []


@pytest.mark.parametrize("change", [("add", 4), ("replace", 1, 4)])
def test_voter_that_never_catches_up_is_not_waited_for_longer(change: tuple[str, int]) -> None:
    quorum = three(4)
    quorum.behind.add(4)

    with pytest.raises(KraftopsError, match="controller 4 is 40 records behind") as late:
        quorum.run(*change, seconds=0.2)

    assert late.value.exit_code == 5
    assert quorum.changes == []
    assert quorum.events[0].text == "controller 4 is 40 records behind"


def test_controller_that_does_not_run_is_waited_for() -> None:
    with pytest.raises(KraftopsError, match="does not follow the metadata log yet") as late:
        three().run("add", 4, seconds=0.1)

    assert late.value.exit_code == 5


def test_static_quorum_has_another_way() -> None:
    quorum = VotingQuorum(3, is_static=True)

    with pytest.raises(RefusedError, match="static") as refused:
        quorum.run("remove", 1)

    assert refused.value.code == "static-quorum"
    assert "kraft.version=1" in str(refused.value.hint)


def test_id_of_no_controller_is_not_found() -> None:
    with pytest.raises(KraftopsError, match="no controller has the id 7") as missing:
        three().run("remove", 7)

    assert missing.value.exit_code == 4


def test_controller_that_would_join_again_is_to_be_stopped_first() -> None:
    quorum = three(4)
    quorum.joining.add(1)

    for change in (("remove", 1), ("replace", 1, 4)):
        with pytest.raises(RefusedError, match="would join again"):
            quorum.run(*change)
    quorum.leader = 2
    quorum.down.add(1)

    assert quorum.run("replace", 1, 4)


def test_two_disks_that_run_with_one_id_are_refused() -> None:
    quorum = three(4)
    quorum.observe(4, 2)

    with pytest.raises(RefusedError, match="two controllers run with the id 4"):
        quorum.run("add", 4)


def test_change_without_an_answer_is_looked_for() -> None:
    quorum = three(4)
    quorum.mute = [True]
    assert quorum.run("add", 4)

    quorum.mute = [False]
    with pytest.raises(UnknownOutcomeError) as unknown:
        quorum.run("remove", 4)

    assert unknown.value.exit_code == 6
    assert quorum.run("remove", 4)


def test_leader_that_is_busy_is_asked_again() -> None:
    quorum = three(4)
    quorum.errors = [7, 6]

    assert quorum.run("add", 4)


def test_refusal_of_the_leader_is_told() -> None:
    quorum = three(4)
    quorum.errors = [42]

    with pytest.raises(AnswerError):
        quorum.run("add", 4)


def test_change_goes_on_after_a_kill_at_any_request() -> None:
    """Random quorums: what is done keeps the majority, and the same again ends it."""
    chance = random.Random(41)
    ended = 0
    for _ in range(150):
        quorum = VotingQuorum(chance.randint(1, 5))
        others = sorted({*quorum.voters} - {1})
        quorum.down = set(chance.sample(others, chance.randint(0, len(others) // 2)))
        old, new = chance.choice([*quorum.voters]), 9
        quorum.observe(new)
        change = chance.choice([("add", new), ("remove", old), ("replace", old, new)])
        quorum.cut_at = chance.randint(1, 30)
        try:
            with suppress(Killed):
                quorum.run(*change)
            quorum.cut_at = None
            quorum.run(*change)
        except RefusedError:
            assert quorum.changes == []
            continue
        ended += 1
        assert (new in quorum.voters) is (change[0] != "remove")
        assert (old in quorum.voters) is (change[0] == "add")

    assert ended > 50

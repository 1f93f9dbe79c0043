"""`replication`, `repair` and `move-dirs`, on a cluster in memory."""

import json

import pytest

from kraftops.placement.placement import Replicas, TopicPartition
from tests.helpers.tools.console import Done
from tests.helpers.tools.fake_cluster import cluster
from tests.helpers.wire.moving_cluster import MovingCluster

A, B, C, D = (TopicPartition(name, 0) for name in "abcd")


def moving_cluster() -> MovingCluster:
    moving = MovingCluster(range(1, 5), {A: (1, 2), B: (1,), C: (1, 3), D: (2, 3)}, is_old=False)
    moving.sizes = {A: 1000, B: 10, C: 20, D: 500}
    return moving


def with_broker_down() -> MovingCluster:
    """Return it with broker 1 down, so that two partitions have no leader."""
    moving = moving_cluster()
    moving.brokers[1] = True
    moving.partitions[A] = Replicas((1, 2), (2,), 2)
    moving.partitions[B] = Replicas((1,), (1,), -1)
    moving.partitions[C] = Replicas((1, 3), (1,), -1)
    return moving


def run(moving: MovingCluster, command: str, *args: str) -> Done:
    with moving.reached():
        return cluster(command, "-b", "b:2", *args)


def test_dry_run_of_a_decommission_says_what_stays() -> None:
    moving = moving_cluster()

    some = run(moving, "decommission", "--id", "3", "--dry-run", "--exclude-topic", "d")

    assert some.code == 3
    assert "broker 3 is not emptied: the plan leaves out d-0" in some.err
    assert "c-0" in some.text


def test_factor_is_raised_and_lowered() -> None:
    moving = moving_cluster()

    raised = run(moving, "replication", "--topic", "a", "--factor", "3", "--yes")
    replicas = moving.partitions[A].replicas
    lowered = run(
        moving, "replication", "--topic", "a", "--factor", "1", "--yes", "--format", "json"
    )
    again = run(moving, "replication", "--topic", "a", "--factor", "1")

    assert (raised.code, len({*replicas})) == (0, 3), raised.err
    assert "bytes to copy: 1000 B" in raised.text
    assert len(moving.partitions[A].replicas) == 1
    assert json.loads(lowered.text)["changed"] is True
    assert again.text.endswith("Moved partitions: 0.\n")
    assert [values for values in moving.configs.values() if values] == []


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("replication", "--topic", "x", "--factor", "2"), 4, "topic 'x' does not exist"),
        (("replication", "--topic", "a", "--factor", "5"), 3, "too few brokers for 5 replicas"),
        (("replication", "--topic", "a", "--factor", "3"), 3, "no terminal to ask"),
        (("repair", "--id", "9"), 4, "broker 9 is not registered"),
        (("repair", "--id", "2"), 3, "broker 2 runs, and none of its replicas is lost"),
        (("repair", "--id", "1", "--elect-unclean", "x-0"), 4, "partition 'x-0' does not exist"),
        (("repair", "--id", "1", "--elect-unclean", "a-0"), 3, "needs no unclean election"),
        (("repair", "--id", "1", "--elect-unclean", "b-0"), 3, "no broker that runs has a"),
        (("repair", "--id", "1", "--elect-unclean", "c-0"), 3, "no terminal to ask"),
        (("move-dirs", "--id", "9", "--from-dir", "/d"), 4, "broker 9 is not registered"),
        (("move-dirs", "--id", "2", "--from-dir", "/x"), 4, "no log directory /x"),
    ],
)
def test_what_does_not_exist_or_does_harm_is_refused(
    args: tuple[str, ...], code: int, message: str
) -> None:
    moving = with_broker_down()
    before = {**moving.partitions}

    done = run(moving, *args)

    assert (done.code, message in done.err) == (code, True), done.err
    assert moving.partitions == before


def test_repair_moves_what_has_a_leader_and_lists_the_rest() -> None:
    moving = with_broker_down()

    done = run(moving, "repair", "--id", "1", "--yes", "--format", "json")

    answer = json.loads(done.text)
    assert done.code == 2
    outcomes = {each["topic"]: each for each in answer["outcomes"]}
    assert {topic: each["outcome"] for topic, each in outcomes.items()} == {
        "a": "repaired",
        "b": "leaderless",
        "c": "leaderless",
    }
    assert outcomes["c"]["lastInSync"] == [1]
    assert outcomes["c"]["liveReplicas"] == [3]
    assert outcomes["c"]["recordsAtStake"] is None
    assert "kafka-storage compare" in outcomes["b"]["remedy"]
    assert "--elect-unclean" not in outcomes["b"]["remedy"]
    assert "--elect-unclean c-0" in outcomes["c"]["remedy"]
    assert 1 not in moving.partitions[A].replicas
    assert moving.partitions[B].leader == moving.partitions[C].leader == -1
    assert answer["changed"]


def test_named_partition_is_led_by_a_replica_that_lacks_records() -> None:
    moving = with_broker_down()

    done = run(moving, "repair", "--id", "1", "--yes", "--elect-unclean", "c-0")
    again = run(moving, "repair", "--id", "1", "--yes", "--format", "json")

    assert done.code == 2
    assert "c-0        elected" in done.text
    assert moving.partitions[C].leader == 3
    assert 1 not in moving.partitions[C].replicas
    assert [each["topic"] for each in json.loads(again.text)["outcomes"]] == ["b"]


def test_plan_of_a_repair_changes_nothing() -> None:
    moving = with_broker_down()
    before = {**moving.partitions}

    text = run(moving, "repair", "--id", "1", "--dry-run")
    done = run(moving, "repair", "--id", "1", "--dry-run", "--format", "json")

    answer = json.loads(done.text)
    assert (text.code, done.code) == (2, 2)
    assert {each["outcome"] for each in answer["outcomes"]} == {"planned", "leaderless"}
    assert [each["topic"] for each in answer["partitions"]] == ["a"]
    assert answer["copiedBytes"] == 1000
    assert "LAST IN SYNC" in text.text
    assert moving.partitions == before


def test_directory_is_emptied() -> None:
    moving = moving_cluster()
    moving.directories[2] = {"/d1": 5000, "/d2": 5000}

    plan = run(
        moving, "move-dirs", "--id", "2", "--from-dir", "/d1", "--dry-run", "--format", "json"
    )
    done = run(moving, "move-dirs", "--id", "2", "--from-dir", "/d1", "--yes")

    source, target = json.loads(plan.text)["directories"]
    assert source["bytesAfter"] == 0
    assert source["bytes"] == target["bytesAfter"] - target["bytes"] > 0
    assert (done.code, done.text.splitlines()[-1]) == (0, "Moved replicas: 1.")
    assert moving.contents(2)["/d1"] == []

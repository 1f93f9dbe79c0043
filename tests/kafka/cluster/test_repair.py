"""A broker that dies for good, and disks: problems, repair, and moves between directories."""

import json
from pathlib import Path

import pytest

from kraftops.log.batch import Record
from kraftops.placement.placement import TopicPartition
from tests.helpers.kafka.nodes.clusters import Cluster, Shape, running_cluster
from tests.helpers.kafka.nodes.live_logs import change_topics
from tests.helpers.kafka.nodes.moving import create_topics, directories, placement, ready, tool
from tests.helpers.kafka.nodes.traffic import traffic
from tests.helpers.logs.written import batch_bytes

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

TOPICS = {"one": (6, 1), "two": (6, 2)}
PARTITIONS = {name: count for name, (count, _) in TOPICS.items()}


def test_dead_broker_is_repaired_and_a_directory_emptied(jars: Path, tmp_path: Path) -> None:
    disks = [str(tmp_path / "disk1"), str(tmp_path / "disk2")]
    shape = Shape(brokers=3, node_settings={102: {"log.dirs": ",".join(disks)}})
    with running_cluster(jars, tmp_path / "nodes", shape) as live:
        create_topics(live, TOPICS)
        with traffic(live.brokers, PARTITIONS) as records:
            check_emptied(live, disks)
            count = records.end()
        assert count.acknowledged > 0
        assert count.lost == 0
        check_factor(live)
        live.nodes[103].kill()
        check_repaired(live)


@pytest.mark.long
def test_records_at_stake_are_those_that_an_unclean_election_loses(
    jars: Path, tmp_path: Path
) -> None:
    """Broker 102 lacks what 101 alone has acknowledged; then 101 is gone."""
    with running_cluster(jars, tmp_path, Shape(brokers=3)) as live:
        create = {"name": "lossy", "num_partitions": -1, "replication_factor": -1, "configs": []}
        place = {"partition_index": 0, "broker_ids": [101, 102]}
        change_topics(live.brokers, "CreateTopics", [{**create, "assignments": [place]}])
        ready(live, 101, 102, 103)
        live.nodes[101].produce("lossy", records_of(40))
        ready(live, 101, 102, 103)
        live.nodes[102].stop()
        live.nodes[101].produce("lossy", records_of(7))
        live.nodes[101].kill()
        live.nodes[102].start()
        log = ("-b", live.brokers, "-C", live.controllers)
        back = ("--for", "broker=102:unfenced", "--for", "broker=101:fenced", "--timeout", "40")
        assert tool("wait", *log[2:], *back).code == 0
        disks = [live.nodes[node].config.settings["log.dirs"].split(",")[0] for node in (101, 102)]
        lost = ("--id", "101", "--from", disks[0], "--from", disks[1], "--format", "json")

        plan = tool("repair", *log, *lost, "--dry-run")
        elect = tool("repair", *log, *lost, "--elect-unclean", "lossy-0", "--yes")
        after = placement(live).partitions[TopicPartition("lossy", 0)]

    (outcome,) = json.loads(plan.text)["outcomes"]
    assert (plan.code, outcome["outcome"], outcome["recordsAtStake"]) == (2, "leaderless", 7)
    assert (outcome["lastInSync"], outcome["liveReplicas"]) == ([101], [102])
    assert elect.code == 0, elect.text + elect.err
    (elected,) = json.loads(elect.text)["outcomes"]
    assert elected["outcome"] == "elected"
    assert (after.leader, {*after.replicas}) == (102, {102, 103})


def check_emptied(live: Cluster, disks: list[str]) -> None:
    """Records come in meanwhile; the controllers keep their metadata log in the first directory."""
    ask = ("--id", "102", "--from-dir", disks[1], "--to-dir", disks[0])

    done = tool("move-dirs", "-b", live.brokers, *ask, "--yes", "--timeout", "50")

    assert done.code == 0, done.err
    first, second = directories(live, 102)
    assert not second.replicas
    assert not second.coming
    held = [name for name, each in placement(live).partitions.items() if 102 in each.replicas]
    assert sorted(name for name in first.replicas if name.topic in TOPICS) == [
        name for name in held if name.topic in TOPICS
    ]


def check_factor(live: Cluster) -> None:
    """Lowered, then raised, to what it was; the plan has the bytes that are on the disks."""
    ready(live, 101, 102, 103)
    ask = ("-b", live.brokers, "--topic", "two", "--timeout", "50")

    lowered = tool("replication", *ask, "--factor", "1", "--yes")
    plan = tool("replication", *ask, "--factor", "2", "--dry-run", "--format", "json")
    raised = tool("replication", *ask, "--factor", "2", "--throttle", "50M", "--yes")

    ready(live, 101, 102, 103)
    assert (lowered.code, plan.code, raised.code) == (0, 0, 0), lowered.err + raised.err
    sizes = {
        name: replica.size
        for broker in (101, 102, 103)
        for each in directories(live, broker)
        for name, replica in each.replicas.items()
    }
    copied = sum(size for name, size in sizes.items() if name.topic == "two")
    assert json.loads(plan.text)["copiedBytes"] == copied > 0
    after = placement(live).partitions
    assert {len(each.replicas) for name, each in after.items() if name.topic == "two"} == {2}


def check_repaired(live: Cluster) -> None:
    """What has a leader is copied; partitions of one replica are listed."""
    log = ("-b", live.brokers, "-C", live.controllers)
    fenced = tool("wait", *log[2:], "--for", "broker=103:fenced", "--timeout", "30")
    assert fenced.code == 0, fenced.err
    before = placement(live).partitions
    alone = {name for name, each in before.items() if each.replicas == (103,)}
    others = {name for name, each in before.items() if 103 in each.replicas} - alone

    broken = tool("problems", *log, "--format", "json")
    done = tool("repair", *log, "--id", "103", "--yes", "--timeout", "60", "--format", "json")
    after = placement(live).partitions
    rest = json.loads(tool("problems", *log, "--format", "json").text)

    answer = json.loads(broken.text)
    down = next(each for each in answer["problems"] if each["cause"] == "broker-down")
    assert (broken.code, down["brokerId"], answer["offline"]) == (2, 103, len(alone))
    assert down["since"]["record"] == "BROKER_REGISTRATION_CHANGE_RECORD"
    assert names(down["partitions"]) == alone | others
    assert done.code == (2 if alone else 0), done.err
    outcomes = json.loads(done.text)["outcomes"]
    assert names(each for each in outcomes if each["outcome"] == "repaired") == others
    leaderless = [each for each in outcomes if each["outcome"] == "leaderless"]
    assert names(leaderless) == alone
    assert {tuple(each["lastInSync"]) for each in leaderless} <= {(103,)}
    assert all(103 not in after[name].replicas for name in others)
    assert all(len(after[name].isr) == len(before[name].replicas) for name in others)
    remaining = {
        name for each in rest["problems"] if each["cause"] == "broker-down"
        for name in names(each["partitions"])
    }  # fmt: skip
    assert remaining == alone
    check_stakes(live, min(alone))
    left = tool("decommission", *log, "--id", "103", "--yes", "--timeout", "60", "--format", "json")
    decommissioned = json.loads(left.text)
    assert (left.code, decommissioned["brokers"]) == (2, [{"id": 103, "outcome": "stranded"}])
    assert decommissioned["strandedPartitions"] == sorted(map(str, alone))


def check_stakes(live: Cluster, lost: TopicPartition) -> None:
    """A second replica lacks all records, by both disks: the broker that had it is down."""
    disks = [live.nodes[broker].config.settings["log.dirs"].split(",")[0] for broker in (101, 103)]
    ask = ("-b", live.brokers, "-C", live.controllers, "--id", "103", "--dry-run")

    done = tool("repair", *ask, "--from", disks[0], "--from", disks[1], "--format", "json")
    other = tool("repair", *ask, "--from", "/nowhere")

    outcomes = {
        TopicPartition(each["topic"], each["partition"]): each
        for each in json.loads(done.text)["outcomes"]
    }
    assert (outcomes[lost]["liveReplicas"], outcomes[lost]["recordsAtStake"]) == ([], None)
    assert other.code == 4


def records_of(count: int) -> bytes:
    """Return a batch of records."""
    return batch_bytes([Record(number, 1, None, b"x") for number in range(count)])


def names(partitions: object) -> set[TopicPartition]:
    """Return the partitions of an answer."""
    return {TopicPartition(each["topic"], each["partition"]) for each in partitions}  # type: ignore[attr-defined]

"""Decommission, killed before and after each of its requests, in a cluster in memory."""

from collections import Counter
from unittest.mock import patch

import pytest

from kraftops.errors import RefusedError
from kraftops.placement.placement import BrokerPlace, Replicas, TopicPartition
from kraftops.placement.plan import Limits
from kraftops.placement.reassignment_json import PlannedReplicas
from kraftops.reassign import access as access_module
from kraftops.reassign.decommission import (
    Decommission,
    check_all_moved,
    check_decommission,
    decommission,
)
from kraftops.reassign.events import Event
from kraftops.reassign.moves import MoveOptions
from tests.helpers.wire.moving_cluster import Killed, MovingCluster

LEAVING = frozenset({104, 105})
PARTITIONS = {
    TopicPartition("t", number): (101 + number % 5, 101 + (number + 2) % 5) for number in range(7)
}


def cluster(*, is_old: bool = False) -> MovingCluster:
    return MovingCluster(range(101, 106), PARTITIONS, is_old=is_old)


def request(throttle: int | None = None, **options: object) -> Decommission:
    return Decommission(LEAVING, Limits(), MoveOptions(2, throttle), **options)  # type: ignore[arg-type]


def run(found: MovingCluster, asked: Decommission) -> list[Event]:
    """Run it as the tool does; who is asked to stop brokers stops them."""
    events = []

    def report(event: Event) -> None:
        events.append(event)
        if event.name == "stop":
            found.brokers.update(dict.fromkeys(LEAVING & found.brokers.keys(), True))

    with found.reached() as access:
        placement = access.placement()
        check_decommission(access, placement, asked)
        check_all_moved(placement, asked)
        decommission(access, asked, report)
    return events


def check_end(found: MovingCluster) -> None:
    assert [*found.brokers] == [101, 102, 103]
    for replicas in found.partitions.values():
        assert LEAVING.isdisjoint(replicas.replicas)
        assert len({*replicas.replicas}) == 2
    assert [each for each in found.configs.values() if each] == []


@pytest.mark.parametrize("is_old", [False, True], ids=["4.3", "3.9"])
@pytest.mark.parametrize("throttle", [None, 1000])
def test_it_goes_on_after_a_kill_at_any_request(throttle: int | None, is_old: bool) -> None:
    whole = cluster(is_old=is_old)
    run(whole, request(throttle))
    check_end(whole)
    assert whole.requests > 20

    for cut_at in range(1, whole.requests * 2 + 1):
        found = cluster(is_old=is_old)
        found.cut_at = cut_at
        with pytest.raises(Killed):
            run(found, request(throttle))
        found.cut_at = None
        run(found, request(throttle))

        check_end(found)


def test_batches_are_throttled_and_the_brokers_cordoned() -> None:
    found = cluster()
    seen: Counter[str] = Counter()
    answer = found.answer

    def watched(broker: int, api: str, values: dict[str, object]) -> object:
        if api == "AlterPartitionReassignments":
            keys = {key for each in found.configs.values() for key in each}
            seen.update(keys)
            seen["batches"] += 1
        return answer(broker, api, values)

    found.answer = watched  # type: ignore[method-assign,assignment]
    events = run(found, request(1000))

    assert seen["batches"] == sum(event.name == "batch" for event in events) == 3
    for key in (
        "leader.replication.throttled.rate", "follower.replication.throttled.rate",
        "leader.replication.throttled.replicas", "follower.replication.throttled.replicas",
        "cordoned.log.dirs",
    ):  # fmt: skip
        assert seen[key] == 3
    assert [event.name for event in events if event.name != "progress"][-3:] == [
        "stop", "unregistered", "unregistered",
    ]  # fmt: skip


def test_new_partition_on_a_broker_that_is_empty_is_moved_too() -> None:
    found = cluster(is_old=True)
    late = TopicPartition("late", 0)

    def report(event: Event) -> None:
        if event.name != "stop":
            return
        if late not in found.partitions:
            found.partitions[late] = Replicas((104,), (104,), 104)
        else:
            found.brokers.update(dict.fromkeys(LEAVING, True))

    with found.reached() as access:
        assert decommission(access, request(), report) == (True, LEAVING)

    assert found.partitions[late].replicas[0] in (101, 102, 103)
    assert [*found.brokers] == [101, 102, 103]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"t-0": Replicas((101, 103, 102), (101, 103), 101, (102,), (103,))},
            "other reassignments",
        ),
        ({"t-1": Replicas((102, 104), (104,), -1)}, "without a leader"),
    ],
    ids=["reassignments", "leaderless"],
)
def test_harm_is_refused(change: dict[str, Replicas], message: str) -> None:
    found = cluster()
    for name, replicas in change.items():
        found.partitions[TopicPartition("t", int(name[-1]))] = replicas

    with pytest.raises(RefusedError, match=message) as raised:
        run(found, request())

    assert raised.value.known["partitions"] == [*change]


def test_partitions_under_min_isr_are_noted() -> None:
    found = cluster()
    found.configs[2, "t"] = {"min.insync.replicas": "2"}
    found.partitions[TopicPartition("t", 1)] = Replicas((102, 104), (102,), 102)
    notes: list[str] = []

    with found.reached() as access:
        access.note = notes.append
        check_decommission(access, access.placement(), request())

    assert notes == ["under min.insync.replicas already: t-1"]


def test_id_that_no_broker_has_is_noted() -> None:
    """Whether it has gone or never was, no cluster can tell: it is no error."""
    found, notes = cluster(), list[str]()
    asked = Decommission(frozenset({104, 1044}), Limits(), MoveOptions(2, None))

    with found.reached() as access:
        access.note = notes.append
        check_decommission(access, access.placement(), asked)

    assert notes == ["no broker has the id 1044: the cluster has 101, 102, 103, 104, 105"]


def test_broker_that_goes_down_with_our_cordon_is_not_unregistered() -> None:
    found = cluster()

    def report(event: Event) -> None:
        if event.name == "batch" and event.known["waiting"] == 0:
            found.brokers[105] = True

    asked = Decommission(frozenset({105}), Limits(), MoveOptions(100, None))
    with found.reached() as access, pytest.raises(RefusedError, match="went down before"):
        decommission(access, asked, report)

    assert 105 in found.brokers
    assert found.configs[4, "105"]["cordoned.log.dirs"] == "*"


def test_other_number_of_replicas_than_before_is_refused() -> None:
    found = cluster()

    with found.reached() as access, patch.object(access_module, "_SETTLE_SECONDS", 0.05):
        before = access.settled()
        found.partitions[TopicPartition("t", 0)] = Replicas((101, 103, 102), (101, 103), 101)
        with pytest.raises(RefusedError, match="replicas of t-0 is another one than before"):
            access.settled()

    assert len(before.partitions[TopicPartition("t", 0)].target) == 2


def test_too_few_brokers_are_refused() -> None:
    found = MovingCluster(range(103, 106), {TopicPartition("t", 0): (103, 104)}, is_old=False)

    with pytest.raises(RefusedError, match="too few brokers for the replicas of t-0") as raised:
        run(found, request())

    assert raised.value.known["partitions"] == ["t-0"]


@pytest.mark.parametrize(
    ("limits", "planned"),
    [
        (Limits(excluded_topics=frozenset({"u"})), None),
        (Limits(), {TopicPartition("t", 0): PlannedReplicas((101, 102), None)}),
    ],
    ids=["excluded topic", "plan of some"],
)
def test_plan_that_leaves_replicas_behind_is_refused_before_anything_moves(
    limits: Limits, planned: dict[TopicPartition, PlannedReplicas] | None
) -> None:
    partitions = {TopicPartition("t", 0): (101, 104), TopicPartition("u", 1): (105, 102)}
    found = MovingCluster(range(101, 106), partitions, is_old=False)
    asked = Decommission(LEAVING, limits, MoveOptions(2, None), planned=planned)

    with pytest.raises(
        RefusedError, match=r"104, 105 are not emptied: .* leaves out u-1"
    ) as raised:
        run(found, asked)

    assert raised.value.known["partitions"] == ["u-1"]
    assert {each: found.partitions[each].replicas for each in partitions} == partitions


def test_throttles_of_others_are_not_changed() -> None:
    found = cluster()
    found.configs[4, "102"] = {"leader.replication.throttled.rate": "7"}
    found.configs[2, "t"] = {"leader.replication.throttled.replicas": "*"}

    with pytest.raises(RefusedError, match="broker 102, topic t"):
        run(found, request(1000))
    run(found, request())

    assert found.configs[4, "102"] == {"leader.replication.throttled.rate": "7"}
    assert found.configs[2, "t"] == {"leader.replication.throttled.replicas": "*"}


@pytest.mark.parametrize("is_fenced", [True, False], ids=["fenced", "stopping"])
def test_broker_that_is_down_for_a_while_is_waited_for(is_fenced: bool) -> None:
    found = MovingCluster(range(103, 106), {TopicPartition("t", 0): (104, 105)}, is_old=False)
    down = BrokerPlace(None, is_fenced, takes_replicas=False, is_stopping=not is_fenced)
    asked = Decommission(frozenset({105}), Limits(), MoveOptions(1, None))

    with found.reached() as access:
        place = access.placement()
        place.brokers[103] = down
        check_decommission(access, place, asked)
        place.brokers[103] = down._replace(is_fenced=False, is_stopping=False)
        with pytest.raises(RefusedError, match="too few brokers"):
            check_decommission(access, place, asked)


def test_cordon_of_others_stays_and_takes_no_replicas() -> None:
    found = cluster()
    found.configs[4, "103"] = {"cordoned.log.dirs": "*"}

    with found.reached() as access:
        placement = access.placement_for_plan()
        plan = request().plan(placement)

    assert {broker for move in plan.moves for broker in move.added} <= {101, 102}
    assert plan.stuck == []

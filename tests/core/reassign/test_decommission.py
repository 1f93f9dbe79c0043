"""Decommission, killed before and after each of its requests, in a cluster in memory."""

from collections import Counter
from random import Random
from unittest.mock import patch

import pytest

from kraftops.errors import KraftopsError, RefusedError
from kraftops.placement.placement import BrokerPlace, Replicas, TopicPartition
from kraftops.placement.plan import Limits, Move
from kraftops.reassign import access as access_module
from kraftops.reassign.decommission import (
    Decommission,
    check_all_moved,
    check_decommission,
    decommission,
)
from kraftops.reassign.events import Event
from kraftops.reassign.marks import DECOMMISSION, Author, Mark
from kraftops.reassign.moves import MoveOptions
from tests.helpers.tools.distribution import long_but
from tests.helpers.wire.moving_cluster import Killed, MovingCluster

LEAVING = frozenset({104, 105})
PARTITIONS = {
    TopicPartition("t", number): (101 + number % 5, 101 + (number + 2) % 5) for number in range(7)
}


def cluster(*, is_old: bool = False) -> MovingCluster:
    return MovingCluster(range(101, 106), PARTITIONS, is_old=is_old)


def request(throttle: int | None = None, **options: object) -> Decommission:
    return Decommission(LEAVING, Limits(), MoveOptions(2, throttle), **options)  # type: ignore[arg-type]


def test_a_slow_partition_does_not_hold_up_the_others() -> None:
    """Batches that wait for their slowest partition would take as many times longer."""
    found = cluster()
    slow = TopicPartition("t", 3)
    found.requests_of[slow] = 400
    order: list[str] = []

    def report(event: Event) -> None:
        if event.name == "progress" and not order:
            waiting = [
                p for p, each in found.partitions.items() if not LEAVING.isdisjoint(each.replicas)
            ]
            if waiting == [slow]:
                order.append("slow alone")
        if event.name == "stop":
            found.brokers.update(dict.fromkeys(LEAVING, True))

    with found.reached() as access:
        decommission(access, request(), report)

    assert order == ["slow alone"]
    assert found.most_in_flight == 2


@pytest.mark.parametrize("seed", range(12))
def test_random_sizes_paces_and_kills_lose_nothing(seed: int) -> None:
    rng = Random(seed)
    found = cluster(is_old=rng.random() < 0.3)
    found.sizes = {partition: rng.choice((0, 10, 10**6, 10**9)) for partition in PARTITIONS}
    found.requests_of = {partition: rng.randrange(60) for partition in PARTITIONS}
    asked = request(rng.choice((None, 1000)))
    while True:
        found.cut_at = (found.requests + rng.randrange(1, 120)) * 2 - rng.randrange(2)
        try:
            run(found, asked)
        except Killed:
            continue
        except KraftopsError:
            assert {*LEAVING}.isdisjoint(found.brokers)  # killed after the last request
        break

    check_end(found)
    assert found.most_in_flight <= 2


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
    # No broker can change what is left of another that is down; controllers can, where they answer.
    cordons = {key for each in found.configs.values() for key in each}
    assert all(key.startswith(("cordoned.", "kraftops.cordon.")) for key in cordons)
    assert {name for (_, name), each in found.configs.items() if each} <= {"104", "105"}


@pytest.mark.slow
@pytest.mark.parametrize("is_old", [False, True], ids=["4.3", "3.9"])
@pytest.mark.parametrize("throttle", long_but({1000}, [None, 1000]))
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
        if not is_old and cut_at == whole.requests * 2:
            # It had ended: nothing in the cluster tells any more that the brokers were there.
            with pytest.raises(KraftopsError, match="no broker has the id 104, 105"):
                run(found, request(throttle))
        else:
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

    assert seen["batches"] == sum(event.name == "batch" for event in events) >= 3
    assert found.most_in_flight == 2
    for key in (
        "leader.replication.throttled.rate", "follower.replication.throttled.rate",
        "leader.replication.throttled.replicas", "follower.replication.throttled.replicas",
        "cordoned.log.dirs",
    ):  # fmt: skip
        assert seen[key] == seen["batches"]
    assert [event.name for event in events if event.name != "progress"][-4:] == [
        "stop", "cordon-kept", "unregistered", "unregistered",
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
        assert decommission(access, request(), report) == (True, True, LEAVING, {})

    assert found.partitions[late].replicas[0] in (101, 102, 103)
    assert [*found.brokers] == [101, 102, 103]


def test_reassignments_of_others_are_not_joined() -> None:
    found = cluster()
    found.partitions[TopicPartition("t", 0)] = Replicas(
        (101, 103, 102), (101, 103), 101, (102,), (103,)
    )

    with pytest.raises(RefusedError, match="other reassignments") as raised:
        run(found, request())

    assert raised.value.known["partitions"] == ["t-0"]


def test_what_only_a_dead_broker_has_stays_and_all_else_is_moved() -> None:
    """Broker 105 does not come back, and t-1 and t-6 have their only copy in sync there."""
    found, notes = cluster(), list[str]()
    alone = {TopicPartition("t", 1), TopicPartition("t", 6)}
    found.brokers[105] = True
    for partition, replicas in found.partitions.items():
        isr = tuple(each for each in replicas.replicas if each != 105)
        leader = isr[0] if isr else -1
        found.partitions[partition] = replicas._replace(isr=isr, leader=leader)
    for partition in alone:
        found.partitions[partition] = Replicas((105,), (105,), -1)
    asked = Decommission(frozenset({105}), Limits(), MoveOptions(2, None))

    with found.reached() as access:
        access.note = notes.append
        check_decommission(access, access.placement(), asked)
        end = decommission(access, asked, lambda _: None)

    assert notes == ["without a leader, and not moved: t-1, t-6"]
    assert {*end.stranded} == alone
    assert end.unregistered == frozenset()
    assert {p for p, each in found.partitions.items() if 105 in each.replicas} == alone
    assert 105 in found.brokers


def test_partition_whose_leader_is_down_is_waited_for_and_then_the_run_ends() -> None:
    found = cluster()
    stuck = TopicPartition("t", 1)
    found.partitions[stuck] = Replicas((102, 104), (104,), -1)
    events: list[Event] = []
    asked = Decommission(LEAVING, Limits(), MoveOptions(2, None, stall_seconds=0.3))

    with found.reached() as access, pytest.raises(KraftopsError, match="nothing has moved") as end:
        decommission(access, asked, events.append)

    assert (end.value.code, end.value.exit_code) == ("stalled", 5)
    assert events[-1].text == "waits for brokers that are down: t-1"
    assert [p for p, each in found.partitions.items() if 104 in each.replicas] == [stuck]


def test_partitions_under_min_isr_are_noted() -> None:
    found = cluster()
    found.configs[2, "t"] = {"min.insync.replicas": "2"}
    found.partitions[TopicPartition("t", 1)] = Replicas((102, 104), (102,), 102)
    notes: list[str] = []

    with found.reached() as access:
        access.note = notes.append
        check_decommission(access, access.placement(), request())

    assert notes == ["under min.insync.replicas already: t-1"]


def test_id_that_no_broker_ever_had_is_not_found() -> None:
    found = cluster()
    asked = Decommission(frozenset({104, 1044}), Limits(), MoveOptions(2, None))

    with found.reached() as access, pytest.raises(KraftopsError) as raised:
        check_decommission(access, access.placement(), asked)

    assert raised.value.message == "no broker has the id 1044, and no decommission of it has begun"
    assert raised.value.hint == "the cluster has 101, 102, 103, 104, 105"
    assert (raised.value.exit_code, raised.value.known["brokers"]) == (4, [1044])


def test_cordon_stays_until_the_broker_has_stopped() -> None:
    """Also where only brokers are asked: a topic that is created before the stop comes not there."""
    found = cluster()
    asked = Decommission(frozenset({105}), Limits(), MoveOptions(100, None), waits=False)

    with found.reached() as access:
        end = decommission(access, asked, lambda _: None)
        repeated = decommission(access, asked, lambda _: None)
        is_cordoned = found.configs[4, "105"]["cordoned.log.dirs"] == "*"
        found.brokers[105] = True
        events: list[Event] = []
        again = decommission(access, asked, events.append)

    assert (end.are_gone, end.has_changed, is_cordoned) == (False, True, True)
    assert (repeated.are_gone, repeated.has_changed) == (False, False)
    assert (again.are_gone, again.has_changed) == (True, True)
    assert again.unregistered == frozenset({105})
    assert [event.name for event in events] == ["cordon-kept", "unregistered"]
    assert "only controllers can remove it (-C)" in events[0].text


def test_other_number_of_replicas_than_before_is_refused() -> None:
    found = cluster()

    with found.reached() as access, patch.object(access_module, "_SETTLE_SECONDS", 0.05):
        before = access.settled()
        found.partitions[TopicPartition("t", 0)] = Replicas((101, 103, 102), (101, 103), 101)
        with pytest.raises(RefusedError, match="replicas of t-0 has changed"):
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
        (Limits(), {TopicPartition("t", 0): Move(TopicPartition("t", 0), (), (101, 102))}),
    ],
    ids=["excluded topic", "plan of some"],
)
def test_plan_that_leaves_replicas_behind_is_refused_before_anything_moves(
    limits: Limits, planned: dict[TopicPartition, Move] | None
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


def test_leaving_broker_takes_no_replicas_where_kafka_has_no_cordons() -> None:
    """A rebalance filled a broker again that an interrupted decommission had emptied."""
    found = cluster()

    with found.reached() as access:
        access.begin_operation(Mark(DECOMMISSION, Author("ann", "host", 7, 0), brokers=(103,)))
        takers = access.placement_for_plan().brokers.items()

    assert {broker for broker, place in takers if not place.takes_replicas} == {103}

"""Throttles of reassignments, also of brokers that go down."""

from kraftops.placement.placement import TopicPartition
from kraftops.placement.plan import Move
from kraftops.reassign.marks import MARK_VALUE, Author, Mark
from kraftops.reassign.throttles import Throttle, clear_throttles, find_throttles, set_throttle
from tests.helpers.wire.moving_cluster import MovingCluster

T = TopicPartition("t", 0)
MOVES = [Move(T, (1, 2), (3, 2))]
RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
MARK = Mark("rebalance", Author("ann", "admin-1", 7, 1_763_938_516_000))
KEY = "kraftops.throttle.of.rebalance.by.ann.at.admin-1.pid.7.since.2025-11-23T22:55:16Z"
LEADERS = "leader.replication.throttled.replicas"
FOLLOWERS = "follower.replication.throttled.replicas"


def cluster() -> MovingCluster:
    return MovingCluster(range(1, 5), {T: (1, 2)}, is_old=False)


def test_rates_and_lists_are_set_and_removed() -> None:
    found = cluster()

    with found.reached() as access:
        set_throttle(access, access.placement(), MOVES, Throttle(1000, MARK))
        between = {place: dict(values) for place, values in found.configs.items()}
        ours = find_throttles(access, access.placement())
        assert clear_throttles(access, access.placement())
        assert not clear_throttles(access, access.placement())

    assert between[2, "t"] == {LEADERS: "0:1,0:2", FOLLOWERS: "0:3"}
    rates = {**dict.fromkeys(RATES, "1000"), KEY: MARK_VALUE}
    assert [between.get((4, str(broker)), {}) for broker in range(1, 5)] == [rates] * 3 + [{}]
    assert (ours.ours, ours.others) == (frozenset({1, 2, 3}), [])
    assert [values for values in found.configs.values() if values] == []


def test_broker_that_is_down_has_no_throttle() -> None:
    found = cluster()
    found.brokers[1] = True

    with found.reached() as access:
        set_throttle(access, access.placement(), MOVES, Throttle(1000, MARK))
        between = dict(found.configs[2, "t"])
        clear_throttles(access, access.placement())

    assert between == {LEADERS: "0:2", FOLLOWERS: "0:3"}
    assert [values for values in found.configs.values() if values] == []


def test_throttle_of_a_broker_that_goes_down_is_removed_when_it_is_back() -> None:
    found = cluster()

    with found.reached() as access:
        set_throttle(access, access.placement(), MOVES, Throttle(1000, MARK))
        found.brokers[3] = True
        others = find_throttles(access, access.placement()).others
        clear_throttles(access, access.placement())
        lists = dict(found.configs[2, "t"])
        found.brokers[3] = False
        clear_throttles(access, access.placement())

    assert (others, lists) == ([], {})
    assert [values for values in found.configs.values() if values] == []


def test_entries_of_others_stay() -> None:
    found = cluster()

    with found.reached() as access:
        set_throttle(access, access.placement(), MOVES, Throttle(1000, MARK))
        found.configs[2, "t"][LEADERS] += ",7:4"
        others = find_throttles(access, access.placement()).others
        clear_throttles(access, access.placement())

    assert others == ["topic t"]
    assert found.configs[2, "t"] == {LEADERS: "7:4"}


def test_throttles_of_others_are_removed_when_asked_and_ours_stay() -> None:
    found = cluster()

    with found.reached() as access:
        set_throttle(access, access.placement(), MOVES, Throttle(1000, MARK))
        ours = {place: dict(values) for place, values in found.configs.items()}
        found.configs[2, "t"][LEADERS] += ",7:4"
        found.configs[4, "4"] = {RATES[0]: "9"}
        assert find_throttles(access, access.placement()).others == ["broker 4", "topic t"]
        assert clear_throttles(access, access.placement(), of_others=True)
        assert not clear_throttles(access, access.placement(), of_others=True)

    assert {place: values for place, values in found.configs.items() if values} == ours

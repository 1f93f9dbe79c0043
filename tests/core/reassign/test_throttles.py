"""Throttles of reassignments, also of brokers that go down."""

from kraftops.placement.placement import TopicPartition
from kraftops.placement.plan import Move
from kraftops.reassign.throttles import clear_throttles, find_throttles, set_throttle
from tests.helpers.wire.moving_cluster import MovingCluster

T = TopicPartition("t", 0)
MOVES = [Move(T, (1, 2), (3, 2))]
RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
LEADERS = "leader.replication.throttled.replicas"
FOLLOWERS = "follower.replication.throttled.replicas"


def cluster() -> MovingCluster:
    return MovingCluster(range(1, 5), {T: (1, 2)}, is_old=False)


def test_rates_and_lists_are_set_and_removed() -> None:
    found = cluster()

    with found.reached() as access:
        set_throttle(access, access.placement(), MOVES, 1000)
        between = {place: dict(values) for place, values in found.configs.items()}
        ours = find_throttles(access, access.placement())
        assert clear_throttles(access, access.placement())
        assert not clear_throttles(access, access.placement())

    assert between[2, "t"] == {LEADERS: "0:1,0:2", FOLLOWERS: "0:3"}
    rates = {**dict.fromkeys(RATES, "1000"), "kraftops.throttle": "1000"}
    assert [between.get((4, str(broker)), {}) for broker in range(1, 5)] == [rates] * 3 + [{}]
    assert (ours.ours, ours.others) == (frozenset({1, 2, 3}), [])
    assert [values for values in found.configs.values() if values] == []


def test_broker_that_is_down_has_no_throttle() -> None:
    found = cluster()
    found.brokers[1] = True

    with found.reached() as access:
        set_throttle(access, access.placement(), MOVES, 1000)
        between = dict(found.configs[2, "t"])
        clear_throttles(access, access.placement())

    assert between == {LEADERS: "0:2", FOLLOWERS: "0:3"}
    assert [values for values in found.configs.values() if values] == []


def test_throttle_of_a_broker_that_goes_down_is_removed_when_it_is_back() -> None:
    found = cluster()

    with found.reached() as access:
        set_throttle(access, access.placement(), MOVES, 1000)
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
        set_throttle(access, access.placement(), MOVES, 1000)
        found.configs[2, "t"][LEADERS] += ",7:4"
        others = find_throttles(access, access.placement()).others
        clear_throttles(access, access.placement())

    assert others == ["topic t"]
    assert found.configs[2, "t"] == {LEADERS: "7:4"}

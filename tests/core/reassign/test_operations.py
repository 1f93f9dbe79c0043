"""Operations that are under way, ours and those of others, and their end."""

from types import SimpleNamespace
from typing import Any

import pytest

from kraftops.answers.fields import json_of
from kraftops.errors import KraftopsError
from kraftops.placement.disks import DiskReplica, LogDirectory
from kraftops.placement.placement import Placement, Replicas, TopicPartition
from kraftops.placement.plan import Move
from kraftops.reassign.answer import OPERATION
from kraftops.reassign.copying import CopyState
from kraftops.reassign.marks import (
    DECOMMISSION,
    DRAIN,
    REBALANCE,
    RESTART,
    Author,
    Mark,
    new_author,
)
from kraftops.reassign.moves import MoveOptions, run_moves
from kraftops.reassign.obstacles import Pace, obstacles_of
from kraftops.reassign.operations import Operation, measured, operations_under_way
from kraftops.reassign.steering import cancel_operation, clear_throttles_of, follow_to_end, named
from kraftops.reassign.throttles import Throttle, set_throttle
from tests.helpers.placement import placement
from tests.helpers.wire.moving_cluster import MovingCluster

GONE = Author("ann", new_author().host, (1 << 22) + 1, 1_763_938_516_000)
ELSEWHERE = GONE._replace(host="elsewhere")
RATE = "leader.replication.throttled.rate"
A, B = TopicPartition("t", 0), TopicPartition("t", 1)
FOREVER = 1 << 30
TO_105 = Move(A, (101, 104), (101, 105))


def cluster() -> MovingCluster:
    """Return a cluster of which a reassignment ends only when a test says so."""
    found = MovingCluster(range(101, 106), {A: (101, 104), B: (102, 103)}, is_old=False)
    found.requests_of = dict.fromkeys(found.partitions, FOREVER)
    return found


def under_way(found: MovingCluster) -> dict[str, Operation]:
    with found.reached() as access:
        operations = operations_under_way(access, access.placement())
    return {operation.name: operation for operation in operations}


def test_nothing_is_under_way() -> None:
    assert under_way(cluster()) == {}


def test_a_restart_has_the_nodes_that_are_left() -> None:
    found = cluster()
    mark = Mark(RESTART, GONE, brokers=(1, 104), partitions=5)
    found.configs[4, ""] = {mark.key: ""}

    operation = under_way(found)["restart"]

    assert (operation.brokers, operation.done, operation.waiting) == ((1, 104), 3, 2)
    assert operation.state == "left-over"


def test_a_restart_has_no_bytes_and_no_rate() -> None:
    found = cluster()
    found.configs[4, ""] = {Mark(RESTART, GONE, brokers=(1, 104), partitions=5).key: ""}

    with found.reached() as access:
        now = access.placement()
        (restart,) = measured(access, now, operations_under_way(access, now), 0)

    assert restart.amounts is None


def test_decommission_is_told_from_a_reassignment_of_another() -> None:
    found = cluster()
    mark = Mark(DECOMMISSION, ELSEWHERE, brokers=(104,), partitions=7)
    found.configs[4, ""] = {mark.key: ""}
    found.partitions[A] = Replicas((101, 105, 104), (101, 104), 101, (105,), (104,))
    found.partitions[B] = Replicas((102, 105, 103), (102, 103), 102, (105,), (103,))

    operations = under_way(found)

    assert {*operations} == {"decommission-104", "reassignments"}
    ours = operations["decommission-104"]
    assert ([*ours.moving], ours.done, ours.waiting, ours.is_ours) == ([A], 6, 0, True)
    assert (ours.author, ours.state, ours.is_running) == (ELSEWHERE, "moving", None)
    other = operations["reassignments"]
    assert ([*other.moving], other.author, other.is_ours) == ([B], None, False)


def test_a_decommission_that_has_emptied_its_broker_waits_for_its_stop() -> None:
    """As after --no-wait: nothing is left over."""
    found = cluster()
    mark = Mark(DECOMMISSION, GONE, brokers=(104,), partitions=7)
    found.configs[4, ""] = {mark.key: ""}
    for partition, replicas in found.partitions.items():
        kept = tuple(broker for broker in replicas.replicas if broker != 104)
        found.partitions[partition] = replicas._replace(replicas=kept, isr=kept)

    operation = under_way(found)["decommission-104"]

    assert (operation.waiting, operation.state) == (0, "waiting")


def test_reassignments_beside_a_rebalance_are_taken_for_its_own() -> None:
    found = cluster()
    found.configs[4, ""] = {Mark(REBALANCE, GONE, partitions=2).key: ""}
    found.partitions[A] = Replicas((101, 105, 104), (101, 104), 101, (105,), (104,))

    (rebalance,) = under_way(found).values()

    assert ([*rebalance.moving], rebalance.is_running, rebalance.done) == ([A], False, None)


@pytest.mark.parametrize(
    ("author", "kind", "state"),
    [
        (GONE, REBALANCE, "left-over"),
        (ELSEWHERE, REBALANCE, "waiting"),
        (new_author(), REBALANCE, "waiting"),
        (GONE, DRAIN, "in-force"),
    ],
)
def test_leftover_of_a_killed_run_is_told_from_one_that_works(
    author: Author, kind: str, state: str
) -> None:
    found = cluster()
    found.configs[4, ""] = {Mark(kind, author).key: ""}

    (operation,) = under_way(found).values()

    assert operation.state == state


def test_throttles_and_cordons_of_others_are_shown_beside_ours() -> None:
    found = cluster()
    mark = Mark(REBALANCE, GONE)
    with found.reached() as access:
        set_throttle(access, access.placement(), [TO_105], Throttle(1000, mark))
    found.configs[4, "103"] = {RATE: "9", "cordoned.log.dirs": "*"}
    found.configs[2, "t"]["follower.replication.throttled.replicas"] += ",1:103"

    operations = under_way(found)

    assert {name: (each.throttle, each.throttled) for name, each in operations.items()} == {
        "rebalance": (1000, (101, 104, 105)),
        "throttles": (9, (103,)),
        "cordon-103": (None, ()),
    }
    assert operations["throttles"].throttled_topics == ("t",)
    assert operations["throttles"].state == "left-over"
    assert operations["rebalance"].state == "left-over"
    assert operations["cordon-103"].state == "in-force"


def test_amounts_have_rate_and_time_left() -> None:
    found = cluster()
    found.configs[4, ""] = {Mark(DECOMMISSION, GONE, brokers=(104,), partitions=1).key: ""}
    found.partitions[A] = Replicas((101, 105, 104), (101, 104), 101, (105,), (104,))
    found.sizes, found.requests_of = {A: 10**6}, {A: 200}

    with found.reached() as access:
        now = access.placement()
        operations = measured(access, now, operations_under_way(access, now), 0)

    (operation,) = operations
    assert operation.amounts
    assert 0 < operation.amounts.copied < 10**6
    assert operation.amounts.copied + operation.amounts.left == 10**6
    assert operation.amounts.rate > 0
    assert operation.amounts.seconds_left is not None
    assert json_of(OPERATION, operation)["bytesLeft"] == operation.amounts.left


def test_amounts_of_a_rebalance_are_those_that_its_author_noted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only the author has the plan, and its run ends while the second of two is copied."""
    monkeypatch.setattr("kraftops.reassign.moves._NOTE_SECONDS", 0)
    found = cluster()
    found.sizes, found.requests_of = {A: 3000, B: 1000}, {A: 10, B: FOREVER}
    moves = [TO_105, Move(B, (102, 103), (102, 105))]

    def left(now: Placement) -> list[Move]:
        return [
            move
            for move in moves
            if not now.partitions[move.partition].is_moving
            and now.partitions[move.partition].target == move.before
        ]

    with found.reached() as access, pytest.raises(KraftopsError, match="nothing has moved"):
        run_moves(access, MoveOptions(1, None, 0.5), lambda _: None, left, REBALANCE)
    with found.reached() as access:
        now = access.placement()
        (rebalance,) = measured(access, now, operations_under_way(access, now), 0)

    assert (rebalance.total, rebalance.size, rebalance.done) == (2, 4000, 1)
    assert (len(rebalance.moving), rebalance.waiting) == (1, 0)
    assert rebalance.amounts
    assert rebalance.amounts.done == 4000 - rebalance.amounts.left >= 3000


def test_cancel_ends_what_is_in_flight_and_removes_all_of_it() -> None:
    found = cluster()
    before = dict(found.partitions)
    mark = Mark(REBALANCE, GONE)
    found.configs[4, ""] = {mark.key: ""}
    with found.reached() as access:
        set_throttle(access, access.placement(), [TO_105], Throttle(1000, mark))
        found._reassign(A, [101, 105])
        now = access.placement()
        (operation,) = named(operations_under_way(access, now), ["rebalance"])
        cancelled = cancel_operation(access, operation)

    assert cancelled[1:] == ([A], {})
    assert found.partitions == before
    assert [values for values in found.configs.values() if values] == []


def test_partition_that_kafka_does_not_cancel_is_named_and_the_mark_stays() -> None:
    found = cluster()
    mark = Mark(REBALANCE, GONE)
    found.configs[4, ""] = {mark.key: ""}
    found._reassign(A, [101, 105])
    found._reassign(B, [102, 105])
    alter = found._alter_partition_reassignments

    def refuse_b(broker: int, *, topics: list[Any], **values: Any) -> SimpleNamespace:
        alter(broker, topics=[{"name": "t", "partitions": topics[0]["partitions"][:1]}], **values)
        refusal = SimpleNamespace(partition_index=1, error_code=38, error_message="no")
        topic = SimpleNamespace(name="t", partitions=[refusal])
        return SimpleNamespace(error_code=0, responses=[topic])

    found._alter_partition_reassignments = refuse_b  # type: ignore[method-assign,assignment]
    with found.reached() as access:
        (operation,) = operations_under_way(access, access.placement())
        cancelled = cancel_operation(access, operation)

    assert cancelled.cancelled == [A]
    assert {partition: each.code for partition, each in cancelled.refused.items()} == {B: 38}
    assert [*found.configs[4, ""]] == [mark.key]


def test_throttles_of_others_are_removed_by_name() -> None:
    found = cluster()
    found.configs[4, "103"] = {RATE: "9"}

    with found.reached() as access:
        (operation,) = operations_under_way(access, access.placement())
        assert clear_throttles_of(access, operation)

    assert found.configs[4, "103"] == {}


def test_other_names_are_not_found() -> None:
    with pytest.raises(KraftopsError, match="'rebalanc' is not under way") as raised:
        named([Operation(REBALANCE)], ["rebalanc"])

    assert (raised.value.hint, raised.value.exit_code) == ("under way: rebalance", 4)


def test_reassignments_of_others_are_followed_to_their_end() -> None:
    found = cluster()
    found._reassign(A, [101, 105])
    found.requests_of = {A: 100}
    events: list[str] = []

    with found.reached() as access:
        (operation,) = operations_under_way(access, access.placement())
        options = MoveOptions(100, None)
        follow_to_end(access, operation, options, lambda event: events.append(event.name))

    assert found.partitions[A].replicas == (101, 105)
    assert {*events} == {"progress"}


def test_run_that_stalls_says_why_and_leaves_the_cluster_as_it_is() -> None:
    found = cluster()
    found.brokers[103] = False
    options = MoveOptions(100, 1000, stall_seconds=0.2)

    def left(now: Placement) -> list[Move]:
        replicas = now.partitions[A]
        return [] if replicas.is_moving or replicas.target == TO_105.after else [TO_105]

    def report(event: Any) -> None:
        if event.name == "batch":
            found.brokers[105] = True

    with found.reached() as access, pytest.raises(KraftopsError) as raised:
        run_moves(access, options, report, left, REBALANCE)

    assert raised.value.exit_code == 5
    assert "broker 105, which gets replicas, is down" in raised.value.message
    (obstacle,) = raised.value.known["obstacles"]  # type: ignore[misc,attr-defined]
    assert obstacle["code"] == "target-down"
    (operation,) = under_way(found).values()
    assert (operation.name, [*operation.moving], operation.throttle) == ("rebalance", [A], 1000)


def directory(path: str = "/d", *, failed: bool = False, usable: int = 1 << 40) -> LogDirectory:
    replicas = {} if failed else {A: DiskReplica(10)}
    return LogDirectory(path, replicas, usable=usable, is_failed=failed)


@pytest.mark.parametrize(
    ("leader", "is_down", "directories", "throttle", "expected"),
    [
        (-1, False, [directory()], None, ("no-leader", "no leader to copy from")),
        (1, True, [], None, ("target-down", "broker 3, which gets replicas, is down")),
        (
            1, False, [LogDirectory("/e", usable=9), directory("/f", failed=True)], None,
            ("directory-failed", "on broker 3, /f has failed"),
        ),
        (1, False, [directory(usable=5)], None, ("directory-full", "/d has room for 5 B")),
        (1, False, [directory()], 50, ("throttle-too-low", "may copy 50 B a second")),
        (1, False, [directory()], None, ("no-bytes", "broker 3 has got no bytes for 10 s")),
    ],
)  # fmt: skip
def test_cause_is_named(
    leader: int,
    is_down: bool,
    directories: list[LogDirectory],
    throttle: int | None,
    expected: tuple[str, str],
) -> None:
    now = placement(dict.fromkeys(range(1, 4), None), [(1, 2)])
    if is_down:
        now.brokers[3] = now.brokers[3]._replace(is_fenced=True)
    moving = {A: Replicas((1, 3, 2), (1, 2), leader, (3,), (2,))}
    older = CopyState(0.0, {(A, 3): 10}, {A: 1000})
    written = 600 if throttle else 0
    newer = CopyState(10.0, {(A, 3): 10}, {A: 1000 + written}, {3: directories})
    throttles = {3: throttle} if throttle else {}

    (obstacle,) = obstacles_of(now, moving, Pace(older, newer, 10.0, throttles))

    assert obstacle.code == expected[0]
    assert expected[1] in obstacle.text
    assert obstacle.partitions == (A,)

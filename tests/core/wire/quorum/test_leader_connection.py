"""The connection to the leader moves with the leadership."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kraftops.errors import WireError
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Bootstrap
from kraftops.wire.quorum.fetch import FetchPosition, SnapshotId
from kraftops.wire.quorum.leader_connection import LeaderConnection
from kraftops.wire.rpc.endpoints import Endpoints
from tests.helpers.wire.quorums import Controllers, Log, batch, quorum

SETTINGS = Settings(timeout=10.0, connect_timeout=1.0)
START = FetchPosition(0, 0)


@contextmanager
def leader_of(
    log: Log, *nodes: int, notes: list[str] | None = None
) -> Iterator[tuple[Controllers, LeaderConnection]]:
    with quorum(log, *nodes) as controllers:
        known = [Bootstrap(controllers.address(node)) for node in controllers.peers]
        note = ([] if notes is None else notes).append
        leader = LeaderConnection(Endpoints(known, SETTINGS), note)
        try:
            yield controllers, leader
        finally:
            leader.close()


def filled() -> Log:
    log = Log()
    log.append(1)
    return log


def test_nothing_is_connected_before_the_first_request() -> None:
    log = filled()
    with leader_of(log) as (controllers, leader):
        assert (leader.endpoint, leader.leader, log.asked) == (None, -1, [])

        assert leader.fetch(START).records == batch(0)

        assert leader.endpoint == controllers.address(1)
        assert (leader.leader, leader.epoch) == (1, 1)


def test_log_is_read_on_from_another_leader() -> None:
    log = filled()
    with leader_of(log, 1, 2) as (controllers, leader):
        leader.fetch(START)
        log.leader, log.epoch = 2, 2

        assert leader.fetch(START).records == batch(0)

        assert leader.endpoint == controllers.address(2)
        assert (leader.leader, leader.epoch) == (2, 2)


def test_lost_leader_is_noted() -> None:
    log, notes = filled(), list[str]()
    with leader_of(log, 1, 2, notes=notes) as (controllers, leader):
        leader.fetch(START)
        gone = controllers.address(1)
        controllers.kill(1)
        log.leader, log.epoch = 2, 2

        assert leader.fetch(START).records == batch(0)

    assert len(notes) == 1
    assert notes[0].startswith(f"{gone}: ")
    assert notes[0].endswith("; looking for who leads")


def test_other_errors_of_the_log_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    with leader_of(filled()) as (controllers, leader):
        leader.connect(START)
        found = controllers._found
        monkeypatch.setattr(
            controllers, "_found", lambda *asked: {**found(*asked), "error_code": 56}
        )

        with pytest.raises(WireError, match=f"^{controllers.address(1)}: "):
            leader.fetch(START)


class TestSnapshotChunks:
    def test_parts_together_are_the_snapshot(self) -> None:
        log = filled()
        taken = log.snapshot(drop=False)
        with leader_of(log) as (_, leader):
            parts = list(leader.snapshot_chunks(taken, START))

        assert all(parts)
        starts = [part[0] for part in parts if part]
        data = [part[1] for part in parts if part]
        assert b"".join(data) == log.snapshots[taken]
        assert starts == [50 * number for number in range(len(parts))]
        assert len(parts) > 2

    def test_snapshot_that_is_gone_ends_with_none(self) -> None:
        log = filled()
        taken = log.snapshot(drop=False)
        with leader_of(log) as (_, leader):
            parts = leader.snapshot_chunks(taken, START)
            next(parts)
            log.snapshots.clear()

            assert list(parts)[-1] is None

    def test_unknown_snapshot_is_none_at_once(self) -> None:
        with leader_of(filled()) as (_, leader):
            assert list(leader.snapshot_chunks(SnapshotId(9, 9), START)) == [None]

    def test_lost_leader_ends_the_parts(self) -> None:
        log = filled()
        taken = log.snapshot(drop=False)
        with leader_of(log) as (controllers, leader):
            parts = leader.snapshot_chunks(taken, START)
            next(parts)
            controllers.kill(1)

            assert list(parts)[-1] is None
            assert leader.endpoint is None

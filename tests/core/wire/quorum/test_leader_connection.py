"""The connection to the leader moves with the leadership."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from kraftops.errors import WireError
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Bootstrap
from kraftops.wire.quorum.fetch import FetchPosition, SnapshotId
from kraftops.wire.quorum.leader_connection import LeaderConnection
from kraftops.wire.quorum.live_log import LiveLog
from kraftops.wire.rpc.endpoints import Endpoints
from tests.helpers.wire.live_logs import filled, in_short, live
from tests.helpers.wire.peers import Peer, broker, silent
from tests.helpers.wire.quorums import Controllers, Log, batch, quorum

SETTINGS = Settings(timeout=10.0, connect_timeout=1.0)
START = FetchPosition(0, 0)
HASTY = Settings(timeout=2.0, connect_timeout=0.3)
PATIENT = Settings(timeout=30.0, connect_timeout=15.0)
"""For controllers that answer: on a busy machine this takes its time."""


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


def test_nothing_is_connected_before_the_first_request() -> None:
    log = filled(1)
    with leader_of(log) as (controllers, leader):
        assert (leader.endpoint, leader.leader, log.asked) == (None, -1, [])

        assert leader.fetch(START).records == batch(0)

        assert leader.endpoint == controllers.address(1)
        assert (leader.leader, leader.epoch) == (1, 1)


def test_log_is_read_on_from_another_leader() -> None:
    log = filled(1)
    with leader_of(log, 1, 2) as (controllers, leader):
        leader.fetch(START)
        log.leader, log.epoch = 2, 2

        assert leader.fetch(START).records == batch(0)

        assert leader.endpoint == controllers.address(2)
        assert (leader.leader, leader.epoch) == (2, 2)


def test_lost_leader_is_noted() -> None:
    log, notes = filled(1), list[str]()
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
    with leader_of(filled(1)) as (controllers, leader):
        leader.connect(START)
        found = controllers._found
        monkeypatch.setattr(
            controllers, "_found", lambda *asked: {**found(*asked), "error_code": 56}
        )

        with pytest.raises(WireError, match=f"^{controllers.address(1)}: "):
            leader.fetch(START)


class TestSnapshotChunks:
    def test_parts_together_are_the_snapshot(self) -> None:
        log = filled(1)
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
        log = filled(1)
        taken = log.snapshot(drop=False)
        with leader_of(log) as (_, leader):
            parts = leader.snapshot_chunks(taken, START)
            next(parts)
            log.snapshots.clear()

            assert list(parts)[-1] is None

    def test_unknown_snapshot_is_none_at_once(self) -> None:
        with leader_of(filled(1)) as (_, leader):
            assert list(leader.snapshot_chunks(SnapshotId(9, 9), START)) == [None]

    def test_lost_leader_ends_the_parts(self) -> None:
        log = filled(1)
        taken = log.snapshot(drop=False)
        with leader_of(log) as (controllers, leader):
            parts = leader.snapshot_chunks(taken, START)
            next(parts)
            controllers.kill(1)

            assert list(parts)[-1] is None
            assert leader.endpoint is None


def test_leader_is_named_by_another_controller() -> None:
    state = filled(1)
    state.leader, state.epoch = 3, 7
    with quorum(state, 1, 2, 3) as controllers, live(controllers, 1, settings=PATIENT) as log:
        assert in_short(log.read()) == ["begin", "+0", "end 1"]
        assert log.endpoint == controllers.address(3)


def test_leader_without_an_address_is_found_among_the_known_controllers() -> None:
    state = filled(1)
    state.leader = 3
    with quorum(state, 1, 2, 3) as controllers, live(controllers, settings=PATIENT) as log:
        controllers.hidden = True

        assert in_short(log.read()) == ["begin", "+0", "end 1"]


def test_leader_is_found_by_the_node_id_of_its_address() -> None:
    state = filled(1)
    state.leader = 2
    with quorum(state, 1, 2) as controllers:
        controllers.hidden = True
        known = [Bootstrap(controllers.address(node), node) for node in (1, 2)]

        with LiveLog(Endpoints(known, PATIENT)) as log:
            assert in_short(log.read())[-1] == "end 1"


@pytest.mark.parametrize("is_mute", [True, False])
def test_named_leader_that_does_not_answer_is_skipped(is_mute: bool) -> None:
    """The others are asked again, until they have elected another."""
    state = filled(1)
    state.leader = 3
    with quorum(state, 1, 2, 3) as controllers:
        gone = controllers.address(3)
        if is_mute:
            controllers.mute.add(3)
        else:
            controllers.kill(3)

        def elect(_: float) -> None:
            state.leader, state.epoch = 2, 2

        with (
            live(controllers, 1, 2, settings=replace(HASTY, timeout=10.0)) as log,
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setattr(
                "kraftops.wire.quorum.leader_connection.time", SimpleNamespace(sleep=elect)
            )
            assert in_short(log.read())[-1] == "end 1"
            assert log.endpoint == controllers.address(2) != gone


def test_quorum_without_a_leader_is_an_error() -> None:
    state = filled(1)
    state.leader = -1
    start = time.monotonic()
    settings = replace(HASTY, timeout=4.0)  # both answer within it on a busy machine, too
    with (
        quorum(state, 1, 2) as controllers,
        live(controllers, settings=settings) as log,
        pytest.raises(WireError, match=r"^the quorum has no leader: 2 of 2 controllers answer$"),
    ):
        in_short(log.read())

    assert time.monotonic() - start < 60


def test_controller_that_answers_no_more_counts_in_a_quorum_without_a_leader() -> None:
    """The deadline often cuts the last round short."""
    state = filled(1)
    state.leader = -1
    with (
        quorum(state, 1, 2) as controllers,
        live(controllers, settings=replace(HASTY, timeout=4.0)) as log,
        pytest.MonkeyPatch.context() as patch,
    ):
        mute_second = SimpleNamespace(sleep=lambda _: controllers.mute.add(2))
        patch.setattr("kraftops.wire.quorum.leader_connection.time", mute_second)
        with pytest.raises(WireError, match=r"has no leader: 2 of 2 controllers answer$"):
            in_short(log.read())


def test_broker_is_refused() -> None:
    with (
        Peer(broker) as peer,
        LiveLog(Endpoints([Bootstrap(peer.address)], HASTY)) as log,
        pytest.raises(WireError, match="a broker answers there, not a controller"),
    ):
        in_short(log.read())


def test_silent_controller_is_given_up() -> None:
    start = time.monotonic()
    with (
        Peer(silent) as peer,
        LiveLog(Endpoints([Bootstrap(peer.address)], HASTY)) as log,
        pytest.raises(WireError, match="gives no answer"),
    ):
        in_short(log.read())

    assert time.monotonic() - start < 60

"""The metadata log of fake controllers, with cases that are rare in real clusters."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kraftops.errors import AnswerError, WireError
from kraftops.wire.quorum.fetch import SnapshotId
from kraftops.wire.quorum.live_log import LiveBatch, LiveLog
from tests.helpers.wire.live_logs import filled, in_short, live
from tests.helpers.wire.quorums import Controllers, Log, quorum


def test_log_is_read_from_its_beginning() -> None:
    with quorum(filled(1, 2, 1)) as controllers, live(controllers) as log:
        assert in_short(log.read()) == ["begin", "+0", "+1", "+2", "+3", "end 4"]
        assert log.endpoint == controllers.address(1)
        assert log.offset == 4


def test_empty_log_is_read() -> None:
    with quorum(Log()) as controllers, live(controllers) as log:
        assert in_short(log.read()) == ["begin", "end 0"]


@pytest.mark.parametrize("drop", [True, False])
@pytest.mark.parametrize("is_older", [True, False])
def test_newest_snapshot_comes_first(drop: bool, is_older: bool) -> None:
    """Also if the log still has its first offset."""
    state = filled(2, 2)
    state.is_older = is_older
    state.snapshot(drop=drop)
    state.append()
    with quorum(state) as controllers, live(controllers) as log:
        assert in_short(log.read()) == [
            f"begin {4:020}-{1:010}", *(f"=s{n}" for n in range(7)), "+4", "end 5",
        ]  # fmt: skip
        assert log.snapshot == SnapshotId(4, 1)


def test_positions_of_a_snapshot_are_those_of_its_file() -> None:
    state = filled(1)
    state.snapshot(drop=True)
    with quorum(state) as controllers, live(controllers) as log:
        batches = [each.batch for each in log.read() if isinstance(each, LiveBatch)]

    whole = state.snapshots[SnapshotId(1, 1)]
    assert [each.position for each in batches] == [0, batches[0].size]
    assert b"".join(each.data for each in batches) == whole


def test_uncommitted_records_are_not_read() -> None:
    state = filled(2)
    state.append(3, commit=False)
    with quorum(state) as controllers, live(controllers) as log:
        assert in_short(log.read()) == ["begin", "+0", "+1", "end 2"]


# Following


class Followed:
    """A log that is followed; `until` reads on to the next time that it is caught up."""

    def __init__(self, log: LiveLog) -> None:
        self._events = log.read(follow=True)

    def until(self, wanted: str) -> list[str]:
        found: list[str] = []
        for event in self._events:
            found += in_short(iter([event]))
            if found[-1] == wanted:
                return [each for each in found if not each.startswith("end")]
            assert len(found) < 1000
        raise AssertionError(found)


@contextmanager
def followed(state: Log, *nodes: int) -> Iterator[tuple[Controllers, Followed, list[str]]]:
    notes: list[str] = []
    with quorum(state, *nodes) as controllers, live(controllers, notes=notes) as log:
        yield controllers, Followed(log), notes


def test_followed_log_yields_new_records() -> None:
    state = filled(1)
    with followed(state) as (_, log, _):
        assert log.until("end 1") == ["begin", "+0"]
        state.append(2)
        assert log.until("end 3") == ["+1", "+2"]
        state.append(commit=False)
        state.append()
        assert log.until("end 5") == ["+3", "+4"]


def test_leader_changes_while_it_is_followed() -> None:
    state = filled(1)
    with followed(state, 1, 2, 3) as (controllers, log, _):
        log.until("end 1")
        state.leader, state.epoch = 2, 2
        state.append()
        assert log.until("end 2") == ["+1"]
        controllers.kill(2)
        state.leader, state.epoch = 3, 3
        state.append()
        assert log.until("end 3") == ["+2"]


def test_connection_breaks_while_it_is_followed() -> None:
    state = filled(1)
    with followed(state) as (controllers, log, notes):
        log.until("end 1")
        peer = controllers.peers[1]
        for connection in peer._open:
            connection.close()
        for connection in peer._open:
            assert connection.fileno() == -1
        state.append()
        assert log.until("end 2") == ["+1"]
        assert notes == [] or "looking for who leads" in notes[0]


def test_reader_starts_again_at_a_newer_snapshot() -> None:
    state = filled(1)
    with followed(state) as (_, log, notes):
        log.until("end 1")
        state.append(4)
        state.snapshot(drop=True)
        state.append()

        expected = [f"begin {5:020}-{1:010}", *(f"=s{n}" for n in range(7)), "+5"]
        assert log.until("end 6") == expected
        assert "the log from offset 1 on is gone" in notes[0]


def test_snapshot_that_is_deleted_while_it_is_read_is_replaced() -> None:
    state = filled(2)
    state.snapshot(drop=True)
    first = True

    def move() -> None:
        nonlocal first
        if first:
            first = False
            state.append(2)
            state.snapshots.clear()
            state.snapshot(drop=True)

    with quorum(state) as controllers, live(controllers) as log:
        found = []
        for event in log.read():
            found += in_short(iter([event]))
            if isinstance(event, LiveBatch):
                move()

    begins = [at for at, each in enumerate(found) if each.startswith("begin")]
    assert len(begins) == 2
    assert found[begins[1] :] == [
        f"begin {4:020}-{1:010}", *(f"=s{n}" for n in range(7)), "end 4",
    ]  # fmt: skip


def test_diverging_log_is_read_anew() -> None:
    """As after a quorum that lost its disks."""
    state = filled(1, 1, 1)
    with followed(state) as (_, log, notes):
        log.until("end 3")
        state.batches = []
        state.high_watermark = 0
        state.append()

        assert log.until("end 1") == ["begin", "+0"]
        assert "another history" in notes[0]


# Hostile answers


def failing(change: Callable[[Controllers], None]) -> str:
    state = filled(1, 1)
    state.snapshot(drop=True)
    state.append()
    with quorum(state) as controllers:
        change(controllers)
        with live(controllers) as log, pytest.raises(WireError) as failed:
            in_short(log.read())
        assert str(controllers.address(1)) in failed.value.message
    return failed.value.message


def test_batch_of_an_impossible_size() -> None:
    def change(controllers: Controllers) -> None:
        base, behind, epoch, data = controllers.log.batches[-1]
        controllers.log.batches[-1] = (base, behind, epoch, data[:8] + b"\x7f" + data[9:])

    assert "a batch of" in failing(change)


def test_snapshot_that_ends_within_a_batch() -> None:
    def change(controllers: Controllers) -> None:
        for key, data in controllers.log.snapshots.items():
            controllers.log.snapshots[key] = data[:-3]

    assert "ends within a batch" in failing(change)


def test_snapshot_without_bytes() -> None:
    def change(controllers: Controllers) -> None:
        controllers.most_snapshot = 0

    assert "0 bytes from 0 of a snapshot" in failing(change)


def test_refusal_names_the_missing_permission() -> None:
    state = filled(1)
    with quorum(state) as controllers, pytest.MonkeyPatch.context() as patch:
        from tests.helpers.wire.peers import answer

        patch.setattr(
            Controllers,
            "_fetched",
            lambda _, __, version, correlation, ___: answer(
                "Fetch", version, correlation, error_code=31, responses=[]
            ),
        )
        with (
            live(controllers) as log,
            pytest.raises(AnswerError, match="not permitted: it needs CLUSTER_ACTION"),
        ):
            in_short(log.read())

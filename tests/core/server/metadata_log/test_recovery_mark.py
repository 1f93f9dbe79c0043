"""A recovery is told from an election by the first batch of its epoch."""

from pathlib import Path

from kraftops.server.metadata_log.batch_comparison import SoundBatches
from kraftops.server.metadata_log.log import read_partition
from kraftops.server.metadata_log.recovery_mark import RecoveryMark, RecoveryMarks
from tests.helpers.logs.metadata_logs import no_ops, snapshot_bytes, voters_batch, write_log
from tests.helpers.nodes.lost_quorums import BEGINNING, VOTERS


def mark(folder: Path, start: int, *batches: bytes, epoch: int = 0) -> RecoveryMark | None:
    snapshots = {(start, epoch): snapshot_bytes(*BEGINNING, end=5)} if start else {}
    log = read_partition(str(write_log(folder, {start: [*batches]}, snapshots)))
    marks = RecoveryMarks(log.latest_snapshot)
    for _ in SoundBatches(log.segments).marks(marks.observe):
        pass
    return marks.newest


def test_epoch_that_begins_with_voters_is_a_recovery(tmp_path: Path) -> None:
    found = mark(tmp_path, 0, *BEGINNING, voters_batch(5, VOTERS[0], epoch=2))

    assert found
    assert (found.offset, found.epoch) == (5, 2)
    assert [voter.node_id for voter in found.voters] == [1]


def test_voters_that_a_leader_writes_are_none(tmp_path: Path) -> None:
    batches = [no_ops(5, 1, epoch=2), voters_batch(6, VOTERS[0], epoch=2)]

    assert mark(tmp_path, 0, *BEGINNING, *batches) is None


def test_recovered_quorum_that_has_changed_its_voters_keeps_the_mark(tmp_path: Path) -> None:
    recovery = voters_batch(5, VOTERS[0], epoch=2)
    moved = voters_batch(6, VOTERS[0], epoch=2, host="elsewhere")
    joined = voters_batch(7, *VOTERS[:2], epoch=2)

    same = mark(tmp_path / "moved", 0, *BEGINNING, recovery, moved)
    superseded = mark(tmp_path / "joined", 0, *BEGINNING, recovery, moved, joined)

    assert same
    assert superseded
    assert (same.is_superseded, superseded.is_superseded) == (False, True)
    assert superseded.offset == same.offset == 5


def test_recovery_right_behind_a_snapshot(tmp_path: Path) -> None:
    found = mark(tmp_path, 100, voters_batch(100, VOTERS[0], epoch=7), epoch=6)

    assert found
    assert found.offset == 100


def test_first_batch_of_a_log_that_begins_later_tells_nothing(tmp_path: Path) -> None:
    assert mark(tmp_path, 90, voters_batch(95, VOTERS[0], epoch=7), epoch=6) is None

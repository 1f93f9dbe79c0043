"""Sound batches of a log, and the batches that two logs have in common."""

from pathlib import Path

from kraftops.server.metadata_log.batch_comparison import SoundBatches, common_prefix
from kraftops.server.metadata_log.files import Segment
from kraftops.server.metadata_log.log import read_partition
from tests.helpers.logs.metadata_logs import no_ops, write_log


def segments(folder: Path, **batches: list[bytes]) -> tuple[Segment, ...]:
    path = write_log(folder, {int(name[1:]): found for name, found in batches.items()})
    return read_partition(str(path)).segments


def read_batches(found: tuple[Segment, ...]) -> SoundBatches:
    batches = SoundBatches(found)
    for _ in batches:
        pass
    return batches


def test_whole_log_has_no_tail(tmp_path: Path) -> None:
    assert (
        read_batches(segments(tmp_path, s0=[no_ops(0, 2)], s2=[no_ops(2, 3)], s5=[])).tail is None
    )


def test_torn_batch_is_a_tail_without_batches(tmp_path: Path) -> None:
    tail = read_batches(segments(tmp_path, s0=[no_ops(0, 2), no_ops(2, 1)[:-1]])).tail

    assert tail
    assert (tail.segment, tail.position, tail.batches) == (0, len(no_ops(0, 2)), 0)


def test_batches_behind_damage_are_counted_with_their_epoch(tmp_path: Path) -> None:
    damaged = bytearray(no_ops(2, 1))
    damaged[70] ^= 1
    rest = [no_ops(0, 2), bytes(damaged), no_ops(3, 1, epoch=4)]

    tail = read_batches(segments(tmp_path, s0=rest, s4=[no_ops(4, 1, epoch=9)])).tail

    assert tail
    assert (tail.batches, tail.epoch) == (2, 9)


def test_zeros_at_the_end_are_a_tail(tmp_path: Path) -> None:
    tail = read_batches(segments(tmp_path, s0=[no_ops(0, 2), bytes(100)])).tail

    assert tail
    assert tail.rest == 100


def test_offsets_that_go_back_are_damage(tmp_path: Path) -> None:
    tail = read_batches(segments(tmp_path, s0=[no_ops(0, 5), no_ops(3, 1)])).tail

    assert tail
    assert tail.batches == 1


def test_prefix_ends_with_the_shorter_log(tmp_path: Path) -> None:
    one = segments(tmp_path / "a", s0=[no_ops(0, 2), no_ops(2, 3)])
    other = segments(tmp_path / "b", s0=[no_ops(0, 2)], s2=[no_ops(2, 3), no_ops(5, 1)])

    found = common_prefix(one, other)

    assert found.offset == 5
    assert found.right
    assert (found.right.segment, found.is_unrelated) == (1, False)


def test_prefix_ends_where_an_epoch_differs(tmp_path: Path) -> None:
    one = segments(tmp_path / "a", s0=[no_ops(0, 2), no_ops(2, 3)])
    other = segments(tmp_path / "b", s0=[no_ops(0, 2), no_ops(2, 3, epoch=2)])

    assert common_prefix(one, other).offset == 2


def test_log_that_begins_later_is_compared_from_there(tmp_path: Path) -> None:
    one = segments(tmp_path / "a", s0=[no_ops(0, 2), no_ops(2, 3)])
    other = segments(tmp_path / "b", s2=[no_ops(2, 3), no_ops(5, 1)])

    assert common_prefix(one, other).offset == common_prefix(other, one).offset == 5


def test_logs_of_two_clusters_are_unrelated(tmp_path: Path) -> None:
    one = segments(tmp_path / "a", s0=[no_ops(0, 2)])
    other = segments(tmp_path / "b", s0=[no_ops(0, 3)])

    assert common_prefix(one, other).is_unrelated

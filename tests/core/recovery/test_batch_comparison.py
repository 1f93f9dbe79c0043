"""Where the sound batches of a log end, and where two logs part."""

from pathlib import Path

from kraftops.recovery.walk import Walk, agreement
from kraftops.storage.logdirs.log_recovery import Segment
from kraftops.storage.logdirs.metadata_log import read_partition
from tests.helpers.logs.metadata_logs import no_ops, write_log


def segments(folder: Path, **batches: list[bytes]) -> tuple[Segment, ...]:
    path = write_log(folder, {int(name[1:]): found for name, found in batches.items()})
    return read_partition(str(path)).segments


def walked(found: tuple[Segment, ...]) -> Walk:
    walk = Walk(found)
    for _ in walk:
        pass
    return walk


def test_whole_log_has_no_tail(tmp_path: Path) -> None:
    assert walked(segments(tmp_path, s0=[no_ops(0, 2)], s2=[no_ops(2, 3)], s5=[])).tail is None


def test_torn_batch_is_a_tail_without_batches(tmp_path: Path) -> None:
    tail = walked(segments(tmp_path, s0=[no_ops(0, 2), no_ops(2, 1)[:-1]])).tail

    assert tail
    assert (tail.segment, tail.position, tail.batches) == (0, len(no_ops(0, 2)), 0)


def test_batches_behind_damage_are_counted_with_their_epoch(tmp_path: Path) -> None:
    damaged = bytearray(no_ops(2, 1))
    damaged[70] ^= 1
    rest = [no_ops(0, 2), bytes(damaged), no_ops(3, 1, epoch=4)]

    tail = walked(segments(tmp_path, s0=rest, s4=[no_ops(4, 1, epoch=9)])).tail

    assert tail
    assert (tail.batches, tail.epoch) == (2, 9)


def test_zeros_at_the_end_are_a_tail(tmp_path: Path) -> None:
    tail = walked(segments(tmp_path, s0=[no_ops(0, 2), bytes(100)])).tail

    assert tail
    assert tail.rest == 100


def test_offsets_that_go_back_are_damage(tmp_path: Path) -> None:
    tail = walked(segments(tmp_path, s0=[no_ops(0, 5), no_ops(3, 1)])).tail

    assert tail
    assert tail.batches == 1


def test_logs_agree_up_to_the_end_of_the_shorter(tmp_path: Path) -> None:
    one = segments(tmp_path / "a", s0=[no_ops(0, 2), no_ops(2, 3)])
    other = segments(tmp_path / "b", s0=[no_ops(0, 2)], s2=[no_ops(2, 3), no_ops(5, 1)])

    found = agreement(one, other)

    assert found.offset == 5
    assert found.other
    assert (found.other.segment, found.is_other) == (1, False)


def test_logs_part_where_an_epoch_differs(tmp_path: Path) -> None:
    one = segments(tmp_path / "a", s0=[no_ops(0, 2), no_ops(2, 3)])
    other = segments(tmp_path / "b", s0=[no_ops(0, 2), no_ops(2, 3, epoch=2)])

    assert agreement(one, other).offset == 2


def test_log_that_begins_later_is_compared_from_there(tmp_path: Path) -> None:
    one = segments(tmp_path / "a", s0=[no_ops(0, 2), no_ops(2, 3)])
    other = segments(tmp_path / "b", s2=[no_ops(2, 3), no_ops(5, 1)])

    assert agreement(one, other).offset == agreement(other, one).offset == 5


def test_logs_of_two_clusters(tmp_path: Path) -> None:
    one = segments(tmp_path / "a", s0=[no_ops(0, 2)])
    other = segments(tmp_path / "b", s0=[no_ops(0, 3)])

    assert agreement(one, other).is_other

"""Records and bytes of a partition are counted from names and the last segment."""

from pathlib import Path

import pytest

from kraftops.findings.finding import Stake
from kraftops.log.batch import Record
from kraftops.log.indexes import OffsetEntry
from kraftops.server.partition_data import partition_data_of
from tests.helpers.logs.written import batch_bytes, offset_index_bytes


def batch(offset: int, count: int = 1) -> bytes:
    return batch_bytes([Record(offset + number, 0, None, b"x") for number in range(count)])


def write(folder: Path, segments: dict[int, bytes]) -> int:
    folder.mkdir(exist_ok=True)
    for base, data in segments.items():
        (folder / f"{base:020}.log").write_bytes(data)
    return sum(map(len, segments.values()))


def test_records_count_from_the_first_segment_to_the_last_batch(tmp_path: Path) -> None:
    size = write(tmp_path, {7: batch(7), 10: batch(10, 5) + batch(15)})
    (tmp_path / f"{0:020}.log.deleted").write_bytes(batch(0, 7))
    (tmp_path / f"{10:020}.timeindex").write_bytes(bytes(12))

    assert partition_data_of(str(tmp_path)) == Stake(9, size)


def test_empty_last_segment_ends_where_it_begins(tmp_path: Path) -> None:
    size = write(tmp_path, {0: batch(0, 3), 3: b""})

    assert partition_data_of(str(tmp_path)) == Stake(3, size)


def test_unfinished_batch_at_the_end_does_not_count(tmp_path: Path) -> None:
    size = write(tmp_path, {0: batch(0, 3) + batch(3)[:-1]})

    assert partition_data_of(str(tmp_path)) == Stake(3, size)


def test_zeros_of_a_preallocated_segment_do_not_count(tmp_path: Path) -> None:
    size = write(tmp_path, {0: batch(0, 3)})
    with (tmp_path / f"{0:020}.log").open("ab") as log:
        log.truncate(1 << 20)

    assert partition_data_of(str(tmp_path)) == Stake(3, size)


@pytest.mark.parametrize("last", [b"", bytes(8000)])
def test_index_is_used_to_find_the_end(tmp_path: Path, last: bytes) -> None:
    # With a false batch at the beginning, only the index leads to the end.
    first = b"\xff" * 100
    size = write(tmp_path, {0: first + batch(50) + batch(51)})
    index = offset_index_bytes([OffsetEntry(50, len(first))], 0)
    (tmp_path / f"{0:020}.index").write_bytes(index + last)

    assert partition_data_of(str(tmp_path)) == Stake(52, size)


@pytest.mark.parametrize(
    "entry", [OffsetEntry(2, 10), OffsetEntry(9, 1 << 30), OffsetEntry(1, len(batch(0)))]
)
def test_wrong_index_is_not_used(tmp_path: Path, entry: OffsetEntry) -> None:
    size = write(tmp_path, {0: batch(0) + batch(1) + batch(2)})
    wrong = entry._replace(offset=entry.offset + 5)
    (tmp_path / f"{0:020}.index").write_bytes(offset_index_bytes([wrong], 0))

    assert partition_data_of(str(tmp_path)) == Stake(3, size)


def test_directory_without_segments_has_no_data(tmp_path: Path) -> None:
    assert partition_data_of(str(tmp_path)) == Stake(0, 0)


def test_directory_that_is_gone_has_unknown_records(tmp_path: Path) -> None:
    data = partition_data_of(str(tmp_path / "gone"))

    assert data == Stake(None, 0)
    assert str(data) == "records that cannot be counted, 0 bytes"


def test_segment_that_cannot_be_read_has_bytes_only(tmp_path: Path) -> None:
    (tmp_path / f"{0:020}.log").mkdir()

    assert partition_data_of(str(tmp_path)).records is None
    assert str(Stake(1, 70)) == "1 record, 70 bytes"

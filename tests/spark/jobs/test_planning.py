"""Splits by the sizes of files and the number of cores."""

from pathlib import Path

import pytest

from kraftops.dump.sources.names import Source
from kraftops.log.batch import Record
from kraftops.log.ranges import ByteRange
from kraftops.spark.jobs.planning import plan_splits, split_bytes
from tests.helpers.logs.written import batch_bytes


def cut(path: str, target: int, _: int) -> list[ByteRange]:
    return [ByteRange(path, start, start + target) for start in range(0, 1 << 30, target)]


def test_remote_files_stay_whole_if_there_are_enough_for_all_cores() -> None:
    """Each is fetched once then; fewer files are cut."""
    sources = [Source(f"s3://b/{number}.log", None, None, None, 0, 1 << 30) for number in range(8)]

    many = plan_splits(sources, 2, cut=cut)
    few = plan_splits(sources[:7], 2, cut=cut)
    asked = plan_splits(sources, 2, cut=cut, size=512 << 20)

    assert [split.size >> 20 for split in many] == [1024] * 8
    assert {split.size >> 20 for split in few} == {256}
    assert [split.size >> 20 for split in asked] == [512] * 16


def source(path: str) -> Source:
    return Source(path, "metadata", None, None, 0, 1000)


def test_small_files_share_a_split() -> None:
    sources = [source(f"{number}.log") for number in range(5)]

    splits = plan_splits(sources, 2, size=200_000)

    paths = [[labelled.range.path for labelled in split.ranges] for split in splits]
    assert paths == [["0.log", "1.log", "2.log"], ["3.log", "4.log"]]
    assert [split.number for split in splits] == [0, 1]


def test_archive_counts_with_its_inflated_size() -> None:
    (log,) = plan_splits([source("0.log")], 1)
    (archive,) = plan_splits([source("0.log.gz")], 1)

    assert archive.size - log.size == 3000


def test_ranges_of_a_large_file_keep_the_labels_of_its_directory(tmp_path: Path) -> None:
    batch = batch_bytes([Record(0, 0, None, bytes(1000))])
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(batch * 10)
    named = Source(str(path), "user", "t", 3, 0)

    splits = plan_splits([named], 1, size=4 * len(batch))

    ranges = [labelled for split in splits for labelled in split.ranges]
    assert [(one.decoder, one.topic, one.partition) for one in ranges] == [("user", "t", 3)] * 3
    assert [one.range.start for one in ranges] == [0, 4 * len(batch), 8 * len(batch)]
    assert {one.range.file_id for one in ranges} == {None}


@pytest.mark.parametrize(
    ("total", "cores", "size"),
    [
        (0, 8, 16 << 20),
        (1 << 40, 8, 256 << 20),
        (1 << 30, 2, 128 << 20),
        (1 << 30, 8, 64 << 20),
        (200 << 20, 2, 100 << 20),
        (200 << 20, 100, 16 << 20),
    ],
)
def test_size_of_splits_has_bounds(total: int, cores: int, size: int) -> None:
    assert split_bytes(total, cores) == size


@pytest.mark.long
def test_columns_that_are_read_fast_have_fewer_and_larger_splits() -> None:
    sources = [Source(f"{number}.log", "user", None, None, 0, 1 << 30) for number in range(8)]

    whole = plan_splits(sources, 2, cut=cut)
    fast = plan_splits(sources, 2, speed=8, cut=cut)
    small = plan_splits(sources[:1], 2, speed=8, cut=cut)

    assert {split.size >> 20 for split in whole} == {256}
    assert len(whole) == 32
    assert len(fast) == 8
    assert len(small) == 2

"""Logs cut into byte ranges that begin with a batch."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kraftops.errors import SourceError
from kraftops.log import ranges
from kraftops.log.batch import LOG_OVERHEAD, Batch, Record
from kraftops.log.indexes import OffsetEntry
from kraftops.log.log_file import LogFile
from kraftops.log.ranges import ByteRange, cut_by_index
from tests.helpers.logs.cuts import cut_file
from tests.helpers.logs.segments import IN, patched
from tests.helpers.logs.written import batch_bytes

TARGETS = [1, 61, 100, 1_000, 10_000, 1 << 40]
BATCH = batch_bytes([Record(0, 0, None, bytes(100))])
FILES = [
    *sorted((IN / "user").glob("*/*.log")),
    *sorted((IN / "meta").glob("*.log")),
    *sorted((IN / "craft").glob("m*/*.log")),
    *sorted((IN / "dmg").glob("*/*.log")),
]


def read(path: Path, start: int = 0, stop: int | None = None) -> list[Batch]:
    with LogFile(str(path)) as log:
        return list(log.batches(start, stop))


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_ranges_are_the_file(path: Path) -> None:
    """They cover it without a gap, and read one by one they hold the batches of the whole."""
    whole = read(path)
    starts = {batch.position for batch in whole}
    size = path.stat().st_size
    for target in TARGETS:
        planned = cut_file(str(path), target)

        assert [cut.path for cut in planned] == [str(path)] * len(planned)
        assert planned[0].start == 0
        assert planned[-1].stop == size
        assert [cut.stop for cut in planned[:-1]] == [cut.start for cut in planned[1:]]
        assert all(cut.stop - cut.start >= min(target, 1) for cut in planned[:-1])
        # A batch that is cut short at the end may begin one too.
        end = whole[-1].position + whole[-1].size if whole else 0
        assert {cut.start for cut in planned} <= starts | {0, end}
        found = [batch for cut in planned for batch in read(path, cut.start, cut.stop)]
        assert [batch[:2] for batch in found] == [batch[:2] for batch in whole]
        assert [b.data[: b.size] for b in found] == [b.data[: b.size] for b in whole]


def test_ranges_are_about_as_large_as_asked(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(BATCH * 1_000)

    sizes = [cut.stop - cut.start for cut in cut_file(str(path), 10 * len(BATCH) - 1)]

    assert sizes == [10 * len(BATCH)] * 100


def test_batches_larger_than_a_block_are_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranges, "_BLOCK", 50)
    path = tmp_path / "0.log"
    path.write_bytes(BATCH * 3)
    size = len(BATCH)

    assert cut_file(str(path), 1) == [
        ByteRange(str(path), number * size, (number + 1) * size, is_last=number == 2)
        for number in range(3)
    ]


def test_empty_file_is_one_range(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.touch()

    assert cut_file(str(path), 100) == [ByteRange(str(path), 0, 0)]


@pytest.mark.parametrize("length", [0, 13, -1])
def test_all_behind_an_impossible_length_is_one_range(tmp_path: Path, length: int) -> None:
    path = tmp_path / "0.log"
    damaged = patched(BATCH, 8, length.to_bytes(4, signed=True))
    path.write_bytes(BATCH + damaged + BATCH * 50)

    planned = cut_file(str(path), 1)

    assert [cut.stop for cut in planned][-1] == len(BATCH) * 52
    assert len(planned) <= 2


@pytest.mark.parametrize("offset", [0, 1 << 40])
def test_a_length_that_leads_into_another_batch_begins_no_range(
    offset: int, tmp_path: Path
) -> None:
    """The bytes there have the length and the magic of a batch by chance."""
    path = tmp_path / "0.log"
    inner = patched(BATCH, 0, offset.to_bytes(8))
    later = [batch_bytes([Record(2 + number, 0, None, inner)]) for number in range(50)]
    into = later[0].index(inner)
    sound = batch_bytes([Record(1, 0, None, bytes(100))])
    damaged = patched(sound, 8, (len(sound) + into - LOG_OVERHEAD).to_bytes(4))
    path.write_bytes(BATCH + damaged + b"".join(later))

    starts = [cut.start for cut in cut_file(str(path), 1)]

    assert starts == [0, len(BATCH)]


def test_payload_that_looks_like_batches_begins_no_range(tmp_path: Path) -> None:
    outer = batch_bytes([Record(0, 0, None, BATCH * 100)])
    path = tmp_path / "0.log"
    path.write_bytes(outer * 3)

    starts = [cut.start for cut in cut_file(str(path), 500)]

    assert starts == [0, len(outer), 2 * len(outer)]


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        cut_file(str(tmp_path / "0.log"), 100)


@pytest.fixture
def indexed(tmp_path: Path) -> tuple[Path, list[OffsetEntry]]:
    """A segment of twenty batches of two records, and an index of each third one."""
    path, content, entries = tmp_path / "00000000000000000100.log", b"", []
    for offset in range(100, 140, 2):
        if offset > 100 and offset % 3 == 0:
            entries.append(OffsetEntry(offset + 1, len(content)))
        content += batch_bytes([Record(offset + n, 0, None, bytes(200)) for n in range(2)])
    path.write_bytes(content)
    return path, entries


def cut(path: Path, entries: list[OffsetEntry], target: int = 1000) -> list[ByteRange] | None:
    with LogFile(str(path)) as log:
        return cut_by_index(log, entries, target)


def test_an_index_cuts_where_batches_begin(indexed: tuple[Path, list[OffsetEntry]]) -> None:
    path, entries = indexed

    parts = cut(path, [*entries, OffsetEntry(100, 0)])  # a preallocated index ends in zeros

    assert parts
    assert len(parts) > 3
    assert [part.start for part in parts[1:]] == [part.stop for part in parts[:-1]]
    assert (parts[0].start, parts[-1].stop) == (0, path.stat().st_size)
    assert [part.is_last for part in parts] == [False] * (len(parts) - 1) + [True]
    assert {part.start for part in parts} <= {batch.position for batch in read(path)}


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry._replace(position=entry.position + 1),
        lambda entry: entry._replace(position=entry.position + (1 << 20)),
        lambda entry: entry._replace(offset=entry.offset - 10),
        lambda entry: entry._replace(offset=entry.offset + 1000),
    ],
    ids=["between batches", "after the end", "earlier offsets", "later offsets"],
)
def test_an_index_of_another_segment_does_not_cut(
    indexed: tuple[Path, list[OffsetEntry]], change: Callable[[OffsetEntry], OffsetEntry]
) -> None:
    path, entries = indexed

    assert cut(path, [change(entry) for entry in entries]) is None


def test_an_index_with_an_entry_at_the_end_of_the_log_does_not_cut(
    indexed: tuple[Path, list[OffsetEntry]],
) -> None:
    path, entries = indexed
    size = path.stat().st_size

    assert cut(path, [*entries, OffsetEntry(141, size)]) is None
    assert cut(path, [entries[-1], entries[0]]) is None  # positions go up


def test_two_entries_of_one_position_are_one_batch(
    indexed: tuple[Path, list[OffsetEntry]],
) -> None:
    path, entries = indexed

    assert cut(path, [entry for entry in entries for _ in range(2)], 1) == cut(path, entries, 1)

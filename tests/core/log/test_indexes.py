"""Offset, time and transaction indexes."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import KraftopsError
from kraftops.log import indexes
from kraftops.log.indexes import (
    AbortedTxn,
    OffsetEntry,
    OffsetIndex,
    TimeEntry,
    TimeIndex,
    TxnIndex,
)
from kraftops.log.log_file import LogFile
from tests.helpers.logs.segments import segments
from tests.helpers.logs.written import offset_index_bytes, time_index_bytes, txn_index_bytes

BASE = 1_000
ENTRIES = [OffsetEntry(BASE + 10 * number, 100 * number) for number in range(1, 8)]
TIMES = [TimeEntry(5_000 + number, BASE + 10 * number) for number in range(1, 8)]
TXNS = [AbortedTxn(0, 7, 10, 20, 30), AbortedTxn(0, 1 << 40, 40, 50, -1)]


@contextmanager
def opened(path: Path, data: bytes) -> Iterator[LogFile]:
    path.write_bytes(data)
    with LogFile(str(path)) as file:
        yield file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "0.index"


def test_offset_entries_come_back(path: Path) -> None:
    with opened(path, offset_index_bytes(ENTRIES, BASE)) as file:
        index = OffsetIndex(file, BASE)

        assert list(index) == ENTRIES
        assert index.last() == ENTRIES[-1]
        assert (len(index), index.left_over) == (7, 0)


def test_time_entries_come_back(path: Path) -> None:
    with opened(path, time_index_bytes(TIMES, BASE)) as file:
        index = TimeIndex(file, BASE)

        assert list(index) == TIMES
        assert (index.first(), index.last()) == (TIMES[0], TIMES[-1])


def test_aborted_transactions_come_back(path: Path) -> None:
    with opened(path, txn_index_bytes(TXNS)) as file:
        assert list(TxnIndex(file, 0)) == TXNS


@pytest.mark.parametrize("extra", range(1, 8))
def test_bytes_that_are_no_entry_are_left_over(path: Path, extra: int) -> None:
    with opened(path, offset_index_bytes(ENTRIES, BASE) + bytes(extra)) as file:
        index = OffsetIndex(file, BASE)

        assert list(index) == ENTRIES
        assert index.left_over == extra


@pytest.mark.parametrize("kind", [OffsetIndex, TimeIndex, TxnIndex])
def test_empty_index_has_no_entries(
    path: Path, kind: type[OffsetIndex] | type[TimeIndex] | type[TxnIndex]
) -> None:
    with opened(path, b"") as file:
        index = kind(file, BASE)

        assert list(index) == []
        assert len(index) == 0


def test_entries_are_read_in_blocks(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "BLOCK", 20)
    with opened(path, offset_index_bytes(ENTRIES, BASE)) as file:
        assert list(OffsetIndex(file, BASE)) == ENTRIES


@given(data=st.data())
def test_search_starts_at_the_last_entry_that_is_not_above(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    relative = sorted(data.draw(st.sets(st.integers(1, 5_000), max_size=2_500)))
    wanted = data.draw(st.integers(-5, 5_010))
    entries = [OffsetEntry(BASE + offset, 10 * offset) for offset in relative]
    path = tmp_path_factory.mktemp("index") / "0.index"

    with opened(path, offset_index_bytes(entries, BASE)) as file:
        found = OffsetIndex(file, BASE).position_below(BASE + wanted)

    below = [offset for offset in relative if offset <= wanted]
    assert found == (10 * below[-1] if below else 0)


@pytest.mark.parametrize("count", range(10))
def test_search_of_every_offset_among_few_entries(
    path: Path, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, at and after each entry; the last three are searched first."""
    monkeypatch.setattr(indexes, "_HOT_ENTRIES", 3)
    entries = [OffsetEntry(BASE + 2 * number, 100 * number) for number in range(1, count + 1)]
    with opened(path, offset_index_bytes(entries, BASE) + bytes(16)) as file:
        padded = OffsetIndex(file, BASE)
        for number in range(2 * count + 3):
            expected = min(number // 2, count)
            assert padded.last_up_to(BASE + number, 10_000).position == 100 * expected
            assert padded.last_up_to(BASE + 100, 50 * number).position == 100 * expected
        assert padded.last_used() == (entries[-1] if entries else OffsetEntry(BASE, 0))
    with opened(path, offset_index_bytes(entries, BASE)) as file:
        index = OffsetIndex(file, BASE)
        for number in range(2 * count + 3):
            assert index.position_below(BASE + number) == 100 * min(number // 2, count)


@pytest.mark.parametrize(
    ("data", "is_unused"),
    [(bytes(16), True), (bytes(24), True), (bytes(8), False), (bytes(15) + b"\1", False)],
)
def test_preallocated_index_has_more_than_one_entry_of_zeros(
    path: Path, data: bytes, is_unused: bool
) -> None:
    with opened(path, data) as file:
        assert OffsetIndex(file, BASE).is_unused is is_unused


@pytest.mark.parametrize("name", ["last", "position_below"])
def test_index_that_shrinks_while_it_is_read_is_no_crash(path: Path, name: str) -> None:
    """A running broker trims the preallocated index of a segment when it rolls."""
    with opened(path, offset_index_bytes(ENTRIES, BASE) + bytes(8 * 5_000)) as file:
        index = OffsetIndex(file, BASE)
        path.write_bytes(offset_index_bytes(ENTRIES, BASE))
        with suppress(KraftopsError):
            index.last() if name == "last" else index.position_below(BASE + 35)


@pytest.mark.parametrize("name", ["first", "last"])
def test_time_index_that_shrinks_while_it_is_read_is_no_crash(path: Path, name: str) -> None:
    with opened(path, time_index_bytes(TIMES, BASE)) as file:
        index = TimeIndex(file, BASE)
        path.write_bytes(b"")
        with suppress(KraftopsError):
            index.first() if name == "first" else index.last()


def test_index_that_shrinks_has_fewer_entries(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "_FIRST_BLOCK", 16)
    with opened(path, offset_index_bytes(ENTRIES, BASE)) as file:
        walk = iter(OffsetIndex(file, BASE))
        first = next(walk)
        path.write_bytes(offset_index_bytes(ENTRIES, BASE)[:27])

        assert [first, *walk] == ENTRIES[:3]


@pytest.mark.parametrize("path", segments("*.index"), ids=lambda path: "/".join(path.parts[-3:]))
def test_real_offset_indexes_are_written_as_they_were(path: Path) -> None:
    base = int(path.name.split(".")[0])
    with LogFile(str(path)) as file:
        index = OffsetIndex(file, base)

        written = offset_index_bytes(index, base)
        assert written == path.read_bytes()[: len(written)]
        assert len(written) == file.size - index.left_over

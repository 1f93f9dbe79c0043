"""A scan uses the engine that is there, and the reference for batches that it declines."""

from pathlib import Path

import pytest

from kraftops.engine.choice import why_not_native
from kraftops.engine.reference.scan import ReferenceScan
from kraftops.engine.scan_contract import Outcome, Request, Why
from kraftops.engine.scanning import EngineScan, line_count, open_scan
from kraftops.errors import SourceError
from kraftops.log.batch import Batch, Record
from kraftops.log.reader import LogReader
from kraftops.query.query import Query
from tests.helpers.engine.choice import using
from tests.helpers.logs.segments import batch_around
from tests.helpers.logs.written import batch_bytes, message_bytes, wrapper_bytes

DEEP = Query(decoder="user", deep_iteration=True)


def batch(offset: int) -> bytes:
    return batch_bytes([Record(offset + n, 0, None, b"v") for n in range(2)])


def reader_of(data: bytes) -> LogReader:
    position = 0

    def read(size: int) -> bytes:
        nonlocal position
        block = data[position : position + size]
        position += len(block)
        return block

    return LogReader(read, 0, len(data))


class Declining(ReferenceScan):
    """An engine that declines every second batch."""

    def __init__(self, request: Request) -> None:
        super().__init__(request, request.query.budget.meter())
        self.declined: list[int] = []
        self.known: list[int | None] = []

    def feed(self, data: bytes, start: int, position: int) -> Outcome:
        size = int.from_bytes(data[start + 8 : start + 12]) + 12
        if position // size % 2:
            self.declined.append(position)
            return Outcome(b"", start, Why.DECLINED, [])
        self.known.append(self.last_offset)
        return super().feed(data[: start + size], start, position)


def test_reference_reads_declined_batches_and_both_know_the_last_offset() -> None:
    data = b"".join(map(batch, (0, 2, 4, 9, 11)))
    request = Request("0.log", DEEP)
    with using("reference"):
        expected = list(open_scan(request).outcomes(reader_of(data)))
        scan = EngineScan(request)
    scan.engine = engine = Declining(request)

    found = list(scan.outcomes(reader_of(data)))

    assert b"".join(one.out for one in found) == b"".join(one.out for one in expected)
    assert [one.gaps for one in found if one.gaps] == [one.gaps for one in expected if one.gaps]
    assert len(engine.declined) == 2
    assert engine.known == [None, 3, 10]
    assert (scan.first_offset, scan.last_offset, scan.position) == (0, 12, len(data))


@pytest.mark.parametrize("name", ["reference", ""])
def test_old_and_short_batches_are_read_among_others(name: str) -> None:
    old = message_bytes(Record(2, 0, None, b"old"), 1)
    short = batch_around(b"", 0)[:40]
    short = short[:8] + (len(short) - 12).to_bytes(4) + short[12:]
    data = batch(0) + old + batch(3) + short + batch(5)
    with using(name):
        scan = open_scan(Request("0.log", DEEP))
        found = list(scan.outcomes(reader_of(data)))

    text = b"".join(one.out for one in found).decode()
    assert text.count("\n| offset: ") == 7
    assert scan.position == len(data)


@pytest.mark.parametrize("name", ["reference", ""])
def test_rows_of_old_messages_come_before_the_error_of_the_next_read(name: str) -> None:
    messages = [message_bytes(Record(offset, 0, None, b"v" * 99), 0) for offset in range(3)]
    blocks = [b"".join(messages[:2]), messages[2]]

    def read(_: int) -> bytes:
        if not blocks:
            raise SourceError("gone")
        return blocks.pop(0)

    outcomes: list[Outcome] = []
    with using(name):
        scan = open_scan(Request("0.log", Query("user", form="parquet")))
    with pytest.raises(SourceError):
        outcomes.extend(scan.outcomes(LogReader(read, 0, 1 << 20)))

    assert sum(outcome.rows for outcome in outcomes) == 3


def test_rows_that_keep_their_batches_do_not_wait_for_others() -> None:
    """A row of 300 KB would keep the 60 MB that its batch inflates to."""
    long = [Record(offset, 0, None, b"v" * 300_000) for offset in range(3)]
    data = b"".join(wrapper_bytes([record], 1, 1) for record in long)

    outcomes = open_scan(Request("0.log", Query("user", form="parquet"))).outcomes(reader_of(data))

    assert [outcome.rows for outcome in outcomes if outcome.rows] == [1, 1, 1]


def test_single_batch_is_read_by_the_same_engine(tmp_path: Path) -> None:
    data = batch(0)
    for name in ("reference", ""):
        with using(name):
            scan = open_scan(Request(str(tmp_path), DEEP))
            (text,) = [one.out for one in scan.batch(Batch(-1, len(data), data)) if one.out]
        assert b" position: -1 " in text


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_line_count_is_that_of_line_feeds(engine: str) -> None:
    if engine == "native" and why_not_native():
        pytest.skip("no compiled engine")
    with using(engine):
        for text in (b"", b"a", b"\n" * 1000, b"a\r\nb\n" * 500 + b"c"):
            assert line_count(text) == text.count(b"\n")

"""Which engine is used, and how it and the reference share a file."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kraftops.engine import choice
from kraftops.engine.choice import engine_name, why_not_native
from kraftops.engine.reference.scan import ReferenceScan
from kraftops.engine.scan_contract import Outcome, Request, Why
from kraftops.engine.scanning import EngineScan, open_scan
from kraftops.errors import UsageError
from kraftops.log import legacy
from kraftops.log.batch import Batch, Record, batch_bytes
from kraftops.log.reader import LogReader
from kraftops.query.query import Query
from tests.helpers.engine.choice import using
from tests.helpers.logs.segments import batch_around

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
    """An engine that leaves every second batch."""

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        self.left: list[int] = []
        self.known: list[int | None] = []

    def feed(self, data: bytes, start: int, position: int) -> Outcome:
        size = int.from_bytes(data[start + 8 : start + 12]) + 12
        if position // size % 2:
            self.left.append(position)
            return Outcome(b"", start, Why.DECLINED, [])
        self.known.append(self.last_offset)
        return super().feed(data[: start + size], start, position)


def test_what_is_declined_the_reference_does_and_each_knows_the_last_offset() -> None:
    data = b"".join(map(batch, (0, 2, 4, 9, 11)))
    request = Request("0.log", DEEP)
    with using("reference"):
        expected = list(open_scan(request).outcomes(reader_of(data)))
        scan = EngineScan(request)
    scan._scan = engine = Declining(request)

    found = list(scan.outcomes(reader_of(data)))

    assert b"".join(one.out for one in found) == b"".join(one.out for one in expected)
    assert [one.gaps for one in found if one.gaps] == [one.gaps for one in expected if one.gaps]
    assert len(engine.left) == 2
    assert engine.known == [None, 3, 10]
    assert (scan.first_offset, scan.last_offset, scan.position) == (0, 12, len(data))


@pytest.mark.parametrize("name", ["reference", ""])
def test_odd_batches_are_read_among_others(name: str) -> None:
    odd = legacy.message_bytes(Record(2, 0, None, b"old"), 1)
    short = batch_around(b"", 0)[:40]
    short = short[:8] + (len(short) - 12).to_bytes(4) + short[12:]
    data = batch(0) + odd + batch(3) + short + batch(5)
    with using(name):
        scan = open_scan(Request("0.log", DEEP))
        found = list(scan.outcomes(reader_of(data)))

    text = b"".join(one.out for one in found).decode()
    assert text.count("\n| offset: ") == 7
    assert scan.position == len(data)


def test_name_that_is_none_is_refused() -> None:
    with using("fast"), pytest.raises(UsageError) as caught:
        engine_name()

    assert caught.value.hint == "native or reference"


@pytest.fixture
def no_native(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    choice._engine.cache_clear()
    monkeypatch.setattr(choice, "why_not_native", lambda: "not built")
    yield
    choice._engine.cache_clear()


@pytest.mark.usefixtures("no_native")
def test_without_the_native_engine_it_is_the_reference() -> None:
    with using(""):
        assert engine_name() == "reference"
    with using("native"), pytest.raises(UsageError, match="which is not built"):
        engine_name()


def test_native_is_used_where_it_is() -> None:
    if why_not_native():
        pytest.skip("there is none")
    with using(""):
        assert engine_name() == "native"


@pytest.mark.parametrize("form", ["text", "json", "csv", "parquet"])
def test_call_ends_by_size_and_goes_on_where_it_ended(form: str) -> None:
    """Also within a batch, and within a value unless marks are asked for."""
    values = [bytes([65 + n]) * (700_000 * n) for n in range(6)]
    data = batch_bytes([Record(n, 0, None, value) for n, value in enumerate(values)]) + batch(6)
    for marks in (False, True):
        query = replace(DEEP, form=form)
        scan = ReferenceScan(Request("0.log", query, marks))
        made: list[Outcome] = []
        start = 0
        while not made or made[-1].why == Why.FULL:
            made.append(scan.feed(data, start, start))
            start = made[-1].next

        assert start == len(data)
        assert len(made) > 1
        if form == "parquet":
            assert sum(one.rows for one in made) == 8
        elif marks:
            assert all(one.out.endswith(b"\n") for one in made if one.out)
        else:
            assert max(len(one.out) for one in made) < 1_300_000
        if form == "text":
            assert b"".join(one.out for one in made).count(b"\n| offset: ") == 8


def test_single_batch_is_read_by_the_same_engine(tmp_path: Path) -> None:
    data = batch(0)
    for name in ("reference", ""):
        with using(name):
            scan = open_scan(Request(str(tmp_path), DEEP))
            (text,) = [one.out for one in scan.batch(Batch(-1, len(data), data)) if one.out]
        assert b" position: -1 " in text

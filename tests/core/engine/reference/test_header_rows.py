"""Batches whose headers tell the columns that are asked for: their records are not read."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.engine.choice import why_not_native
from kraftops.log.batch import CONTROL, LOG_APPEND_TIME
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.query.row import Row
from tests.helpers.engine.agreement import agree, needs_both
from tests.helpers.engine.choice import using
from tests.helpers.engine.random_batches import Raw, raw_bytes, sealed

Rows = Callable[..., list[Row]]
ENGINES = ["reference", *(["native"] if why_not_native() is None else [])]
BODY = b"".join(raw_bytes(Raw(at, at, b"k", b"v")) for at in range(3))
NO_RECORDS = b"\xff" * 40
"""Bytes with room for five records that hold none."""


@pytest.fixture(params=ENGINES)
def rows(request: pytest.FixtureRequest, tmp_path: Path) -> Rows:
    """A function to the rows of a log by an engine."""

    def read(data: bytes, *columns: str, **asked: object) -> list[Row]:
        path = tmp_path / "00000000000000000000.log"
        path.write_bytes(data)
        filter_ = Filter(**asked)  # type: ignore[arg-type]
        query = Query(columns=frozenset(columns), form="parquet", filter=filter_)
        with using(request.param):
            return list(part_rows(ByteRange(str(path)), query, Report()))

    return read


def test_offsets_are_those_of_the_header(rows: Rows) -> None:
    batch = sealed(NO_RECORDS, 5, base_offset=100, sequence=7)

    found = rows(batch, "offset", "sequence", "crcValid", "kind", "codec")

    assert [(row.offset, row.sequence) for row in found] == [(100 + at, 7 + at) for at in range(5)]
    assert {(row.crc_valid, row.kind, row.codec) for row in found} == {(True, "user", "none")}


def test_limits_of_offsets_cut_the_batch(rows: Rows) -> None:
    batch = sealed(NO_RECORDS, 5, base_offset=100)

    assert [row.offset for row in rows(batch, "offset", first_offset=102)] == [102, 103, 104]
    assert [row.offset for row in rows(batch, "offset", last_offset=102)] == [100, 101, 102]
    assert [row.offset for row in rows(batch, "offset", first_offset=101, last_offset=101)] == [101]


def test_append_time_is_that_of_each_record(rows: Rows) -> None:
    batch = sealed(NO_RECORDS, 2, attributes=LOG_APPEND_TIME, base_time=1, max_time=9)

    assert [row.timestamp for row in rows(batch, "timestamp")] == [9, 9]


@pytest.mark.parametrize(
    ("batch", "columns"),
    [
        pytest.param(sealed(NO_RECORDS, 2), ("timestamp",), id="creation times differ"),
        pytest.param(sealed(NO_RECORDS, 2), ("offset", "keySize"), id="sizes of records"),
        pytest.param(sealed(NO_RECORDS, 2), ("offset", "error"), id="errors"),
        pytest.param(sealed(NO_RECORDS, 2, last_delta=5), ("offset",), id="gaps"),
        pytest.param(sealed(NO_RECORDS, 6), ("offset",), id="no room for its records"),
        pytest.param(sealed(NO_RECORDS, 2, attributes=CONTROL), ("kind",), id="control"),
        pytest.param(sealed(NO_RECORDS, 2)[:-1] + b"\xfe", ("offset",), id="wrong CRC"),
    ],
)
def test_records_are_read_where_the_header_does_not_suffice(
    rows: Rows, batch: bytes, columns: tuple[str, ...]
) -> None:
    (damage,) = rows(batch, *columns)

    assert (damage.kind if "kind" in columns else damage.offset) in {"damage", None}


def test_gaps_do_not_matter_where_no_offset_is_asked_for(rows: Rows) -> None:
    batch = sealed(NO_RECORDS, 2, last_delta=5, producer_id=8)

    assert [row.producer_id for row in rows(batch, "producerId")] == [8, 8]


@pytest.mark.slow
def test_many_records_come_in_pieces(rows: Rows) -> None:
    batch = sealed(bytes(7 * 40_000), 40_000)

    assert [row.offset for row in rows(batch + batch, "offset")] == [*range(40_000)] * 2


def test_read_records_of_many_batches_come_in_pieces(rows: Rows) -> None:
    batch = sealed(BODY, 3, base_offset=10)

    found = rows(batch * 6000, "offset", "key", "valueSize")

    assert [(row.offset, row.key, row.value_size) for row in found] == [
        (10, "k", 1),
        (11, "k", 1),
        (12, "k", 1),
    ] * 6000


@needs_both
def test_engines_agree_about_the_framing_of_records() -> None:
    odd = b"".join(
        raw_bytes(Raw(at, -at, key, value))
        for at, (key, value) in enumerate(product((None, b"", b"\xff"), (None, b"", b"\xfe\0")))
    )
    columns = (
        {"offset", "timestamp"},
        {"key", "value"},
        {"keySize", "valueSize", "sequence", "crcValid", "kind", "file", "topic", "codec"},
    )
    for attributes, count, names in product((0, 2, LOG_APPEND_TIME, CONTROL), (9, 8, 10), columns):
        batch = sealed(odd, count, base_offset=10, attributes=attributes, sequence=5, max_time=4)
        query = Query("user", columns=frozenset(names), form="parquet")
        agree(batch + batch[:-1] + b"x" + batch, query, blocks=(1 << 30, 100))


@needs_both
def test_engines_agree_about_headers() -> None:
    columns = (
        {"offset"},
        {"sequence", "timestamp", "kind"},
        {"file", "position", "baseOffset", "topic", "partition", "timestampType", "crcValid"},
        {"leaderEpoch", "producerId", "producerEpoch", "transactional", "control", "codec"},
        set[str](),
    )
    limits = (Filter(), Filter(first_offset=11), Filter(last_offset=11), Filter(since=3))
    for attributes, delta in product((0, 2, 4, LOG_APPEND_TIME, CONTROL, 0x10), (None, 7)):
        batch = sealed(BODY, 3, base_offset=10, attributes=attributes, last_delta=delta, max_time=4)
        for names, limit in product(columns, limits):
            query = Query(columns=frozenset(names), form="parquet", filter=limit)
            agree(batch + batch[:-1] + b"x" + batch, query, blocks=(1 << 30, 100))

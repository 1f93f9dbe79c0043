"""Rows as Arrow and Parquet."""

import os
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kraftops.dump.report import Report
from kraftops.dump.scan.arrow import (
    GROUP_ROWS,
    arrow_batches,
    arrow_schema,
    last_rows,
    scan_batches,
    write_parquet,
)
from kraftops.errors import UsageError
from kraftops.log.batch import Record, batch_bytes
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops.query.row import COLUMNS, Row
from tests.helpers.logs.corpus_rows import query_of, rows
from tests.helpers.logs.segments import IN

LOG = IN / "meta/00000000000000000000.log"


def test_types_of_the_columns_are_those_of_the_design() -> None:
    schema = arrow_schema()

    assert schema.names == list(COLUMNS)
    for kind, columns in {
        pa.int64(): "position baseOffset offset timestamp producerId",
        pa.int32(): "leaderEpoch sequence keySize valueSize partitionId brokerId",
        pa.int16(): "producerEpoch version",
        pa.bool_(): "transactional control",
        pa.string(): "file timestampType codec kind type key value topicId error",
    }.items():
        assert {schema.field(name).type for name in columns.split()} == {kind}
    assert schema.field("headers").type == pa.list_(
        pa.struct([("key", pa.string()), ("value", pa.binary())])
    )


def test_parquet_file_is_read_by_duckdb(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    asked = query_of(LOG)
    with path.open("wb") as file:
        write_parquet(
            scan_batches(ByteRange(str(LOG)), asked, Report(), arrow_schema()), file.fileno()
        )

    counts = duckdb.sql(f"select type, count(*) from '{path}' group by type").fetchall()

    types = [row.type for row in rows(LOG, asked)]
    assert dict(counts) == {name: types.count(name) for name in types}
    assert pq.read_table(path).num_rows == len(types)


def test_headers_keep_their_bytes() -> None:
    row = Row("f", 0, kind="user", headers=(("a", b"\xff"), ("b", None)))

    (batch,) = arrow_batches([row], arrow_schema())

    assert batch.to_pylist()[0]["headers"] == [
        {"key": "a", "value": b"\xff"},
        {"key": "b", "value": None},
    ]


def test_no_rows_make_an_empty_table(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with path.open("wb") as file:
        write_parquet([], file.fileno())

    table = pq.read_table(path)

    assert (table.num_rows, table.schema.names) == (0, list(COLUMNS))


def test_rows_come_in_batches_of_a_bounded_size(tmp_path: Path) -> None:
    small = [Row("f", n) for n in range(GROUP_ROWS + 1)]
    large = [Record(n, 0, None, b"x" * (5 << 20)) for n in range(5)]
    path = tmp_path / "0.log"
    path.write_bytes(batch_bytes(large, attributes=1))

    found = scan_batches(ByteRange(str(path)), Query(decoder="user"), Report(), arrow_schema())

    assert [batch.num_rows for batch in arrow_batches(small, arrow_schema())] == [GROUP_ROWS, 1]
    assert [batch.num_rows for batch in found] == [2, 2, 1]


@pytest.mark.parametrize("most", [0, 1, 3, 4, 6, 9])
def test_last_rows_are_those_of_several_batches(most: int) -> None:
    batches = [
        next(arrow_batches([Row("f", n) for n in some], arrow_schema()))
        for some in (range(3), range(3, 4), range(4, 6))
    ]

    found = [row["position"] for batch in last_rows(batches, most) for row in batch.to_pylist()]

    assert found == (list(range(6))[-most:] if most else [])


def test_without_pyarrow_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(UsageError) as caught:
        write_parquet([], os.open(os.devnull, os.O_WRONLY))

    assert "pyarrow" in caught.value.message
    assert caught.value.hint == "pip install 'kraftops[arrow]'"

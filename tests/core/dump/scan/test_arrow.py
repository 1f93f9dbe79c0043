"""Rows as Arrow and Parquet."""

import json
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kraftops
from kraftops.dump.report import Report
from kraftops.dump.scan.arrow import (
    GROUP_ROWS,
    LEAST_MS,
    MERGED_ROWS,
    MOST_MS,
    arrow_batches,
    arrow_schema,
    batch_of,
    first_batches,
    last_rows,
    merged,
    scan_batches,
    write_parquet,
)
from kraftops.errors import UsageError
from kraftops.log.batch import Record
from kraftops.log.ranges import ByteRange
from kraftops.origin import extra_remedy
from kraftops.query.query import Query
from kraftops.query.row import COLUMNS, Row
from kraftops.records.internal_topics import decoder_names
from tests.helpers.engine.choice import using
from tests.helpers.logs.corpus_rows import query_of, rows
from tests.helpers.logs.segments import IN
from tests.helpers.logs.written import batch_bytes, message_bytes

SCHEMAS = Path(kraftops.__file__).with_name("arrow_schemas")
LOG = IN / "meta/00000000000000000000.log"
METADATA, USERS = arrow_schema({"metadata"}), arrow_schema({"user"})


def test_types_of_the_columns_are_those_of_the_design() -> None:
    schema = arrow_schema({"metadata"})

    assert schema.names == list(COLUMNS)
    for kind, columns in {
        pa.int64(): "position baseOffset offset producerId",
        pa.int32(): "partition leaderEpoch sequence keySize valueSize partitionId brokerId",
        pa.int16(): "producerEpoch version",
        pa.bool_(): "crcValid transactional control",
        pa.timestamp("ms", "UTC"): "timestamp",
        pa.string(): "file topic timestampType codec kind type key value topicId error",
    }.items():
        assert {schema.field(name).type for name in columns.split()} == {kind}
    assert schema.field("headers").type == pa.list_(
        pa.struct([("key", pa.string()), ("value", pa.binary())])
    )


@pytest.mark.parametrize(
    ("decoders", "kind"),
    [
        ({"metadata"}, pa.string()),
        ({"offsets"}, pa.string()),
        ({"user"}, pa.binary()),
        ({"offsets", "user"}, pa.binary()),
        ({"offsets", "metadata"}, pa.binary()),
    ],
)
def test_decoders_choose_the_type_of_keys_and_values(decoders: set[str], kind: pa.DataType) -> None:
    schema = arrow_schema(decoders)

    assert {schema.field(name).type for name in ("key", "value")} == {kind}
    assert schema.field("headers").type == arrow_schema({"user"}).field("headers").type


def test_parquet_file_is_read_by_duckdb(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    asked = query_of(LOG)
    with path.open("wb") as file:
        found = scan_batches(ByteRange(str(LOG)), asked, Report(), METADATA)
        write_parquet(found, file.fileno(), METADATA)

    counts = duckdb.sql(f"select type, count(*) from '{path}' group by type").fetchall()

    types = [row.type for row in rows(LOG, asked)]
    assert dict(counts) == {name: types.count(name) for name in types}
    assert pq.read_table(path).num_rows == len(types)
    kind, last = duckdb.sql(
        f"select typeof(max(timestamp)), epoch_ms(max(timestamp)) from '{path}'"
    ).fetchall()[0]
    times = [row.timestamp for row in rows(LOG, asked) if row.timestamp is not None]
    assert (kind, last) == ("TIMESTAMP WITH TIME ZONE", max(times))
    names = duckdb.sql(f"select value->>'$.name' from '{path}' where type = 'TOPIC_RECORD'")
    assert "a.manual" in {name for (name,) in names.fetchall()}


def test_bytes_of_users_come_back_by_duckdb_and_pyarrow(tmp_path: Path) -> None:
    log, path = tmp_path / "0.log", tmp_path / "rows.parquet"
    pairs = [(b"k", "é".encode()), (b"\xff\0", b"\xfe" * 300), (None, b""), (b"", None)]
    log.write_bytes(batch_bytes([Record(at, at, *pair) for at, pair in enumerate(pairs)]))
    with path.open("wb") as file:
        found = scan_batches(ByteRange(str(log)), Query(decoder="user"), Report(), USERS)
        write_parquet(found, file.fileno(), USERS)

    by_arrow = pq.read_table(path).select(["key", "value", "keyEncoding"]).to_pylist()
    by_duckdb = duckdb.sql(f"select key, value from '{path}' order by \"offset\"").fetchall()

    assert [(row["key"], row["value"]) for row in by_arrow] == pairs
    assert by_duckdb == pairs
    assert {row["keyEncoding"] for row in by_arrow} == {None}


def test_several_decoders_give_json_in_utf8(tmp_path: Path) -> None:
    schema = arrow_schema({"metadata", "user"})

    found = scan_batches(ByteRange(str(LOG)), query_of(LOG), Report(), schema)

    values = [row["value"] for batch in found for row in batch.to_pylist()]
    assert [None if value is None else value.decode() for value in values] == [
        row.value for row in rows(LOG, query_of(LOG))
    ]


def test_times_beyond_microseconds_are_null() -> None:
    times = [0, MOST_MS, MOST_MS + 1, LEAST_MS, LEAST_MS - 1, None]
    schema = pa.schema([("timestamp", pa.timestamp("us", "UTC"))])

    (batch,) = arrow_batches([Row("f", 0, timestamp=time) for time in times], schema)

    found = batch.column("timestamp").cast(pa.int64()).to_pylist()
    assert found == [0, MOST_MS * 1000, None, LEAST_MS * 1000, None, None]


def test_headers_keep_their_bytes() -> None:
    row = Row("f", 0, kind="user", headers=(("a", b"\xff"), ("b", None)))

    (batch,) = arrow_batches([row], USERS)

    assert batch.to_pylist()[0]["headers"] == [
        {"key": "a", "value": b"\xff"},
        {"key": "b", "value": None},
    ]


def test_no_rows_make_an_empty_table(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with path.open("wb") as file:
        write_parquet([], file.fileno(), USERS)

    table = pq.read_table(path)

    assert (table.num_rows, table.schema.names) == (0, list(COLUMNS))


def test_rows_come_in_batches_of_a_bounded_size(tmp_path: Path) -> None:
    small = [Row("f", n) for n in range(GROUP_ROWS + 1)]
    large = [Record(n, 0, None, b"x" * (5 << 20)) for n in range(5)]
    path = tmp_path / "0.log"
    path.write_bytes(batch_bytes(large, attributes=1))

    found = scan_batches(ByteRange(str(path)), Query(decoder="user"), Report(), USERS)

    assert [batch.num_rows for batch in arrow_batches(small, USERS)] == [GROUP_ROWS, 1]
    assert [batch.num_rows for batch in found] == [2, 2, 1]


@pytest.mark.parametrize("engine", ["", "reference"])
def test_messages_of_old_logs_come_together_and_in_order(tmp_path: Path, engine: str) -> None:
    """Each was a record batch: a log of 1 MB took 20 s and 500 MB."""
    records = [Record(offset, 0, None, b"v" * (offset % 25)) for offset in range(300)]
    old = [message_bytes(record, record.offset % 2) for record in records]
    path = tmp_path / "0.log"
    path.write_bytes(b"".join(old[:200]) + batch_bytes(records[200:202]) + b"".join(old[202:])[:-1])

    with using(engine):
        batches = [*scan_batches(ByteRange(str(path)), Query(decoder="user"), Report(), USERS)]

    table = pa.Table.from_batches(batches)
    assert len(batches) <= 4
    assert table["offset"].to_pylist() == [*range(299), None]
    assert table["value"].to_pylist()[:-1] == [record.value for record in records[:-1]]


def test_damage_after_the_last_asked_message_is_not_reported(tmp_path: Path) -> None:
    good, bad = (message_bytes(Record(offset, 0, None, b"v"), 0) for offset in (0, 1))
    path = tmp_path / "0.log"
    path.write_bytes(good + bad[:-1] + b"w")
    asked = Query(decoder="user", check=True)

    for most, is_reported in ((1, False), (2, True)):
        report = Report()
        (batch,) = first_batches(ByteRange(str(path)), asked, report, most, USERS)
        assert (batch.num_rows, report.has_lines) == (most, is_reported)


def test_row_group_has_few_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer takes 0.4 ms for each, however small it is, and each takes 17 KB."""
    chunks: list[int] = []
    write_table = pq.ParquetWriter.write_table

    def counting(writer: pq.ParquetWriter, table: pa.Table) -> None:
        chunks.append(table["offset"].num_chunks)
        write_table(writer, table)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", counting)
    (batch,) = arrow_batches([Row("f", n, offset=n) for n in range(1000)], USERS)
    path = tmp_path / "rows.parquet"
    with path.open("wb") as file:
        write_parquet((batch.slice(n, 1) for n in range(1000)), file.fileno(), USERS)

    assert chunks
    assert max(chunks) <= 256
    assert pq.read_table(path)["offset"].to_pylist() == [*range(1000)]


def test_small_batches_are_merged() -> None:
    schema = pa.schema([USERS.field("offset"), USERS.field("codec")])
    rows = [Row("f", n, offset=n or None, codec="lz4") for n in range(GROUP_ROWS)]
    (batch,) = arrow_batches(rows, schema)
    given = [*(batch.slice(0, n) for n in range(1, 4)), *[batch] * 9]

    found = list(merged(given, schema))

    assert [batch.num_rows for batch in found] == [6 + 7 * GROUP_ROWS, 2 * GROUP_ROWS]
    assert 8 * GROUP_ROWS == MERGED_ROWS
    assert pa.Table.from_batches(found) == pa.Table.from_batches(given)


def test_batches_without_columns_are_merged() -> None:
    nothing = pa.schema([])

    (found,) = merged([batch_of((), nothing, 3), batch_of((), nothing, 4)], nothing)

    assert (found.num_rows, found.num_columns) == (7, 0)


@pytest.mark.parametrize("most", [0, 1, 3, 4, 6, 9])
def test_last_rows_are_those_of_several_batches(most: int) -> None:
    batches = [
        next(arrow_batches([Row("f", n) for n in some], USERS))
        for some in (range(3), range(3, 4), range(4, 6))
    ]

    found = [row["position"] for batch in last_rows(batches, most) for row in batch.to_pylist()]

    assert found == (list(range(6))[-most:] if most else [])


def test_without_pyarrow_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(UsageError) as caught:
        arrow_schema({"user"})

    assert "pyarrow" in caught.value.message
    assert (caught.value.hint or "").startswith(extra_remedy("arrow"))


@pytest.mark.parametrize("decoder", [*decoder_names(), "several"])
def test_shipped_schemas_are_those_of_parquet_files(decoder: str, tmp_path: Path) -> None:
    decoders = decoder_names() if decoder == "several" else [decoder]
    path = tmp_path / "rows.parquet"
    with path.open("wb") as file:
        write_parquet([], file.fileno(), arrow_schema(decoders))

    shipped = json.loads((SCHEMAS / f"{decoder}.v1.json").read_text("utf-8"))

    written = pq.read_schema(path)
    assert shipped["formatVersion"] == 1
    assert [(one["name"], one["type"]) for one in shipped["fields"]] == [
        (field.name, str(field.type).replace("element:", "item:")) for field in written
    ]


def test_columns_without_repetition_have_no_dictionary(tmp_path: Path) -> None:
    """Dictionaries of offsets and values cost a tenth of the time and made files larger."""
    path = tmp_path / "rows.parquet"
    with path.open("wb") as file:
        write_parquet(
            scan_batches(ByteRange(str(LOG)), query_of(LOG), Report(), METADATA),
            file.fileno(),
            METADATA,
        )

    group = pq.read_metadata(path).row_group(0)
    columns = [group.column(at) for at in range(group.num_columns)]
    encoded = {one.path_in_schema for one in columns if one.has_dictionary_page}
    assert {"file", "type", "topicId"} <= encoded
    assert encoded.isdisjoint({"position", "baseOffset", "offset", "timestamp", "value"})


def test_keys_of_users_have_no_dictionary(tmp_path: Path) -> None:
    """One of 62 MiB was kept a fourth time."""
    has_dictionary = {}
    for schema in (USERS, arrow_schema({"offsets"})):
        path = tmp_path / "rows.parquet"
        key = b"k" if schema is USERS else "k"
        batches = pa.Table.from_pylist([{"file": "f", "key": key}] * 2, schema).to_batches()
        with path.open("wb") as file:
            write_parquet(batches, file.fileno(), schema)
        group = pq.read_metadata(path).row_group(0)
        columns = [group.column(index) for index in range(group.num_columns)]
        (column,) = [column for column in columns if column.path_in_schema == "key"]
        has_dictionary[str(schema.field("key").type)] = column.has_dictionary_page

    assert has_dictionary == {"binary": False, "string": True}

"""Rows as JSON: always all columns, and the same bytes whichever way they are made."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.engine.scan_contract import MAX_OUTPUT
from kraftops.log.batch import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL, Record
from kraftops.query.query import Query
from kraftops.query.row import COLUMNS
from kraftops.query.row_lines import row_json
from kraftops.records.internal_topics import decoder_names
from kraftops.schema.compile import compiled
from tests.helpers.logs.corpus_rows import (
    EVERY_LOG,
    decoder_of,
    engine_json,
    json_of_rows,
    lines_of,
    name_of,
    parsed,
    query_of,
    reference_json,
    rows,
)
from tests.helpers.logs.messages import data_for, encoded, table, versions_of
from tests.helpers.logs.segments import IN, batch_around, patched, resealed
from tests.helpers.logs.written import batch_bytes
from tests.helpers.project.json_schemas import FOLDER, problems

DESIGN = [
    "file",
    "position",
    "baseOffset",
    "topic",
    "partition",
    "offset",
    "timestamp",
    "timestampType",
    "crcValid",
    "leaderEpoch",
    "producerId",
    "producerEpoch",
    "sequence",
    "transactional",
    "control",
    "codec",
    "keySize",
    "valueSize",
    "headers",
    "kind",
    "type",
    "version",
    "key",
    "value",
    "topicId",
    "partitionId",
    "brokerId",
    "keyEncoding",
    "valueEncoding",
    "error",
]
DECODERS = (*decoder_names(), None)
each_log = pytest.mark.parametrize("path", [pytest.param(p, id=name_of(p)) for p in EVERY_LOG])


def write(directory: Path, *batches: bytes, name: str = "00000000000000000000.log") -> Path:
    path = directory / name
    path.write_bytes(b"".join(batches))
    return path


def one(path: Path, query: Query | None = None) -> dict[str, object]:
    (found,) = parsed(engine_json(path, query or Query(form="json")))
    return found


def test_columns_are_those_of_the_design() -> None:
    schema = json.loads((FOLDER / "row.v1.json").read_text("utf-8"))
    assert list(COLUMNS) == DESIGN == list(schema["properties"]) == schema["required"]


@each_log
def test_engine_and_reference_give_the_same_bytes_for_every_decoder(path: Path) -> None:
    for decoder in DECODERS:
        for show_secrets in (False, True):
            query = query_of(path, decoder=decoder, show_secrets=show_secrets)

            expected = reference_json(path, query)
            assert engine_json(path, query) == expected
            assert json_of_rows(path, query) == expected


@each_log
def test_each_line_is_an_object_with_all_columns_in_order(path: Path) -> None:
    for line in lines_of(engine_json(path, query_of(path))):
        assert list(json.loads(line)) == DESIGN
        assert problems("dump-log", line) == []


@pytest.mark.parametrize("dialect", ["kip-631", "kip-631-draft"])
def test_engine_reads_dialects_as_the_reference_does(dialect: str) -> None:
    for path in EVERY_LOG:
        if decoder_of(path) == "metadata":
            query = query_of(path, dialect=dialect)

            expected = reference_json(path, query)
            assert engine_json(path, query) == expected
            assert json_of_rows(path, query) == expected


ASKED = ({"offset"}, {"type", "version", "valueSize"}, {"type", "topicId"}, None)
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"types": frozenset({"partition", "topic", "brokerregistrationchange"})},
    {"first_offset": 5, "last_offset": 70},
    {"where": "partitionId = 0"},
    {"topics": frozenset({"grKZXozeSdqax4vkyui8ag"})},
)


@each_log
def test_rows_of_some_columns_are_those_of_all(path: Path) -> None:
    has_damage = any(row["error"] for row in parsed(reference_json(path, query_of(path))))
    for asked in FILTERS:
        every = parsed(reference_json(path, query_of(path, **asked)))
        for columns in ASKED:
            query = query_of(path, columns=columns and frozenset(columns), **asked)
            if columns == {"offset"} and has_damage:
                continue  # headers tell offsets: damage in what they head is not seen

            found = rows(path, query)

            assert len(found) == len(every)
            for row, whole in zip(found, every, strict=True):
                shown = json.loads(row_json(row))
                assert only(shown, columns) == only(whole, columns)


def only(row: dict[str, Any], columns: set[str] | None) -> dict[str, Any]:
    return {name: row[name] for name in columns or row}


@given(st.data())
def test_engine_and_reference_give_the_same_bytes_for_any_metadata(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    messages = st.sampled_from(sorted(table("metadata").values(), key=lambda m: m.name))
    values = []
    for message in data.draw(st.lists(messages, min_size=1, max_size=6)):
        version = data.draw(st.sampled_from(versions_of(message)))
        body = encoded(message, version, data.draw(data_for(message, version, unknown_tags=True)))
        values.append(bytes([1, message.key or 0, version]) + body)
    times = data.draw(st.lists(st.integers(-3, 20_000), min_size=6, max_size=6))
    records = [Record(n, 1000 + times[n], None, value) for n, value in enumerate(values)]
    attributes = data.draw(st.sampled_from([0, 1, LOG_APPEND_TIME]))
    path = write(tmp_path_factory.mktemp("logs"), batch_bytes(records, attributes=attributes))

    for show_secrets in (False, True):
        query = Query(decoder="metadata", form="json", show_secrets=show_secrets)

        expected = reference_json(path, query)
        assert engine_json(path, query) == expected
        assert json_of_rows(path, query) == expected


_PARTS = st.none() | st.binary(max_size=150) | st.text(max_size=100).map(str.encode)
_HEADERS = st.lists(st.tuples(st.text(max_size=5).map(str.encode), _PARTS), max_size=2).map(tuple)


@given(
    st.lists(
        st.tuples(st.integers(-200, 100_000), _PARTS, _PARTS, st.just(()) | _HEADERS),
        min_size=1,
        max_size=80,
    ),
    st.sampled_from([0, 1, LOG_APPEND_TIME, TRANSACTIONAL, CONTROL]),
    st.sampled_from([-1, 0, 5, 0x7FFFFFFE]),
)
def test_engine_and_reference_give_the_same_bytes_for_any_user_records(
    tmp_path_factory: pytest.TempPathFactory,
    parts: list[tuple[int, bytes | None, bytes | None, tuple[tuple[bytes, bytes | None], ...]]],
    attributes: int,
    sequence: int,
) -> None:
    records = [Record(n, 7 + time, *rest) for n, (time, *rest) in enumerate(parts)]
    batch = batch_bytes(records, attributes=attributes, base_sequence=sequence, producer_id=3)
    path = write(tmp_path_factory.mktemp("logs"), batch)
    query = Query(decoder="user", form="json")

    assert engine_json(path, query) == reference_json(path, query)
    for found, record in zip(parsed(engine_json(path, query)), records, strict=True):
        assert found["keySize"] == (None if record.key is None else len(record.key))
        assert len(found["headers"]) == len(record.headers)


# What the columns hold


def test_text_is_shown_and_other_bytes_are_base64(tmp_path: Path) -> None:
    path = write(tmp_path, batch_bytes([Record(0, 5, "schlüssel".encode(), b"\xff\0")]))

    found = one(path)

    assert (found["key"], found["keyEncoding"], found["keySize"]) == ("schlüssel", None, 10)
    assert (found["value"], found["valueEncoding"], found["valueSize"]) == ("/wA=", "base64", 2)


def test_absent_column_is_null(tmp_path: Path) -> None:
    path = write(tmp_path, batch_bytes([Record(0, 5, None, None)], leader_epoch=-1))

    found = one(path)

    absent = {name for name, value in found.items() if value is None}
    assert absent >= {
        "leaderEpoch",
        "producerId",
        "producerEpoch",
        "sequence",
        "keySize",
        "valueSize",
        "key",
        "value",
    }


def test_empty_key_is_not_an_absent_one(tmp_path: Path) -> None:
    found = one(write(tmp_path, batch_bytes([Record(0, 5, b"", b"")])))

    assert (found["key"], found["keySize"], found["value"], found["valueSize"]) == ("", 0, "", 0)


def test_fields_of_the_batch_are_in_each_row(tmp_path: Path) -> None:
    records = [Record(7 + n, 50 + n, None, b"v") for n in range(2)]
    batch = batch_bytes(
        records,
        attributes=TRANSACTIONAL | 4,
        leader_epoch=3,
        producer_id=11,
        producer_epoch=2,
        base_sequence=0x7FFFFFFF,
    )
    path = write(tmp_path, b"", batch)

    first, second = parsed(engine_json(path, Query(form="json")))

    assert (first["file"], first["position"], first["baseOffset"]) == (str(path), 0, 7)
    assert (first["offset"], second["offset"]) == (7, 8)
    assert (first["timestamp"], first["timestampType"]) == (50, "CreateTime")
    assert (first["leaderEpoch"], first["producerId"], first["producerEpoch"]) == (3, 11, 2)
    assert (first["sequence"], second["sequence"]) == (0x7FFFFFFF, 0)  # as Kafka goes on
    assert (first["transactional"], first["control"], first["codec"]) == (True, False, "zstd")


def test_time_of_the_log_is_that_of_the_batch(tmp_path: Path) -> None:
    records = [Record(n, 50 + n, None, b"v") for n in range(2)]
    path = write(tmp_path, batch_bytes(records, attributes=LOG_APPEND_TIME))

    found = parsed(engine_json(path, Query(form="json")))

    assert [row["timestamp"] for row in found] == [51, 51]
    assert {row["timestampType"] for row in found} == {"LogAppendTime"}


def test_headers_have_text_for_keys_and_base64_for_values(tmp_path: Path) -> None:
    headers = ((b"a", b"\1\2"), (b"a", None), ("ü".encode(), b""))
    path = write(tmp_path, batch_bytes([Record(0, 5, None, b"v", headers)]))

    assert one(path)["headers"] == [
        {"key": "a", "value": "AQI="},
        {"key": "a", "value": None},
        {"key": "ü", "value": ""},
    ]


def test_marker_of_a_transaction_is_a_control_row() -> None:
    found = [
        row
        for path in IN.glob("user/txn/*.log")
        for row in parsed(engine_json(path, Query(form="json")))
    ]

    markers = [row for row in found if row["control"]]
    assert {row["kind"] for row in markers} == {"control"}
    assert {row["type"] for row in markers} == {"COMMIT", "ABORT"}
    assert all("coordinatorEpoch" in row["value"] for row in markers)
    assert all(row["key"] is None for row in markers)


@pytest.mark.parametrize("decoder", ["metadata", "user"])
def test_control_records_of_kraft_are_decoded_with_every_decoder(decoder: str) -> None:
    path = next(IN.glob("meta/*137-*.checkpoint"))

    found = parsed(engine_json(path, query_of(path, decoder=decoder)))

    types = [row["type"] for row in found if row["kind"] == "control"]
    assert types[0] == "SNAPSHOT_HEADER"
    assert types[-1] == "SNAPSHOT_FOOTER"


def test_ids_of_metadata_records_have_columns() -> None:
    path = IN / "meta/00000000000000000000.log"

    found = parsed(engine_json(path, query_of(path)))

    for row in found:
        if row["type"] in ("PARTITION_RECORD", "PARTITION_CHANGE_RECORD"):
            assert row["topicId"] == row["value"]["topicId"]
            assert row["partitionId"] == row["value"]["partitionId"]
        if row["type"] == "REGISTER_BROKER_RECORD":
            assert row["brokerId"] == row["value"]["brokerId"]
        if row["type"] == "FEATURE_LEVEL_RECORD":
            assert (row["topicId"], row["partitionId"], row["brokerId"]) == (None, None, None)
    assert {"PARTITION_RECORD", "REGISTER_BROKER_RECORD"} <= {row["type"] for row in found}


def test_tombstone_of_an_offset_has_a_type_and_no_value() -> None:
    path = IN / "consumer_offsets/00000000000000000000.log"

    found = parsed(engine_json(path, query_of(path)))

    gone = [row for row in found if row["value"] is None]
    assert gone
    assert all(row["type"] and row["key"] and row["version"] is None for row in gone)


def test_row_of_an_unreadable_record_has_base64_and_the_reason() -> None:
    path = IN / "craft/meta-bad/00000000000000000000.log"

    found = [row for row in parsed(engine_json(path, query_of(path))) if row["error"]]

    assert found
    for row in found:
        assert row["kind"] == "metadata"
        assert row["value"] is None or row["valueEncoding"] == "base64"
        assert f"at offset {row['offset']}" in row["error"]


def test_messages_of_older_formats_are_rows() -> None:
    magic0, magic1 = (
        parsed(engine_json(IN / f"craft/{name}/00000000000000000000.log", Query(form="json")))
        for name in ("magic0", "magic1")
    )

    assert {row["timestamp"] for row in magic0} == {None}
    assert {row["timestampType"] for row in magic0} == {None}
    assert {row["timestampType"] for row in magic1} == {"CreateTime"}
    assert {row["leaderEpoch"] for row in magic0 + magic1} == {None}
    assert [row["offset"] for row in magic1] == sorted(row["offset"] for row in magic1)
    assert len({row["codec"] for row in magic1}) > 1


# Damage


@pytest.mark.parametrize(
    ("data", "position", "base_offset", "reason"),
    [
        pytest.param(
            batch_around(b"\xff" * 20, 1, base_offset=9), 0, 9, "record 1 of 1", id="record"
        ),
        pytest.param(batch_bytes([Record(0, 1, None, b"v")]) + b"x" * 30, 69, None, "", id="tail"),
        pytest.param(
            batch_bytes([Record(0, 1, None, b"v")]) + b"\0" * 11 + b"\1" + b"x" * 30,
            69,
            None,
            "a batch length of 1,",
            id="length",
        ),
        pytest.param(
            resealed(patched(batch_bytes([Record(4, 1, None, b"v")]), 22, b"\6")),
            0,
            4,
            "unknown codec 6",
            id="codec",
        ),
        pytest.param(
            resealed(patched(batch_bytes([Record(4, 1, None, b"v")]), 57, b"\xff" * 4)),
            0,
            4,
            "the batch counts -1 records",
            id="count",
        ),
    ],
)
def test_damage_is_a_row_that_says_where_and_why(
    data: bytes, position: int, base_offset: int | None, reason: str, tmp_path: Path
) -> None:
    path = write(tmp_path, data)

    found = parsed(engine_json(path, Query(form="json")))[-1]

    assert (found["kind"], found["position"]) == ("damage", position)
    assert found["baseOffset"] == base_offset
    assert found["offset"] is None
    assert found["error"].startswith(f"position {position}")
    assert reason in found["error"]


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_empty_batch_of_an_unknown_codec_holds_nothing(codec: int, tmp_path: Path) -> None:
    empty = batch_around(b"", 0, attributes=codec)
    path = write(tmp_path, empty, batch_bytes([Record(0, 1, None, b"v")]))

    for decoder in ("metadata", "user"):
        query = Query(decoder=decoder, form="json")

        assert len(parsed(engine_json(path, query))) == 1
        expected = reference_json(path, query)
        assert engine_json(path, query) == expected
        assert json_of_rows(path, query) == expected


def test_batch_of_a_negative_magic_is_damage(tmp_path: Path) -> None:
    path = write(tmp_path, patched(batch_bytes([Record(0, 1, None, b"v")]), 16, b"\xfe"))

    (found,) = rows(path)

    assert found.error
    assert found.error.endswith("magic -2")


def test_name_of_a_file_that_is_no_text_is_text_in_rows(tmp_path: Path) -> None:
    path = write(tmp_path, batch_bytes([Record(0, 1, None, b"v")]) + b"tail", name="caf\udce9.log")

    for text in (engine_json(path, Query(form="json")), reference_json(path, Query(form="json"))):
        assert {row["file"] for row in parsed(text)} == {str(path).replace("\udce9", "\ufffd")}
        text.encode()


def test_batch_of_very_many_records_comes_in_pieces(tmp_path: Path) -> None:
    """Not as one string of a batch with millions of records."""
    from kraftops.dump.report import Report
    from kraftops.dump.scan.part_printer import text_chunks

    count = 20_000
    value = b"\1\1\0" + compiled(table("metadata")["NoOpRecord"], 0).write({})
    records = [Record(n, 0, None, value) for n in range(count)]
    path = write(tmp_path, batch_bytes(records, attributes=4))
    for decoder in ("metadata", "user", "offsets"):
        query = Query(decoder=decoder, form="json")

        chunks = list(text_chunks(str(path), query, Report()))

        assert sum(chunk.count(b"\n") for chunk in chunks) == count
        assert max(map(len, chunks)) <= MAX_OUTPUT + 1000

"""Lines of records by either engine."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.dump.report import Report
from kraftops.engine.scan_contract import Request
from kraftops.engine.scanning import open_scan
from kraftops.log import batch as v2
from kraftops.log.batch import LARGE_PART, Batch, Record
from kraftops.log.codecs import CODECS
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.schema.compile import compiled
from tests.helpers.engine.agreement import agree, needs_both
from tests.helpers.engine.choice import using
from tests.helpers.logs.messages import TABLES, table, uvarint
from tests.helpers.logs.segments import batches_of, patched, resealed, segments, walk
from tests.helpers.logs.written import batch_bytes, message_bytes, wrapper_bytes
from tests.helpers.tools.dump_file import QUERIES, dump_bytes

METADATA = [(message.key or 0, message) for message in table("metadata").values()]
ODD_VALUES = st.sampled_from(
    [None, b"", b"\0", b"\1", b"\1\2", b"\1\x63\0", b"\1\2\x09abc", b"\2\2\0", b"\xff" * 9]
)


@st.composite
def metadata_values(draw: st.DrawFn) -> bytes:
    number, message = draw(st.sampled_from(METADATA))
    version = draw(st.integers(0, message.versions.last or 0))
    rest = draw(st.sampled_from([b"", b"", b"", b"garbage"]))
    return b"\1" + uvarint(number) + uvarint(version) + compiled(message, version).write({}) + rest


TEXTS = st.none() | st.binary(max_size=5) | st.text(max_size=5).map(str.encode)
LONG = st.sampled_from([b"x" * 63, b"y" * 64, "é".encode() * 40, b"z" * 8191, b"z" * 8192])
HEADERS = st.sampled_from([(), (), (), ((b"h", b"v"),), ((b"a", None), (b"\xff", b""))])


@st.composite
def batches(draw: st.DrawFn, values: st.SearchStrategy[bytes | None]) -> bytes:
    """Return a batch as producers write it, or rarely an unusual one."""
    offset = draw(st.sampled_from([0, 5, 1 << 40]))
    time = draw(st.sampled_from([0, 1_700_000_000_000]))
    keys = draw(st.sampled_from([st.none(), TEXTS, TEXTS | LONG]))
    headers = draw(st.sampled_from([st.just(()), HEADERS]))
    steps = draw(st.sampled_from([st.just(1), st.just(1), st.integers(1, 300)]))
    times = draw(st.sampled_from([st.just(0), st.integers(0, 20_000), st.integers(-5, 1 << 40)]))
    records = []
    for _ in range(draw(st.sampled_from([1, 3, 8, 20, 70]))):
        key, value = draw(keys), draw(values)
        records.append(Record(offset, time + draw(times), key, value, draw(headers)))
        offset += draw(steps)
    return batch_bytes(
        records,
        attributes=draw(st.sampled_from([0, 0, 1, v2.LOG_APPEND_TIME])),
        base_sequence=draw(st.sampled_from([-1, -1, 0, 40, (1 << 31) - 3])),
    )


def lines(batch: Batch, query: Query, engine: str = "") -> tuple[str, list[str], list[str], bool]:
    """Return text, error, summary and failure of a batch's records."""
    report = Report()
    parts = []
    with using(engine):
        for outcome in open_scan(Request("0.log", query)).batch(batch):
            parts.append(outcome.out)
            for note in outcome.notes:
                report.failure("0.log", note.position, note.reason)
            report.gaps("0.log", outcome.gaps)
    text = b"".join(parts).decode().partition("\n")[2]
    return text, report.take_lines(), list(report.summary()), report.has_failed


@pytest.mark.parametrize("name", ["metadata", "metadata without metadata", "kip-631"])
@given(data=batches(metadata_values() | metadata_values() | ODD_VALUES))
def test_lines_of_metadata_are_those_of_the_reference(name: str, data: bytes) -> None:
    (batch,) = batches_of(data)

    assert lines(batch, QUERIES[name]) == lines(batch, QUERIES[name], "reference")


@given(data=batches(TEXTS | LONG))
def test_lines_of_text_are_those_of_the_reference(data: bytes) -> None:
    (batch,) = batches_of(data)

    assert lines(batch, QUERIES["text"]) == lines(batch, QUERIES["text"], "reference")


REAL = [path for pattern in ("*.log", "*.checkpoint") for path in segments(pattern)]


@pytest.mark.parametrize("path", REAL, ids=lambda path: "/".join(path.parts[-3:]))
def test_lines_of_real_logs_are_those_of_the_reference(path: Path) -> None:
    for batch in walk(path):
        if batch.is_legacy:
            continue
        for query in (QUERIES["metadata"], QUERIES["text"]):
            assert lines(batch, query) == lines(batch, query, "reference")


@pytest.mark.parametrize("name", ["metadata", "text"])
@given(data=batches(metadata_values()), flips=st.lists(st.integers(0, 1 << 20), max_size=3))
def test_lines_of_damaged_batches_are_those_of_the_reference(
    name: str, data: bytes, flips: list[int]
) -> None:
    damaged = bytearray(data)
    for flip in flips:
        at = v2.HEADER_SIZE + flip // 8 % (len(data) - v2.HEADER_SIZE)
        damaged[at] ^= 1 << flip % 8
    batch = Batch(0, len(data), bytes(damaged))

    assert lines(batch, QUERIES[name]) == lines(batch, QUERIES[name], "reference")


@pytest.mark.parametrize("table_name", [t for t in TABLES if t in ("metadata", "kip_631")])
def test_partition_of_many_replicas_does_not_stop_the_dump(table_name: str, tmp_path: Path) -> None:
    message = table(table_name)["PartitionRecord"]
    body = compiled(message, 0).write({"replicas": list(range(150))})
    frame = (b"\1" if table_name == "metadata" else b"\0") + b"\3\0"
    records = [Record(0, 0, None, frame + body), Record(1, 0, None, frame + body)]
    query = QUERIES["metadata" if table_name == "metadata" else "kip-631"]

    found = dump_bytes(batch_bytes(records), tmp_path, query)

    assert [line.split(" ")[2] for line in found.lines[1:]] == ["0", "1"]
    assert all(f"[{','.join(map(str, range(150)))}]" in line for line in found.lines[1:])


# The line itself


def only(record: Record, query: str = "text", **header: int) -> str:
    (batch,) = batches_of(batch_bytes([record], **header))
    return lines(batch, QUERIES[query])[0]


HEAD = "| offset: 5 CreateTime: 9 "


@pytest.mark.parametrize(
    ("key", "value", "sizes", "shown"),
    [
        (b"k", b"v", "keySize: 1 valueSize: 1", " key: k payload: v"),
        (None, b"v", "keySize: -1 valueSize: 1", " payload: v"),
        (b"k", None, "keySize: 1 valueSize: -1", " key: k"),
        (None, None, "keySize: -1 valueSize: -1", ""),
        (b"", b"", "keySize: 0 valueSize: 0", " key:  payload: "),
        (b"a\nb", b"\x1b[1m", "keySize: 3 valueSize: 4", " key: a\nb payload: \x1b[1m"),
        (b"\xff", b"\xed\xa0\x80", "keySize: 1 valueSize: 3", " key: � payload: �"),
    ],
)
def test_sizes_keys_and_payloads(
    key: bytes | None, value: bytes | None, sizes: str, shown: str
) -> None:
    record = Record(5, 9, key, value)

    assert only(record) == f"{HEAD}{sizes} sequence: -1 headerKeys: []{shown}\n"
    assert only(record, "records") == f"{HEAD}{sizes} sequence: -1 headerKeys: []\n"
    lead = f"|{shown}" if shown else ""
    assert only(record, "text without metadata") == f"{lead}\n"


def test_keys_of_headers_are_joined() -> None:
    headers = ((b"a", b"1"), (b"b,c", None), (b"\xff", b""))

    assert " headerKeys: [a,b,c,�] " in only(Record(5, 9, None, b"v", headers))


def test_time_by_the_log_is_the_batchs() -> None:
    data = batch_bytes(
        [Record(0, 5, None, b"a"), Record(1, 9, None, b"b")], attributes=v2.LOG_APPEND_TIME
    )
    (batch,) = batches_of(data)

    text = lines(batch, QUERIES["text"])[0]

    assert text.count(" LogAppendTime: 9 ") == 2


def test_sequences_wrap_within_a_batch() -> None:
    records = [Record(n, 0, None, b"v") for n in range(3)]
    (batch,) = batches_of(batch_bytes(records, base_sequence=(1 << 31) - 2))

    text = lines(batch, QUERIES["text"])[0]

    sequences = [line.split("sequence: ")[1].split()[0] for line in text.splitlines()]
    assert sequences == [str((1 << 31) - 2), str((1 << 31) - 1), "0"]


def test_undecodable_record_is_shown_as_far_as_it_goes() -> None:
    """The records after it are shown, too."""
    records = [Record(n, 0, None, value) for n, value in enumerate((bytes(8), b"abc", bytes(8)))]
    (batch,) = batches_of(batch_bytes(records))

    text, notes, _, has_failed = lines(batch, QUERIES["numbers"])

    first, second, third = text.splitlines()
    assert first.endswith(" payload: 0")
    assert "| offset: 1 " in second
    assert " <undecodable: " in second
    assert third.endswith(" payload: 0")
    assert len(notes) == 1
    assert notes[0].startswith("0.log: position 0: offset 1: ")
    assert has_failed


@pytest.mark.parametrize("codec", range(len(CODECS)), ids=CODECS)
def test_gaps_between_offsets_are_reported(codec: int) -> None:
    records = [Record(n, 0, None, b"\1\x14\0\0") for n in (3, 4, 7, 8)]
    (batch,) = batches_of(batch_bytes(records, attributes=codec))

    for query in ("text", "metadata", "records"):
        summary = lines(batch, QUERIES[query])[2]

        assert summary[1:] == ["  4 is followed by 7"]


# A log of all that there is, with filters


def texts(first: int, *values: bytes | None) -> list[Record]:
    return [Record(first + n, 100 * first + n, b"k%d" % n, value) for n, value in enumerate(values)]


PLAIN = batch_bytes(texts(10, b"v", None, b"a\nb"), base_sequence=4)
MIXED = b"".join(
    [
        batch_bytes(texts(0, b"v", b"w")[1:]),
        PLAIN,
        patched(batch_bytes(texts(20, b"v", b"w")), 17, bytes(4)),
        resealed(patched(batch_bytes(texts(30, b"v")), 22, b"\6")),
        batch_bytes([Record(40, 4000, b"\0\0\0\1", b"\0\0\0\0\0\7")], attributes=v2.CONTROL),
        batch_bytes([Record(50, 5000, b"\0", b"")], attributes=v2.CONTROL),
        batch_bytes([Record(60, 6000, None, b"\1\2\0\1a" + bytes(17)), *texts(61, b"\1\x63\0")]),
        message_bytes(Record(70, -1, b"k0", b"v"), 0),
        wrapper_bytes(texts(80, b"v", None, b"a\nb"), 1, 1),
        message_bytes(texts(90, b"v")[0], 1)[:-3] + b"\0\x09v",
        batch_bytes([Record(offset, 9000, b"k0", b"v") for offset in (100, 100, 102)]),
        batch_bytes(texts(95, b"v", b"w")),
    ]
)


@needs_both
@pytest.mark.parametrize("decoder", [None, "user", "metadata"])
@pytest.mark.parametrize(
    "asked",
    [
        pytest.param({}, id="all"),
        pytest.param({"first_offset": 11, "last_offset": 80}, id="offsets"),
        pytest.param({"since": 1001, "until": 8001}, id="time"),
        pytest.param({"until": 1000}, id="until the first of a batch"),
        pytest.param({"keys": frozenset({"k1"})}, id="key"),
        pytest.param({"types": frozenset({"topic"})}, id="type"),
    ],
)
def test_text_of_a_mixed_log_is_that_of_the_reference(
    asked: dict[str, Any], decoder: str | None
) -> None:
    for deep, check, skip_invalid, is_one_line, salvage in product((False, True), repeat=5):
        query = Query(
            decoder,
            deep_iteration=deep,
            check=check,
            skip_invalid=skip_invalid,
            is_one_line=is_one_line,
            salvage=salvage,
            filter=Filter(**asked),
        )
        agree(MIXED, query, marks=deep)


@needs_both
@pytest.mark.parametrize("is_one_line", [False, True])
def test_long_keys_and_values_are_those_of_the_reference(is_one_line: bool) -> None:
    long = b"a\nb" * (LARGE_PART // 2)
    pairs = [(None, long), (long, None), (b"k\n", long), (long, long)]
    data = batch_bytes([Record(n, 0, *pair) for n, pair in enumerate(pairs)])

    agree(data, Query("user", deep_iteration=True, is_one_line=is_one_line), marks=True)


# Magic 1 alone: the compiled engine leaves it to the reference


def test_gaps_between_messages_of_magic_1_are_reported() -> None:
    (batch,) = batches_of(wrapper_bytes([Record(n, 0, None, b"v") for n in (3, 4, 7, 8)], 1, 1))

    assert lines(batch, QUERIES["text"])[2][1:] == ["  4 is followed by 7"]


def test_message_with_a_wrong_checksum_is_left_out_if_asked(tmp_path: Path) -> None:
    good = message_bytes(Record(3, 9, None, b"good"), 1)
    bad = patched(message_bytes(Record(4, 9, None, b"bad"), 1), 12, bytes(4))

    found = dump_bytes(
        good + bad, tmp_path, Query("user", deep_iteration=True, skip_invalid=True)
    ).lines

    assert [line.split(" ")[:3] for line in found] == [
        ["offset:", "3", "position:"],
        ["|", "offset:", "3"],
    ]

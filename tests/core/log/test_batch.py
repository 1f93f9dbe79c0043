"""Record batches of magic 2."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import BatchLimitError, DecodeError, Underflow
from kraftops.log import batch as v2
from kraftops.log.batch import Batch, Record, is_valid, read_record
from kraftops.log.codecs import CODECS
from kraftops.memory import Budget
from kraftops.varint import varint_bytes
from tests.helpers.logs.segments import (
    ATTRIBUTES_AT,
    COUNT_AT,
    LAST_DELTA_AT,
    batch_around,
    batches_of,
    patched,
    plain_record,
    record_around,
    resealed,
    segments,
    walk,
)
from tests.helpers.logs.written import batch_bytes

BYTES = st.none() | st.binary(max_size=20) | st.just(b"x" * 200)
HEADERS = st.lists(
    st.tuples(st.binary(max_size=5), st.none() | st.binary(max_size=5)), max_size=3
).map(tuple)
OFFSETS = st.integers(0, 1 << 62)
TIMES = st.integers(-1, 1 << 50)


def records(batch: Batch, limit: int | None = None) -> list[Record]:
    return list(v2.records(batch, None if limit is None else Budget(4 * limit).meter()))


@st.composite
def some_records(draw: st.DrawFn) -> list[Record]:
    offset, found = draw(OFFSETS), []
    for _ in range(draw(st.integers(1, 5))):
        headers = draw(HEADERS)
        found.append(Record(offset, draw(TIMES), draw(BYTES), draw(BYTES), headers))
        offset += draw(st.integers(1, 1000))
    return found


def only(data: bytes) -> Batch:
    (batch,) = batches_of(data)
    return batch


@pytest.mark.parametrize("codec", range(len(CODECS)), ids=CODECS)
@given(written=some_records())
def test_records_are_read_back(codec: int, written: list[Record]) -> None:
    batch = only(batch_bytes(written, attributes=codec))

    assert records(batch) == written
    assert batch.header.codec == codec
    assert batch.header.record_count == len(written)
    assert batch.header.base_offset == written[0].offset
    assert batch.header.last_offset == written[-1].offset
    assert batch.header.max_timestamp == max(record.timestamp for record in written)
    assert is_valid(batch, batch.header.crc)


def test_header_is_read_back() -> None:
    data = batch_bytes(
        [Record(7, 1000, None, b"v")],
        attributes=v2.TRANSACTIONAL | v2.CONTROL | v2.DELETE_HORIZON,
        leader_epoch=3,
        producer_id=4000,
        producer_epoch=5,
        base_sequence=6,
    )

    header = only(data).header

    assert header == v2.Header(
        7, len(data) - 12, 3, 2, header.crc, 0x70, 0, 1000, 1000, 4000, 5, 6, 1
    )
    assert header.is_control
    assert not only(batch_bytes([Record(0, 0, None, None)])).header.is_control


@pytest.mark.parametrize("path", segments("user/*/*.log"), ids=lambda path: path.parent.name)
def test_real_batches_are_valid_and_come_out_as_they_were(path: Path) -> None:
    """Written anew from their records, uncompressed batches of real producers have their bytes."""
    seen = 0
    for batch in walk(path):
        header = batch.header
        assert is_valid(batch, header.crc)
        found = records(batch)
        assert len(found) == header.record_count
        # Compaction keeps the offsets and times of a batch, which then no record tells.
        if not found or header.attributes & (
            v2.CODEC_MASK | v2.LOG_APPEND_TIME | v2.DELETE_HORIZON
        ):
            continue
        first, last = (header.base_offset, header.base_timestamp), header.last_offset
        if (found[0].offset, found[0].timestamp) != first or found[-1].offset != last:
            continue
        seen += 1
        assert batch.data == batch_bytes(
            found,
            attributes=header.attributes,
            leader_epoch=header.leader_epoch,
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            base_sequence=header.base_sequence,
        )
    assert seen or path.parent.name in ("gzip", "snappy", "lz4", "zstd", "lat", "latz", "compact")


def test_log_append_time_is_every_records_time() -> None:
    written = [Record(0, 500, None, b"a"), Record(1, 600, None, b"b")]

    found = records(only(batch_bytes(written, attributes=v2.LOG_APPEND_TIME)))

    assert [record.timestamp for record in found] == [600, 600]


def test_compaction_leaves_gaps_and_empty_batches() -> None:
    """The last offset is that of the header, whether its record is still there or not."""
    gaps = plain_record(3, b"v")
    data = resealed(patched(batch_around(gaps, 1, base_offset=10), LAST_DELTA_AT, b"\0\0\0\x09"))
    empty = resealed(patched(batch_around(b"", 0, base_offset=20), LAST_DELTA_AT, b"\0\0\0\4"))

    first, second = batches_of(data + empty)

    assert [record.offset for record in records(first)] == [13]
    assert first.header.last_offset == 19
    assert records(second) == []
    assert second.header.last_offset == 24


def test_every_flipped_bit_behind_the_checksum_is_noticed() -> None:
    data = batch_bytes([Record(5, 1000, b"key", b"value")], leader_epoch=9)
    for bit in range(21 * 8, len(data) * 8):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        batch = Batch(0, len(data), bytes(flipped))

        assert not is_valid(batch, batch.header.crc), bit


@pytest.mark.parametrize(
    ("at", "valid"),
    [
        pytest.param(7, True, id="base offset"),
        pytest.param(15, True, id="leader epoch"),
        pytest.param(18, False, id="checksum"),
        pytest.param(ATTRIBUTES_AT, False, id="attributes"),
    ],
)
def test_brokers_may_set_what_the_checksum_does_not_cover(at: int, valid: bool) -> None:
    data = batch_bytes([Record(5, 1000, b"key", b"value")])
    batch = only(patched(data, at, bytes([data[at] ^ 1])))

    assert is_valid(batch, batch.header.crc) is valid


def test_batch_smaller_than_its_header_is_not_valid() -> None:
    data = batch_bytes([Record(0, 0, None, None)])
    crc = int.from_bytes(data[17:21])

    assert not is_valid(Batch(0, 60, data[:61]), crc)


def test_partial_header_is_an_underflow() -> None:
    with pytest.raises(Underflow):
        _ = Batch(0, 30, bytes(60)).header


@pytest.mark.parametrize(
    ("magic", "is_legacy"),
    [(0, True), (1, True), (2, False), (3, False), (127, False), (255, True)],
)
def test_magic_is_a_signed_byte(magic: int, is_legacy: bool) -> None:
    assert Batch(0, 61, patched(bytes(61), 16, bytes([magic]))).is_legacy is is_legacy


START = b"\0\0\0"  # attributes, timestamp delta, offset delta


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\xff" * 20, id="length that never ends"),
        pytest.param(b"\x80", id="length cut short"),
        pytest.param(varint_bytes(1 << 30) + START, id="length beyond the bytes"),
        pytest.param(varint_bytes(-5) + START + b"\1\1\0", id="negative length"),
        pytest.param(varint_bytes(5) + START + b"\1\1\0", id="length one less"),
        pytest.param(varint_bytes(7) + START + b"\1\1\0\0", id="length one more"),
        pytest.param(record_around(b"\0"), id="only attributes"),
        pytest.param(record_around(b"\0" + b"\xff" * 11), id="time that never ends"),
        pytest.param(record_around(b"\0\0" + b"\xff" * 6), id="offset that never ends"),
        pytest.param(record_around(START), id="no key"),
        pytest.param(record_around(START + varint_bytes(3) + b"ab"), id="key beyond the end"),
        pytest.param(record_around(START + varint_bytes((1 << 31) - 1)), id="key of 2 GiB"),
        pytest.param(record_around(START + b"\1"), id="no value"),
        pytest.param(record_around(START + b"\1" + varint_bytes(9)), id="value beyond the end"),
        pytest.param(record_around(START + b"\1\1"), id="no headers"),
        pytest.param(record_around(START + b"\1\1" + varint_bytes(-1)), id="-1 headers"),
        pytest.param(record_around(START + b"\1\1" + varint_bytes(-(1 << 31))), id="-2^31 headers"),
        pytest.param(record_around(START + b"\1\1" + varint_bytes(5)), id="5 headers of none"),
        pytest.param(
            record_around(START + b"\1\1" + varint_bytes((1 << 31) - 1) + bytes(9)),
            id="2^31-1 headers",
        ),
        pytest.param(record_around(START + b"\1\1\2\1\1"), id="header without a key"),
        pytest.param(record_around(START + b"\1\1\2\x08a\1"), id="header key beyond the end"),
        pytest.param(record_around(START + b"\1\1\2\2k\x08v"), id="header value beyond the end"),
    ],
)
def test_impossible_record_is_refused(raw: bytes) -> None:
    with pytest.raises(DecodeError):
        read_record(raw, 0, 0, 0)
    with pytest.raises(DecodeError):
        records(only(batch_around(raw, 1)))


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (varint_bytes(100) + START, "a record of 100 bytes where 3 are left"),
        (varint_bytes(7) + START + b"\1\1\0\0", "a record of 7 bytes whose fields take 6"),
        (record_around(START + b"\6ab"), "a key of 3 bytes where 2 are left"),
        (record_around(START + b"\1\1\x0a?"), "5 headers where 1 bytes are left"),
        (
            record_around(START + b"\1\1" + varint_bytes(65537) + bytes(70_000)),
            "65537 headers, more than the 65536 that are read",
        ),
        (record_around(START + b"\1\1" + varint_bytes(65536) + b"\1" * 70_000), "a header without"),
    ],
)
def test_reason_has_the_numbers(raw: bytes, reason: str) -> None:
    with pytest.raises(DecodeError, match=f"^{reason}"):
        read_record(b"???" + raw, 3, 0, 0)


def test_bytes_that_are_left_are_counted() -> None:
    with pytest.raises(DecodeError, match=r"^5 bytes are left after 1 records$"):
        records(only(batch_around(plain_record(0, b"v") + b"?" * 5, 1)))


def test_batch_of_a_header_alone_is_valid() -> None:
    empty = only(batch_around(b"", 0))

    assert empty.size == v2.HEADER_SIZE
    assert is_valid(empty, empty.header.crc)


def test_usual_batch_has_no_producer() -> None:
    header = only(batch_bytes([Record(0, 0, None, b"v")])).header

    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)


def test_record_may_lie_anywhere() -> None:
    raw = plain_record(2, b"v", b"k")

    assert read_record(b"??" + raw + b"??", 2, 100, 5) == (Record(102, 5, b"k", b"v"), 2 + len(raw))


def test_sizes_below_minus_one_are_null() -> None:
    record, _ = read_record(
        record_around(START + varint_bytes(-7) + varint_bytes(-9) + b"\0"), 0, 0, 0
    )

    assert (record.key, record.value) == (None, None)


def test_sums_are_javas_long() -> None:
    fields = b"\0" + varint_bytes(10) + varint_bytes(10) + b"\1\1\0"

    record, _ = read_record(record_around(fields), 0, (1 << 63) - 1, (1 << 63) - 5)

    assert (record.offset, record.timestamp) == (-(1 << 63) + 9, -(1 << 63) + 5)


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(1, id="less"),
        pytest.param(3, id="more"),
        pytest.param((1 << 31) - 1, id="largest"),
    ],
)
def test_wrong_count_is_refused(count: int) -> None:
    """Also the largest, at once: nothing is made for records that are not there."""
    two = plain_record(0, b"a") + plain_record(1, b"b")

    with pytest.raises(DecodeError):
        records(only(batch_around(two, count)))


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_unknown_codec_is_refused(codec: int) -> None:
    with pytest.raises(DecodeError, match=f"unknown codec {codec}"):
        records(only(batch_around(plain_record(0, b"v"), 1, attributes=codec)))


@pytest.mark.parametrize("codec", range(1, len(CODECS)), ids=CODECS[1:])
def test_batch_that_inflates_too_much_is_refused(codec: int) -> None:
    data = batch_bytes([Record(0, 0, None, bytes(10_000))], attributes=codec)

    assert len(records(only(data), limit=20_000)) == 1
    with pytest.raises(BatchLimitError, match="beyond 5000 bytes"):
        records(only(data), limit=5_000)


def test_batch_too_large_for_memory_cannot_be_read() -> None:
    with pytest.raises(DecodeError, match="more than a quarter of --max-memory"):
        records(Batch(0, 5000, batch_around(b"", 1)[:61], crc=0))


def test_negative_count_has_no_records() -> None:
    data = resealed(patched(batch_around(b"", 0), COUNT_AT, struct.pack(">i", -3)))

    assert records(only(data)) == []

"""Messages of magic 0 and 1."""

import struct
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import BatchLimitError, DecodeError
from kraftops.log import legacy
from kraftops.log.batch import LARGE_PART, LOG_APPEND_TIME, Batch, Record
from kraftops.log.codecs import CODECS
from kraftops.log.legacy import LegacyRecord
from kraftops.memory import Budget
from tests.helpers.logs.segments import IN, batches_of, patched, walk
from tests.helpers.logs.written import compress, message_bytes, wrapper_bytes

GZIP, LZ4, ZSTD = 1, 3, 4
MAGICS = pytest.mark.parametrize("magic", [0, 1])
BYTES = st.none() | st.binary(max_size=20)


def only(data: bytes) -> Batch:
    (batch,) = batches_of(data)
    return batch


def read(batch: Batch, limit: int = 1 << 20) -> list[LegacyRecord]:
    return list(legacy.records(batch, Budget(4 * limit).meter()))


def message_around(magic: int, attributes: int, fields: bytes, offset: int = 0) -> bytes:
    """Return a message with any bytes behind its timestamp."""
    body = struct.pack(">bb", magic, attributes) + (bytes(8) if magic else b"") + fields
    return struct.pack(">qiI", offset, len(body) + 4, crc32(body)) + body


@st.composite
def some_records(draw: st.DrawFn, magic: int) -> list[Record]:
    offset, found = draw(st.integers(0, 1 << 40)), []
    for _ in range(draw(st.integers(1, 4))):
        time = draw(st.integers(0, 1 << 45)) if magic else legacy.NO_TIMESTAMP
        found.append(Record(offset, time, draw(BYTES), draw(BYTES)))
        offset += draw(st.integers(1, 9))
    return found


@MAGICS
@given(st.data())
def test_messages_are_read_back(magic: int, data: st.DataObject) -> None:
    (record, *_) = data.draw(some_records(magic))
    batch = only(message_bytes(record, magic))

    (found,) = read(batch)

    assert found.record == record
    assert found.is_valid
    assert legacy.is_valid(batch)
    assert found.crc == legacy.header(batch).crc


@MAGICS
@pytest.mark.parametrize("codec", [1, 2, 3], ids=CODECS[1:4])
@given(data=st.data())
def test_compressed_sets_are_read_back(magic: int, codec: int, data: st.DataObject) -> None:
    """With absolute offsets, however a producer of that magic wrote them."""
    written = data.draw(some_records(magic))
    batch = only(wrapper_bytes(written, magic, codec))

    found = read(batch)

    assert [message.record for message in found] == written
    assert all(message.is_valid for message in found)
    head = legacy.header(batch)
    assert (head.codec, head.magic, head.offset) == (codec, magic, written[-1].offset)


def test_real_sets_are_read_whole() -> None:
    """Sets of each magic and codec, written by Kafka's own classes."""
    for folder in ("magic0", "magic1", "magic-mixed"):
        (path,) = (IN / "craft" / folder).glob("*.log")
        offsets = [
            message.record.offset
            for batch in walk(path)
            if batch.is_legacy
            for message in read(batch)
        ]
        assert offsets == sorted(set(offsets))
        assert len(offsets) > 1


@pytest.mark.parametrize(
    ("magic", "attributes", "name"),
    [
        (0, 0, "NoTimestampType"),
        (0, LOG_APPEND_TIME, "NoTimestampType"),
        (1, 0, "CreateTime"),
        (1, LOG_APPEND_TIME, "LogAppendTime"),
    ],
)
def test_type_of_timestamps(magic: int, attributes: int, name: str) -> None:
    head = legacy.header(only(message_bytes(Record(0, 5, None, b"v"), magic, attributes)))

    assert head.timestamp_type == name
    assert head.timestamp == (5 if magic else -1)


def inner(*records: Record, magic: int = 1) -> bytes:
    return b"".join(message_bytes(record, magic) for record in records)


def wrapper(offset: int, content: bytes, magic: int = 1, attributes: int = GZIP) -> Batch:
    codec = attributes & 7
    value = compress(codec, content, magic)
    return only(message_bytes(Record(offset, 9_000, None, value), magic, attributes))


A, B = Record(0, 100, None, b"a"), Record(1, 200, None, b"b")


def test_offsets_inside_a_wrapper_of_magic_1_count_from_its_last() -> None:
    found = read(wrapper(41, inner(A, B)))

    assert [message.record.offset for message in found] == [40, 41]


def test_gaps_of_compaction_are_kept() -> None:
    found = read(wrapper(49, inner(A, B._replace(offset=9))))

    assert [message.record.offset for message in found] == [40, 49]


def test_offset_of_the_wrapper_may_be_unset() -> None:
    """Some clients left 0: the inner ones then count from 0."""
    found = read(wrapper(0, inner(A, B)))

    assert [message.record.offset for message in found] == [0, 1]


def test_wrapper_below_its_last_message_is_refused() -> None:
    with pytest.raises(DecodeError):
        read(wrapper(3, inner(A, B._replace(offset=9))))


def test_offsets_inside_a_wrapper_of_magic_0_are_absolute() -> None:
    content = inner(A._replace(offset=70), B._replace(offset=75), magic=0)

    found = read(wrapper(75, content, magic=0))

    assert [message.record.offset for message in found] == [70, 75]


def test_log_append_time_of_a_wrapper_is_every_messages_time() -> None:
    found = read(wrapper(1, inner(A, B), attributes=GZIP | LOG_APPEND_TIME))

    assert [message.record.timestamp for message in found] == [9_000, 9_000]


def test_message_of_magic_0_in_a_wrapper_of_magic_1_has_no_time() -> None:
    """Also where the log has times of its own: there is no place for one."""
    found = read(wrapper(1, inner(A, B, magic=0), attributes=GZIP | LOG_APPEND_TIME))

    assert [message.record.timestamp for message in found] == [-1, -1]


@pytest.mark.parametrize("size", [-1, -(1 << 31), 13])
def test_impossible_size_inside_a_wrapper_is_refused(size: int) -> None:
    content = inner(A) + patched(inner(B), 8, size.to_bytes(4, signed=True))

    with pytest.raises(DecodeError, match=f"a message of {size} bytes inside a compressed set"):
        read(wrapper(1, content))


def test_inner_message_that_is_cut_short_is_the_end_whatever_its_size() -> None:
    """As a fetch may cut it; here of 16 MiB and more, too."""
    for size in (len(inner(B)), 1 << 24, (1 << 31) - 1):
        content = inner(A) + patched(inner(B), 8, size.to_bytes(4))

        assert [message.record.value for message in read(wrapper(0, content))] == [b"a"]


@pytest.mark.parametrize(("size", "left"), [(25, 25), (14, 14)])
def test_message_without_a_whole_head_says_what_is_left(size: int, left: int) -> None:
    data = message_bytes(A, 1)[:size] + bytes(9)

    with pytest.raises(DecodeError, match=f"a message where {left} bytes are left"):
        read(Batch(0, size, data))


def test_large_values_are_views() -> None:
    large, small = bytes(LARGE_PART + 1), bytes(LARGE_PART)

    (first,), (second,) = (
        read(only(message_bytes(Record(0, 0, None, value), 1)), 1 << 30) for value in (large, small)
    )

    assert isinstance(first.record.value, memoryview)
    assert isinstance(second.record.value, bytes)
    assert (first.record.value, second.record.value) == (large, small)


def test_create_time_is_each_messages_own() -> None:
    found = read(wrapper(1, inner(A, B)))

    assert [message.record.timestamp for message in found] == [100, 200]


@MAGICS
def test_damage_shows_in_the_checksum(magic: int) -> None:
    """It covers every bit behind it; brokers may set the offset."""
    data = message_bytes(Record(7, 5, b"key", b"value"), magic)
    for bit in range(16 * 8, len(data) * 8):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8

        assert not legacy.is_valid(Batch(0, len(data), bytes(flipped))), bit
    assert legacy.is_valid(Batch(0, len(data), patched(data, 7, b"\x63")))


def test_checksum_inside_a_wrapper_is_each_messages_own() -> None:
    damaged = inner(A) + patched(inner(B), 12, b"\0\0\0\0")

    found = read(wrapper(1, damaged))

    assert [message.is_valid for message in found] == [True, False]
    assert found[1].crc == 0


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(b"\0\0\0\x09abcdefgh", id="key beyond the end"),
        pytest.param(b"\x7f\xff\xff\xff" + bytes(8), id="key of 2 GiB"),
        pytest.param(b"\0\0\0\x06abcdef", id="no length of a value"),
    ],
)
@MAGICS
def test_impossible_length_is_refused(magic: int, fields: bytes) -> None:
    with pytest.raises(DecodeError):
        read(only(message_around(magic, 0, fields)))


@MAGICS
def test_value_beyond_the_end_is_kept_as_what_it_claims(magic: int) -> None:
    """Kafka's tool prints the size before it dies of it."""
    (found,) = read(only(message_around(magic, 0, b"\xff\xff\xff\xff\0\0\0\x09v")))

    assert (found.record.key, found.record.value) == (None, None)
    assert (found.key_size, found.value_size) == (-1, 9)
    assert found.overrun == "newLimit > capacity: (9 > 1)"


def test_wrapper_without_a_value_is_refused() -> None:
    with pytest.raises(DecodeError):
        read(only(message_bytes(Record(0, 0, None, None), 1, GZIP)))


def test_wrapper_of_more_messages_than_producers_reach_is_refused_before_one_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch = wrapper(0, message_bytes(A, 1) * 10_000)
    most = 16 + legacy.header(batch).size // 2
    monkeypatch.setattr(legacy, "_in_wrapper", None)

    with pytest.raises(DecodeError, match=f"more than {most} messages"):
        read(batch)


def test_wrapper_without_messages_is_refused() -> None:
    with pytest.raises(DecodeError):
        read(wrapper(0, b""))


@MAGICS
def test_wrapper_in_a_wrapper_is_refused(magic: int) -> None:
    packed = compress(GZIP, inner(A, magic=magic), magic)
    nested = message_bytes(Record(0, 0, None, packed), magic, GZIP)

    with pytest.raises(DecodeError):
        read(wrapper(0, nested, magic=magic))


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_unknown_codec_is_refused(codec: int) -> None:
    with pytest.raises(DecodeError, match=f"unknown codec {codec}"):
        read(only(message_bytes(Record(0, 0, None, b"v"), 1, codec)))


@MAGICS
def test_zstd_is_refused(magic: int) -> None:
    """Kafka has zstd since magic 2."""
    with pytest.raises(DecodeError, match="zstd"):
        read(only(message_bytes(Record(0, 0, None, b"v"), magic, ZSTD)))


def test_wrapper_of_garbage_is_refused() -> None:
    with pytest.raises(DecodeError):
        read(only(message_bytes(Record(0, 0, None, b"no gzip"), 1, GZIP)))


def test_wrapper_of_truncated_messages_does_not_raise_anything_else() -> None:
    content = inner(A, B)
    for cut in range(1, len(content)):
        try:
            read(wrapper(1, content[:cut]))
        except DecodeError:
            continue


def test_wrapper_that_inflates_too_much_is_refused() -> None:
    batch = wrapper(0, inner(Record(0, 0, None, bytes(10_000))))

    assert len(read(batch, limit=20_000)) == 1
    with pytest.raises(BatchLimitError):
        read(batch, limit=5_000)


def test_batch_too_large_for_memory_cannot_be_read() -> None:
    with pytest.raises(DecodeError, match="more than a quarter of --max-memory"):
        read(Batch(0, 5000, message_bytes(A, 1)[:34], crc=0))


def test_lz4_of_magic_0_is_read_despite_its_checksum() -> None:
    (path,) = (IN / "craft" / "magic0").glob("*.log")
    batches = [batch for batch in walk(path) if legacy.header(batch).codec == LZ4]

    assert batches
    assert all(read(batch) for batch in batches)


def test_sets_of_each_codec_are_found_in_a_file(tmp_path: Path) -> None:
    """The reader of files finds the sets that this module writes."""
    path = tmp_path / "0.log"
    path.write_bytes(b"".join(wrapper_bytes([A, B], 1, codec) for codec in (1, 2, 3)))

    assert [legacy.header(batch).codec for batch in walk(path)] == [1, 2, 3]

"""Lines of batches, and the arithmetic of sequence numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.engine.reference.batch_line import (
    UndecodableBatch,
    add_sequence,
    batch_line,
    legacy_batch_line,
    subtract_sequence,
)
from kraftops.log import batch as v2
from kraftops.log.batch import Batch, Record
from tests.helpers.logs.segments import patched
from tests.helpers.logs.written import batch_bytes, message_bytes

LAST = (1 << 31) - 1
SEQUENCES = st.integers(0, LAST)


def line(data: bytes, position: int = 0) -> str:
    batch = Batch(position, len(data), data)
    return batch_line(batch, batch.header)


PLAIN = batch_bytes([Record(7, 1000, None, b"v"), Record(9, 2000, None, b"v")], leader_epoch=3)


def test_line_of_a_plain_batch() -> None:
    crc = int.from_bytes(PLAIN[17:21])

    assert line(PLAIN, position=77) == (
        "baseOffset: 7 lastOffset: 9 count: 2 baseSequence: -1 lastSequence: -1 producerId: -1 "
        "producerEpoch: -1 partitionLeaderEpoch: 3 isTransactional: false isControl: false "
        "deleteHorizonMs: OptionalLong.empty position: 77 CreateTime: 2000 "
        f"size: {len(PLAIN)} magic: 2 compresscodec: none crc: {crc} isvalid: true\n"
    )


@pytest.mark.parametrize(
    ("attributes", "part"),
    [
        (0, " isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty "),
        (v2.TRANSACTIONAL, " isTransactional: true isControl: false "),
        (v2.CONTROL, " isTransactional: false isControl: true "),
        (v2.DELETE_HORIZON, " isControl: false deleteHorizonMs: OptionalLong[1000] "),
        (v2.LOG_APPEND_TIME, " LogAppendTime: 1000 "),
        (v2.TRANSACTIONAL, " CreateTime: 1000 "),
        (1, " compresscodec: gzip "),
        (2, " compresscodec: snappy "),
        (3, " compresscodec: lz4 "),
        (4, " compresscodec: zstd "),
        (0x80, " compresscodec: none "),
    ],
)
def test_bits_of_the_attributes(attributes: int, part: str) -> None:
    assert part in line(batch_bytes([Record(0, 1000, None, b"v")], attributes=attributes))


def test_wrong_checksum_shows_in_the_line() -> None:
    assert line(patched(PLAIN, 17, b"\0\0\0\1")).endswith(" crc: 1 isvalid: false\n")


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_line_of_an_unknown_codec_ends_where_kafkas_does(codec: int) -> None:
    data = patched(PLAIN, 21, codec.to_bytes(2))

    with pytest.raises(UndecodableBatch) as caught:
        line(data)

    assert line(PLAIN).startswith(caught.value.partial + " position:")
    assert caught.value.message == f"unknown codec {codec}"


def test_last_offset_is_javas_long() -> None:
    data = patched(PLAIN, 0, ((1 << 63) - 2).to_bytes(8))

    assert line(data).startswith(f"baseOffset: {(1 << 63) - 2} lastOffset: {-(1 << 63)} ")


def test_line_of_magic_1() -> None:
    data = message_bytes(Record(5, 1000, None, b"v"), 1)
    crc = int.from_bytes(data[12:16])

    assert legacy_batch_line(Batch(9, len(data), data)) == (
        f"offset: 5 position: 9 CreateTime: 1000 size: {len(data)} magic: 1 "
        f"compresscodec: none crc: {crc} isvalid: true\n"
    )


def test_line_of_magic_0() -> None:
    data = message_bytes(Record(5, -1, None, b"v"), 0)

    assert " NoTimestampType: -1 " in legacy_batch_line(Batch(9, len(data), data))


@pytest.mark.parametrize(("at", "byte"), [(16, b"\xff"), (17, b"\x05")], ids=["magic -1", "codec"])
def test_line_of_magic_1_that_cannot_be_finished(at: int, byte: bytes) -> None:
    data = patched(message_bytes(Record(5, 1000, None, b"v"), 1), at, byte)

    with pytest.raises(UndecodableBatch) as caught:
        legacy_batch_line(Batch(9, len(data), data))

    assert caught.value.partial == "offset: 5"


@given(SEQUENCES, SEQUENCES)
def test_sequences_go_on_from_zero_behind_the_last(sequence: int, step: int) -> None:
    """Subtracting gives the sequence back; both stay in int32."""
    after = add_sequence(sequence, step)

    assert after == (sequence + step) % (1 << 31)
    assert subtract_sequence(after, step) == sequence


@pytest.mark.parametrize(
    ("sequence", "step", "after"),
    [(LAST, 0, LAST), (LAST, 1, 0), (LAST - 1, 5, 3), (0, LAST, LAST)],
)
def test_sequences_wrap(sequence: int, step: int, after: int) -> None:
    assert add_sequence(sequence, step) == after


@pytest.mark.parametrize(
    ("sequence", "step", "before"),
    [(5, 3, 2), (5, 5, 0), (0, 1, LAST), (3, 5, LAST - 1), (1, LAST, 2)],
)
def test_sequences_wrap_backwards(sequence: int, step: int, before: int) -> None:
    assert subtract_sequence(sequence, step) == before


@given(
    st.integers(-(1 << 31), LAST),
    st.integers(-(1 << 31), LAST),
)
def test_sequences_of_damaged_batches_are_int32(sequence: int, step: int) -> None:
    assert -(1 << 31) <= add_sequence(sequence, step) <= LAST
    assert -(1 << 31) <= subtract_sequence(sequence, step) <= LAST

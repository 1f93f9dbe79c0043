"""Producer state snapshots."""

from pathlib import Path

import pytest
from google_crc32c import value as crc32c
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import DecodeError, Underflow
from kraftops.log.producers import CrcMismatch, ProducerState, open_transactions, read_producers
from kraftops.schema.compile import compiled
from kraftops.schema.message import parse
from tests.helpers.logs.segments import patched, segments
from tests.helpers.logs.written import producers_bytes

SCHEMA = parse("""
ProducerSnapshot - 1 none
  crc uint32
  producerEntries []ProducerEntry
    producerId int64
    epoch int16
    lastSequence int32
    lastOffset int64
    offsetDelta int32
    timestamp int64
    coordinatorEpoch int32
    currentTxnFirstOffset int64
""")
INT16, INT32, INT64 = (st.integers(-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (16, 32, 64))
PRODUCERS = st.builds(ProducerState, INT64, INT16, INT32, INT64, INT32, INT64, INT32, INT64)
TWO = [ProducerState(1, 2, 3, 4, 5, 6, 7, 8), ProducerState(1 << 40, 0, -1, -1, 0, 9, -1, -1)]


@given(st.lists(PRODUCERS, max_size=4))
def test_producers_come_back(producers: list[ProducerState]) -> None:
    assert read_producers(producers_bytes(producers)) == producers


def test_layout_is_that_of_the_schema() -> None:
    """Kafka has a message definition for these files."""
    data = producers_bytes(TWO)

    message, end = compiled(SCHEMA["ProducerSnapshot"], 1).read(data, 2)

    assert end == len(data)
    entries = message["producerEntries"]
    assert isinstance(entries, list)
    assert [tuple(entry.values()) for entry in entries] == TWO


def test_empty_snapshot_has_ten_bytes() -> None:
    data = producers_bytes([])

    assert len(data) == 10
    assert read_producers(data) == []


def test_open_transaction_may_begin_at_the_first_offset() -> None:
    data = producers_bytes([*TWO, TWO[0]._replace(producer_id=9, first_txn_offset=0)])

    assert open_transactions(data) == {1: 8, 9: 0}


REAL = [path for path in segments("*.snapshot") if "snap" not in path.parts]


@pytest.mark.parametrize("path", REAL, ids=lambda path: "/".join(path.parts[-3:]))
def test_real_snapshots_are_written_as_they_were(path: Path) -> None:
    data = path.read_bytes()

    assert producers_bytes(read_producers(data)) == data


def test_every_flipped_bit_behind_the_version_is_noticed() -> None:
    data = producers_bytes(TWO)
    for bit in range(16, len(data) * 8):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8

        with pytest.raises(DecodeError):
            read_producers(bytes(flipped))


def test_every_cut_is_noticed() -> None:
    data = producers_bytes(TWO)
    for cut in range(len(data)):
        with pytest.raises(DecodeError):
            read_producers(data[:cut])


def resealed(data: bytes) -> bytes:
    return patched(data, 2, crc32c(data[6:]).to_bytes(4))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(
            patched(producers_bytes(TWO), 0, b"\0\2"),
            "Snapshot contained an unknown file version 2",
            id="newer version",
        ),
        pytest.param(
            patched(producers_bytes(TWO), 0, b"\xff\xff"),
            "Snapshot contained an unknown file version -1",
            id="negative version",
        ),
        pytest.param(
            resealed(patched(producers_bytes(TWO), 6, b"\xff\xff\xff\xff")),
            "non-nullable field producerEntries was serialized as null",
            id="negative count",
        ),
        pytest.param(
            resealed(patched(producers_bytes(TWO), 6, b"\x7f\xff\xff\xff")),
            "Tried to allocate a collection of size 2147483647, "
            "but there are only 92 bytes remaining.",
            id="count too large",
        ),
    ],
)
def test_damage_has_kafkas_text(data: bytes, reason: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_producers(data)

    assert caught.value.message == reason


def test_count_of_more_than_there_are_is_an_underflow() -> None:
    with pytest.raises(Underflow):
        read_producers(resealed(patched(producers_bytes(TWO), 6, (3).to_bytes(4))))


def test_wrong_checksum_names_both() -> None:
    data = producers_bytes([])
    right = int.from_bytes(data[2:6])

    with pytest.raises(CrcMismatch) as caught:
        read_producers(patched(data, 2, b"\0\0\0\1"))

    assert caught.value.message == f"Stored crc: 1. Computed crc: {right}"


def test_bytes_behind_the_entries_count_in_the_checksum() -> None:
    """Kafka ignores them otherwise."""
    with pytest.raises(CrcMismatch):
        read_producers(producers_bytes(TWO) + b"more")

    assert read_producers(resealed(producers_bytes(TWO) + b"more")) == TWO

"""The records of a batch are read one by one, up to the first that is damaged."""

import pytest

from kraftops.engine.reference import records as room
from kraftops.engine.reference.records import records, sized_records
from kraftops.errors import DecodeError
from kraftops.log.batch import HEADER_SIZE, Batch, Record, inflated
from kraftops.memory import USUAL
from kraftops.records.long_text import LONG
from tests.helpers.logs.costly_files import packed
from tests.helpers.logs.segments import patched
from tests.helpers.logs.written import batch_bytes


def read(data: bytes) -> list[Record]:
    batch = Batch(0, len(data), data)
    return list(records(batch, batch.header, USUAL.meter()))


@pytest.mark.parametrize("codec", range(5))
def test_records_are_those_of_the_batch(codec: int) -> None:
    expected = [Record(4, 5, b"k", None, ((b"h", None),)), Record(5, 6, None, b"v")]

    assert read(batch_bytes(expected, attributes=codec)) == expected


def test_long_values_are_views_and_other_parts_are_bytes() -> None:
    data = batch_bytes([Record(0, 0, b"k", b"v" * (LONG + 1), ((b"h", b"x"),))])

    (record,) = read(data)

    assert isinstance(record.value, memoryview)
    assert (record.key, record.headers) == (b"k", ((b"h", b"x"),))


def test_skipped_headers_take_no_record_away() -> None:
    many = tuple((b"h", None) for _ in range(300))
    data = batch_bytes([Record(0, 0, b"k", b"v", many), Record(1, 0, b"l", b"w", ((b"h", b"x"),))])
    header = (batch := Batch(0, len(data), data)).header
    buffer, pos = inflated(batch, header, USUAL.meter())

    whole = list(sized_records(buffer, pos, header))

    assert list(sized_records(buffer, pos, header, skips_headers=True)) == [
        (record._replace(headers=()), size) for record, size in whole
    ]


@pytest.mark.parametrize(
    ("count", "reason"),
    [
        (1, "8 bytes are left after the 1 records of the batch"),
        (3, "record 3 of 3: "),
        (-1, "the batch counts -1 records"),
    ],
)
def test_wrong_count_is_an_error(count: int, reason: str) -> None:
    data = batch_bytes([Record(n, 0, None, b"v") for n in range(2)])

    with pytest.raises(DecodeError, match=reason):
        read(patched(data, 57, count.to_bytes(4, signed=True)))


def test_batch_that_counts_no_records_has_none() -> None:
    """So Kafka has it, whatever follows the header."""
    data = patched(batch_bytes([Record(0, 0, None, b"v")]), 57, bytes(4))

    assert read(data) == []
    assert read(data[:HEADER_SIZE]) == []


def test_batch_without_a_whole_header_is_an_error() -> None:
    whole = patched(batch_bytes([Record(0, 0, None, b"v")]), 57, bytes(4))
    data = whole[: HEADER_SIZE - 1]

    with pytest.raises(DecodeError, match="a batch of 60 bytes is smaller than its header"):
        list(records(Batch(0, len(data), data), Batch(0, len(whole), whole).header, USUAL.meter()))


def sized(data: bytes) -> list[tuple[Record, int]]:
    batch = Batch(0, len(data), data)
    return list(sized_records(*inflated(batch, batch.header, USUAL.meter()), batch.header))


@pytest.mark.parametrize("codec", range(5))
def test_size_of_a_record_has_its_length_and_what_follows(codec: int) -> None:
    first, second = Record(0, 0, None, b"v"), Record(1, 0, b"key", b"v" * 100)

    assert sized(batch_bytes([first, second], attributes=codec)) == [(first, 8), (second, 112)]


@pytest.mark.parametrize(
    ("count", "reason"), [(1, "8 bytes are left after 1 records"), (3, "the varint is cut short")]
)
def test_sizes_end_with_an_error_where_the_count_is_wrong(count: int, reason: str) -> None:
    data = batch_bytes([Record(n, 0, None, b"v") for n in range(2)])

    with pytest.raises(DecodeError, match=reason):
        sized(patched(data, 57, count.to_bytes(4)))


SMALLEST = b"\x0c\0\0\0\x01\x01\0"


@pytest.mark.parametrize(
    ("content", "count"),
    [(SMALLEST * 9_999, 10_000), (SMALLEST * 100 + bytes(7), 101), (SMALLEST * 10_000, 10_000)],
    ids=["cut short", "damaged", "too many"],
)
def test_few_records_are_read_of_a_damaged_batch_of_many(
    content: bytes, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kilobyte could be millions of records, each of which takes Python some time."""
    data = packed(content, count=count)
    few, reads, read_one = 16 + len(data) // 4, [0], room.read_record
    assert count > few

    def counting(*args: bytes | int, skips_headers: bool) -> tuple[Record, int]:
        reads[0] += 1
        return read_one(*args, skips_headers=skips_headers)  # type: ignore[arg-type]

    monkeypatch.setattr(room, "read_record", counting)
    found = records(batch := Batch(0, len(data), data), batch.header, USUAL.meter())
    read_ones = [next(found) for _ in range(few)]

    with pytest.raises(DecodeError, match=f"record {few + 1} of {count}: no more are read"):
        next(found)
    assert len(read_ones) == few
    assert reads[0] <= few + 3


def test_batch_of_many_equal_records_is_read_whole() -> None:
    data = packed(SMALLEST * 400, count=400)

    assert 16 + len(data) // 4 < 400 < 8 * len(data)
    assert len(read(data)) == 400

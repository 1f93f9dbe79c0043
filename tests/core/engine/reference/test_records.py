"""The records of a batch are read one by one, up to the first that is damaged."""

import pytest

from kraftops.engine.reference.records import records
from kraftops.errors import DecodeError
from kraftops.log.batch import Batch, Record, batch_bytes
from kraftops.records.long_text import LONG
from tests.helpers.logs.segments import patched


def read(data: bytes) -> list[Record]:
    batch = Batch(0, len(data), data)
    return list(records(batch, batch.header))


@pytest.mark.parametrize("codec", range(5))
def test_records_are_those_of_the_batch(codec: int) -> None:
    expected = [Record(4, 5, b"k", None, ((b"h", None),)), Record(5, 6, None, b"v")]

    assert read(batch_bytes(expected, attributes=codec)) == expected


def test_long_values_are_views_and_other_parts_are_bytes() -> None:
    data = batch_bytes([Record(0, 0, b"k", b"v" * (LONG + 1), ((b"h", b"x"),))])

    (record,) = read(data)

    assert isinstance(record.value, memoryview)
    assert (record.key, record.headers) == (b"k", ((b"h", b"x"),))


@pytest.mark.parametrize(
    ("count", "reason"),
    [(1, "bytes are left after the 1 records"), (3, "record 3 of 3"), (-1, "counts -1 records")],
)
def test_wrong_count_is_an_error(count: int, reason: str) -> None:
    data = batch_bytes([Record(n, 0, None, b"v") for n in range(2)])

    with pytest.raises(DecodeError, match=reason):
        read(patched(data, 57, count.to_bytes(4, signed=True)))

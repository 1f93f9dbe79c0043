"""Records of other types are passed, and none that is asked for."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.dump.otherrecords import not_passed, odd_types, pass_others
from kraftops.errors import DecodeError
from kraftops.log.batch import Record, read_record, record_bytes
from kraftops.records.dialects import dialect
from tests.messages import table

SPOKEN = dialect("kafka")
TOPIC = table("metadata")["TopicRecord"].key or 0
ODD = odd_types(SPOKEN, {"topic"})


def test_odd_types_are_those_asked_for_and_long_numbers() -> None:
    assert [number for number in range(128) if ODD[number]] == [TOPIC]
    assert all(ODD[128:])


def placed(records: list[Record]) -> tuple[bytes, list[int]]:
    """Return records as they lie in a batch, and where each begins."""
    raws = [record_bytes(record, 0, 0) for record in records]
    return b"".join(raws), [sum(map(len, raws[:n])) for n in range(len(raws))]


def value(number: int, size: int = 3) -> bytes:
    return bytes([1, number, 0]) + bytes(size)


@pytest.mark.parametrize("time", [0, 63, 64, 8191])
@pytest.mark.parametrize(
    ("size", "before"),
    [(size, 3) for size in (0, 1, 50, 57, 58, 59, 60, 61, 62, 120, 8000)]
    + [(1, before) for before in (0, 1, 63, 64, 65, 8191, 8193)],
)
def test_plain_records_are_passed_up_to_the_one_asked_for(
    size: int, before: int, time: int
) -> None:
    records = [Record(n, time, None, value(TOPIC + 1, size)) for n in range(before)]
    raw, places = placed([*records, Record(before, time, None, value(TOPIC))])

    p, done = pass_others(raw, 0, 0, before + 1, ODD)

    assert (p, done) == (places[before], before)
    assert pass_others(raw, 0, 0, before, ODD) == (places[before], before)


@pytest.mark.parametrize(
    "record",
    [
        Record(1, 0, b"key", value(TOPIC)),
        Record(1, 0, b"", value(TOPIC)),
        Record(1, 0, None, value(TOPIC), ((b"h", b"v"),)),
        Record(1, -5, None, value(TOPIC)),
        Record(1, 1 << 40, None, value(TOPIC)),
        Record(1, 0, None, b"\x81\0" + bytes([TOPIC, 0, 0])),  # numbers that are written longer
        Record(1, 0, None, bytes([1, TOPIC | 0x80, 0, 0])),
        Record(5000, 0, None, value(TOPIC)),
        Record(1, 0, None, bytes([1, TOPIC])),
        Record(1, 0, None, value(TOPIC, 20_000)),
    ],
    ids=str,
)
def test_odd_record_is_not_passed(record: Record) -> None:
    raw, places = placed([Record(0, 0, None, value(TOPIC + 1)), record])

    assert pass_others(raw, 0, 0, 2, ODD)[1] <= 1
    assert (1, places[1]) in list(not_passed(raw, 0, 2, ODD))


_RECORDS = st.lists(
    st.builds(
        Record,
        st.just(0),
        st.integers(-100, 20_000),
        st.none() | st.binary(max_size=3),
        st.none()
        | st.binary(max_size=5)
        | st.builds(value, st.integers(0, 255), st.integers(0, 90)),
        st.just(()) | st.just(((b"h", b"v"),)),
    ),
    max_size=80,
)


@given(_RECORDS)
def test_no_record_that_is_asked_for_is_passed(records: list[Record]) -> None:
    records = [record._replace(offset=n) for n, record in enumerate(records)]
    raw, places = placed(records)

    found = list(not_passed(raw, 0, len(records), ODD))

    asked = [(n, places[n]) for n, record in enumerate(records) if (type_of(record.value)) == TOPIC]
    assert set(asked) <= set(found)
    assert set(found) <= set(enumerate(places))


def type_of(raw: bytes | None) -> int | None:
    try:
        return SPOKEN.read_frame(raw or b"").type
    except DecodeError:
        return None


@given(st.binary(max_size=80), st.integers(0, 1 << 31))
def test_any_bytes_end_and_what_is_passed_has_a_length(raw: bytes, count: int) -> None:
    p, done = pass_others(raw, 0, 0, count, ODD)
    found: list[Any] = list(not_passed(raw, 0, count, ODD))

    assert 0 <= p <= len(raw)
    assert done <= len(raw)
    assert len(found) <= len(raw) + 1
    at = 0
    for _ in range(done):
        at = read_record(raw, at, 0, 0)[1]
    assert at == p

"""The records of a batch that are within limits."""

import pytest

from kraftops.errors import DecodeError
from kraftops.image.replay import limits as room
from kraftops.image.replay.limits import Limits, RecordSpan, readable_span, span_within
from kraftops.image.state.store import InflatedBatch, inflated_batch
from kraftops.log.batch import Record
from kraftops.memory import USUAL
from tests.helpers.logs.segments import batches_of
from tests.helpers.logs.written import batch_bytes


def batch_of(*records: tuple[int, int]) -> InflatedBatch:
    """Return a batch of records with these offsets and times."""
    raw = batch_bytes([Record(offset, time, None, b"x") for offset, time in records])
    (batch,) = batches_of(raw)
    return inflated_batch(batch, USUAL.meter())


@pytest.mark.parametrize(
    ("limits", "numbers", "last_offset", "time", "is_cut"),
    [
        (Limits(), (0, 3), 7, 30, False),
        (Limits(after=5), (1, 3), 7, 30, False),
        (Limits(until=6), (0, 2), 6, 30, True),
        (Limits(time=20), (0, 1), 5, 10, True),
        (Limits(after=5, until=6), (1, 2), 6, 30, True),
        (Limits(after=7), (3, 3), 7, 30, False),
    ],
)
def test_span_has_the_records_within_limits(
    limits: Limits, numbers: tuple[int, int], last_offset: int, time: int, is_cut: bool
) -> None:
    batch = batch_of((5, 10), (6, 30), (7, 20))

    span, cut = span_within(batch, limits)

    assert ((span.first, span.stop), span.last_offset, span.time) == (numbers, last_offset, time)
    assert cut is is_cut


def test_malformed_record_ends_the_readable_span() -> None:
    batch = batch_of((5, 10), (6, 30), (7, 20))
    whole, _ = span_within(batch, Limits())
    cut = batch._replace(data=batch.data[:-3])

    assert readable_span(batch, whole) == whole
    assert readable_span(cut, whole) == RecordSpan(0, 2, batch.start, 6, 30)
    with pytest.raises(DecodeError):
        span_within(cut, Limits())


def test_records_of_a_batch_are_read_once_for_many_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    """A history takes hundreds of spans of a batch."""
    batch = batch_of(*((offset, 31) for offset in range(9)))
    first = span_within(batch, Limits(until=4))
    monkeypatch.setattr(room, "read_record", None)

    assert span_within(batch, Limits(until=4)) == first
    assert [span_within(batch, Limits(until=n))[0].stop for n in range(9)] == list(range(1, 10))


def test_damage_behind_the_limit_is_no_error_and_stays_one_before_it() -> None:
    batch = batch_of((5, 10), (6, 20))._replace(records=3)

    for _ in range(2):
        assert span_within(batch, Limits(until=5))[0].stop == 1
        with pytest.raises(DecodeError):
            span_within(batch, Limits())

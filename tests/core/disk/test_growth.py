"""Rates by the times of segments."""

import pytest

from kraftops.disk.growth import Growth, SegmentFile, growth_of
from kraftops.display.times import DAY_MS

HOUR = DAY_MS // 24


def segments(*times: int, first: int = 0) -> list[SegmentFile]:
    """Return segments of 2,400 bytes, written last at these hours."""
    return [SegmentFile(first + index, 2400, hour * HOUR) for index, hour in enumerate(times)]


@pytest.mark.parametrize(
    ("log", "created", "end", "growth"),
    [
        (segments(24), 0, 24, Growth(2400, 2400)),
        (segments(24), 12, 24, Growth(4800, 4800)),  # a log of half a day
        (segments(24, 48), 0, 48, Growth(2400, 2400)),
        (segments(24), 0, 72, Growth(0, 0)),  # nothing came lately
        (segments(24, 48), None, 48, Growth(2400, 2400)),  # the first one has no begin
        (segments(24, 48, 72, first=7), None, 72, Growth(2400, 0)),
        (segments(24, 48, 60, 72, first=7), None, 72, Growth(4800, 2400)),
        (segments(24, first=7), None, 24, None),
        (segments(24), None, 24, None),
        ([], 0, 24, None),
    ],
)
def test_last_day_counts(
    log: list[SegmentFile], created: int | None, end: int, growth: Growth | None
) -> None:
    begin = None if created is None else created * HOUR

    assert growth_of(log, begin, end * HOUR) == growth


def test_less_than_an_hour_is_no_rate() -> None:
    assert growth_of([SegmentFile(0, 2400, HOUR - 1)], 0, HOUR - 1) is None
    assert growth_of([SegmentFile(0, 2400, HOUR)], 0, HOUR) == Growth(57_600, 57_600)


def test_last_millisecond_of_a_segment_counts() -> None:
    assert growth_of([SegmentFile(0, 2400, 2)], 0, DAY_MS + 1) == Growth(1200, 1200)


def test_times_that_go_back_lose_no_bytes() -> None:
    log = [SegmentFile(0, 100, 20 * HOUR), SegmentFile(1, 100, 10 * HOUR)]

    assert growth_of(log, 0, 24 * HOUR) == Growth(200, 200)

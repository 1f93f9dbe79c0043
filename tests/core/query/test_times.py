"""Times as users write them."""

from datetime import UTC, datetime, timedelta

import pytest

from kraftops.errors import UsageError
from kraftops.query.times import parse_time

NOW = 1_800_000_000_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-21T10:00:00Z", 1795255200000),
        ("2026-11-21T10:00:00.123Z", 1795255200123),
        ("2026-11-21T10:00:00.001+02:00", 1795248000001),
        ("2026-11-21 10:00", 1795255200000),
        ("2026-11-21", 1795219200000),
        ("1795255200123", 1795255200123),
        ("2h", NOW - 7_200_000),
        ("1d12h", NOW - 129_600_000),
        ("90m", NOW - 5_400_000),
        ("5ms", NOW - 5),
        ("1w", NOW - 604_800_000),
    ],
)
def test_times_and_durations_are_parsed(text: str, expected: int) -> None:
    assert parse_time(text, NOW) == expected


def test_every_millisecond_is_read_as_it_is_written() -> None:
    """A float of seconds would lose some."""
    for time in range(NOW + 1, NOW + 1000):
        assert parse_time(_iso(time), 0) == time


@pytest.mark.parametrize(
    "text",
    [
        *("", "yesterday", "2h ago", "12", "-2h", "2026-13-01", "0001-01-01T00:00+23:59x"),
        *("99999999999999999h", "9w" * 10 + "9" * 18 + "w", "9" * 5000 + "h"),
    ],
)
def test_bad_times_are_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_time(text, NOW)

    assert caught.value.hint


def _iso(time: int) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=time)
    return moment.isoformat(timespec="milliseconds")

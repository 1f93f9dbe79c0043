"""Times as users write them."""

from datetime import UTC, datetime, timedelta

import pytest

from kraftops.errors import UsageError
from kraftops.query.times import parse_time, span_end, time_note

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
        ("-2h", NOW - 7_200_000),
    ],
)
def test_times_and_durations_are_parsed(text: str, expected: int) -> None:
    assert parse_time(text, NOW) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("14:02", "2026-11-20T14:02:00.000+00:00"),
        ("14:02:30", "2026-11-20T14:02:30.000+00:00"),
        ("9:30Z", "2026-11-20T09:30:00.000+00:00"),
        ("15:00", "2026-11-20T15:00:00.000+00:00"),
        ("15:00:00.001", "2026-11-19T15:00:00.001+00:00"),
        ("-1h30m", "2026-11-20T13:30:00.000+00:00"),
    ],
)
def test_a_time_of_day_and_one_with_a_minus_are_in_the_span_of_the_log(
    text: str, expected: str
) -> None:
    end = parse_time("2026-11-20T15:00", 0)

    time = parse_time(text, NOW, lambda: end)

    assert _iso(time) == expected
    assert _iso(parse_time(text, end)) == expected  # of a log without times
    moment = expected.replace("+00:00", "Z")
    assert time_note(text, time, end) == f"{text} is {moment}, by the end of the log"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yesterday", "2027-01-14T00:00:00.000Z"),
        ("yesterday 14:02", "2027-01-14T14:02:00.000Z"),
        ("yesterday 23:00", "2027-01-14T23:00:00.000Z"),
        ("2h", "2027-01-15T06:00:00.000Z"),
    ],
)
def test_yesterday_and_a_duration_are_by_the_clock_of_the_reader(text: str, expected: str) -> None:
    """Whoever says them on the day after an incident does not know when a log ends."""
    time = parse_time(text, NOW, lambda: 0)

    assert time_note(text, time, None) == f"{text} is {expected}, by the clock of this host"


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        ("14:50", "15:10", "2026-11-20T15:10:00.000+00:00"),  # the log ends at 15:00
        ("16:00", "15:10", "2026-11-20T15:10:00.000+00:00"),
        ("yesterday", "15:10", "2027-01-14T15:10:00.000+00:00"),
        ("yesterday 14:50", "15:10", "2027-01-14T15:10:00.000+00:00"),
        (None, "15:10", "2026-11-20T15:10:00.000+00:00"),
        ("-20m", "-10m", "2026-11-20T14:50:00.000+00:00"),
        ("14:50", "2026-11-20 14:55", "2026-11-20T14:55:00.000+00:00"),
    ],
)
def test_a_span_ends_at_the_first_such_time_after_its_begin(
    since: str | None, until: str, expected: str
) -> None:
    end = parse_time("2026-11-20T15:00", 0)

    begin = None if since is None else parse_time(since, NOW, lambda: end)

    assert _iso(parse_time(until, NOW, lambda: span_end(until, begin, end))) == expected


def test_a_span_without_a_begin_ends_with_the_last_day() -> None:
    assert span_end("15:10", None, 0) == span_end("15:10", None, 86_399_999) == 86_399_999
    assert span_end("15:10", None, 86_400_000) == 2 * 86_400_000 - 1


def test_other_times_need_no_note() -> None:
    assert time_note("2026-11-20 15:00", NOW, NOW) is None


def test_a_time_without_a_year_and_an_end_that_is_unknown_are_told() -> None:
    assert (
        time_note("-1h", 1 << 60, 1 << 60)
        == f"-1h is {1 << 60} ms since 1970, by the end of the log"
    )
    assert str(time_note("-1h", NOW, None)).endswith(", counted from now: no end of a log is known")


def test_every_millisecond_is_read_as_it_is_written() -> None:
    """A float of seconds would lose some."""
    for time in range(NOW + 1, NOW + 1000):
        assert parse_time(_iso(time), 0) == time


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "yesterday14:02",
            "2h ago",
            "12",
            "--2h",
            "24:00",
            "2026-13-01",
            "0001-01-01T00:00+23:59x",
        ),
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

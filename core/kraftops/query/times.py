"""Times as users write them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from kraftops.display.times import DAY_MS, iso_time
from kraftops.errors import UsageError

if TYPE_CHECKING:
    from datetime import date  # a datetime is one

Time: TypeAlias = "date | int | str"
"""A time; a number is in ms since the epoch, a text as for `--since`."""
_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_EARLIEST = -(1 << 63)
_TIME_OF_DAY = re.compile(
    r"(yesterday )?([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:[.]([0-9]{3}))?)?Z?"
)


def is_duration(text: str) -> bool:
    """Tell whether a text is a duration, as 2h or 1d12h."""
    return re.fullmatch(r"([0-9]{1,18}(ms|[smhdw]))+", text) is not None


def parse_time(text: str, now: int, end: Callable[[], int | None] = lambda: None) -> int:
    """Return a time in ms since the epoch.

    *text* is ISO 8601 (UTC if it names no zone), ms since the epoch, a duration before *now* (2h,
    1d12h) or before the *end* of a log (-30m), or a time of day in UTC: the last 14:02:30 that is
    not after the end, or that of the day before *now* (yesterday 14:02, yesterday). The end of a
    log without times, and where there is none, is *now*. `time_note` tells which time that is.

    Raises:
        UsageError: it is none of these, or does not fit into 64 bits.
    """
    if is_duration(text.removeprefix("-")):
        parts = re.findall(r"([0-9]+)(ms|[smhdw])", text)
        newest = end() if text.startswith("-") else now
        time = (now if newest is None else newest) - sum(
            int(number) * _UNITS[unit] for number, unit in parts
        )
        if time < _EARLIEST:
            raise _refusal(text)
        return time
    if of_day := _time_of_day(text):
        return _on_last_day(of_day, now if of_day[1] or (last := end()) is None else last)
    if re.fullmatch(r"[0-9]{11,18}", text):
        return int(text)
    from datetime import UTC, datetime, timedelta

    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        raise _refusal(text) from None


def span_end(until: str, since: int | None, end: int | None) -> int | None:
    """Return the *end* to read `--until` with: a span may end after the log, a day after *since*.

    So a time of day is the first one after *since*, or without it that of the last day.
    """
    if until.removeprefix("@").startswith("-"):
        return end
    if since is not None:
        return since + DAY_MS
    return None if end is None else end - end % DAY_MS + DAY_MS - 1


def needs_end(text: str) -> bool:
    """Tell whether a time such as `14:02` or `-2h` is relative to the end of a log."""
    of_day = _time_of_day(text)
    return not of_day[1] if of_day else text.startswith("-")


def time_note(text: str, time: int, end: int | None) -> str | None:
    """Return which *time*, by which clock, *text* is that depends on now or the *end* of a log."""
    if needs_end(text):
        clock = "by the end of the log"
        if end is None:
            clock = "counted from now: no end of a log is known"
    elif is_duration(text) or _time_of_day(text):
        clock = "by the clock of this host"
    else:
        return None
    return f"{text} is {iso_time(time) or f'{time} ms since 1970'}, {clock}"


def _time_of_day(text: str) -> re.Match[str] | None:
    return _TIME_OF_DAY.fullmatch("yesterday 00:00" if text == "yesterday" else text)


def _on_last_day(of_day: re.Match[str], end: int) -> int:
    """Return the last time of day that is not after *end*, or that of the day before its day."""
    hours, minutes, seconds, ms = (int(part or 0) for part in of_day.groups()[1:])
    time = end - end % DAY_MS + ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms
    return time - DAY_MS if of_day[1] or time > end else time


def _refusal(text: str) -> UsageError:
    if words := re.fullmatch(r"(-?[0-9]+) ?(?!mo)([smhdw])[a-z]+", text):  # 2days, 5 min
        return UsageError(f"{text!r} is not a valid time", f"perhaps {words[1]}{words[2]} is meant")
    hint = "for example 2026-11-21T10:00:00Z, 2026-11-21 10:00, 14:02, yesterday 14:02, 2h or -2h"
    return UsageError(f"{text!r} is not a valid time", hint=hint)


def time_ms(time_: Time, now: int) -> int:
    """Return a time in ms since the epoch, by which a number is taken; texts as `parse_time`.

    Raises:
        UsageError: it is something else.
    """
    if isinstance(time_, int):
        return time_
    if isinstance(time_, str):
        return parse_time(time_, now)
    # Few commands load the module of datetimes: hence not isinstance.
    if not hasattr(time_, "isoformat"):
        hint = "a datetime, ms since the epoch, or a text such as 14:02 or -2h"
        raise UsageError(f"{time_!r} is not a time", hint)
    return parse_time(time_.isoformat(), now)

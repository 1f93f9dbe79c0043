"""Dates as Java prints them."""

import time

_YEAR_2000 = 946_684_800_000  # ms
_CALENDAR_CYCLE = 146_097 * 86_400_000  # ms of 400 years
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"


def date_text(now: time.struct_time) -> str:
    """Return a local time as `Date.toString` does: its names are English in every locale."""
    month = _MONTHS[3 * now.tm_mon - 3 : 3 * now.tm_mon]
    return time.strftime(f"{_DAYS[now.tm_wday]} {month} %d %H:%M:%S %Z %Y", now)


def iso_time_text(timestamp: int) -> str:
    """Return ms since the epoch as `ISO_ZONED_DATE_TIME` prints UTC, of any year."""
    from datetime import UTC, datetime, timedelta

    cycles, rest = divmod(timestamp - _YEAR_2000, _CALENDAR_CYCLE)
    moment = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(milliseconds=rest)
    year = moment.year + 400 * cycles
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    fraction = f".{moment.microsecond // 1000:03}".rstrip("0").rstrip(".")
    return f"{sign}{abs(year):04}-{moment:%m-%dT%H:%M:%S}{fraction}Z"

"""Times as users write them."""

from __future__ import annotations

import re

from kraftops.errors import UsageError

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_EARLIEST = -(1 << 63)


def is_duration(text: str) -> bool:
    """Tell whether a text is a duration, as 2h or 1d12h."""
    return re.fullmatch(r"([0-9]{1,18}(ms|[smhdw]))+", text) is not None


def parse_time(text: str, now: int) -> int:
    """Return a time in ms since the epoch.

    *text* is ISO 8601 (UTC if it names no zone), ms since the epoch, or a duration before *now*:
    2h, 30m, 1d12h.

    Raises:
        UsageError: it is none of these, or does not fit into 64 bits.
    """
    if is_duration(text):
        parts = re.findall(r"([0-9]+)(ms|[smhdw])", text)
        time = now - sum(int(number) * _UNITS[unit] for number, unit in parts)
        if time < _EARLIEST:
            raise _refusal(text)
        return time
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


def _refusal(text: str) -> UsageError:
    hint = "as 2026-11-21T10:00:00Z, 2026-11-21 10:00, 2h or 90m"
    return UsageError(f"{text!r} is no time", hint=hint)

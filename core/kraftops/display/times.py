"""Times as people and programs read them."""

from typing import Any

DAY_MS = 86_400_000
_YEAR_1, _YEAR_10000 = -62_135_596_800_000, 253_402_300_800_000


def iso_time(time: int | None) -> str | None:
    """Return a time in ms since 1970 as ISO 8601 in UTC; None without one, or beyond year 9999."""
    if time is None or not _YEAR_1 <= time < _YEAR_10000:
        return None
    from datetime import UTC, datetime, timedelta

    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=time)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def shown_time(time: int) -> str:
    """Return a time in ms since 1970 as people read it, which may be none (negative)."""
    return (iso_time(time) if time >= 0 else None) or "no time"


def time_fields(name: str, time: int | None) -> dict[str, Any]:
    """Return a time as two fields: `nameMs` in ms since 1970, and `name` as text."""
    return {f"{name}Ms": time, name: iso_time(time)}


def span_text(span: int) -> str:
    """Return a number of ms in words: the two largest units, as 3 d 4 h."""
    units = (("d", DAY_MS), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1))
    parts: list[str] = []
    for unit, size in units:
        count, span = divmod(span, size)
        if count or (parts and len(parts) < 2):
            parts.append(f"{count} {unit}")
    return " ".join([part for part in parts[:2] if not part.startswith("0 ")]) or "0 ms"

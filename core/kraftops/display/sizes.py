"""Numbers and sizes as people read them."""

from __future__ import annotations

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def number_text(number: int) -> str:
    """Return a number with commas."""
    return f"{number:,}"


def size_text(size: int) -> str:
    """Return a number of bytes with the unit that suits it."""
    if size < 1024:
        return f"{size} B"
    value, unit = float(size), 0
    while value >= 1023.95 and unit < len(_UNITS) - 1:
        value /= 1024
        unit += 1
    return f"{value:.1f} {_UNITS[unit]}"


def many(count: int, thing: str) -> str:
    """Return a count of things: `1 replica`, `2 replicas`."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"

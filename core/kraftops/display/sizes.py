"""Numbers and sizes as people read them."""

from __future__ import annotations

from collections.abc import Iterable

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


def named(thing: str, names: Iterable[int]) -> str:
    """Return things with their numbers: `broker 4`, `brokers 4, 5 and 6`."""
    *others, last = map(str, names)
    return f"{thing}s {', '.join(others)} and {last}" if others else f"{thing} {last}"


def many(count: int, thing: str) -> str:
    """Return a count of things: `1 replica`, `2 replicas`."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"

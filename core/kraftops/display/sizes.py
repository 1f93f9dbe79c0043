"""Numbers and sizes as people read them."""

import re
from collections.abc import Iterable, Sequence

_FIRST_NAMES = 20  # more would hide what comes next on one screen
NAMES_IN_LINE = 5  # more would hide the rest of the line
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def number_text(number: int) -> str:
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


def size_of(text: str) -> int:
    """Return the bytes of a size with a unit of 1024, such as 512m; 0 if it is not a size."""
    match = re.fullmatch(r"([0-9]{1,15})([kmgt]?)", text.lower())
    return int(match[1]) << 10 * " kmgt".index(match[2] or " ") if match else 0


def named(thing: str, names: Iterable[int]) -> str:
    """Return things with their numbers: `broker 4`, `brokers 4, 5 and 6`."""
    *others, last = map(str, names)
    return f"{thing}s {', '.join(others)} and {last}" if others else f"{thing} {last}"


def many(count: int, thing: str) -> str:
    """Return a count of things: `1 replica`, `2 replicas`."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def first_names(names: Sequence[str], most: int = _FIRST_NAMES) -> str:
    """Return names with commas, of many only the first: `a, b and 3 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")

"""The natural order of names: numbers in them count by value, so that 2 is before 10."""

import re
from collections.abc import Iterable

_DIGITS = re.compile(r"([0-9]+)")

_Part = tuple[int, int, str]


def natural_key(name: str) -> tuple[list[_Part], str]:
    """Sort numbers in names by value: `node-2` comes before `node-10`."""
    parts: list[_Part] = []
    for index, part in enumerate(_DIGITS.split(name)):
        if index % 2:
            value = part.lstrip("0")
            parts.append((0, len(value), value))
        elif part:
            parts.append((1, 0, part))
    return parts, name


def in_natural_order(names: Iterable[str]) -> list[str]:
    return sorted(names, key=natural_key)

"""The order of rows: numbers by value, also inside texts; nulls come last."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

_DIGITS = re.compile(r"([0-9]+)")


def natural_key(text: str) -> list[tuple[int, int | str]]:
    """Return a sort key that compares numbers in a text by value."""
    return [(0, int(part)) if part.isdigit() else (1, part) for part in _DIGITS.split(text) if part]


def sorted_by(
    indexes: Iterable[int], get: Callable[[int], object], *, is_descending: bool
) -> list[int]:
    """Return the indexes of rows in the order of a column; equal values keep their order."""
    values = [(get(index), index) for index in indexes]
    there = [(_key(value), index) for value, index in values if value is not None]
    there.sort(key=lambda pair: pair[0], reverse=is_descending)
    return [*(index for _, index in there), *(index for value, index in values if value is None)]


def _key(value: object) -> Any:
    if isinstance(value, str):
        return natural_key(value)
    return [_key(one) for one in value] if isinstance(value, list | tuple) else value

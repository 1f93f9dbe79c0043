"""The order of rows: numbers by value, also inside texts; nulls come last."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kraftops.display.order import natural_key


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
    return [_key(part) for part in value] if isinstance(value, list | tuple) else value

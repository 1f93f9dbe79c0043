"""Columns of views: their names, their types in conditions, and the choice of some by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from kraftops.errors import UsageError
from kraftops.query.conditions.types import FieldType


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column of a view; without *is_usual*, only `--columns` shows it to people.

    Times are ms since the epoch. An *is_amount* number is shown with commas, others are ids,
    offsets or ports. Where a terminal has no room, the last columns give way, and before them one
    that *gives_way* to so many behind it.
    """

    name: str
    type: FieldType
    help: str = ""
    is_usual: bool = True
    is_amount: bool = False
    gives_way: int = 0


def chosen_columns(columns: Sequence[ViewColumn], text: str) -> list[ViewColumn]:
    """Return the columns that a text names, separated by commas, in its order.

    Raises:
        UsageError: there is no column of a name; the hint has the nearest, or all.
    """
    return [column_named(columns, name.strip()) for name in text.split(",")]


def column_named(columns: Iterable[ViewColumn], name: str) -> ViewColumn:
    """Return the column of a name; errors as `chosen_columns`."""
    known = {column.name: column for column in columns}
    if name in known:
        return known[name]
    raise UsageError(f"there is no column {name!r}", nearest_hint(name, known, "the columns are"))


def nearest_hint(name: str, known: Iterable[str], otherwise: str = "there are") -> str | None:
    """Return a hint with the nearest of some names, or with all, after *otherwise*."""
    by_case = {each.lower(): each for each in known}
    near = get_close_matches(name.lower(), by_case, 1)
    if near:
        return f"perhaps {by_case[near[0]]}"
    return f"{otherwise} {', '.join(by_case.values())}" if by_case else None

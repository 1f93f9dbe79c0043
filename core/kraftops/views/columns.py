"""The choice of columns of a view by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from kraftops.answers.fields import Field
from kraftops.errors import UsageError


def chosen_columns(columns: Sequence[Field], text: str) -> list[Field]:
    """Return the columns that a text names, separated by commas, in its order.

    Raises:
        UsageError: there is no column of a name; the hint has the nearest, or all.
    """
    return [column_named(columns, name.strip()) for name in text.split(",")]


def column_named(columns: Iterable[Field], name: str) -> Field:
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

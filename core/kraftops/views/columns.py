"""The choice of columns of a view by name."""

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
    columns_by_name = {column.name: column for column in columns}
    if name in columns_by_name:
        return columns_by_name[name]
    raise UsageError(
        f"there is no column {name!r}", nearest_hint(name, columns_by_name, "the columns are")
    )


def nearest_hint(name: str, names: Iterable[str], otherwise: str = "there are") -> str | None:
    """Return a hint: the nearest of some names, or, after *otherwise*, all of them."""
    by_case = {name_in_case.lower(): name_in_case for name_in_case in names}
    near = get_close_matches(name.lower(), by_case, 1)
    if near:
        return f"perhaps {by_case[near[0]]}"
    return f"{otherwise} {', '.join(by_case.values())}" if by_case else None

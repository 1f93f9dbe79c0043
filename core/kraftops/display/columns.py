"""Columns of a table for people, and their cells, as plain data."""

from dataclasses import dataclass
from typing import Literal, NamedTuple


class Bytes(int):
    """A number of bytes, shown with the unit that suits it."""


class Styled(NamedTuple):
    """A cell in a style of the theme."""

    value: str | int | None
    style: str


Cell = str | int | None | Styled
"""A text, which is escaped; a number, shown with commas; None, shown as a dash."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    title: str
    priority: int = 0
    """0 for a column that is always shown; of the others, the highest number is left out first."""
    justify: Literal["left", "right"] = "left"
    is_folded: bool = False
    """Whether long texts take several lines before any column is left out."""
    style: str = ""
    """A style of the theme for cells without their own."""
    least: int = 12
    """The width that a column that is folded has before others are left out."""


def number(title: str, priority: int = 0) -> Column:
    """Align a column to the right, as numbers are."""
    return Column(title, priority, "right")


def folded(title: str, priority: int = 0, style: str = "", least: int = 12) -> Column:
    return Column(title, priority, is_folded=True, style=style, least=least)

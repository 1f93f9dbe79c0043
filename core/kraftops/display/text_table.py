"""Tables in plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest

from kraftops.display.sizes import number_text, size_text

Cell = str | int | None
NO_VALUE = "-"

MOST_ROWS = 20
"""Rows of each table on a terminal; the rest is counted."""
_LEAST_WIDTH = 8  # of a column that is folded


class Bytes(int):
    """A number of bytes, shown with the unit that suits it."""


def aligned(rows: Sequence[Sequence[str]], is_right: Sequence[bool] = ()) -> list[str]:
    """Return rows as lines, in columns two blanks apart.

    *is_right* tells of each column whether it is aligned on the right; by default none is.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    pads = [str.rjust if right else str.ljust for right in is_right] or [str.ljust] * len(widths)
    return [
        "  ".join(
            pad(text, width) for pad, text, width in zip(pads, row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def plain_table(rows: Sequence[Sequence[object]]) -> str:
    """Return rows, the header first, as aligned lines; None is shown as a dash."""
    texts = [[NO_VALUE if cell is None else str(cell) for cell in row] for row in rows]
    return "".join(f"{line}\n" for line in aligned(texts))


class Page:
    """The width of a terminal, or None for a file or pipe, and whether it shows Unicode.

    Without a width, tables have all their rows, as wide as they are.
    """

    def __init__(self, width: int | None, *, unicode: bool) -> None:
        self.width = width
        self.unicode = unicode

    def table(
        self, header: Sequence[str], rows: Iterable[Sequence[Cell]], *, is_whole: bool = True
    ) -> Iterator[str]:
        """Yield the lines of a table: its first rows, and the number of the others."""
        rest = iter(rows)
        shown = list(rest if self.width is None else islice(rest, MOST_ROWS))
        if shown:
            yield from table(header, shown, self.width)
        more = sum(1 for _ in rest)
        if more:
            yield f"and {number_text(more)} more"
        if not is_whole:
            yield "There are more than are kept: these are a sample."


def table(header: Sequence[str], rows: Sequence[Sequence[Cell]], width: int | None) -> list[str]:
    """Return the lines of a table; columns of text are folded to share *width*.

    Columns of numbers are aligned on the right and never folded.
    """
    texts = [list(header), *([cell_text(cell) for cell in row] for row in rows)]
    is_number = [
        any(isinstance(cell, int) for cell in column) for column in zip(*rows, strict=True)
    ]
    if width is not None:
        widths = _shared_widths(texts, is_number, width)
        texts = [line for row in texts for line in _folded(row, widths)]
    return aligned(texts, is_number)


def _shared_widths(
    texts: Sequence[Sequence[str]], is_number: Sequence[bool], width: int
) -> list[int]:
    """Return the widths of columns: the widest texts give way until all share *width*."""
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    least = [
        size if is_fixed else min(size, _LEAST_WIDTH)
        for size, is_fixed in zip(widths, is_number, strict=True)
    ]
    excess = sum(widths) + 2 * (len(widths) - 1) - width
    while excess > 0:
        at = max(range(len(widths)), key=lambda at: (widths[at] > least[at], widths[at]))
        if widths[at] == least[at]:
            break  # only numbers are left, which go beyond
        widths[at] -= 1
        excess -= 1
    return widths


def _folded(row: Sequence[str], widths: Sequence[int]) -> Iterator[list[str]]:
    """Yield the lines of a row, as many as its longest cell needs."""
    pieces = map(_pieces, row, widths)
    for line in zip_longest(*pieces, fillvalue=""):
        yield list(line)


def _pieces(text: str, width: int) -> Iterator[str]:
    """Yield a text in pieces of at most *width*, cut at a blank where there is one."""
    while len(text) > width:
        blank = text.rfind(" ", 1, width + 1)
        cut, following = (width, width) if blank < 0 else (blank, blank + 1)
        yield text[:cut]
        text = text[following:]
    yield text


def cell_text(cell: Cell) -> str:
    """Return a number with commas or a unit, a text on one line, or a dash for None."""
    if cell is None:
        return NO_VALUE
    if isinstance(cell, int):
        return size_text(cell) if isinstance(cell, Bytes) else number_text(cell)
    return "".join(char if char.isprintable() else "?" for char in cell)

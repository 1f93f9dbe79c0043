"""Tables in plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from kraftops.display.sizes import number_text

Cell = str | int | None
NO_VALUE = "-"

MOST_ROWS = 20
"""Rows of each table; the rest is counted."""


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
    """The width of a terminal, and whether it shows Unicode."""

    def __init__(self, width: int, *, unicode: bool) -> None:
        self.width = width
        self.unicode = unicode

    def table(
        self, header: Sequence[str], rows: Iterable[Sequence[Cell]], *, is_whole: bool = True
    ) -> Iterator[str]:
        """Yield the lines of a table: its first rows, and the number of the others."""
        rest = iter(rows)
        shown = list(islice(rest, MOST_ROWS))
        if shown:
            yield from table(header, shown, self.width, unicode=self.unicode)
        more = sum(1 for _ in rest)
        if more:
            yield f"and {number_text(more)} more"
        if not is_whole:
            yield "There are more than are kept: these are a sample."


def table(
    header: Sequence[str], rows: Sequence[Sequence[Cell]], width: int, *, unicode: bool
) -> list[str]:
    """Return the lines of a table; its first column is shortened if they exceed *width*.

    The first column stays as wide as its header. Columns of numbers are aligned on the right.
    """
    texts = [list(header), *([cell_text(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    too_wide = sum(widths) + 2 * (len(widths) - 1) - width
    if too_wide > 0:
        widths[0] = max(widths[0] - too_wide, len(header[0]))
        for line in texts:
            line[0] = shortened(line[0], widths[0], unicode=unicode)
    is_right = [any(isinstance(cell, int) for cell in column) for column in zip(*rows, strict=True)]
    return aligned(texts, is_right)


def cell_text(cell: Cell) -> str:
    """Return a number with commas, a text on one line, or a dash for None."""
    if cell is None:
        return NO_VALUE
    if isinstance(cell, int):
        return number_text(cell)
    return "".join(char if char.isprintable() else "?" for char in cell)


def shortened(text: str, size: int, *, unicode: bool) -> str:
    """Return a text of at most *size* characters; a cut text ends in a mark."""
    if len(text) <= size:
        return text
    mark = "…" if unicode else ".."
    return text[: size - len(mark)] + mark

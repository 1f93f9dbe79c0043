"""Tables and columns of counts in plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

_BLOCKS = " ▁▂▃▄▅▆▇█"
_ASCII_BLOCKS = " #"
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")

Cell = str | int | None

MOST_ROWS = 20
"""Rows of each table; the rest is counted."""


class Page:
    """Where the text goes."""

    def __init__(self, width: int, unicode: bool) -> None:
        self.width = width
        self.unicode = unicode

    def table(
        self, header: Sequence[str], rows: Iterable[Sequence[Cell]], *, is_whole: bool = True
    ) -> Iterator[str]:
        """Yield the lines of a table, if it has rows: the first of them, and how many follow."""
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
    """Return the lines of a table; what makes it wider than *width* is cut off its first column.

    That stays as wide as its header. Columns of numbers are on the right, and None is a dash.
    """
    texts = [list(header), *([cell_text(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    too_wide = sum(widths) + 2 * (len(widths) - 1) - width
    if too_wide > 0:
        widths[0] = max(widths[0] - too_wide, len(header[0]))
        for line in texts:
            line[0] = shortened(line[0], widths[0], unicode=unicode)
    is_right = [any(isinstance(cell, int) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            text.rjust(size) if right else text.ljust(size)
            for text, size, right in zip(line, widths, is_right, strict=True)
        ).rstrip()
        for line in texts
    ]


def cell_text(cell: Cell) -> str:
    """Return a number with commas, a text as it is but in one line, or a dash for None."""
    if cell is None:
        return "-"
    if isinstance(cell, int):
        return number_text(cell)
    return "".join(char if char.isprintable() else "?" for char in cell)


def number_text(number: int) -> str:
    """Return a number with commas."""
    return f"{number:,}"


def shortened(text: str, size: int, *, unicode: bool) -> str:
    """Return a text that is no longer than *size*, and where it was cut, says so."""
    if len(text) <= size:
        return text
    mark = "…" if unicode else ".."
    return text[: size - len(mark)] + mark


def size_text(size: int) -> str:
    """Return a number of bytes with the unit that suits it."""
    if size < 1024:
        return f"{size} B"
    value, unit = float(size), 0
    while value >= 1023.95 and unit < len(_UNITS) - 1:
        value /= 1024
        unit += 1
    return f"{value:.1f} {_UNITS[unit]}"


def chart(counts: Sequence[int], height: int, *, unicode: bool) -> list[str]:
    """Return *height* lines that show counts, not all zero, as columns, the highest in full.

    A column is higher than nothing wherever its count is.
    """
    blocks = _BLOCKS if unicode else _ASCII_BLOCKS
    steps = len(blocks) - 1
    highest = max(counts)
    levels = [-(-count * height * steps // highest) for count in counts]
    return [
        "".join(blocks[min(max(level - row * steps, 0), steps)] for level in levels).rstrip()
        for row in reversed(range(height))
    ]


def merged(counts: Sequence[int], most: int) -> tuple[list[int], int]:
    """Return counts of neighbours put together so that there are at most *most*, and how many."""
    together = max(-(-len(counts) // max(most, 1)), 1)
    return [sum(counts[at : at + together]) for at in range(0, len(counts), together)], together

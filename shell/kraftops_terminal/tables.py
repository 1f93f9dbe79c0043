"""Tables: drawn to fit the width of a terminal; plain, aligned and uncut for other streams.

A table for a terminal shows as many columns as fit: columns that fold give way first, then columns
of a high priority number are left out, and a line names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from textwrap import wrap
from typing import TYPE_CHECKING

from kraftops.answers.cells import cells_of, columns_of
from kraftops.answers.fields import Field
from kraftops.display.columns import Bytes, Cell, Column, Styled, folded, number
from kraftops.display.sizes import number_text, size_text
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.widths import aligned

if TYPE_CHECKING:
    from rich.table import Table as RichTable

__all__ = [
    "NO_VALUE",
    "Cell",
    "Column",
    "Styled",
    "Table",
    "cell_text",
    "fitted",
    "folded",
    "number",
    "print_table",
    "table_of",
    "table_text",
]
NO_VALUE = "-"
_GAP = 2  # blanks between columns
_LONGEST_NAME = 30  # columns of a name that is not folded while other columns can be left out
_LEAST = 4  # columns of any text, where even columns of priority 0 do not fit


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows, with a cell for each column."""

    columns: Sequence[Column]
    rows: Iterable[Sequence[Cell]]
    title: str = ""
    """A line above the table."""
    total: Sequence[Cell] | None = None
    """A last row, with sums."""
    limit: int | None = None
    """Most rows on a terminal, where a line counts the others; None for all."""
    names_missing: bool = True
    """Whether a line names the columns that are left out."""


def table_of(fields: Sequence[Field], things: Iterable[object], title: str = "") -> Table:
    return Table(columns_of(fields), (cells_of(fields, thing) for thing in things), title)


def print_table(console: Console, table: Table) -> None:
    console.write(table_text(console, table))


def table_text(console: Console, table: Table) -> str:
    """Return the lines of a table for a console; nothing where there are no rows."""
    remaining = iter(table.rows)
    rows = [*(remaining if console.width is None else islice(remaining, table.limit))]
    more = sum(1 for _ in remaining)
    if not rows:
        return ""
    if table.total is not None:
        rows.append(table.total)
    text = _drawn(console, table, rows) if console.is_drawn_on else _plain(table.columns, rows)
    if more:
        text += console.painted(f"and {number_text(more)} more", "muted") + "\n"
    if table.title:
        return console.painted(escaped(table.title), "title") + f"\n{text}"
    return text


def cell_text(cell: Cell) -> str:
    """Return a number with commas or a unit, a text on one line, or a dash for None."""
    value = cell.value if isinstance(cell, Styled) else cell
    if value is None:
        return NO_VALUE
    if isinstance(value, Bytes):
        return size_text(value)
    return escaped(value) if isinstance(value, str) else number_text(value)


def _plain(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> str:
    cells = zip(*rows, strict=True) if rows else ((),) * len(columns)
    texts = [
        aligned([column.title, *map(cell_text, below)], is_right=column.justify == "right")
        for column, below in zip(columns, cells, strict=True)
    ]
    return "".join(f"{(' ' * _GAP).join(row).rstrip()}\n" for row in zip(*texts, strict=True))


def _drawn(console: Console, table: Table, rows: Sequence[Sequence[Cell]]) -> str:
    from rich.cells import cell_len
    from rich.text import Text

    columns = table.columns
    texts = [[*map(cell_text, row)] for row in rows]
    natural = [
        max(cell_len(column.title), *(cell_len(row[position]) for row in texts))
        for position, column in enumerate(columns)
    ]
    names = [
        max((cell_len(word) for row in texts for word in row[position].split()), default=0)
        if column.style == "name"
        else 0
        for position, column in enumerate(columns)
    ]
    widths = fitted(columns, natural, console.width, names)
    drawn = _rich_table(columns, widths)
    for cells, row in zip(rows, texts, strict=True):
        style = "header" if cells is table.total else None
        drawn.add_row(
            *(
                Text(row[position], _style(cells[position], columns[position]))
                for position in widths
            ),
            style=style,
        )
    lines = console.drawn(drawn).splitlines()
    dropped = [column.title for position, column in enumerate(columns) if position not in widths]
    if dropped and table.names_missing:
        tail = f"no room for {', '.join(dropped)}: a wider terminal or a pipe shows all columns"
        lines += [console.painted(line, "muted") for line in wrap(tail, console.width or len(tail))]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _rich_table(columns: Sequence[Column], widths: dict[int, int]) -> RichTable:
    from rich.table import Table as RichTable

    table = RichTable(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="header")
    for position, width in widths.items():
        column = columns[position]
        table.add_column(column.title, justify=column.justify, width=width, overflow="fold")
    return table


def _style(cell: Cell, column: Column) -> str:
    return (cell.style if isinstance(cell, Styled) else "") or column.style


def fitted(
    columns: Sequence[Column],
    natural: Sequence[int],
    width: int | None,
    names: Sequence[int] = (),
) -> dict[int, int]:
    """Return the columns that are shown, by position, and their widths.

    Args:
        columns: The columns.
        natural: The width of each, if nothing is folded.
        width: Columns of the terminal; None for all that are needed.
        names: The width of the longest name in each: a name in two lines cannot be copied.
    """
    widths = dict(enumerate(natural))
    if width is None:
        return widths
    folded_least = {
        position: min(size, max(columns[position].least, len(columns[position].title)))
        if columns[position].is_folded
        else size
        for position, size in widths.items()
    }
    least = {
        position: max(size, min(name, _LONGEST_NAME))
        for (position, size), name in zip(
            folded_least.items(), names or [0] * len(columns), strict=True
        )
    }
    while _needed(least) > width:
        position = max(least, key=lambda position: (columns[position].priority, position))
        if not columns[position].priority:
            least = {position: folded_least[position] for position in least}
            break
        del least[position]
    if _needed(least) > width:
        least = {position: min(size, _LEAST) for position, size in least.items()}
    widths = {position: widths[position] for position in least}
    while _needed(widths) > width:
        position = max(
            widths, key=lambda position: (widths[position] > least[position], widths[position])
        )
        if widths[position] == least[position]:
            break
        widths[position] -= 1
    return widths


def _needed(widths: dict[int, int]) -> int:
    return sum(widths.values()) + _GAP * (len(widths) - 1)

"""Rows of views as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kraftops.display.times import iso_time
from kraftops.query.conditions.types import NUMBER, TIME
from kraftops.tree.node import json_text
from kraftops.views.columns import ViewColumn
from kraftops_shell.grammar.arguments import BadLineError, Call
from kraftops_shell.session.session import Session
from kraftops_terminal.tables import Cell, Column, Table, print_table


def print_rows(
    session: Session,
    columns: Sequence[ViewColumn],
    rows: Iterable[Sequence[object]],
    *,
    limit: int | None = None,
    title: str = "",
) -> None:
    """Print rows as a table; *limit* is the most rows on a terminal."""
    head = [_head(column, at) for at, column in enumerate(columns)]
    cells = ([*map(cell_of, columns, row)] for row in rows)
    print_table(session.table_console, Table(head, cells, title=title, limit=limit))


def cell_of(column: ViewColumn, value: object) -> Cell:
    """Return the value of a column as people read it."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if TIME in column.type.kinds:
            return iso_time(value) or str(value)
        return value if column.is_amount else str(value)
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return value if isinstance(value, str) else json_text(value)


def refuse_both(call: Call, one: str, other: str) -> None:
    """Refuse two flags that contradict each other.

    Raises:
        BadLineError: both are given.
    """
    if one in call.flags and other in call.flags:
        raise BadLineError(f"argument {other}: not allowed with argument {one}")


def _head(column: ViewColumn, at: int) -> Column:
    is_number = NUMBER in column.type.kinds and len(column.type.kinds) == 1
    return Column(
        column.name,
        priority=at,
        justify="right" if is_number else "left",
        is_folded=not is_number and TIME not in column.type.kinds,
    )

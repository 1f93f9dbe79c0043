"""Rows of views as tables for people, as lines of JSON, and as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kraftops.display.times import iso_time
from kraftops.query.conditions.types import NUMBER, TEXT, TIME
from kraftops.query.csv_rows import csv_line
from kraftops.tree.node import json_text
from kraftops.views.columns import ViewColumn
from kraftops_shell.grammar.arguments import BadLineError, Call
from kraftops_shell.session.session import Session
from kraftops_terminal.tables import Cell, Column, Table, print_table

Rows = Iterable[Sequence[object]]


def print_rows(
    session: Session,
    columns: Sequence[ViewColumn],
    rows: Rows,
    total: Sequence[object] | None = None,
) -> None:
    """Print rows as a table."""
    head = [_head(column, at) for at, column in enumerate(columns)]
    cells = ([*map(cell_of, columns, row)] for row in rows)
    last = None if total is None else [*map(cell_of, columns, total)]
    print_table(session.table_console, Table(head, cells, total=last))


def print_json(session: Session, columns: Sequence[ViewColumn], rows: Rows) -> None:
    """Print a line of JSON for each row."""
    names = [column.name for column in columns]
    for row in rows:
        session.out(json_text(dict(zip(names, row, strict=True))) + "\n")


def print_csv(session: Session, call: Call, columns: Sequence[ViewColumn], rows: Rows) -> None:
    """Print a head and rows as the CSV that the flags ask for; lists are JSON."""
    is_safe = "--csv-safe" in call.flags
    session.out(csv_line([column.name for column in columns]))
    for row in rows:
        line = csv_line([_csv_field(value) for value in row], is_safe=is_safe)
        session.line(line[:-1])


def asks_for_csv(call: Call) -> bool:
    """Tell whether the flags ask for CSV."""
    return call.flags.get("--format") == "csv"


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


def check_forms(call: Call) -> None:
    """Refuse a flag of CSV with another form.

    Raises:
        BadLineError: it is given.
    """
    if "--csv-safe" in call.flags and not asks_for_csv(call):
        raise BadLineError("--csv-safe needs --format csv")


def refuse_both(call: Call, one: str, other: str) -> None:
    """Refuse two flags that contradict each other.

    Raises:
        BadLineError: both are given.
    """
    if one in call.flags and other in call.flags:
        raise BadLineError(f"argument {other}: not allowed with argument {one}")


def _csv_field(value: object) -> object:
    return value if value is None or isinstance(value, str) else json_text(value)


def _head(column: ViewColumn, at: int) -> Column:
    kinds = column.type.kinds
    is_number = kinds == {NUMBER}
    is_list = column.type.items is not None
    return Column(
        column.name,
        priority=at + column.gives_way,
        justify="right" if is_number else "left",
        is_folded=is_list or TEXT in kinds,
    )

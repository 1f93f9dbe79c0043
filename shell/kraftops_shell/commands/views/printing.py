"""Rows of views as tables for people, as JSON, and as CSV."""

from collections.abc import Iterable, Sequence

from kraftops.answers.cells import cell_of, column_at
from kraftops.answers.fields import Field
from kraftops.query.row_lines import csv_line
from kraftops.tree.node import json_text
from kraftops_shell.grammar.arguments import BadLineError, Call
from kraftops_shell.session.session import Session
from kraftops_terminal.tables import Table, print_table

Rows = Iterable[Sequence[object]]


def print_rows(
    session: Session,
    columns: Sequence[Field],
    rows: Rows,
    total: Sequence[object] | None = None,
) -> None:
    head = [column_at(column, index) for index, column in enumerate(columns)]
    cells = ([*map(cell_of, columns, row)] for row in rows)
    last = None if total is None else [*map(cell_of, columns, total)]
    print_table(session.table_console, Table(head, cells, total=last))


def print_json(
    session: Session, call: Call, name: str, columns: Sequence[Field], rows: Rows
) -> None:
    """Print rows as JSON, as the list *name* of an object or as lines."""
    answer = session.begin_json(call, name)
    names = [column.name for column in columns]
    for row in rows:
        answer.put(dict(zip(names, row, strict=True)))


def print_csv(session: Session, call: Call, columns: Sequence[Field], rows: Rows) -> None:
    """Print a head and rows as the CSV that the flags ask for; lists are JSON."""
    is_safe = "--csv-safe" in call.flags
    session.out(csv_line([column.name for column in columns]))
    for row in rows:
        line = csv_line([_csv_field(value) for value in row], is_safe=is_safe)
        session.line(line[:-1])


def asks_for_csv(call: Call) -> bool:
    return call.flags.get("--format") == "csv"


def check_forms(call: Call) -> None:
    """Refuse a flag of CSV with another form.

    Raises:
        BadLineError: it is given.
    """
    if "--csv-safe" in call.flags and not asks_for_csv(call):
        raise BadLineError("--csv-safe needs --format csv")


def refuse_both(call: Call, flag: str, other_flag: str) -> None:
    """Refuse two flags that contradict each other.

    Raises:
        BadLineError: both are given.
    """
    if flag in call.flags and other_flag in call.flags:
        raise BadLineError(f"argument {other_flag}: not allowed with argument {flag}")


def _csv_field(value: object) -> object:
    return value if value is None or isinstance(value, str) else json_text(value)

"""The command stat."""

from kraftops.display.columns import Column, folded
from kraftops.image.history import record_type
from kraftops.tree.node import Leaf
from kraftops_shell.commands.node_rows import node_fields
from kraftops_shell.commands.walk import newest_change
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.grammar.paths import Match
from kraftops_shell.output.change_format import change_data
from kraftops_shell.session.session import Session
from kraftops_terminal.tables import Table, print_table


def stat(session: Session, call: Call) -> None:
    """Print kind, size, last change and record of nodes."""
    is_first = True
    answer = session.begin_json(call, "nodes") if call.is_json else None
    for _, match in session.targets(call, call.words):
        fields = _fields_of(match)
        if answer:
            answer.put(fields)
            continue
        session.out("" if is_first else "\n")
        is_first = False
        print_table(session.table_console, _table(fields))


def _table(fields: dict[str, object]) -> Table:
    printed = {name: value for name, value in fields.items() if name not in _IN_JSON_ONLY}
    if fields.get("isInSnapshot"):
        printed["offset"] = f"<={fields['offset']}"
    rows = [(name, None if value is None else str(value)) for name, value in printed.items()]
    return Table((Column("field"), folded("value")), rows)


_IN_JSON_ONLY = ("isInSnapshot", "timestampMs")


def _fields_of(match: Match) -> dict[str, object]:
    node = match.node
    fields = node_fields(match.path, node)
    last = newest_change(node)
    if last is not None:
        fields |= change_data(last.change)
    if isinstance(node, Leaf) and last is not None:
        source, position, _ = last.image.store.place(last.address)
        fields |= {
            "recordType": record_type(last.image.record(last.address), last.image.dialect),
            "records": last.records,
            "source": source,
            "position": position,
        }
    return fields

"""The command history-of."""

from __future__ import annotations

from kraftops.image.history import Step, history
from kraftops.image.state.fields import ChangeKind
from kraftops.tree.history_subjects import history_subject
from kraftops.tree.node import json_text
from kraftops_shell.commands.time.printing import print_changes
from kraftops_shell.commands.time.wanted import TABLES_BELOW, wanted_below
from kraftops_shell.grammar.arguments import Call, number_of
from kraftops_shell.grammar.nearest import meant
from kraftops_shell.grammar.paths import absolute, escaped
from kraftops_shell.output.change_format import (
    change_data,
    change_text,
    fields_data,
    fields_text,
)
from kraftops_shell.session.moving import travel_of
from kraftops_shell.session.session import Session

_MOST_MEANT = 3
_MOST_OF_MANY = 100
"""The changes of a directory of many nodes, unless --limit has another number."""


def history_of(session: Session, call: Call) -> None:
    """Print the changes of a node, which may be deleted."""
    source = session.source
    target = call.words[0]
    limit = number_of(call, "--limit")
    found = [match.names for match in session.matches(target)]
    # A deleted node has its old name.
    gone = tuple(absolute(target, session.working, with_escapes=True))
    answer = session.begin_json(call, "changes") if call.is_json else None
    for names in found or [gone]:
        tables = TABLES_BELOW.get("/" + "/".join(names))
        if limit is not None or tables is not None:
            _print_last(session, names, limit)
            continue
        subject = history_subject(names, show_secrets=source.show_secrets)
        steps = history(
            source.log,
            subject,
            at_offset=source.at_offset,
            at_time=source.at_time,
            dialect=source.image.dialect,
        )
        if not steps:
            _print_missing(session, target, names)
        start = "/" + "/".join(map(escaped, names))
        for step in steps:
            path = f"{start}/{step.path}" if step.path else start
            if answer:
                answer.put(_data(step, path))
            else:
                session.line(_line(step, path))


def _print_last(session: Session, names: tuple[str, ...], limit: int | None) -> None:
    """Print the last changes of a node or a directory of many, oldest first."""
    travel, end = travel_of(session), session.source.image.offset + 1
    number = _MOST_OF_MANY if limit is None else limit
    changes = travel.before(end, wanted_below(names), number) if number else []
    for change in changes:
        after = travel.at(offset=change.offset)
        print_changes(session, change, after)
    if not changes and number:
        _print_missing(session, "/" + "/".join(map(escaped, names)), names)
    if limit is None and len(changes) == number:
        session.err(f"history-of: these are the last {number} changes: --limit N shows others")


def _print_missing(session: Session, target: str, names: tuple[str, ...]) -> None:
    """Print that the log has nothing of a node, and those beside it that may be meant."""
    *above, name = names
    place = "/" + "/".join(map(escaped, above))
    known = [match.names[-1] for match in session.matches(f"{place.rstrip('/')}/*")]
    near = meant(name, known) or [one for one in known if one.partition(":")[2] == name]
    hint = f": did you mean {' or '.join(map(escaped, near[:_MOST_MEANT]))}?" if near else ""
    session.print_error(f"history-of: {target}: nothing of it is in the log{hint or '.'}")


def _line(step: Step, path: str) -> str:
    if step.kind is ChangeKind.CHANGED:
        text = fields_text(step.fields) or "said again"
    elif step.kind is ChangeKind.ADDED:
        text = json_text(step.new)
    else:
        text = "removed"
    return f"{change_text(step.change)}  {step.type}  {path}  {text}"


def _data(step: Step, path: str) -> dict[str, object]:
    return {
        **change_data(step.change),
        "type": step.type,
        "path": path,
        "change": step.kind.value,
        "fields": fields_data(step.fields) if step.kind is ChangeKind.CHANGED else None,
        "old": step.old,
        "new": step.new,
    }

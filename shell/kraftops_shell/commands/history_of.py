"""The command history-of."""

from __future__ import annotations

from kraftops.image.history import Step, history
from kraftops.image.state.fields import ChangeKind
from kraftops.tree.history_subjects import history_subject
from kraftops.tree.node import json_text
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.grammar.paths import absolute, escaped
from kraftops_shell.output.change_format import (
    fields_data,
    fields_text,
    json_line,
    place_data,
    place_text,
)
from kraftops_shell.session.session import Session


def history_of(session: Session, call: Call) -> None:
    """Print what happened to a node, which need not be there any more."""
    origin = session.source
    target = call.words[0]
    found = [match.names for match in session.matches(target)]
    # What is gone has the name that it had.
    gone = tuple(absolute(target, session.working, with_escapes=True))
    for names in found or [gone]:
        what = history_subject(names, show_secrets=origin.show_secrets)
        steps = history(
            origin.log,
            what,
            at_offset=origin.at_offset,
            at_time=origin.at_time,
            dialect=origin.image.dialect,
        )
        if not steps:
            session.complain(f"history-of: {target}: nothing of it is in the log.")
        start = "/" + "/".join(map(escaped, names))
        for step in steps:
            path = f"{start}/{step.path}" if step.path else start
            if call.flags.get("--format") == "json":
                session.out(json_line(_data(step, path)))
            else:
                session.out(_line(step, path))


def _line(step: Step, path: str) -> str:
    if step.kind is ChangeKind.CHANGED:
        what = fields_text(step.fields) or "said again"
    elif step.kind is ChangeKind.ADDED:
        what = json_text(step.new)
    else:
        what = "removed"
    return f"{place_text(step.change)}  {step.type}  {path}  {what}\n"


def _data(step: Step, path: str) -> dict[str, object]:
    return {
        **place_data(step.change),
        "type": step.type,
        "path": path,
        "change": step.kind.value,
        "fields": fields_data(step.fields) if step.kind is ChangeKind.CHANGED else None,
        "old": step.old,
        "new": step.new,
    }

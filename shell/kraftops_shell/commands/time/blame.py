"""The command blame."""

from typing import NamedTuple

from kraftops.errors import UsageError
from kraftops.image.history import Step
from kraftops.image.state.changes import Change
from kraftops.tree.node import Directory, json_text
from kraftops_shell.commands.time.printing import steps_of
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.output.change_format import change_data, change_text
from kraftops_shell.session.session import Session


class _Blamed(NamedTuple):
    """A field of a leaf; its name is empty where the value has no fields."""

    name: str
    value: object
    change: Change
    type: str


def blame(session: Session, call: Call) -> None:
    """Print each field of leaves with its last change."""
    answer = session.begin_json(call, "fields") if call.is_json else None
    for target, match in session.targets(call, call.words):
        if isinstance(match.node, Directory):
            session.print_error(f"blame: {target}: Is a directory", code="usage")
            continue
        fields = _fields(steps_of(session.source, match.names))
        if not fields:
            raise UsageError(f"blame: {match.path}: nothing of it is in the log")
        if answer:
            for field in fields:
                answer.put({"path": match.path, **_data(field)})
            continue
        if len(call.words) > 1 or match.path != target:
            session.line(f"{match.path}:")
        width = max(len(field.name) for field in fields)
        marks = max(len(change_text(field.change)) for field in fields)
        for field in fields:
            change = f"{change_text(field.change):<{marks}}  epoch {field.change.epoch}"
            session.wrapped_line(
                f"{change}  {field.type}  {field.name:<{width}}  {json_text(field.value)}"
            )


def _fields(steps: list[Step]) -> list[_Blamed]:
    """Return the fields of the last value, each with the step that gave it this value."""
    blamed: dict[str, _Blamed] = {}
    for step in steps:
        if step.new is None:
            blamed.clear()
            continue
        value = step.new if isinstance(step.new, dict) else {"": step.new}
        old = step.old if isinstance(step.old, dict) else {"": step.old}
        blamed = {name: field for name, field in blamed.items() if name in value}
        for name, present in value.items():
            if name not in blamed or old.get(name) != present:
                blamed[name] = _Blamed(name, present, step.change, step.type)
    return list(blamed.values())


def _data(field: _Blamed) -> dict[str, object]:
    return {
        "field": field.name or None,
        "value": field.value,
        **change_data(field.change),
        "type": field.type,
    }

"""The text and JSON of changes and differences."""

from collections.abc import Iterable

from kraftops.display.times import iso_time, time_fields
from kraftops.image.history import Step
from kraftops.image.state.changes import Change
from kraftops.image.state.fields import ChangeKind, FieldChange
from kraftops.tree.node import json_text


def fields_text(fields: Iterable[FieldChange]) -> str:
    return "; ".join(
        f"{name} {json_text(old)} → {json_text(new)}".lstrip() for name, old, new in fields
    )


def fields_data(fields: Iterable[FieldChange]) -> list[dict[str, object]]:
    """Return the changed fields as plain data; a value without fields has a field without name."""
    return [{"field": name or None, "old": old, "new": new} for name, old, new in fields]


def change_text(change: Change) -> str:
    sign = "<=" if change.is_upper_bound else ""
    return f"{sign}{change.offset}  {iso_time(change.timestamp) or '-'}"


def step_text(step: Step) -> str:
    if step.kind is ChangeKind.CHANGED:
        text = fields_text(step.fields) or "nothing changed"
    else:
        text = "removed" if step.kind is ChangeKind.REMOVED else json_text(step.new)
    return f"{change_text(step.change)}  {step.type}  {step.path}  {text}"


def step_data(step: Step) -> dict[str, object]:
    return {
        **change_data(step.change),
        "type": step.type,
        "path": step.path,
        "change": step.kind.value,
        "fields": fields_data(step.fields) if step.kind is ChangeKind.CHANGED else None,
        "old": step.old,
        "new": step.new,
    }


def change_data(change: Change) -> dict[str, object]:
    return {
        "offset": change.offset,
        "isInSnapshot": change.is_upper_bound,
        **time_fields("timestamp", change.timestamp),
        "leaderEpoch": change.epoch,
    }

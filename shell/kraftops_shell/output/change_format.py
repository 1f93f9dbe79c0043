"""The text and JSON of changes and differences."""

from __future__ import annotations

from collections.abc import Iterable

from kraftops.display.times import iso_time, time_fields
from kraftops.image.state.changes import Change
from kraftops.image.state.fields import FieldChange
from kraftops.tree.node import json_text


def fields_text(fields: Iterable[FieldChange]) -> str:
    """Return the changed fields of a value, on one line."""
    return "; ".join(
        f"{name} {json_text(old)} → {json_text(new)}".lstrip() for name, old, new in fields
    )


def fields_data(fields: Iterable[FieldChange]) -> list[dict[str, object]]:
    """Return the changed fields as plain data; a value without fields has a field without name."""
    return [{"field": name or None, "old": old, "new": new} for name, old, new in fields]


def change_text(change: Change) -> str:
    """Return offset and time of a change."""
    sign = "<=" if change.is_upper_bound else ""
    return f"{sign}{change.offset}  {iso_time(change.timestamp) or '-'}"


def change_data(change: Change) -> dict[str, object]:
    """Return offset, time and epoch of a change as plain data."""
    return {
        "offset": change.offset,
        "isInSnapshot": change.is_upper_bound,
        **time_fields("timestamp", change.timestamp),
        "leaderEpoch": change.epoch,
    }

"""What commands say about changes and differences, in text and in JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kraftops.display.times import iso_time, time_fields
from kraftops.image.state.changes import Change
from kraftops.image.state.fields import FieldChange
from kraftops.tree.node import json_text


def json_line(value: Mapping[str, object]) -> str:
    """Return a JSON object on a line of its own."""
    return json_text(value) + "\n"


def fields_text(fields: Iterable[FieldChange]) -> str:
    """Return what has changed in a value, on one line."""
    return "; ".join(
        f"{name} {json_text(old)} → {json_text(new)}".lstrip() for name, old, new in fields
    )


def fields_data(fields: Iterable[FieldChange]) -> list[dict[str, object]]:
    """Return the same as plain data; a value that has no fields has one without name."""
    return [{"field": name or None, "old": old, "new": new} for name, old, new in fields]


def place_text(change: Change) -> str:
    """Return offset and time of a change."""
    # What a snapshot has was there by its end; nobody knows since when.
    sign = "<=" if change.is_upper_bound else ""
    return f"{sign}{change.offset}  {iso_time(change.timestamp) or '-'}"


def place_data(change: Change) -> dict[str, object]:
    """Return the same as plain data."""
    return {
        "offset": change.offset,
        "isInSnapshot": change.is_upper_bound,
        **time_fields("timestamp", change.timestamp),
        "leaderEpoch": change.epoch,
    }

"""Differences between two values of a node, field by field."""

from enum import Enum
from typing import NamedTuple


class ChangeKind(Enum):
    """The kind of a difference: a value is only in the new state, only in the old, or in both."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class FieldChange(NamedTuple):
    """A field before and after a change; the name is empty where the value has no fields."""

    name: str
    old: object
    new: object


def field_changes(old: object, new: object) -> tuple[FieldChange, ...]:
    """Return the fields that differ between two values; a missing field counts as None."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = dict.fromkeys([*old, *new])
        pairs = [FieldChange(name, old.get(name), new.get(name)) for name in names]
    else:
        pairs = [FieldChange("", old, new)]
    return tuple(pair for pair in pairs if pair.old != pair.new)

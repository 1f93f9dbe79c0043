"""The types of fields: what a column of rows, or a field of an answer, can hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

NUMBER, TEXT, BOOLEAN, TIME, LIST, OBJECT = "number", "text", "boolean", "time", "list", "object"


@dataclass(frozen=True, slots=True)
class FieldType:
    """The type of a column or field; fields of one name in several messages can have several kinds.

    *fields* are those of an object, *others* the type of all that they do not name. *items* is the
    type of a list's items. *values* are all known values of a text, if they are known.
    """

    kinds: frozenset[str]
    fields: Mapping[str, FieldType] = field(default_factory=dict)
    others: FieldType | None = None
    items: FieldType | None = None
    values: frozenset[str] = frozenset()


def of_kind(kind: str) -> FieldType:
    return FieldType(frozenset({kind}))


def list_of(items: FieldType) -> FieldType:
    return FieldType(frozenset({LIST}), items=items)


def map_of(values: FieldType) -> FieldType:
    """Declare an object whose names are data, such as topics: they are not in the schema."""
    return FieldType(frozenset({OBJECT}), others=values)


def merged(types: Iterable[FieldType]) -> FieldType:
    """Unite the types of fields of one name in several messages."""
    several = list(types)
    if len(several) == 1:
        return several[0]
    names = {name: None for kind in several for name in kind.fields}
    items = [kind.items for kind in several if kind.items]
    return FieldType(
        frozenset().union(*(kind.kinds for kind in several)),
        {
            name: merged(kind.fields[name] for kind in several if name in kind.fields)
            for name in names
        },
        next((kind.others for kind in several if kind.others), None),
        merged(items) if items else None,
    )

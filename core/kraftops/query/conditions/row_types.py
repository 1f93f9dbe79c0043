"""The types of a row's columns, and of the fields in its key and value, by the message tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from kraftops.answers.types import (
    BOOLEAN,
    LIST,
    NUMBER,
    OBJECT,
    TEXT,
    TIME,
    FieldType,
    list_of,
    merged,
    of_kind,
)
from kraftops.log.codecs import CODECS
from kraftops.query.row import COLUMNS, DAMAGE, TYPES
from kraftops.records.control import CONTROL, CONTROL_TYPES, definitions
from kraftops.records.decoder import Decoder, ShownMessages
from kraftops.schema.message import SCALARS, Field, Message


@cache
def row_types(decoders: frozenset[Decoder]) -> dict[str, FieldType]:
    """Return the types of the columns of rows that some decoders read."""
    shown = [decoder.shown_messages() for decoder in decoders]
    shown.append(ShownMessages(values=[message for *_, message in definitions()]))
    keys = _fields((each.keys, each.embedded) for each in shown)
    values = _fields((each.values, each.embedded) for each in shown)
    types = {name for decoder in decoders for name in decoder.type_names()}
    kinds = {DAMAGE, CONTROL, *(decoder.name for decoder in decoders)}
    return {
        **{name: of_kind(TEXT) for name in COLUMNS},
        **{
            name: of_kind(BOOLEAN if kind == "bool_" else NUMBER)
            for kind, names in TYPES.items()
            for name in names
        },
        "timestamp": of_kind(TIME),
        "headers": FieldType(frozenset({LIST}), others=of_kind(TEXT)),
        "key": FieldType(frozenset({TEXT}), keys),
        "value": FieldType(frozenset({TEXT}), values),
        "type": _one_of(types.union(CONTROL_TYPES)),
        "kind": _one_of(kinds),
        "codec": _one_of(CODECS),
    }


def _one_of(values: Iterable[str]) -> FieldType:
    return FieldType(frozenset({TEXT}), values=frozenset(values))


def _fields(
    shown: Iterable[tuple[Iterable[Message], Mapping[str, Message]]],
) -> dict[str, FieldType]:
    """Return the types of the fields of messages together, by name."""
    found: dict[str, list[FieldType]] = {}
    for messages, embedded in shown:
        for message in messages:
            for field in message.fields:
                found.setdefault(field.name, []).append(_type(field, embedded))
    return {name: merged(types) for name, types in found.items()}


def _type(field: Field, embedded: Mapping[str, Message]) -> FieldType:
    if field.is_struct:
        inner = {one.name: _type(one, embedded) for one in field.fields}
        found = FieldType(frozenset({OBJECT}), inner)
    elif field.name in embedded:
        inner = {one.name: _type(one, {}) for one in embedded[field.name].fields}
        found = FieldType(frozenset({TEXT, OBJECT}), inner)  # text if it cannot be read
    elif field.type == "bool":
        found = of_kind(BOOLEAN)
    else:
        found = of_kind(NUMBER if field.type in SCALARS and field.type != "uuid" else TEXT)
    return list_of(found) if field.array else found

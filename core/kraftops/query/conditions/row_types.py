"""The types of a row's columns, and of the fields in its key and value, by the message tables."""

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
    shown_messages = [decoder.shown_messages() for decoder in decoders]
    shown_messages.append(ShownMessages(values=[message for *_, message in definitions()]))
    keys = _fields((shown_message.keys, shown_message.embedded) for shown_message in shown_messages)
    values = _fields(
        (shown_message.values, shown_message.embedded) for shown_message in shown_messages
    )
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
    messages_by_decoder: Iterable[tuple[Iterable[Message], Mapping[str, Message]]],
) -> dict[str, FieldType]:
    types_by_name: dict[str, list[FieldType]] = {}
    for messages, embedded in messages_by_decoder:
        for message in messages:
            for field in message.fields:
                types_by_name.setdefault(field.name, []).append(_type(field, embedded))
    return {name: merged(types) for name, types in types_by_name.items()}


def _type(field: Field, embedded: Mapping[str, Message]) -> FieldType:
    if field.is_struct:
        inner = {member.name: _type(member, embedded) for member in field.fields}
        field_type = FieldType(frozenset({OBJECT}), inner)
    elif field.name in embedded:
        inner = {member.name: _type(member, {}) for member in embedded[field.name].fields}
        field_type = FieldType(frozenset({TEXT, OBJECT}), inner)  # text if it cannot be read
    elif field.type == "bool":
        field_type = of_kind(BOOLEAN)
    else:
        field_type = of_kind(NUMBER if field.type in SCALARS and field.type != "uuid" else TEXT)
    return list_of(field_type) if field.array else field_type

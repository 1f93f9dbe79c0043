"""The JSON schema of an answer, and the lines of the manual about its fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kraftops.answers.fields import Answer, Field
from kraftops.answers.types import BOOLEAN, LIST, NUMBER, OBJECT, TEXT, TIME, FieldType

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_SIMPLE = {TEXT: "string", NUMBER: "integer", TIME: "integer", BOOLEAN: "boolean"}
_NAMES = {**_SIMPLE, LIST: "list", OBJECT: "object"}
_OF_TIMES = "ms since 1970"


def schema_of(answer: Answer, command: str, *, title: str, version: int) -> dict[str, object]:
    fields = object_schema(answer.fields)
    assert isinstance(fields["properties"], dict)
    assert isinstance(fields["required"], list)
    constants = {"command": {"const": command}, "formatVersion": {"const": version}}
    return {
        "$schema": DRAFT,
        "title": title,
        **({"description": answer.help} if answer.help else {}),
        "type": "object",
        "properties": {**constants, **fields["properties"]},
        "required": [*constants, *fields["required"]],
    }


def object_schema(fields: Iterable[Field]) -> dict[str, object]:
    fields = list(fields)
    return {
        "type": "object",
        "properties": {field.name: _schema(field) for field in fields},
        "required": [field.name for field in fields if not field.may_be_missing],
    }


def _schema(field: Field) -> dict[str, object]:
    help_text = f"{field.help} ({_OF_TIMES})" if TIME in field.type.kinds else field.help
    if field.fields and LIST in field.type.kinds:
        schema: dict[str, object] = {"type": "array", "items": object_schema(field.fields)}
    elif field.fields:
        schema = object_schema(field.fields)
    else:
        schema = _of_type(field.type, is_decimal=field.numeral == "decimal")
    if field.may_be_null and "enum" in schema:
        schema = {"enum": [*sorted(field.type.values), None]}
    elif field.may_be_null:
        names = schema["type"]
        schema["type"] = [*(names if isinstance(names, list) else [names]), "null"]
    return {**schema, "description": help_text}


def _of_type(kind: FieldType, *, is_decimal: bool = False) -> dict[str, object]:
    if kind.values:
        return {"enum": sorted(kind.values)}
    if kind.items:
        return {"type": "array", "items": _of_type(kind.items)}
    if kind.others:
        return {"type": "object", "additionalProperties": _of_type(kind.others)}
    names = [
        "number" if is_decimal and name == NUMBER else _SIMPLE[name] for name in sorted(kind.kinds)
    ]
    return {"type": names[0] if len(names) == 1 else names}


def manual_of(fields: Iterable[Field], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path of each field, as `brokers[].rack`, and its type with its meaning."""
    for field in fields:
        path = f"{above}{field.name}"
        (kind,) = field.type.kinds
        item = field.type.items
        name = f"list of {_NAMES[next(iter(item.kinds))]}s" if item else _NAMES[kind]
        ending = "; may be null" if field.may_be_null else ""
        unit = f", {_OF_TIMES}" if kind == TIME else ", bytes" if field.numeral == "size" else ""
        yield path, f"{field.help} ({name}{unit}{ending})"
        yield from manual_of(field.fields, f"{path}[]." if kind == LIST else f"{path}.")

"""Every message of every table, random data for it, and a plain encoder to bytes and JSON.

What is here is written from the formats (KIP-482, KIP-893, Kafka's JSON converters), not from the
code under test, and cares for nothing but being obvious.
"""

import struct
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from kraftops.schema import tables
from kraftops.schema.message import Field, Message, Versions

TABLES = tuple(sorted(path.stem for path in Path(tables.__path__[0]).glob("*.txt")))
table = tables.messages
UNKNOWN_TAGS = "_unknownTags"
Data = dict[str, Any]

_CODES = {
    "bool": ">?",
    "int8": ">b",
    "int16": ">h",
    "uint16": ">H",
    "int32": ">i",
    "uint32": ">I",
    "int64": ">q",
    "float64": ">d",
}


def versions_of(message: Message) -> range:
    """Return the versions that a message has."""
    assert message.versions.last is not None
    return range(message.versions.first, message.versions.last + 1)


def every_version() -> Iterator[tuple[str, Message, int]]:
    """Yield (table, message, version)."""
    for name in TABLES:
        for message in table(name).values():
            for version in versions_of(message):
                yield name, message, version


def _parametrized(*places: int) -> pytest.MarkDecorator:
    """Return the mark of tests of all versions; others than these of a message are long."""
    cases = [
        pytest.param(
            *(message, version),
            id=f"{name}-{message.name}-{version}",
            marks=()
            if version in {versions_of(message)[place] for place in places}
            else pytest.mark.long,
        )
        for name, message, version in every_version()
    ]
    return pytest.mark.parametrize(("message", "version"), cases)


each_version = _parametrized(0, -1)
"""One code compiles all versions of a message: those between the first and the last run with `--long`."""
each_newest_version = _parametrized(-1)
"""For what no version has of its own."""


def _is_in(versions: Versions, version: int) -> bool:
    return versions.first <= version and (versions.last is None or version <= versions.last)


def fields_of(fields: tuple[Field, ...], version: int) -> list[Field]:
    """Return the fields that a version has."""
    return [field for field in fields if _is_in(field.versions, version)]


def is_flexible(message: Message, version: int) -> bool:
    """Tell whether a version has tagged fields."""
    return message.flexible is not None and _is_in(message.flexible, version)


def default(field: Field, version: int) -> Any:
    """Return the default value of a field."""
    if field.default is None:
        return None
    if field.array:
        return []
    if field.is_struct:
        return {inner.name: default(inner, version) for inner in fields_of(field.fields, version)}
    return field.default


# Data


_INTEGERS = {
    "int8": (-(1 << 7), (1 << 7) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "uint16": (0, (1 << 16) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
}
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["", 'a "quoted" \\ name', "\x00\t\n\x1f\x7f\u2028", "x" * 126, "y" * 127, "é" * 100]
)
_SCALARS: dict[str, SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "float64": st.floats(allow_nan=False),  # which equals nothing, not even itself
    "uuid": st.binary(min_size=16, max_size=16) | st.just(bytes(16)),
    "string": _TEXT,
    "bytes": st.binary(max_size=8) | st.just(bytes(range(200))),
    **{
        name: st.sampled_from([low, high, 0 if low else 1]) | st.integers(low, high)
        for name, (low, high) in _INTEGERS.items()
    },
}
_MANY = 130  # elements, so that a length takes two bytes


@cache
def data_for(
    message: Message, version: int, *, unknown_tags: bool = False, many: bool = False
) -> SearchStrategy[Data]:
    """Return a strategy of plain data as `kraftops.schema.codegen.read` gives it.

    There are fields of which no reader knows with *unknown_tags*, and long arrays with *many*.
    """
    tags = unknown_tags and is_flexible(message, version)
    return _struct(message.fields, version, tags=tags, many=many)


def _struct(
    fields: tuple[Field, ...], version: int, *, tags: bool, many: bool
) -> SearchStrategy[Data]:
    here = fields_of(fields, version)
    known = st.fixed_dictionaries(
        {field.name: _value(field, version, tags=tags, many=many) for field in here}
    )
    if not tags:
        return known
    taken = {field.tag for field in fields}  # of any version: at others, Kafka refuses them
    numbers = st.integers(0, 300).filter(lambda number: number not in taken)
    unknown = st.dictionaries(numbers, st.binary(max_size=5), max_size=2)

    def joined(pair: tuple[Data, dict[int, bytes]]) -> Data:
        return {**pair[0], UNKNOWN_TAGS: pair[1]} if pair[1] else pair[0]

    return st.tuples(known, unknown).map(joined)


def _value(field: Field, version: int, *, tags: bool, many: bool) -> SearchStrategy[Any]:
    one = (
        _struct(field.fields, version, tags=tags, many=many)
        if field.is_struct
        else _SCALARS[field.type]
    )
    if field.is_struct and field.tag is not None and not field.array:
        # One that holds nothing but unknown tags has a test of its own.
        nothing = default(field, version)
        one = one.filter(lambda value: UNKNOWN_TAGS not in value or not _is_like(value, nothing))
    if field.array:
        several = st.lists(one, max_size=3)
        # Not of structs in structs: what is there thousandfold takes its time.
        is_flat = not any(inner.array for inner in field.fields)
        one = several | one.map(lambda value: [value] * _MANY) if many and is_flat else several
    choices = [one]
    if field.nullable:
        choices.append(st.none())
    if field.tag is not None:
        choices.append(st.builds(default, st.just(field), st.just(version)))
    return st.one_of(choices)


def _is_like(value: Data, other: Data | None) -> bool:
    return {name: here for name, here in value.items() if name != UNKNOWN_TAGS} == other


def filled(fields: tuple[Field, ...], version: int, text: str) -> Data:
    """Return data with *text* in each text, the same and bad UTF-8 in bytes, and 1 elsewhere.

    Each array has one element.
    """

    def one(field: Field) -> Any:
        if field.is_struct:
            return filled(field.fields, version, text)
        scalars = {"string": text, "bytes": text.encode() + b"\xff", "uuid": bytes(15) + b"\1"}
        return scalars.get(field.type, 1)

    return {
        field.name: [one(field)] if field.array else one(field)
        for field in fields_of(fields, version)
    }


# Bytes


def uvarint(number: int) -> bytes:
    """Return an unsigned varint."""
    out = b""
    while number >= 128:
        out += bytes([number % 128 + 128])
        number //= 128
    return out + bytes([number])


def encoded(
    message: Message, version: int, data: Mapping[str, Any], *, with_defaults: bool = False
) -> bytes:
    """Return the bytes of a message; *with_defaults* writes tagged fields with defaults too."""
    flexible = is_flexible(message, version)
    return _encoded_struct(message.fields, version, data, flexible, with_defaults)


def _encoded_struct(
    fields: tuple[Field, ...],
    version: int,
    data: Mapping[str, Any],
    flexible: bool,
    with_defaults: bool,
) -> bytes:
    out = b""
    tags: dict[int, bytes] = dict(data.get(UNKNOWN_TAGS, {}))
    for field in fields_of(fields, version):
        value = data[field.name]
        raw = _encoded_value(field, version, value, flexible, with_defaults)
        if field.tag is None:
            out += raw
        elif with_defaults or value != default(field, version):
            tags[field.tag] = raw
    if flexible:
        out += uvarint(len(tags))
        for tag in sorted(tags):
            out += uvarint(tag) + uvarint(len(tags[tag])) + tags[tag]
    return out


def _encoded_value(
    field: Field, version: int, value: Any, flexible: bool, with_defaults: bool
) -> bytes:
    def length(number: int, code: str) -> bytes:
        return uvarint(number + 1) if flexible else struct.pack(code, number)

    def one(element: Any) -> bytes:
        if field.is_struct:
            return _encoded_struct(field.fields, version, element, flexible, with_defaults)
        return _encoded_primitive(field, element, length)

    is_optional_struct = field.is_struct and field.nullable and not field.array
    if value is None:
        if is_optional_struct:
            return b"\xff" if field.tag is None else b"\0"
        return length(-1, ">h" if field.type == "string" and not field.array else ">i")
    if field.array:
        return length(len(value), ">i") + b"".join(map(one, value))
    return b"\1" * is_optional_struct + one(value)


def _encoded_primitive(field: Field, value: Any, length: Callable[[int, str], bytes]) -> bytes:
    if field.type == "string":
        raw: bytes = value.encode()
        return length(len(raw), ">h") + raw
    if field.type == "bytes":
        return length(len(value), ">i") + bytes(value)
    return bytes(value) if field.type == "uuid" else struct.pack(_CODES[field.type], value)


# JSON


def as_json(message: Message, version: int, data: Mapping[str, Any]) -> object:
    """Return the content of Kafka's JSON of a message: objects as tuples of (name, value).

    Doubles that are numbers are ("double", their digits).
    """
    return _struct_as_json(message.fields, version, data)


def _struct_as_json(
    fields: tuple[Field, ...], version: int, data: Mapping[str, Any]
) -> tuple[tuple[str, object], ...]:
    return tuple(
        (field.name, _value_as_json(field, version, data[field.name]))
        for field in fields_of(fields, version)
        if field.tag is None or data[field.name] != default(field, version)
    )


def _value_as_json(field: Field, version: int, value: Any) -> object:
    if value is None:
        return None
    if field.array:
        return [_element_as_json(field, version, element) for element in value]
    return _element_as_json(field, version, value)


def _element_as_json(field: Field, version: int, value: Any) -> object:
    if field.is_struct:
        return _struct_as_json(field.fields, version, value)
    if field.type == "uuid":
        return urlsafe_b64encode(value).decode().rstrip("=")
    if field.type == "bytes":
        return b64encode(value).decode()
    if field.type == "float64":
        if value in (float("inf"), float("-inf")):
            return "Infinity" if value > 0 else "-Infinity"
        return ("double", repr(value))
    return value

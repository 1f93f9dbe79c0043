"""Message definitions as data, and the notation of their tables.

A table is text. Lines with # say where it is from. A message is a line `NAME KEY VERSIONS FLEXIBLE`
(`-` for no key, `none` for no flexible version), then a line for each field in wire order; the
fields of a struct are indented:

    NAME TYPE[?] [VERSIONS] [#TAG] [=DEFAULT]

`[]T` is an array, `?` makes it nullable. Without versions, the field is in all versions of the
message; without a default, it is 0, false, empty or the zero UUID. Names and types are Kafka's
(`MessageSpec`).
"""

from dataclasses import dataclass
from typing import NamedTuple

SCALARS = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}
"""Types of fixed width and their `struct` codes; the others are string, bytes and structs."""


_DEFAULTS = {"string": "", "bytes": b"", "uuid": bytes(16), "float64": 0.0}

Data = dict[str, object]
UNKNOWN_TAGS = "_unknownTags"


class Versions(NamedTuple):
    """Range of versions; *last* is None if it has no end."""

    first: int
    last: int | None

    def has(self, version: int) -> bool:
        return self.first <= version and (self.last is None or version <= self.last)


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """Field of a message or struct; `array` and `nullable` belong to the whole field.

    The default of an array is (), of a struct {}, unless it is null.
    """

    name: str
    type: str
    array: bool
    nullable: bool
    versions: Versions
    tag: int | None
    default: object
    fields: tuple["Field", ...]

    @property
    def is_struct(self) -> bool:
        """Whether the (element) type is a struct."""
        return self.type not in SCALARS and self.type not in ("string", "bytes")

    @property
    def is_fixed(self) -> bool:
        """Whether every value takes the same number of bytes."""
        return not self.array and self.type in SCALARS


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """Message; *key* is its record type or coordinator record type, or None."""

    name: str
    key: int | None
    versions: Versions
    flexible: Versions | None
    fields: tuple[Field, ...]

    def is_flexible(self, version: int) -> bool:
        """Tell whether *version* has compact lengths and tagged fields (KIP-482)."""
        return self.flexible is not None and self.flexible.has(version)


def present(fields: tuple[Field, ...], version: int) -> list[Field]:
    """Return the fields that *version* has, in the order of the definition."""
    return [field for field in fields if field.versions.has(version)]


def absent_tags(fields: tuple[Field, ...], version: int) -> list[Field]:
    """Return the tagged fields that only other versions have; Kafka refuses their tags."""
    return [field for field in fields if field.tag is not None and not field.versions.has(version)]


def parse(table: str) -> dict[str, Message]:
    """Return the messages of a table by name; see the module for the notation."""
    messages: dict[str, Message] = {}
    for block in table.strip().split("\n\n"):
        if block.startswith("#"):
            continue
        head, *body = block.split("\n")
        name, key, versions, flexible = head.split()
        fields, rest = _parse_fields(body, 2, _parse_versions(versions))
        assert not rest, f"{name}: {rest[0]!r} is indented too far"
        messages[name] = Message(
            name=name,
            key=None if key == "-" else int(key),
            versions=_parse_versions(versions),
            flexible=None if flexible == "none" else _parse_versions(flexible),
            fields=fields,
        )
    return messages


def _parse_versions(text: str) -> Versions:
    first, dash, last = text.rstrip("+").partition("-")
    if text.endswith("+"):
        return Versions(int(first), None)
    return Versions(int(first), int(last if dash else first))


def _parse_fields(
    lines: list[str], indent: int, versions: Versions
) -> tuple[tuple[Field, ...], list[str]]:
    fields: list[Field] = []
    while lines and len(lines[0]) - len(lines[0].lstrip()) == indent:
        name, kind, *options = lines[0].split()
        base = kind.removeprefix("[]").removesuffix("?")
        tag: int | None = None
        default, own_versions = "", versions
        for option in options:
            if option[0] == "#":
                tag = int(option[1:])
            elif option[0] == "=":
                default = option[1:]
            else:
                own_versions = _parse_versions(option)
        inner, lines = _parse_fields(lines[1:], indent + 2, versions)
        is_array = kind.startswith("[]")
        fields.append(
            Field(
                name=name,
                type=base,
                array=is_array,
                nullable=kind.endswith("?"),
                versions=own_versions,
                tag=tag,
                default=_parse_default(default, base, is_array),
                fields=inner,
            )
        )
    return tuple(fields), lines


def _parse_default(text: str, base: str, is_array: bool) -> object:
    if text == "null":
        return None
    if is_array:
        return ()
    if base == "bool":
        return text == "true"
    if base in _DEFAULTS:
        return _DEFAULTS[base]
    return int(text or 0) if base in SCALARS else {}

"""The fields of an answer: names, types, meanings, and how each is read from what is answered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

from kraftops.answers.types import (
    BOOLEAN,
    LIST,
    NUMBER,
    OBJECT,
    TEXT,
    TIME,
    FieldType,
    list_of,
    map_of,
    of_kind,
)
from kraftops.display.columns import Cell, Column
from kraftops.display.columns import number as number_column

Numeral = Literal["plain", "amount", "size", "decimal"]
"""How people read a number: digits as of an id or offset, with commas, or with a unit of bytes.

Only decimals are not integers."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an answer: in JSON, in its schema, in the manual, and as a column of tables.

    Times are ms since the epoch. A field that is not *is_usual* is a column only where a user asks
    for it by name. Where a terminal has no room, the last columns give way, and before them one
    that *gives_way* to so many after it; a *column* of its own says what gives way first.
    """

    name: str
    """The name in JSON, in camel case."""
    type: FieldType
    value_of: Callable[[Any], object]
    """Returns its value of a thing that is answered."""
    help: str = ""
    """Its meaning in one sentence, without a full stop."""
    is_usual: bool = True
    numeral: Numeral = "plain"
    gives_way: int = 0
    may_be_null: bool = False
    may_be_missing: bool = False
    """Whether some forms of the command leave it out."""
    fields: tuple[Field, ...] = ()
    """The fields of an object, or of each object of a list."""
    column: Column | None = None
    """The column of a table about one thing a row; None for a field that such tables leave out."""
    cell: Callable[[Any], Cell] | None = None
    """Returns the cell of a thing in that column, where people read more than the value."""


def _reader(path: str) -> Callable[[Any], object]:
    """Return what reads a path of attributes, as `leader.node_id`: null where one of them is None.

    A name in JSON is that of its attribute.
    """
    first, *rest = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", path).lower().split(".")
    read = attrgetter(first)
    if not rest:
        return read
    read_rest = _reader(".".join(rest))

    def read_path(thing: object) -> object:
        value = read(thing)
        return None if value is None else read_rest(value)

    return read_path


class _More(TypedDict, total=False):
    is_usual: bool
    gives_way: int
    may_be_missing: bool
    cell: Callable[[Any], Cell]


class More(_More, total=False):
    """What `field` takes for any kind of field; a column also by title, priority."""

    get: Callable[[Any], object] | str
    column: Column | str | tuple[str, int]


class _Parts(_More, total=False):
    numeral: Numeral
    fields: tuple[Field, ...]


class Missing:
    """The value of a field that an answer leaves out, though another one of the command has it."""


class Answer(NamedTuple):
    """The definition of a command's answer; *help* is what is true of all its fields."""

    fields: tuple[Field, ...]
    help: str = ""


def field(
    name: str,
    kind: FieldType,
    help_text: str,
    *,
    get: Callable[[Any], object] | str = "",
    column: Column | str | tuple[str, int] | None = None,
    **more: Unpack[_Parts],
) -> Field:
    """Return a field; one whose name ends in `?` may be null.

    *get* returns its value, or is a path of attributes; without it, the attribute of the same name.
    """
    json_name = name.removesuffix("?")
    if isinstance(column, str):
        column = (column, 0)
    if isinstance(column, tuple):
        column = number_column(*column) if kind.kinds == {NUMBER} else Column(*column)
    return Field(
        json_name,
        kind,
        get if callable(get) else _reader(get or json_name),
        help_text,
        column=column,
        may_be_null=name.endswith("?"),
        **more,
    )


def text(name: str, help_text: str, *, values: Iterable[str] = (), **more: Unpack[More]) -> Field:
    """Declare a text, which is one of *values* if there are any."""
    return field(name, FieldType(frozenset({TEXT}), values=frozenset(values)), help_text, **more)


def number(name: str, help_text: str, *, numeral: Numeral = "plain", **more: Unpack[More]) -> Field:
    """Declare a number, which the terminal writes as *numeral* says."""
    return field(name, of_kind(NUMBER), help_text, numeral=numeral, **more)


def size(name: str, help_text: str, **more: Unpack[More]) -> Field:
    """Declare a number of bytes."""
    return number(name, help_text, numeral="size", **more)


def boolean(name: str, help_text: str, **more: Unpack[More]) -> Field:
    return field(name, of_kind(BOOLEAN), help_text, **more)


def time(name: str, help_text: str, **more: Unpack[More]) -> Field:
    """Declare a time, in milliseconds since the epoch."""
    return field(name, of_kind(TIME), help_text, **more)


_TEXTS = list_of(of_kind(TEXT))


def numbers(name: str, help_text: str, **more: Unpack[More]) -> Field:
    return field(name, list_of(of_kind(NUMBER)), help_text, **more)


def texts(name: str, help_text: str, **more: Unpack[More]) -> Field:
    """Declare a list of texts: of partitions and other things, those that `str` makes of them."""
    return field(name, _TEXTS, help_text, **more)


def part(name: str, help_text: str, fields: Sequence[Field], **more: Unpack[More]) -> Field:
    """Return a field of an object; its own fields are read from the value of this one."""
    return field(name, of_kind(OBJECT), help_text, fields=tuple(fields), **more)


def parts(name: str, help_text: str, fields: Sequence[Field], **more: Unpack[More]) -> Field:
    """Return a field of a list of objects; their fields are read from the items of its value."""
    return field(name, of_kind(LIST), help_text, fields=tuple(fields), **more)


def text_lists(name: str, help_text: str, **more: Unpack[More]) -> Field:
    return field(name, map_of(list_of(of_kind(TEXT))), help_text, **more)


def text_map(name: str, help_text: str, **more: Unpack[More]) -> Field:
    return field(name, map_of(of_kind(TEXT)), help_text, **more)


def levels(name: str, help_text: str, **more: Unpack[More]) -> Field:
    """Declare an object whose values are numbers, such as feature levels by name."""
    return field(name, map_of(of_kind(NUMBER)), help_text, **more)


def in_some_forms(*fields: Field) -> tuple[Field, ...]:
    return tuple(replace(field, may_be_missing=True) for field in fields)


def within(path: str, fields: Iterable[Field]) -> tuple[Field, ...]:
    """Declare fields of an attribute: *path* leads there from the thing that is answered."""
    read = _reader(path)

    def moved(field: Field) -> Field:
        return replace(field, value_of=lambda thing: field.value_of(read(thing)))

    return tuple(map(moved, fields))


_SCALARS = frozenset({type(None), bool, int, str})


def json_of(fields: Iterable[Field], thing: object) -> dict[str, object]:
    """Return the JSON fields of a thing that is answered; a mapping has them already."""
    if isinstance(thing, dict):
        return dict(thing)
    return {
        field.name: value if type(value) in _SCALARS else _json(field, value)
        for field in fields
        if (value := field.value_of(thing)) is not Missing
    }


def _json(field: Field, value: object) -> object:
    if field.type is _TEXTS:
        assert isinstance(value, Iterable)
        return [*map(str, value)]
    if not field.fields:
        if isinstance(value, tuple):
            return [*value]
        return dict(value) if isinstance(value, Mapping) else value
    if LIST in field.type.kinds:
        assert isinstance(value, Iterable)
        return [json_of(field.fields, item) for item in value]
    return json_of(field.fields, value)

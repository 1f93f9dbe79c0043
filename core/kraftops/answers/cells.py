"""Tables for people from the definition of fields: columns, and the cells of things and values."""

from collections.abc import Iterable

from kraftops.answers.fields import Field
from kraftops.answers.types import NUMBER, TEXT, TIME
from kraftops.display.columns import Bytes, Cell, Column
from kraftops.display.times import iso_time

_LONGEST_WORD = len("controlled-shutdown")
"""Types of records are longer: whole, they would take the room of the times beside them."""


def columns_of(fields: Iterable[Field]) -> list[Column]:
    return [field.column for field in fields if field.column]


def cells_of(fields: Iterable[Field], thing: object) -> list[Cell]:
    """Return the row of a thing below `columns_of`; of its JSON, a cell is made too."""
    return [
        field.cell(thing) if field.cell else cell_of(field, _value(field, thing))
        for field in fields
        if field.column
    ]


def _value(field: Field, thing: object) -> object:
    if isinstance(thing, dict) and field.name in thing:
        return thing[field.name]
    return field.value_of(thing)


def cell_of(field: Field, value: object) -> Cell:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return _cell_of_number(field, value)
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    import json

    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _cell_of_number(field: Field, value: int) -> Cell:
    if TIME in field.type.kinds:
        return iso_time(value) or str(value)
    if field.numeral == "size":
        return Bytes(value)
    return value if field.numeral == "amount" else str(value)


def column_at(field: Field, index: int) -> Column:
    """Return a field's column in a table of any fields; the last ones give way first."""
    kinds = field.type.kinds
    return Column(
        field.name,
        priority=index + field.gives_way,
        justify="right" if kinds == {NUMBER} else "left",
        is_folded=field.type.items is not None or (TEXT in kinds and not _is_word(field)),
    )


def _is_word(field: Field) -> bool:
    """Return whether its values are short words, which are read whole or not at all."""
    return 0 < max(map(len, field.type.values), default=0) <= _LONGEST_WORD

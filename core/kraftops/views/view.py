"""The contract of a view: a table of the state, with columns that are read when they are needed."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from kraftops.answers.fields import Field, boolean, number, time
from kraftops.answers.types import FieldType
from kraftops.engine.metadata_state import EntryKey
from kraftops.image.state.changes import Change
from kraftops.image.state.image import MetadataImage
from kraftops.image.state.newest import newest_record

ROWS_AT_ONCE = 1024
"""Rows whose columns are read one after another: enough for the calls to cost little, and the texts
of so many rows stay in the processor's cache."""
Get = Callable[[int], object]
"""A function from the index of a row to a value."""
JsonOf = Callable[[Iterable[int]], Iterable[object]]


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows of a view, by index; columns by name.

    *sizes* has functions to the sizes of lists, where these are cheaper than the lists.
    *in_order* returns indexes in the usual order of the rows. *json* has functions from many
    indexes to values in JSON, where these are cheaper than the values: texts, or whole numbers.
    """

    count: int
    columns: Mapping[str, Get]
    sizes: Mapping[str, Callable[[int], int]]
    in_order: Callable[[Iterable[int]], Iterable[int]] = iter
    json: Mapping[str, JsonOf] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class View:
    """A table of the state; *frame* makes its rows, with secrets if its second argument is true."""

    name: str
    columns: tuple[Field, ...]
    frame: Callable[[MetadataImage, bool], Frame]

    @property
    def types(self) -> dict[str, FieldType]:
        """The types of the columns, for conditions."""
        return {column.name: column.type for column in self.columns}


def frame_of_rows(columns: Sequence[Field], rows: Sequence[Sequence[object]]) -> Frame:
    """Return a frame of rows with a value for each column, in their usual order."""

    def of_column(position: int) -> Get:
        return lambda index: rows[index][position]

    return Frame(
        len(rows), {column.name: of_column(position) for position, column in enumerate(columns)}, {}
    )


def last_columns(*, is_usual: bool = True) -> tuple[Field, ...]:
    return (
        number("lastOffset", "offset of the last change", is_usual=is_usual),
        time("lastTime", "time of the last change", is_usual=is_usual),
        boolean("inSnapshot", "the last change was at lastOffset, or before it", is_usual=False),
    )


def last_values(change: Callable[[int], Change | None]) -> dict[str, Get]:
    """Return the values of `last_columns` by the function to the last change of a row."""
    change_at = lru_cache(ROWS_AT_ONCE)(change)  # asked for by each of the columns

    return {
        "lastOffset": lambda index: (last := change_at(index)) and last.offset,
        "lastTime": lambda index: (last := change_at(index)) and last.timestamp,
        "inSnapshot": lambda index: (last := change_at(index)) and last.is_upper_bound,
    }


def last_change_of(image: MetadataImage, table: str, *key: object) -> Change | None:
    entry = EntryKey(table, key)
    last = image.last_change(lambda other: newest_record(other, entry))
    return None if last is None else last.change


def with_last_change(
    columns: Sequence[Field],
    rows: Sequence[Sequence[object]],
    change: Callable[[int], Change | None],
) -> Frame:
    """Make a frame of rows, and add the columns of their last changes."""
    frame = frame_of_rows(columns, rows)
    return Frame(frame.count, {**frame.columns, **last_values(change)}, frame.sizes)


def values_of(frame: Frame, columns: Iterable[Field], index: int) -> Iterator[object]:
    for column in columns:
        yield frame.columns[column.name](index)

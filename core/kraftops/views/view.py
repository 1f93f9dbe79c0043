"""The contract of a view: a table of the state, with columns that are read when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kraftops.answers.fields import Field, boolean, number, time
from kraftops.answers.types import FieldType
from kraftops.engine.metadata_state import EntryKey
from kraftops.image.state.image import LastChange, MetadataImage
from kraftops.image.state.newest import newest_record

Get = Callable[[int], object]
"""A function from the index of a row to a value."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows of a view, by index; columns by name.

    *sizes* has functions to the sizes of lists, where these are cheaper than the lists.
    *in_order* returns indexes in the usual order of the rows.
    """

    count: int
    columns: Mapping[str, Get]
    sizes: Mapping[str, Callable[[int], int]]
    in_order: Callable[[Iterable[int]], Iterable[int]] = iter


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

    def of_column(at: int) -> Get:
        return lambda index: rows[index][at]

    return Frame(len(rows), {one.name: of_column(at) for at, one in enumerate(columns)}, {})


def last_columns(*, is_usual: bool = True) -> tuple[Field, ...]:
    """Return the columns of the last change."""
    return (
        number("lastOffset", "offset of the last change", is_usual=is_usual),
        time("lastTime", "time of the last change", is_usual=is_usual),
        boolean("inSnapshot", "the last change was at lastOffset, or before it", is_usual=False),
    )


def last_values(change: Callable[[int], LastChange | None]) -> dict[str, Get]:
    """Return the values of `last_columns` by the function to the last change of a row."""
    known = lru_cache(maxsize=4)(change)  # the columns of a row are asked for together

    def get(read: Callable[[LastChange], object]) -> Get:
        def value(index: int) -> object:
            found = known(index)
            return None if found is None else read(found)

        return value

    return {
        "lastOffset": get(lambda last: last.change.offset),
        "lastTime": get(lambda last: last.change.timestamp),
        "inSnapshot": get(lambda last: last.change.is_upper_bound),
    }


def last_change_of(image: MetadataImage, table: str, *key: object) -> LastChange | None:
    """Return the last change of an entry of the state."""
    entry = EntryKey(table, key)
    return image.last_change(lambda other: newest_record(other, entry))


def with_last_change(
    columns: Sequence[Field],
    rows: Sequence[Sequence[object]],
    change: Callable[[int], LastChange | None],
) -> Frame:
    """Return a frame of rows with the columns of the last change behind the others."""
    frame = frame_of_rows(columns, rows)
    return Frame(frame.count, {**frame.columns, **last_values(change)}, frame.sizes)


def values_of(frame: Frame, columns: Iterable[Field], index: int) -> Iterator[object]:
    """Yield the values of a row in some columns."""
    for column in columns:
        yield frame.columns[column.name](index)

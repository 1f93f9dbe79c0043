"""Filters of records: by the batch header, by the frame, or by the whole row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from kraftops.errors import UsageError
from kraftops.log.batch import Header
from kraftops.query.row import Row, parsed_json
from kraftops.query.times import parse_time
from kraftops.records.internal_topics import USER
from kraftops.records.long_text import LongText

if TYPE_CHECKING:
    from kraftops.query.conditions.rows import RowCondition

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_NO_END = _MOST + 1


@dataclass(frozen=True, slots=True)
class Filter:
    """The conditions for records: all must match, and of *types*, *topics* and *keys* one each.

    Offsets are inclusive; times are ms since the epoch, *until* excluded. A `datetime` is accepted
    for a time (UTC, if it names no zone), and any collection for a set. *topics* are names and ids,
    *topic_ids* all ids of these names. *where* is a condition in the language of
    `kraftops.query.conditions`, or empty; `kraftops.query.where` checks it.
    """

    types: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    topic_ids: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    first_offset: int = _LEAST
    last_offset: int = _MOST
    since: int = _LEAST
    until: int = _NO_END
    where: str = ""

    def __post_init__(self) -> None:
        """Make limits integers, and collections sets.

        Raises:
            UsageError: a value is of another type.
        """
        for name in ("first_offset", "last_offset", "since", "until"):
            object.__setattr__(self, name, _limit(name, getattr(self, name)))
        for name in ("types", "topics", "topic_ids", "keys"):
            object.__setattr__(self, name, _texts(name, getattr(self, name)))

    @property
    def needs_rows(self) -> bool:
        """Whether the filter needs the row, and not only offset, time and type."""
        return bool(self.topics or self.keys or self.where)

    def may_match(self, header: Header) -> bool:
        """Decide by the header alone; False is certain, True is not."""
        return (
            header.base_offset <= self.last_offset
            and header.last_offset >= self.first_offset
            and header.max_timestamp >= self.since
            and not (self.where and _condition(self.where).is_ruled_out(header))
        )

    def fits_offset_and_time(self, offset: int | None, timestamp: int | None) -> bool:
        """Tell whether a record's offset and time match; None matches if there is no condition."""
        if offset is None:
            if self.first_offset != _LEAST or self.last_offset != _MOST:
                return False
        elif not self.first_offset <= offset <= self.last_offset:
            return False
        if timestamp is None:
            return self.since == _LEAST and self.until == _NO_END
        return self.since <= timestamp < self.until

    def fits_type(self, name: str | None) -> bool:
        return not self.types or (name is not None and normal_type(name) in self.types)

    def fits_row(self, row: Row) -> bool:
        """Tell whether keys and topics of a row match, and the condition."""
        if self.keys and not _has_key(row, self.keys):
            return False
        if self.topics and not _is_about(row, self.topics, self.topic_ids):
            return False
        return not self.where or _condition(self.where).holds(row)

    def matches(self, row: Row) -> bool:
        return (
            self.fits_type(row.type)
            and self.fits_offset_and_time(row.offset, row.timestamp)
            and self.fits_row(row)
        )

    @property
    def is_empty(self) -> bool:
        """Whether every record matches."""
        return self == _EVERYTHING


def _limit(name: str, value: object) -> int:
    """Return a limit as an integer: an offset, or a time in ms."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    is_time = name in ("since", "until")
    # Few commands load the module of datetimes: hence not isinstance.
    if is_time and hasattr(value, "toordinal") and hasattr(value, "isoformat"):
        return parse_time(value.isoformat(), 0)
    kinds = "a datetime, or ms since the epoch" if is_time else "an integer"
    raise UsageError(f"{name} of a filter is {value!r}", hint=f"it must be {kinds}")


def _texts(name: str, values: object) -> frozenset[str]:
    if isinstance(values, frozenset):
        return values
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise UsageError(f"{name} of a filter is {values!r}", hint="it must be a set of texts")
    return frozenset(values)


def _condition(text: str) -> RowCondition:
    from kraftops.query.conditions.rows import row_condition  # few dumps have a condition

    return row_condition(text)


@cache
def normal_type(name: str) -> str:
    """Return the normal form of a record type, for comparison: partitionchange."""
    return name.replace("_", "").replace("-", "").lower().removesuffix("record")


def parse_types(texts: Iterable[str], type_names: Iterable[str] = ()) -> frozenset[str]:
    """Return the normal forms of record types, separated by commas.

    Raises:
        UsageError: *type_names* is not empty and lacks one; the hint names similar ones.
    """
    names = {normal_type(name): name for name in type_names}
    parts = [part.strip() for text in texts for part in text.split(",")]
    for name in parts:
        if names and normal_type(name) not in names:
            from difflib import get_close_matches

            near = get_close_matches(normal_type(name), names, 3)
            near_names = ", ".join(names[name] for name in near)
            raise UsageError(
                f"no record type {name!r}",
                hint=f"near it are: {near_names}" if near else "--summary shows the types of a log",
            )
    return frozenset(map(normal_type, parts))


def parse_offsets(text: str) -> tuple[int, int]:
    """Return the first and last offset of `A..B`, `A..`, `..B` or `A`.

    Raises:
        UsageError: it is none of these.
    """
    match = re.fullmatch(r"(\d{1,19})?(\.\.)?(\d{1,19})?", text)
    if not match or not (match[1] or match[3]) or (match[3] and not match[2]):
        raise UsageError(
            f"{text!r} is not a range of offsets", hint="as 100..200, 100.., ..200, 100"
        )
    first = int(match[1]) if match[1] else _LEAST
    last = int(match[3]) if match[3] else (_MOST if match[2] else first)
    if first > last:
        raise UsageError(f"the offsets {text} are not a range: {first} is beyond {last}")
    return first, last


def _has_key(row: Row, keys: frozenset[str]) -> bool:
    """Tell whether the key is one of *keys*, or has a field, such as a group, that is one."""
    if row.key is None:
        return False
    key = row.key
    if isinstance(key, LongText):
        key = key.beginning(max(map(len, keys)) + 1)
    if key in keys:
        return True
    fields = parsed_json(row.key) if row.kind != USER else None
    return isinstance(fields, dict) and any(
        value in keys for value in fields.values() if isinstance(value, str)
    )


def _is_about(row: Row, topics: frozenset[str], topic_ids: frozenset[str]) -> bool:
    if row.topic_id is not None:
        if row.topic_id in topics or row.topic_id in topic_ids:
            return True
        if row.type != "TOPIC_RECORD":  # the only one with an id and a name
            return False
    if row.kind == USER:
        return False
    value = parsed_json(row.value)
    names = [*_topics_in(parsed_json(row.key)), *_topics_in(value)]
    match row.type, value:
        case "TOPIC_RECORD", {"name": str(name)}:
            names.append(name)
        case _, {"resourceType": 2, "resourceName": str(name)}:  # configurations and ACLs
            names.append(name)
        case _:
            pass
    return not topics.isdisjoint(names) or not topic_ids.isdisjoint(names)


def _topics_in(data: Any) -> Iterator[str]:
    """Yield the names and ids of topics in the parsed key or value of a record."""
    if isinstance(data, list):
        for item in data:
            yield from _topics_in(item)
    if not isinstance(data, dict):
        return
    for name, value in data.items():
        if name in ("topic", "topicName", "topicId") and isinstance(value, str):
            yield value
        elif name == "topicIdPartition":
            yield from (value["name"], value["id"])
        elif name.lower().endswith(("topics", "topicnames")) and isinstance(value, list):
            yield from (item for item in value if isinstance(item, str))
            yield from (item["name"] for item in value if isinstance(item, dict) and "name" in item)
        yield from _topics_in(value)


_EVERYTHING = Filter()

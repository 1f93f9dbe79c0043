"""Filters of records: by the batch header, by the frame, or by the whole row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from kraftops.errors import UsageError
from kraftops.log.batch import Header
from kraftops.query.row import COLUMNS, Row
from kraftops.records.internal_topics import USER
from kraftops.records.meaning import base64_of

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_NO_END = _MOST + 1
_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}


@dataclass(frozen=True, slots=True)
class Filter:
    """The conditions for records: all must match, and of *types*, *topics* and *keys* one each.

    Offsets are inclusive; times are ms since the epoch, *until* excluded. *topics* are names and
    ids, *topic_ids* all ids of these names. *where* are paths into the row and their texts.
    """

    types: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    topic_ids: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    first_offset: int = _LEAST
    last_offset: int = _MOST
    since: int = _LEAST
    until: int = _NO_END
    where: tuple[tuple[str, str], ...] = ()

    @property
    def needs_rows(self) -> bool:
        """Whether the filter needs the row, and not only offset, time and type."""
        return bool(self.topics or self.keys or self.where)

    def may_match(self, header: Header) -> bool:
        """Tell whether a batch may hold a match, by its header."""
        return (
            header.base_offset <= self.last_offset
            and header.last_offset >= self.first_offset
            and header.max_timestamp >= self.since
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
        """Tell whether a record type matches."""
        return not self.types or (name is not None and normal_type(name) in self.types)

    def fits_row(self, row: Row) -> bool:
        """Tell whether keys, topics and paths of a row match."""
        if self.keys and not _has_key(row, self.keys):
            return False
        if self.topics and not _is_about(row, self.topics, self.topic_ids):
            return False
        return all(
            _may_hold(row, path, text) and _text_in(row, path) == text for path, text in self.where
        )

    def matches(self, row: Row) -> bool:
        """Tell whether a row matches all conditions."""
        return (
            self.fits_type(row.type)
            and self.fits_offset_and_time(row.offset, row.timestamp)
            and self.fits_row(row)
        )

    @property
    def is_empty(self) -> bool:
        """Whether every record matches."""
        return self == Filter()


@cache
def normal_type(name: str) -> str:
    """Return the normal form of a record type, for comparison: partitionchange."""
    return name.replace("_", "").replace("-", "").lower().removesuffix("record")


def parse_types(texts: Iterable[str], known: Iterable[str] = ()) -> frozenset[str]:
    """Return the normal forms of record types, separated by commas.

    Raises:
        UsageError: *known* is not empty and lacks one; the hint names similar ones.
    """
    names = {normal_type(name): name for name in known}
    wanted = [part.strip() for text in texts for part in text.split(",")]
    for name in wanted:
        if names and normal_type(name) not in names:
            from difflib import get_close_matches

            near = get_close_matches(normal_type(name), names, 3)
            shown = ", ".join(names[name] for name in near)
            raise UsageError(
                f"no record type {name!r}",
                hint=f"near it are: {shown}" if near else "--summary shows the types of a log",
            )
    return frozenset(map(normal_type, wanted))


def parse_offsets(text: str) -> tuple[int, int]:
    """Return the first and last offset of `A..B`, `A..`, `..B` or `A`.

    Raises:
        UsageError: it is none of these.
    """
    found = re.fullmatch(r"(\d{1,19})?(\.\.)?(\d{1,19})?", text)
    if not found or not (found[1] or found[3]) or (found[3] and not found[2]):
        raise UsageError(f"{text!r} is no range of offsets", hint="as 100..200, 100.., ..200, 100")
    first = int(found[1]) if found[1] else _LEAST
    last = int(found[3]) if found[3] else (_MOST if found[2] else first)
    if first > last:
        raise UsageError(f"the offsets {text} are no range: {first} is beyond {last}")
    return first, last


def parse_time(text: str, now: int) -> int:
    """Return a time in ms since the epoch.

    *text* is ISO 8601 (UTC if it names no zone), ms since the epoch, or a duration before *now*:
    2h, 30m, 1d12h.

    Raises:
        UsageError: it is none of these.
    """
    if re.fullmatch(r"(\d+(ms|[smhdw]))+", text):
        parts = re.findall(r"(\d+)(ms|[smhdw])", text)
        return now - sum(int(number) * _UNITS[unit] for number, unit in parts)
    if re.fullmatch(r"\d{11,18}", text):
        return int(text)
    from datetime import UTC, datetime, timedelta

    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{text!r} is no time", hint="as 2026-11-21T10:00:00Z, 2026-11-21 10:00, 2h or 90m"
        ) from None


def parse_where(text: str) -> tuple[str, str]:
    """Return path and text of `PATH=VALUE`.

    Raises:
        UsageError: it has another form, or its path does not begin with a column.
    """
    path, equals, value = text.partition("=")
    if not equals or not path:
        raise UsageError(f"{text!r} is no PATH=VALUE", hint="as value.topicId=…, producerId=7")
    column = path.partition(".")[0]
    if column not in COLUMNS:
        from difflib import get_close_matches

        near = get_close_matches(column, COLUMNS, 1)
        raise UsageError(
            f"a row has no {column!r}",
            hint=f"perhaps {near[0]}" if near else f"it has {', '.join(COLUMNS)}",
        )
    return path, value


def _text_in(row: Row, path: str) -> str | None:
    """Return the text of the field at a dotted path of a row; None if there is none."""
    column, _, rest = path.partition(".")
    found: Any = row[COLUMNS.index(column)]
    if column == "headers":
        found = [{"key": key, "value": value} for key, value in row.headers]
    elif rest and isinstance(found, str) and row.kind != USER:
        found = _parsed(found)
    return text_at(found, rest) if rest else _text_of(found)


def text_at(found: Any, path: str) -> str | None:
    """Return the text of the field at a dotted path of parsed JSON; None if there is none."""
    for part in path.split("."):
        if isinstance(found, dict):
            if part not in found:
                return None
            found = found[part]
        elif isinstance(found, list) and re.fullmatch("[0-9]+", part) and int(part) < len(found):
            found = found[int(part)]
        else:
            return None
    return _text_of(found)


def _may_hold(row: Row, path: str, text: str) -> bool:
    """Tell whether the JSON at *path* may hold *text*, without parsing it."""
    column, _, rest = path.partition(".")
    if column not in ("key", "value") or not rest or row.kind == USER:
        return True
    if not has_one_json_form(text):
        return True
    return text in ((row.key if column == "key" else row.value) or "")


@cache
def has_one_json_form(text: str) -> bool:
    """Tell whether a JSON value with this text is always written in the same characters.

    Text with escapes, objects, arrays and doubles have several forms.
    """
    if not text.isprintable() or text.startswith(("{", "[")) or '"' in text or "\\" in text:
        return False
    try:
        float(text)
    except ValueError:
        return True
    return re.fullmatch(r"-?\d+", text) is not None


def _text_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    import json

    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=base64_of)


def _parsed(text: str | None) -> Any:
    if text is None:
        return None
    import json

    try:
        return json.loads(text)
    except ValueError:
        return None


def _has_key(row: Row, keys: frozenset[str]) -> bool:
    """Tell whether the key is one of *keys*, or has a field, such as a group, that is one."""
    if row.key is None:
        return False
    if row.key in keys:
        return True
    found = _parsed(row.key) if row.kind != USER else None
    return isinstance(found, dict) and any(
        value in keys for value in found.values() if isinstance(value, str)
    )


def _is_about(row: Row, topics: frozenset[str], topic_ids: frozenset[str]) -> bool:
    """Tell whether a record is about one of the topics."""
    if row.topic_id is not None:
        if row.topic_id in topics or row.topic_id in topic_ids:
            return True
        if row.type != "TOPIC_RECORD":  # the only one with an id and a name
            return False
    if row.kind == USER:
        return False
    value = _parsed(row.value)
    names = [*_topics_in(_parsed(row.key)), *_topics_in(value)]
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

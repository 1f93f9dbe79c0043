"""Translate Spark's filters into filters of a scan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from kraftops.dump.scan.arrow import LEAST_MS, MOST_MS
from kraftops.query.conditions import syntax
from kraftops.query.conditions.parser import parse_condition
from kraftops.query.filters import Filter, normal_type
from kraftops.query.where import value_range

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter as SparkFilter

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SIGNS = {
    "EqualTo": "=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}
_SIGNS_AMID_MS = {">=": ">", "<": "<="}
"""What compares whole ms with a time between two of them."""
_COLUMNS: dict[str, type] = {
    "file": str,
    "topic": str,
    "partition": int,
    "topicId": str,
    "partitionId": int,
    "brokerId": int,
}
"""Columns that a condition decides by the path of a file, or on the bytes of a record."""


def pushed(narrowed: Filter, condition: SparkFilter) -> tuple[Filter, bool]:
    """Return *narrowed* narrowed by *condition*, and whether the result is exact.

    If it is not, it lets more rows pass, and Spark must filter them again. Offsets, timestamps,
    types, files, topics, partitions and ids are taken over; types are not exact, since the scan
    compares them without case, and neither are conditions.
    """
    name, column = type(condition).__name__, ".".join(getattr(condition, "attribute", ()))
    value: Any = getattr(condition, "value", None)
    if column == "type" and name in ("EqualTo", "In"):
        names = {value} if name == "EqualTo" else set(value)
        types = frozenset(normal_type(text) for text in names if isinstance(text, str))
        if not types:
            return narrowed, False
        both = types & narrowed.types if narrowed.types else types
        return (replace(narrowed, types=both), False) if both else (narrowed, False)
    if column in _COLUMNS:
        return _with_condition(narrowed, column, name, value), False
    sign = _SIGNS.get(name)
    if column == "timestamp" and sign and isinstance(value, datetime):
        return _with_time(narrowed, sign, value), True
    if column != "offset" or not sign or not isinstance(value, int):
        return narrowed, False
    first, last = value_range(sign, value)
    low, high = max(narrowed.first_offset, first), min(narrowed.last_offset, last)
    return replace(narrowed, first_offset=low, last_offset=high), True


def _with_condition(narrowed: Filter, column: str, name: str, value: Any) -> Filter:
    path, kind = syntax.Path((column,)), _COLUMNS[column]
    values = value if name == "In" else (value,)
    if not all(type(operand) is kind for operand in values):
        return narrowed
    added: syntax.Condition
    if name == "In" and values:
        added = syntax.OneOf(path, tuple(map(syntax.Literal, values)))
    elif name == "EqualTo" or (name in _SIGNS and kind is int):
        added = syntax.Compare(path, _SIGNS[name], syntax.Literal(value))
    else:
        return narrowed
    if narrowed.where:
        added = syntax.And((*syntax.conjuncts(parse_condition(narrowed.where)), added))
    return replace(narrowed, where=syntax.text_of(added))


def pushed_text(taken: Iterable[SparkFilter], evaluated: Iterable[SparkFilter]) -> str:
    """Return a line about the filters that the scan has taken, and those that Spark evaluates."""

    def listed(some: Iterable[SparkFilter]) -> str:
        return ", ".join(map(repr, some)) or "none"  # Spark's names; texts are escaped

    return f"filters in the scan: {listed(taken)}; in Spark: {listed(evaluated)}"


def _with_time(narrowed: Filter, sign: str, value: datetime) -> Filter:
    """Return *narrowed* narrowed by a condition on the time; Spark's times have microseconds.

    Times beyond Spark's range are null there, which no condition matches.
    """
    moment = value if value.tzinfo else value.replace(tzinfo=UTC)
    ms, rest = divmod((moment - _EPOCH) // timedelta(microseconds=1), 1000)
    first, last = value_range(_SIGNS_AMID_MS.get(sign, sign) if rest else sign, ms)
    if rest and sign == "=":
        first = ms + 1  # no record has this time
    since = max(narrowed.since, first, LEAST_MS)
    return replace(narrowed, since=since, until=min(narrowed.until, min(last, MOST_MS) + 1))

"""Translate Spark's filters into filters of a scan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kraftops.query.filters import Filter, normal_type

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter as SparkFilter

_RANGES = {
    "EqualTo": (0, 0),
    "GreaterThan": (1, None),
    "GreaterThanOrEqual": (0, None),
    "LessThan": (None, -1),
    "LessThanOrEqual": (None, 0),
}
"""Differences of the first and the last matching value from the given one."""


def pushed(known: Filter, one: SparkFilter) -> tuple[Filter, bool]:
    """Return *known* narrowed by *one*, and whether the result is exact.

    If it is not, it lets more rows pass, and Spark must filter them again. Offsets, timestamps and
    types are taken over; types are not exact, since the scan compares them without case.
    """
    name, column = type(one).__name__, ".".join(getattr(one, "attribute", ()))
    value: Any = getattr(one, "value", None)
    if column == "type" and name in ("EqualTo", "In"):
        wanted = {value} if name == "EqualTo" else set(value)
        types = frozenset(normal_type(text) for text in wanted if isinstance(text, str))
        if not types:
            return known, False
        both = types & known.types if known.types else types
        return (replace(known, types=both), False) if both else (known, False)
    if name == "IsNotNull":
        return known, False
    if column not in ("offset", "timestamp") or name not in _RANGES or not isinstance(value, int):
        return known, False
    first, last = _RANGES[name]
    if column == "offset":
        low = known.first_offset if first is None else max(known.first_offset, value + first)
        high = known.last_offset if last is None else min(known.last_offset, value + last)
        return replace(known, first_offset=low, last_offset=high), True
    low = known.since if first is None else max(known.since, value + first)
    high = known.until if last is None else min(known.until, value + last + 1)
    return replace(known, since=low, until=high), True

"""Conditions in a filter: checked, and turned into its other parts where these suffice."""

from collections.abc import Iterable
from dataclasses import replace

from kraftops.errors import UsageError
from kraftops.query.conditions import syntax
from kraftops.query.conditions.parser import parse_condition
from kraftops.query.conditions.row_types import row_types
from kraftops.query.conditions.types import checked
from kraftops.query.filters import Filter, normal_type
from kraftops.records.decoder import Decoder

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1

_RANGES = {"=": (0, 0), ">": (1, None), ">=": (0, None), "<": (None, -1), "<=": (None, 0)}
"""The distances of the first and the last value that a comparison selects from its number."""
_GROUP_FIELDS = frozenset({"group", "groupId"})
"""The fields of keys that name a group, in the tables of the coordinators."""
_SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def with_conditions(
    limits: Filter, texts: Iterable[str], decoders: Iterable[Decoder], now: int
) -> Filter:
    """Add conditions to a filter, all of which must hold as well.

    Conditions on offset, time and type become limits of the filter, which rule out batches and
    records before anything is decoded.

    Args:
        limits: the filter.
        texts: the conditions.
        decoders: the decoders of all sources; they know the fields of keys and values.
        now: in ms since the epoch, for durations.

    Raises:
        UsageError: one is not a condition, has an unknown name, or compares values of other kinds.
    """
    columns = row_types(frozenset(decoders))
    conditions = [checked(parse_condition(text), text, columns, now) for text in texts]
    rest = []
    for condition in syntax.conjuncts(syntax.all_of(conditions)):
        narrowed = _narrowed(limits, condition, columns["type"].values)
        if narrowed is None:
            rest.append(condition)
        else:
            limits = narrowed
    remainder = syntax.all_of(rest)
    return replace(limits, where=syntax.text_of(remainder) if remainder else "")


def group_fields(decoder: Decoder) -> frozenset[str]:
    """Return the fields that name a group in the keys of a decoder's records."""
    keys = decoder.shown_messages().keys
    return _GROUP_FIELDS.intersection(field.name for key in keys for field in key.fields)


def about_groups(groups: Iterable[str], decoders: Iterable[Decoder]) -> str:
    """Return the condition that the key of a record names one of some groups.

    Args:
        groups: the names of the groups, at least one.
        decoders: the decoders of all sources.

    Raises:
        UsageError: none of the decoders knows keys with groups.
    """
    fields = frozenset().union(*map(group_fields, decoders))
    if not fields:
        raise UsageError(
            "none of these logs has records about groups",
            hint="those of __consumer_offsets and __share_group_state have: their directories, or"
            " decoders, choose them",
        )
    names = tuple(map(syntax.Literal, groups))
    return syntax.text_of(
        syntax.Or(
            tuple(syntax.OneOf(syntax.Path(("key", field)), names) for field in sorted(fields))
        )
    )


def _narrowed(limits: Filter, condition: syntax.Condition, types: frozenset[str]) -> Filter | None:
    """Return a filter with a condition as a limit; None if it has no such limit.

    *types* are the names of all record types.
    """
    match condition:
        case syntax.Compare(syntax.Literal(value), sign, syntax.Path() as path):
            turned = syntax.Compare(path, _SWAPPED.get(sign, sign), syntax.Literal(value))
            return _narrowed(limits, turned, types)
        case syntax.Compare(syntax.Path(("offset",)), sign, syntax.Literal(int(value))) if (
            sign in _RANGES
        ):
            first, last = value_range(sign, value)
            if first <= _MOST and last >= _LEAST:
                first, last = max(limits.first_offset, first), min(limits.last_offset, last)
                return replace(limits, first_offset=first, last_offset=last)
        case syntax.Compare(syntax.Path(("timestamp",)), sign, syntax.Literal(int(value))) if (
            sign in _RANGES
        ):
            first, last = value_range(sign, value)
            if first <= _MOST and last >= _LEAST:
                first, last = max(limits.since, first), min(limits.until, last + 1)
                return replace(limits, since=first, until=last)
        case syntax.Compare(syntax.Path(("type",)), "=", syntax.Literal(str(name))):
            return _of_types(limits, {name}, types)
        case syntax.OneOf(syntax.Path(("type",)), values):
            return _of_types(limits, {str(literal.value) for literal in values}, types)
    return None


def value_range(sign: str, value: int) -> tuple[int, int]:
    """Return the first and the last int64 that a comparison selects."""
    first, last = _RANGES[sign]
    return _LEAST if first is None else value + first, _MOST if last is None else value + last


def _of_types(limits: Filter, names: set[str], types: frozenset[str]) -> Filter | None:
    """Return a filter of some types; None if the filter, which ignores case, selects others."""
    normal = frozenset(map(normal_type, names))
    both = normal & limits.types if limits.types else normal
    is_exact = names == {name for name in types if normal_type(name) in normal}
    return replace(limits, types=both) if both and is_exact else None

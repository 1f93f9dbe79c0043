"""Selection of a view's rows by conditions, and their order.

A condition becomes two functions of a row's index: whether it is true, and whether it is false;
with null it is neither. `kraftops.query.conditions.outcomes` has the meaning of conditions.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from kraftops.display.order import natural_key
from kraftops.errors import UsageError
from kraftops.query.conditions import syntax
from kraftops.query.conditions.outcomes import (
    COMPARISONS,
    compared,
    is_one_of,
    matches_text,
    value_at,
)
from kraftops.query.conditions.parser import parse_condition
from kraftops.query.conditions.types import checked
from kraftops.views.columns import column_named
from kraftops.views.view import Frame, Get, View

Test = Callable[[int], bool]
_EXAMPLE = "as leader = 3, len(isr) < 2, topic ~ '^a'"
_KEPT = 4096  # outcomes of a pattern: names of topics and brokers come again row by row


class _Tests(NamedTuple):
    is_true: Test
    is_false: Test


def parsed_where(view: View, texts: Iterable[str], now: int) -> syntax.Condition | None:
    """Return the condition that all of some texts hold for the rows of a view; None without one.

    Args:
        view: its columns are the names of the conditions.
        texts: the conditions.
        now: in ms since the epoch, for durations.

    Raises:
        UsageError: one is not a condition, has an unknown name, or compares values of other kinds.
    """
    types = view.types
    return syntax.all_of(
        [checked(parse_condition(text, _EXAMPLE), text, types, now) for text in texts]
    )


def selected(frame: Frame, condition: syntax.Condition | None) -> Sequence[int]:
    """Return the indexes of the rows for which a condition is true (not null)."""
    matching: Sequence[int] = range(frame.count)
    for part in syntax.conjuncts(condition):
        test = _tests(frame, part).is_true
        matching = [index for index in matching if test(index)]
    return matching


def in_order(view: View, frame: Frame, indexes: Iterable[int], sort: str = "") -> Iterable[int]:
    """Return the indexes of rows in the order of some columns, or in the usual one.

    *sort* names columns, separated by commas; a minus before one is for the highest first.

    Raises:
        UsageError: there is no column of a name.
    """
    ordered = frame.in_order(indexes)
    names = [name.strip() for name in sort.split(",")] if sort else []
    keys = [
        (column_named(view.columns, sort_name.removeprefix("-")), sort_name) for sort_name in names
    ]
    for column, name in reversed(keys):
        get = frame.columns[column.name]
        ordered = sorted_by(ordered, get, is_descending=name.startswith("-"))
    return ordered


def check_sort(view: View, sort: str) -> None:
    """Refuse a `--sort` that `in_order` would; errors as there."""
    for name in sort.split(","):
        if not name.strip().removeprefix("-"):
            raise UsageError("--sort has a column without a name", "as leader,-partition")
        column_named(view.columns, name.strip().removeprefix("-"))


def sorted_by(
    indexes: Iterable[int], get: Callable[[int], object], *, is_descending: bool
) -> list[int]:
    """Return the indexes of rows in the order of a column: nulls come last, equal values stay."""
    values = [(get(index), index) for index in indexes]
    there = [(_key(value), index) for value, index in values if value is not None]
    there.sort(key=lambda pair: pair[0], reverse=is_descending)
    return [*(index for _, index in there), *(index for value, index in values if value is None)]


def _key(value: object) -> Any:
    if isinstance(value, str):
        return natural_key(value)
    return [_key(part) for part in value] if isinstance(value, list | tuple) else value


def _tests(frame: Frame, condition: syntax.Condition) -> _Tests:  # noqa: C901, PLR0911 - one a kind
    match condition:
        case syntax.And(parts):
            return _all([_tests(frame, part) for part in parts])
        case syntax.Or(parts):
            return _negated(_all([_negated(_tests(frame, part)) for part in parts]))
        case syntax.Not(part):
            return _negated(_tests(frame, part))
        case syntax.IsNull(operand):
            get = _values(frame, operand)
            return _Tests(lambda row: get(row) is None, lambda row: get(row) is not None)
        case syntax.Compare(first, sign, syntax.Literal(value)) if not isinstance(
            first, syntax.Literal
        ):
            return _against(_values(frame, first), COMPARISONS[sign], value)
        case syntax.Compare(first, sign, second):
            first_value, second_value, compare = (
                _values(frame, first),
                _values(frame, second),
                COMPARISONS[sign],
            )
            return _decided(lambda row: compared(compare, first_value(row), second_value(row)))
        case syntax.Matches(operand, pattern):
            get = _values(frame, operand)
            is_match = lru_cache(_KEPT)(partial(matches_text, pattern))  # names of topics repeat
            return _decided(lambda row: is_match(get(row)))
        case syntax.OneOf(operand, literals):
            get, items = _values(frame, operand), [literal.value for literal in literals]
            return _decided(lambda row: is_one_of(get(row), items))
        case syntax.Contains(syntax.Literal(value), path):
            list_at = _values(frame, path)
            return _decided(lambda row: _has(list_at(row), value))
        case syntax.Contains(item, path):
            get, list_at = _values(frame, item), _values(frame, path)
            return _decided(lambda row: is_one_of(get(row), list_at(row)))


def _against(get: Get, compare: Callable[[Any, Any], bool], value: object) -> _Tests:
    """Make the tests of a comparison with a literal of the column's type; nulls fail both."""

    def is_true(row: int) -> bool:
        cell = get(row)
        return cell is not None and compare(cell, value)

    def is_false(row: int) -> bool:
        cell = get(row)
        return cell is not None and not compare(cell, value)

    return _Tests(is_true, is_false)


def _has(items: Any, value: object) -> bool | None:
    """Tell whether a list has a value; lists of views have no nulls."""
    return value in items if isinstance(items, list | tuple) else None


def _decided(decide: Callable[[int], bool | None]) -> _Tests:
    return _Tests(lambda row: decide(row) is True, lambda row: decide(row) is False)


def _negated(tests: _Tests) -> _Tests:
    return _Tests(tests.is_false, tests.is_true)


def _all(parts: Sequence[_Tests]) -> _Tests:
    return _Tests(
        lambda row: all(part.is_true(row) for part in parts),
        lambda row: any(part.is_false(row) for part in parts),
    )


def _values(frame: Frame, operand: syntax.Operand) -> Get:
    match operand:
        case syntax.Path((name,)):
            return frame.columns[name]
        case syntax.Path((name, *names)):
            column = frame.columns[name]
            return lambda row: value_at(column(row), names)
        case syntax.Literal(value):
            return lambda _: value
        case syntax.Length(syntax.Path((name,))) if name in frame.sizes:
            return frame.sizes[name]
        case syntax.Length(path):
            get = _values(frame, path)
            return lambda row: _length(get(row))
    raise AssertionError(operand)


def _length(value: object) -> int | None:
    return len(value) if isinstance(value, list | tuple) else None

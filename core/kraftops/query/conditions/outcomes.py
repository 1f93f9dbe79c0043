"""The outcomes of a condition, with what is known of a row.

Before a row is read, much of it is unknown. A value is then one of several candidates, and a
condition has a set of possible outcomes: a row that cannot come out true need not be read. Null
behaves as in SQL.
"""

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product
from typing import Any

from kraftops.query.conditions import syntax
from kraftops.query.conditions.regex import found_in
from kraftops.records.long_text import LongText

TRUE, FALSE, NULL = 1, 2, 4
"""The outcomes; a set of them is their sum."""
_UNKNOWN = TRUE | FALSE | NULL
_INDEX = re.compile("[0-9]{1,18}")

Candidates = tuple[Any, ...] | None
"""The possible values; None for any."""
Find = Callable[[tuple[str, ...]], Candidates]
"""A function from the names of a path to the candidates for its value."""
Outcomes = Callable[[Find], int]
"""A function from what is known of a row to the set of possible outcomes."""

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""The comparisons by their signs."""
_NEGATED = [
    outcomes & NULL | (outcomes & TRUE) << 1 | (outcomes & FALSE) >> 1 for outcomes in range(8)
]


def outcomes_of(condition: syntax.Condition) -> Outcomes:  # noqa: PLR0911 - one a kind
    match condition:
        case syntax.And(parts):
            return partial(_all, tuple(map(outcomes_of, parts)))
        case syntax.Or(parts):
            return partial(_any, tuple(map(outcomes_of, parts)))
        case syntax.Not(part):
            inner = outcomes_of(part)
            return lambda find: _NEGATED[inner(find)]
        case syntax.IsNull(operand):
            return partial(_decided, (_values(operand),), lambda value: value is None)
        case syntax.Matches(operand, pattern):
            return partial(_decided, (_values(operand),), partial(matches_text, pattern))
        case syntax.Compare(left, sign, right):
            compare = partial(compared, COMPARISONS[sign])
            return partial(_decided, (_values(left), _values(right)), compare)
        case syntax.OneOf(operand, literals):
            values = [literal.value for literal in literals]
            return partial(_decided, (_values(operand),), lambda value: is_one_of(value, values))
        case syntax.Contains(item, path):
            return partial(_decided, (_values(item), _values(path)), is_one_of)


def matches(condition: syntax.Condition, record: Mapping[str, Any]) -> bool:
    """Tell whether a condition is true of a mapping of columns to values."""
    return outcomes_of(condition)(lambda names: (value_at(record, names),)) == TRUE


def value_at(value: Any, names: Iterable[str]) -> Any:
    """Return the value at names and indexes in mappings and lists; None if there is none."""
    for name in names:
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list | tuple) and _INDEX.fullmatch(name):
            value = value[int(name)] if int(name) < len(value) else None
        else:
            return None
    return value


def _values(operand: syntax.Operand) -> Callable[[Find], Candidates]:
    match operand:
        case syntax.Path(names):
            return lambda find: find(names)
        case syntax.Literal(value):
            return lambda _: (value,)
        case syntax.Length(path):
            return lambda find: _lengths(find(path.names))


def _lengths(candidates: Candidates) -> Candidates:
    if candidates is None:
        return None
    return tuple(
        len(candidate) if isinstance(candidate, list | tuple) else None for candidate in candidates
    )


def _decided(
    operands: tuple[Callable[[Find], Candidates], ...],
    decide: Callable[..., bool | None],
    find: Find,
) -> int:
    candidates_by_operand = [
        candidates for values in operands if (candidates := values(find)) is not None
    ]
    if len(candidates_by_operand) < len(operands):
        return _UNKNOWN
    outcomes = 0
    for values in product(*candidates_by_operand):
        decision = decide(*values)
        outcomes |= NULL if decision is None else TRUE if decision else FALSE
    return outcomes


def _all(parts: tuple[Outcomes, ...], find: Find) -> int:
    outcomes = TRUE
    for part in parts:
        outcomes = _both(outcomes, part(find))
        if outcomes == FALSE:
            break
    return outcomes


def _any(parts: tuple[Outcomes, ...], find: Find) -> int:
    outcomes = TRUE  # of: none holds
    for part in parts:
        outcomes = _both(outcomes, _NEGATED[part(find)])
        if outcomes == FALSE:
            break
    return _NEGATED[outcomes]


def _both(first: int, second: int) -> int:
    """Return the outcomes of `and`: of false and null it is false."""
    has_null = (first | second) & NULL and first & (TRUE | NULL) and second & (TRUE | NULL)
    return first & second & TRUE | (first | second) & FALSE | (NULL if has_null else 0)


def _kind(value: object) -> type | None:
    if isinstance(value, bool | str):
        return bool if isinstance(value, bool) else str
    return float if isinstance(value, int | float) else None


def compared(compare: Callable[[Any, Any], bool], first: object, second: object) -> bool | None:
    """Tell whether a comparison holds; None for null, and for values of different kinds."""
    kind = _kind(first)
    if not kind or kind is not _kind(second):
        return None
    return compare(_comparable(first, second), _comparable(second, first))


def _comparable(value: object, other: object) -> object:
    """Return a value; of a long text as much as decides."""
    if not isinstance(value, LongText):
        return value
    if isinstance(other, str) and not isinstance(other, LongText):
        return value.beginning(len(other) + 1)
    return value.beginning(None)


def matches_text(pattern: str, value: object) -> bool | None:
    """Tell whether a pattern is found in a text; None where the value is none."""
    return found_in(pattern, value) if isinstance(value, str) else None


def is_one_of(value: object, items: object) -> bool | None:
    """Tell whether a value is one of a list; None if a null leaves it open."""
    if not isinstance(items, list | tuple):
        return None
    decisions = [compared(operator.eq, value, item) for item in items]
    if True in decisions:
        return True
    return None if None in decisions else False

"""The outcomes of a condition, with what is known of a row.

Before a row is read, much of it is unknown. A value is then one of several candidates, and a
condition has a set of possible outcomes: a row that cannot come out true need not be read. Null
behaves as in SQL.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product
from typing import Any

from kraftops.query.conditions.regex import found_in
from kraftops.query.conditions.syntax import (
    And,
    Compare,
    Condition,
    Contains,
    IsNull,
    Length,
    Literal,
    Matches,
    Not,
    OneOf,
    Operand,
    Or,
    Path,
)

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
_NEGATED = [each & NULL | (each & TRUE) << 1 | (each & FALSE) >> 1 for each in range(8)]


def outcomes_of(condition: Condition) -> Outcomes:  # noqa: PLR0911 - one a kind
    """Return the function to the outcomes of a condition."""
    match condition:
        case And(parts):
            return partial(_all, tuple(map(outcomes_of, parts)))
        case Or(parts):
            return partial(_any, tuple(map(outcomes_of, parts)))
        case Not(part):
            inner = outcomes_of(part)
            return lambda find: _NEGATED[inner(find)]
        case IsNull(operand):
            return partial(_decided, (_values(operand),), lambda value: value is None)
        case Matches(operand, pattern):
            return partial(_decided, (_values(operand),), partial(matches_text, pattern))
        case Compare(left, sign, right):
            compare = partial(compared, COMPARISONS[sign])
            return partial(_decided, (_values(left), _values(right)), compare)
        case OneOf(operand, literals):
            values = [literal.value for literal in literals]
            return partial(_decided, (_values(operand),), lambda value: is_one_of(value, values))
        case Contains(item, path):
            return partial(_decided, (_values(item), _values(path)), is_one_of)


def matches(condition: Condition, record: Mapping[str, Any]) -> bool:
    """Tell whether a condition is true of a mapping of columns to values."""
    return outcomes_of(condition)(lambda names: (value_at(record, names),)) == TRUE


def value_at(found: Any, names: Iterable[str]) -> Any:
    """Return the value at names and indexes in mappings and lists; None if there is none."""
    for name in names:
        if isinstance(found, Mapping):
            found = found.get(name)
        elif isinstance(found, list | tuple) and _INDEX.fullmatch(name):
            found = found[int(name)] if int(name) < len(found) else None
        else:
            return None
    return found


def _values(operand: Operand) -> Callable[[Find], Candidates]:
    match operand:
        case Path(names):
            return lambda find: find(names)
        case Literal(value):
            return lambda _: (value,)
        case Length(path):
            return lambda find: _lengths(find(path.names))


def _lengths(found: Candidates) -> Candidates:
    if found is None:
        return None
    return tuple(len(one) if isinstance(one, list | tuple) else None for one in found)


def _decided(
    operands: tuple[Callable[[Find], Candidates], ...],
    decide: Callable[..., bool | None],
    find: Find,
) -> int:
    """Return the outcomes for all candidates of the operands."""
    known = [candidates for values in operands if (candidates := values(find)) is not None]
    if len(known) < len(operands):
        return _UNKNOWN
    found = 0
    for values in product(*known):
        decision = decide(*values)
        found |= NULL if decision is None else TRUE if decision else FALSE
    return found


def _all(parts: tuple[Outcomes, ...], find: Find) -> int:
    found = TRUE
    for part in parts:
        found = _both(found, part(find))
        if found == FALSE:
            break
    return found


def _any(parts: tuple[Outcomes, ...], find: Find) -> int:
    found = TRUE  # of: none holds
    for part in parts:
        found = _both(found, _NEGATED[part(find)])
        if found == FALSE:
            break
    return _NEGATED[found]


def _both(one: int, other: int) -> int:
    """Return the outcomes of `and`: of false and null it is false."""
    has_null = (one | other) & NULL and one & (TRUE | NULL) and other & (TRUE | NULL)
    return one & other & TRUE | (one | other) & FALSE | (NULL if has_null else 0)


def _kind(value: object) -> type | None:
    if isinstance(value, bool | str):
        return bool if isinstance(value, bool) else str
    return float if isinstance(value, int | float) else None


def compared(compare: Callable[[Any, Any], bool], one: object, other: object) -> bool | None:
    """Tell whether a comparison holds; None for null, and for values of different kinds."""
    kind = _kind(one)
    return compare(one, other) if kind and kind is _kind(other) else None


def matches_text(pattern: str, value: object) -> bool | None:
    """Tell whether a pattern is found in a text; None where the value is none."""
    return found_in(pattern, value) if isinstance(value, str) else None


def is_one_of(value: object, items: object) -> bool | None:
    """Tell whether a value is one of a list; None if a null leaves it open."""
    if not isinstance(items, list | tuple):
        return None
    found = [compared(operator.eq, value, item) for item in items]
    if True in found:
        return True
    return None if None in found else False

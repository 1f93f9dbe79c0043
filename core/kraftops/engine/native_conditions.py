"""Conditions as the compiled engine takes them: tuples that begin with a name."""

from __future__ import annotations

from functools import cache
from typing import Any

from kraftops.query.conditions.parser import parse_condition
from kraftops.query.conditions.regex import program
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


@cache
def native_condition(text: str) -> tuple[Any, ...]:
    """Return the description of a condition for the compiled engine."""
    return _condition(parse_condition(text))


def _condition(condition: Condition) -> tuple[Any, ...]:  # noqa: PLR0911 - one a kind
    match condition:
        case And(parts):
            return ("and", list(map(_condition, parts)))
        case Or(parts):
            return ("or", list(map(_condition, parts)))
        case Not(part):
            return ("not", _condition(part))
        case IsNull(operand):
            return ("null", _operand(operand))
        case Matches(operand, pattern):
            return ("match", _operand(operand), [tuple(step) for step in program(pattern)])
        case Compare(left, sign, right):
            return ("compare", _operand(left), sign, _operand(right))
        case OneOf(operand, values):
            return ("in", _operand(operand), list(map(_operand, values)))
        case Contains(item, path):
            return ("contains", _operand(item), _operand(path))


def _operand(operand: Operand) -> tuple[str, Any]:
    match operand:
        case Path(names):
            return "path", list(map(_bytes, names))
        case Length(path):
            return "length", list(map(_bytes, path.names))
        case Literal(bool(value)):
            return "bool", value
        case Literal(int(value)):
            return "int", value
        case Literal(float(value)):
            return "float", value
        case Literal(value):
            return "text", _bytes(str(value))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")

"""Conditions as the compiled engine takes them: tuples that begin with a name."""

from functools import cache
from typing import Any

from kraftops.query.conditions import syntax
from kraftops.query.conditions.parser import parse_condition
from kraftops.query.conditions.regex import program


@cache
def native_condition(text: str) -> tuple[Any, ...]:
    """Return a condition as the nested tuples that the crate's `select` reads."""
    return _condition(parse_condition(text))


def _condition(condition: syntax.Condition) -> tuple[Any, ...]:  # noqa: PLR0911 - one a kind
    match condition:
        case syntax.And(parts):
            return ("and", list(map(_condition, parts)))
        case syntax.Or(parts):
            return ("or", list(map(_condition, parts)))
        case syntax.Not(part):
            return ("not", _condition(part))
        case syntax.IsNull(operand):
            return ("null", _operand(operand))
        case syntax.Matches(operand, pattern):
            return ("match", _operand(operand), [tuple(step) for step in program(pattern)])
        case syntax.Compare(left, sign, right):
            return ("compare", _operand(left), sign, _operand(right))
        case syntax.OneOf(operand, values):
            return ("in", _operand(operand), list(map(_operand, values)))
        case syntax.Contains(item, path):
            return ("contains", _operand(item), _operand(path))


def _operand(operand: syntax.Operand) -> tuple[str, Any]:
    match operand:
        case syntax.Path(names):
            return "path", list(map(_bytes, names))
        case syntax.Length(path):
            return "length", list(map(_bytes, path.names))
        case syntax.Literal(bool(value)):
            return "bool", value
        case syntax.Literal(int(value)):
            return "int", value
        case syntax.Literal(float(value)):
            return "float", value
        case syntax.Literal(value):
            return "text", _bytes(str(value))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")

"""The parts of a condition, as plain data, and their text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Path:
    """A column, or a field in it; *index* is, as below, the index in the text of the condition."""

    names: tuple[str, ...]
    index: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A value in the condition itself."""

    value: Scalar
    index: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Length:
    """The number of items of a list."""

    path: Path
    index: int = field(default=0, compare=False)


Operand = Path | Literal | Length


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison by one of `COMPARISONS`."""

    first: Operand
    operator: str
    second: Operand
    index: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Matches:
    """A text in which a regular expression of `kraftops.query.conditions.regex` is found."""

    operand: Operand
    pattern: str
    index: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class OneOf:
    """A value that is one of several."""

    operand: Operand
    values: tuple[Literal, ...]
    index: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Contains:
    """A list that has a value."""

    item: Operand
    path: Path
    index: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class IsNull:
    """A value that is not there."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a condition."""

    part: Condition


@dataclass(frozen=True, slots=True)
class And:
    """Conditions that must all hold."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Conditions of which one must hold."""

    parts: tuple[Condition, ...]


Condition = Compare | Matches | OneOf | Contains | IsNull | Not | And | Or
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
KEYWORDS = frozenset({"and", "or", "not", "in", "is", "null", "true", "false", "len", "only"})
WORD = r"[\w-]+"
"""The pattern of a name in a path that needs no quotes."""


def conjuncts(condition: Condition | None) -> list[Condition]:
    """Return the conditions that must all hold; none without a condition."""
    if isinstance(condition, And):
        return [conjunct for part in condition.parts for conjunct in conjuncts(part)]
    return [] if condition is None else [condition]


def all_of(conditions: list[Condition]) -> Condition | None:
    return And(tuple(conditions)) if len(conditions) > 1 else next(iter(conditions), None)


def paths_of(condition: Condition | Operand) -> Iterator[Path]:
    match condition:
        case Path():
            yield condition
        case And(parts) | Or(parts):
            for part in parts:
                yield from paths_of(part)
        case Not(part) | IsNull(part) | Length(part) | Matches(part, _) | OneOf(part, _):
            yield from paths_of(part)
        case Compare(first, _, second) | Contains(first, second):
            yield from paths_of(first)
            yield from paths_of(second)


def text_of(condition: Condition) -> str:  # noqa: PLR0911 - one a kind
    match condition:
        case Compare(first, operator, second):
            return f"{_operand(first)} {operator} {_operand(second)}"
        case Matches(operand, pattern):
            return f"{_operand(operand)} ~ {_quoted(pattern)}"
        case OneOf(operand, values):
            return f"{_operand(operand)} in ({', '.join(map(_operand, values))})"
        case Contains(item, path):
            return f"{_operand(item)} in {_operand(path)}"
        case IsNull(operand):
            return f"{_operand(operand)} is null"
        case Not(part):
            return f"not {_inner(part)}"
        case And(parts):
            return " and ".join(map(_inner, parts))
        case Or(parts):
            return " or ".join(map(_inner, parts))


def path_text(names: tuple[str, ...]) -> str:
    """Write a path as a condition spells it: names that are not words are quoted."""
    first, *others = names
    return ".".join(
        [first, *(name if re.fullmatch(WORD, name) else _quoted(name) for name in others)]
    )


def _inner(condition: Condition) -> str:
    text = text_of(condition)
    return f"({text})" if isinstance(condition, And | Or) else text


def _operand(operand: Operand) -> str:
    match operand:
        case Path(names):
            return path_text(names)
        case Length(path):
            return f"len({path_text(path.names)})"
        case Literal(bool(value)):
            return "true" if value else "false"
        case Literal(str(value)):
            return _quoted(value)
        case Literal(value):
            return repr(value)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

"""Random conditions about rows, which are JSON, and their truth in the plainest way."""

import json
import re
from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt, ne
from random import Random
from typing import Any

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
    path_text,
    text_of,
)
from kraftops.query.row import COLUMNS

_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": eq,
    "!=": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}
_SCALARS = (str, int, float, bool)


def condition_text(rng: Random, row: Mapping[str, Any]) -> str:
    """Return a condition that is often true of a row."""
    return text_of(condition_of(rng, row))


def condition_of(rng: Random, row: Mapping[str, Any], depth: int = 2) -> Condition:
    """Return a condition that is often true of a row."""
    if depth and rng.random() < 0.5:
        parts = tuple(condition_of(rng, row, depth - 1) for _ in range(rng.randrange(2, 4)))
        return rng.choice((And, Or))(parts)
    if depth and rng.random() < 0.2:
        return Not(condition_of(rng, row, depth - 1))
    names, found = _place(rng, row)
    return one_test(rng, Path(names), found)


def one_test(rng: Random, path: Path, found: Any) -> Condition:  # noqa: PLR0911 - one a kind
    """Return a test of the value *found* at a path, true or nearly so."""
    if rng.random() < 0.1:
        test: Condition = IsNull(path)
        return Not(test) if rng.random() < 0.5 else test
    if isinstance(found, list):
        if rng.random() < 0.5:
            near = Literal(len(found) + rng.choice((-1, 0, 0, 1)))
            return Compare(Length(path), rng.choice(list(_SIGNS)), near)
        items = [one for one in found if isinstance(one, _SCALARS)] or [1]
        return Contains(Literal(rng.choice((rng.choice(items), 1, "x"))), path)
    literal = Literal(_near(rng, found))
    match rng.randrange(6):
        case 0:
            others = tuple(Literal(rng.choice((0, -1, "a", "", True))) for _ in range(2))
            return OneOf(path, tuple(rng.sample((literal, *others), 3)))
        case 1 if isinstance(found, str):
            return Matches(path, _pattern(rng, found))
        case 2:
            return Compare(literal, rng.choice(list(_SIGNS)), path)
        case 3:
            return Compare(path, rng.choice(list(_SIGNS)), Literal(rng.choice((0, 1.5, "a", True))))
    return Compare(path, rng.choice(("=", "=", *_SIGNS)), literal)


def _place(rng: Random, row: Mapping[str, Any]) -> tuple[tuple[str, ...], Any]:
    """Return a path into a row, and what is there; some paths lead nowhere."""
    column = rng.choice(COLUMNS if rng.random() < 0.5 else ("value", "key", "headers"))
    found: Any = row.get(column)
    names = [column]
    if found == {} or (found == [] and column != "headers"):
        return ("offset",), row["offset"]
    if column == "headers" and found:
        if rng.random() < 0.3:
            return ("headers",), found
        names.append(rng.choice(found)["key"])
        found = value_at(row, tuple(names))
    while isinstance(found, dict | list) and found and (len(names) == 1 or rng.random() < 0.9):
        name = rng.choice(
            list(found) if isinstance(found, dict) else list(map(str, range(len(found))))
        )
        found = found[name] if isinstance(found, dict) else found[int(name)]
        names.append(name)
    if rng.random() < 0.1:
        names.append(rng.choice(("nosuch", "0", "-1", "", "name", "٣", "it's")))
        found = None
    return tuple(names), found


def _near(rng: Random, found: Any) -> Any:
    """Return a literal that is a value, or near it."""
    if isinstance(found, bool):
        return found
    if isinstance(found, int) and -(1 << 62) < found < 1 << 62:
        return found + rng.choice((-1, 0, 0, 0, 1, 0.5))
    if isinstance(found, str):
        return rng.choice((found, found, found[:-1], found + " "))
    return found if isinstance(found, float) else rng.choice((0, "null", False))


def _pattern(rng: Random, text: str) -> str:
    start = rng.randrange(len(text) + 1)
    piece = "".join(
        re.escape(one) if one.isascii() and one.isprintable() else "." for one in text[start:][:6]
    )
    forms = ("{}", "^{}", "{}$", "^({})+", "{}|^$", "[^a]*{}", r"\w{{1,3}}{}")
    return rng.choice(forms).format(piece) if "{" not in piece else piece


def value_at(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """Return the value of a row at a path; None if there is none."""
    column, *others = names
    found: Any = row.get(column)
    if not others:
        is_json = column in ("key", "value") and isinstance(found, dict | list)
        return text_of_json(found) if is_json else found
    if column == "headers":
        from base64 import b64decode

        texts = [
            None if one["value"] is None else b64decode(one["value"]).decode("utf-8", "replace")
            for one in found
            if one["key"] == others[0]
        ]
        return texts[-1] if texts and len(others) == 1 else None
    if row["kind"] == "user" or row.get(f"{column}Encoding"):
        return None
    for name in others:
        if isinstance(found, dict):
            found = found.get(name)
        elif isinstance(found, list) and re.fullmatch("[0-9]+", name):
            found = found[int(name)] if int(name) < len(found) else None
        else:
            return None
    return found


def text_of_json(found: Any) -> str:
    """Return the JSON of a key or value as the tables of the corpus have it."""
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False)


def truth(condition: Condition, row: Mapping[str, Any]) -> bool | None:  # noqa: PLR0911 - one a kind
    """Return the truth of a condition about a row; None is SQL's unknown."""
    match condition:
        case And(parts):
            found = [truth(part, row) for part in parts]
            return False if False in found else None if None in found else True
        case Or(parts):
            found = [truth(part, row) for part in parts]
            return True if True in found else None if None in found else False
        case Not(part):
            inner = truth(part, row)
            return None if inner is None else not inner
        case IsNull(operand):
            return _value(operand, row) is None
        case Matches(operand, pattern):
            text = _value(operand, row)
            return bool(_as_python(pattern).search(text)) if isinstance(text, str) else None
        case Compare(left, sign, right):
            return _compared(_SIGNS[sign], _value(left, row), _value(right, row))
        case OneOf(operand, values):
            return _is_in(_value(operand, row), [literal.value for literal in values])
        case Contains(item, path):
            items = _value(path, row)
            return _is_in(_value(item, row), items) if isinstance(items, list) else None


def _as_python(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"(?<!\\)\$", r"\\Z", pattern), re.ASCII)


def _value(operand: Operand, row: Mapping[str, Any]) -> Any:
    match operand:
        case Literal(value):
            return value
        case Length(path):
            found = value_at(row, path.names)
            return len(found) if isinstance(found, list) else None
        case Path(names):
            return value_at(row, names)


def _compared(compare: Callable[[Any, Any], bool], one: Any, other: Any) -> bool | None:
    for kind in (bool, str, int | float):
        if isinstance(one, kind) or isinstance(other, kind):
            return (
                compare(one, other) if isinstance(one, kind) and isinstance(other, kind) else None
            )
    return None


def _is_in(value: Any, items: list[Any]) -> bool | None:
    found = [_compared(eq, value, item) for item in items]
    return True if True in found else None if None in found else False


def conditions_about(dotted: str, found: Any) -> list[str]:
    """Return conditions on a value at a dotted path: that it is there, another, none, of a length."""
    path = path_text(tuple(dotted.split(".")))
    quoted = json.dumps(found, ensure_ascii=False)
    if isinstance(found, str):
        quoted = "'" + found.replace("'", "''") + "'"
        return [f"{path} = {quoted}", f"{path} < {quoted}", f"{path} is null", f"{path} = 1"]
    if isinstance(found, bool | int | float):
        return [f"{path} = {quoted}", f"not {path} <= {quoted}", f"{path} is null", f"{path} = 'a'"]
    if isinstance(found, list):
        return [f"len({path}) = {len(found)}", f"1 in {path}", f"{path} is null", f"{path} = 1"]
    return [f"{path} is null", f"{path} is not null", f"{path} != 0"]

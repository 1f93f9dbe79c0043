"""The check of a condition against the types of columns and fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from kraftops.answers.types import BOOLEAN, LIST, NUMBER, OBJECT, TEXT, TIME, FieldType, of_kind
from kraftops.errors import UsageError
from kraftops.query.conditions.parser import refusal
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
)
from kraftops.query.times import parse_time
from kraftops.records.meaning import UNKNOWN

_ARTICLES = {kind: f"a {kind}" for kind in (NUMBER, BOOLEAN, TIME, LIST)} | {
    TEXT: TEXT,
    OBJECT: "an object",
}


def checked(
    condition: Condition, text: str, columns: Mapping[str, FieldType], now: int
) -> Condition:
    """Return a condition with its times in ms since the epoch, after a check of names and types.

    Args:
        condition: the condition.
        text: what it was parsed from, for messages.
        columns: the types of the columns.
        now: in ms since the epoch, for durations.

    Raises:
        UsageError: a name is unknown, or values cannot be compared; the message has the place.
    """
    return _Check(text, columns, now).condition(condition)


class _Check:
    """The check of one condition."""

    def __init__(self, text: str, columns: Mapping[str, FieldType], now: int) -> None:
        self._columns = FieldType(frozenset({OBJECT}), columns)
        self._now = now
        self._refusal = partial(refusal, text)

    def condition(self, condition: Condition) -> Condition:  # noqa: PLR0911 - one a kind
        """Return the condition with resolved times."""
        match condition:
            case And(parts):
                return And(tuple(map(self.condition, parts)))
            case Or(parts):
                return Or(tuple(map(self.condition, parts)))
            case Not(part):
                return Not(self.condition(part))
            case IsNull(operand):
                self._type(operand)
                return condition
            case Matches(operand, _, at):
                if TEXT not in self._type(operand).kinds:
                    raise self._refusal(at, f"{self._shown(operand)}, and a pattern matches text")
                return condition
            case Compare():
                return self._compare(condition)
            case OneOf(operand, values, at):
                resolved = [self._pair(operand, value, at)[1] for value in values]
                return OneOf(
                    operand, tuple(one for one in resolved if isinstance(one, Literal)), at
                )
            case Contains(item, path, at):
                return self._contains(item, path, at)

    def _compare(self, condition: Compare) -> Condition:
        left, operator, right, at = (
            condition.left,
            condition.operator,
            condition.right,
            condition.at,
        )
        pair = self._pair(left, right, at)
        kinds = self._type(left).kinds & self._type(right).kinds
        if operator not in ("=", "!=") and kinds == {BOOLEAN}:
            raise self._refusal(at, f"{self._shown(left)}, which is not compared by {operator}")
        return Compare(pair[0], operator, pair[1], at)

    def _contains(self, item: Operand, path: Path, at: int) -> Condition:
        items = self._type(path).items
        if items is None:
            raise self._refusal(at, f"{self._shown(path)}, and no list", "as in value.isr")
        kinds = self._type(item).kinds
        if not kinds & items.kinds:
            raise self._refusal(
                at, f"{self._shown(item)}, and {path_text(path.names)} has items of {_named(items)}"
            )
        return Contains(item, path, at)

    def _pair(self, left: Operand, right: Operand, at: int) -> tuple[Operand, Operand]:
        """Return operands that are compared, with a time for its text.

        Raises:
            UsageError: they cannot be compared, or a text is not one of the known.
        """
        one, other = self._type(left), self._type(right)
        if TIME in one.kinds:
            return left, self._time(right)
        if TIME in other.kinds:
            return self._time(left), right
        common = one.kinds & other.kinds
        if not common - {LIST, OBJECT}:
            hint = None
            if LIST in one.kinds | other.kinds:
                hint = "a list has a length, len(…), items, as NAME.0, and is asked by 1 in …"
            raise self._refusal(at, f"{self._shown(left)}, and {self._shown(right)}", hint)
        for known, value in ((one, right), (other, left)):
            if known.values and isinstance(value, Literal) and isinstance(value.value, str):
                self._refuse_unknown(value, known.values)
        return left, right

    def _refuse_unknown(self, literal: Literal, values: frozenset[str]) -> None:
        text = str(literal.value)
        if text not in values and not text.startswith(UNKNOWN):
            hint = _nearest(text, values)
            raise self._refusal(literal.at, f"{text!r} is none of the values", hint)

    def _time(self, operand: Operand) -> Operand:
        """Return an operand that is compared with a time, in ms since the epoch."""
        if isinstance(operand, Literal) and isinstance(operand.value, str):
            try:
                return Literal(parse_time(operand.value, self._now), operand.at)
            except UsageError as error:
                raise self._refusal(operand.at, error.message, error.hint) from None
        if not self._type(operand).kinds & {TIME, NUMBER}:
            raise self._refusal(operand.at, f"{self._shown(operand)}, and no time")
        return operand

    def _type(self, operand: Operand) -> FieldType:
        """Return the type of an operand."""
        match operand:
            case Path(names, at):
                return self._path_type(names, at)
            case Length(path, at):
                if LIST not in self._type(path).kinds:
                    raise self._refusal(at, f"{self._shown(path)}: only a list has a length")
                return of_kind(NUMBER)
            case Literal(bool()):
                return of_kind(BOOLEAN)
            case Literal(str()):
                return of_kind(TEXT)
            case Literal():
                return of_kind(NUMBER)

    def _path_type(self, names: tuple[str, ...], at: int) -> FieldType:
        found = self._columns
        for number, name in enumerate(names):
            if found.items and name.isdecimal():
                found = found.items
            elif name in found.fields:
                found = found.fields[name]
            elif found.others:
                found = found.others
            else:
                raise self._unknown_name(names[:number], name, found, at)
        return found

    def _unknown_name(
        self, before: tuple[str, ...], name: str, found: FieldType, at: int
    ) -> UsageError:
        if not before:
            of_records = [
                f"{column}.{name}"
                for column in ("value", "key")
                if column in found.fields and name in found.fields[column].fields
            ]
            if of_records:
                hint = f"perhaps {' or '.join(of_records)}"
            elif name.isupper():  # as record types are
                hint = f"text is quoted: '{name}'"
            else:
                hint = _nearest(name, found.fields) or f"text is quoted: '{name}'"
            return self._refusal(at, f"there is no column {name!r}", hint)
        shown = path_text(before)
        if not found.fields:
            return self._refusal(at, f"{shown} is {_named(found)} and has no field {name!r}")
        return self._refusal(at, f"{shown} has no field {name!r}", _nearest(name, found.fields))

    def _shown(self, operand: Operand) -> str:
        """Return an operand and what it is."""
        match operand:
            case Path(names):
                return f"{path_text(names)} is {_named(self._type(operand))}"
            case Length(path):
                return f"len({path_text(path.names)}) is a number"
            case Literal(value):
                shown = str(value).lower() if isinstance(value, bool) else repr(value)
                return f"{shown} is {_named(self._type(operand))}"


def _named(found: FieldType) -> str:
    return " or ".join(_ARTICLES[kind] for kind in sorted(found.kinds))


def _nearest(name: str, names: Iterable[str]) -> str | None:
    """Return a hint with the nearest of some names."""
    from difflib import get_close_matches

    by_case = {each.lower(): each for each in names}
    near = get_close_matches(name.lower(), by_case, 1)
    return f"perhaps {by_case[near[0]]}" if near else None

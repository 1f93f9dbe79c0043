"""The check of a condition against the types of columns and fields."""

from collections.abc import Iterable, Mapping
from functools import partial

from kraftops.answers.types import BOOLEAN, LIST, NUMBER, OBJECT, TEXT, TIME, FieldType, of_kind
from kraftops.errors import UsageError
from kraftops.query.conditions import syntax
from kraftops.query.conditions.parser import refusal
from kraftops.query.times import parse_time
from kraftops.records.meaning import UNKNOWN

_ARTICLES = {kind: f"a {kind}" for kind in (NUMBER, BOOLEAN, TIME, LIST)} | {
    TEXT: TEXT,
    OBJECT: "an object",
}


def checked(
    condition: syntax.Condition, text: str, columns: Mapping[str, FieldType], now: int
) -> syntax.Condition:
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

    def condition(self, condition: syntax.Condition) -> syntax.Condition:  # noqa: PLR0911 - one a kind
        match condition:
            case syntax.And(parts):
                return syntax.And(tuple(map(self.condition, parts)))
            case syntax.Or(parts):
                return syntax.Or(tuple(map(self.condition, parts)))
            case syntax.Not(part):
                return syntax.Not(self.condition(part))
            case syntax.IsNull(operand):
                self._type(operand)
                return condition
            case syntax.Matches(operand, _, index):
                if TEXT not in self._type(operand).kinds:
                    raise self._refusal(
                        index, f"{self._shown(operand)}, and a pattern matches text"
                    )
                return condition
            case syntax.Compare():
                return self._compare(condition)
            case syntax.OneOf(operand, values, index):
                resolved = [self._pair(operand, value, index)[1] for value in values]
                return syntax.OneOf(
                    operand,
                    tuple(literal for literal in resolved if isinstance(literal, syntax.Literal)),
                    index,
                )
            case syntax.Contains(item, path, index):
                return self._contains(item, path, index)

    def _compare(self, condition: syntax.Compare) -> syntax.Condition:
        first, operator, second, index = (
            condition.first,
            condition.operator,
            condition.second,
            condition.index,
        )
        pair = self._pair(first, second, index)
        kinds = self._type(first).kinds & self._type(second).kinds
        if operator not in ("=", "!=") and kinds == {BOOLEAN}:
            raise self._refusal(index, f"{self._shown(first)}, which is not compared by {operator}")
        return syntax.Compare(pair[0], operator, pair[1], index)

    def _contains(self, item: syntax.Operand, path: syntax.Path, index: int) -> syntax.Condition:
        items = self._type(path).items
        if items is None:
            raise self._refusal(index, f"{self._shown(path)}, and no list", "as in value.isr")
        kinds = self._type(item).kinds
        if not kinds & items.kinds:
            raise self._refusal(
                index,
                f"{self._shown(item)}, and {syntax.path_text(path.names)} has items of"
                f" {_named(items)}",
            )
        return syntax.Contains(item, path, index)

    def _pair(
        self, first: syntax.Operand, second: syntax.Operand, index: int
    ) -> tuple[syntax.Operand, syntax.Operand]:
        """Return operands that are compared, with a time for its text.

        Raises:
            UsageError: they cannot be compared, or a text is not one of the known.
        """
        first_type, second_type = self._type(first), self._type(second)
        if TIME in first_type.kinds:
            return first, self._time(second)
        if TIME in second_type.kinds:
            return self._time(first), second
        common = first_type.kinds & second_type.kinds
        if not common - {LIST, OBJECT}:
            hint = None
            if LIST in first_type.kinds | second_type.kinds:
                hint = "a list has a length, len(…), items (NAME.0), and is tested with 1 in …"
            raise self._refusal(index, f"{self._shown(first)}, and {self._shown(second)}", hint)
        for of_names, value in ((first_type, second), (second_type, first)):
            if (
                of_names.values
                and isinstance(value, syntax.Literal)
                and isinstance(value.value, str)
            ):
                self._refuse_unknown(value, of_names.values)
        return first, second

    def _refuse_unknown(self, literal: syntax.Literal, values: frozenset[str]) -> None:
        text = str(literal.value)
        if text not in values and not text.startswith(UNKNOWN):
            hint = _nearest(text, values)
            raise self._refusal(literal.index, f"{text!r} is not one of the values", hint)

    def _time(self, operand: syntax.Operand) -> syntax.Operand:
        """Return an operand that is compared with a time, in ms since the epoch."""
        if isinstance(operand, syntax.Literal) and isinstance(operand.value, str):
            try:
                return syntax.Literal(parse_time(operand.value, self._now), operand.index)
            except UsageError as error:
                raise self._refusal(operand.index, error.message, error.hint) from None
        if not self._type(operand).kinds & {TIME, NUMBER}:
            raise self._refusal(operand.index, f"{self._shown(operand)}, and no time")
        return operand

    def _type(self, operand: syntax.Operand) -> FieldType:
        match operand:
            case syntax.Path(names, index):
                return self._path_type(names, index)
            case syntax.Length(path, index):
                if LIST not in self._type(path).kinds:
                    raise self._refusal(index, f"{self._shown(path)}: only a list has a length")
                return of_kind(NUMBER)
            case syntax.Literal(bool()):
                return of_kind(BOOLEAN)
            case syntax.Literal(str()):
                return of_kind(TEXT)
            case syntax.Literal():
                return of_kind(NUMBER)

    def _path_type(self, names: tuple[str, ...], index: int) -> FieldType:
        field_type = self._columns
        for number, name in enumerate(names):
            if field_type.items and name.isdecimal():
                field_type = field_type.items
            elif name in field_type.fields:
                field_type = field_type.fields[name]
            elif field_type.others:
                field_type = field_type.others
            else:
                raise self._unknown_name(names[:number], name, field_type, index)
        return field_type

    def _unknown_name(
        self, before: tuple[str, ...], name: str, parent: FieldType, index: int
    ) -> UsageError:
        if not before:
            of_records = [
                f"{column}.{name}"
                for column in ("value", "key")
                if column in parent.fields and name in parent.fields[column].fields
            ]
            if of_records:
                hint = f"perhaps {' or '.join(of_records)}"
            elif name.isupper():  # as record types are
                hint = f"text is quoted: '{name}'"
            else:
                hint = _nearest(name, parent.fields) or f"text is quoted: '{name}'"
            return self._refusal(index, f"there is no column {name!r}", hint)
        parent_path = syntax.path_text(before)
        if not parent.fields:
            return self._refusal(
                index, f"{parent_path} is {_named(parent)} and has no field {name!r}"
            )
        return self._refusal(
            index, f"{parent_path} has no field {name!r}", _nearest(name, parent.fields)
        )

    def _shown(self, operand: syntax.Operand) -> str:
        match operand:
            case syntax.Path(names):
                return f"{syntax.path_text(names)} is {_named(self._type(operand))}"
            case syntax.Length(path):
                return f"len({syntax.path_text(path.names)}) is a number"
            case syntax.Literal(value):
                literal = str(value).lower() if isinstance(value, bool) else repr(value)
                return f"{literal} is {_named(self._type(operand))}"


def _named(field_type: FieldType) -> str:
    return " or ".join(_ARTICLES[kind] for kind in sorted(field_type.kinds))


def _nearest(name: str, names: Iterable[str]) -> str | None:
    """Suggest the nearest of some names; None if none is near."""
    from difflib import get_close_matches

    by_case = {spelling.lower(): spelling for spelling in names}
    near = get_close_matches(name.lower(), by_case, 1)
    return f"perhaps {by_case[near[0]]}" if near else None

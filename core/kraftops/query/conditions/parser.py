"""The parser of conditions: recursive descent over tokens."""

import re
from functools import cache
from typing import NamedTuple

from kraftops.errors import UsageError
from kraftops.query.conditions import syntax
from kraftops.query.conditions.regex import PatternError, program

_TEXT = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\""
_TOKEN = re.compile(
    rf"(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.-]))|(?P<text>{_TEXT})"
    rf"|(?P<name>{syntax.WORD}(?:\.(?:{syntax.WORD}|{_TEXT}))*)|(?P<sign><=|>=|!=|!~|[=<>~(),\[\]])"
)
_PART = re.compile(rf"{syntax.WORD}|{_TEXT}")
_BLANKS = re.compile(r"\s*")
_MAX_DEPTH = 64  # far below Python's limit of recursion, far above what people write
_EXAMPLE = "for example value.leader = 3, type in ('TOPIC_RECORD'), headers.trace ~ '^a'"


class _Token(NamedTuple):
    """A token: kind, text and index; the last one is of kind `end`."""

    kind: str
    text: str
    start: int

    @property
    def word(self) -> str:
        """The keyword or sign that it is; empty for values and paths."""
        if self.kind == "name" and self.text.lower() in syntax.KEYWORDS:
            return self.text.lower()
        return self.text if self.kind == "sign" else ""


@cache
def parse_condition(text: str, example: str = _EXAMPLE) -> syntax.Condition:
    """Return the condition that a text stands for; its names and types are not checked.

    *example* is the hint of errors: conditions on columns that there are.

    Raises:
        UsageError: it is none; the message has the place.
    """
    parser = _Parser(text, example)
    condition = parser.condition(0)
    parser.expect("end")
    return condition


def refusal(text: str, index: int, reason: str, hint: str | None = None) -> UsageError:
    """Return the error of a condition because of its part at an index."""
    return UsageError(f"in the condition {text!r}, at character {index + 1}: {reason}", hint)


class _Parser:
    """The tokens of a condition, and the place in them."""

    def __init__(self, text: str, example: str) -> None:
        self._text, self._example = text, example
        self._tokens = list(_tokens(text, example))
        self._next = 0

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._token
        self._next += token.kind != "end"
        return token

    def _has(self, *words: str) -> bool:
        """Take one of *words*, if it is next."""
        is_next = self._token.word in words
        self._next += is_next
        return is_next

    def expect(self, word: str) -> None:
        """Take a keyword, a sign or the end; refuse anything else."""
        token = self._token
        if word not in (token.word, token.kind):
            expected = "the end, `and` or `or`" if word == "end" else f"`{word}`"
            raise self._refusal(f"{expected} is expected, not {_quoted(token)}")
        self._take()

    def _refusal(self, reason: str) -> UsageError:
        return refusal(self._text, self._token.start, reason, self._example)

    def condition(self, depth: int) -> syntax.Condition:
        """Parse conditions with `or` between them."""
        if depth > _MAX_DEPTH:
            raise self._refusal(f"the condition is nested more than {_MAX_DEPTH} times")
        parts = [self._conjunction(depth)]
        while self._has("or"):
            parts.append(self._conjunction(depth))
        return syntax.Or(tuple(parts)) if len(parts) > 1 else parts[0]

    def _conjunction(self, depth: int) -> syntax.Condition:
        parts = [self._negation(depth)]
        while self._has("and"):
            parts.append(self._negation(depth))
        conjunction = syntax.all_of(parts)
        assert conjunction
        return conjunction

    def _negation(self, depth: int) -> syntax.Condition:
        if self._has("not"):
            if depth > _MAX_DEPTH:
                raise self._refusal(f"the condition is nested more than {_MAX_DEPTH} times")
            return syntax.Not(self._negation(depth + 1))
        if self._has("only"):
            return self._only()
        if self._has("("):
            inner = self.condition(depth + 1)
            self.expect(")")
            return inner
        return self._test()

    def _test(self) -> syntax.Condition:
        operand, token = self._operand(), self._token
        if self._has(*syntax.COMPARISONS):
            is_list = self._token.word == "["
            return self._same_list(operand, token) if is_list else self._compared(operand, token)
        if self._has("~", "!~"):
            matches = self._matches(operand, token.start)
            return syntax.Not(matches) if token.word == "!~" else matches
        if self._has("is"):
            is_not = self._has("not")
            self.expect("null")
            return syntax.Not(syntax.IsNull(operand)) if is_not else syntax.IsNull(operand)
        if self._has("not"):
            self.expect("in")
            return syntax.Not(self._membership(operand, token.start))
        if self._has("in"):
            return self._membership(operand, token.start)
        if isinstance(operand, syntax.Path):
            return syntax.Compare(
                operand, "=", syntax.Literal(value=True, index=operand.index), operand.index
            )
        raise self._refusal(f"a comparison is expected, not {_quoted(token)}")

    def _compared(self, operand: syntax.Operand, sign: _Token) -> syntax.Condition:
        return syntax.Compare(operand, sign.word, self._operand(), sign.start)

    def _matches(self, operand: syntax.Operand, index: int) -> syntax.Condition:
        token = self._take()
        if token.kind != "text":
            raise refusal(
                self._text, token.start, f"a pattern is expected, not {_quoted(token)}", "in quotes"
            )
        pattern = _unquoted(token.text)
        try:
            program(pattern)
        except PatternError as error:
            reason = f"the pattern {pattern!r}: {error}"
            raise refusal(self._text, token.start, reason) from None
        return syntax.Matches(operand, pattern, index)

    def _membership(self, operand: syntax.Operand, index: int) -> syntax.Condition:
        if not self._has("("):
            path = self._operand()
            if not isinstance(path, syntax.Path):
                raise refusal(
                    self._text, path.index, "a list is expected", "as in (1, 2), or in value.isr"
                )
            return syntax.Contains(operand, path, index)
        return syntax.OneOf(operand, self._literals(")"), index)

    def _same_list(self, operand: syntax.Operand, sign: _Token) -> syntax.Condition:
        """Parse the items that a list is compared with, in their order."""
        if not isinstance(operand, syntax.Path) or sign.word not in ("=", "!="):
            raise refusal(
                self._text,
                sign.start,
                "a list can only be compared with = and !=",
                "as in replicas = [1, 2]",
            )
        self.expect("[")
        values = () if self._has("]") else self._literals("]")
        parts: list[syntax.Condition] = [
            syntax.Compare(syntax.Length(operand, operand.index), "=", syntax.Literal(len(values)))
        ]
        parts += [
            syntax.Compare(_indexed(operand, index), "=", value, value.index)
            for index, value in enumerate(values)
        ]
        same = syntax.And(tuple(parts))
        return syntax.Not(same) if sign.word == "!=" else same

    def _only(self) -> syntax.Condition:
        """Parse `only(LIST, VALUE, …)`: the list has items, and no others than these."""
        self.expect("(")
        path = self._operand()
        if not isinstance(path, syntax.Path):
            raise refusal(self._text, path.index, "only() begins with a list")
        self.expect(",")
        values = self._literals(")")
        # Kafka's lists of brokers do not repeat an item, so a longer list has another one.
        parts: list[syntax.Condition] = [
            syntax.Compare(syntax.Length(path, path.index), "<=", syntax.Literal(len(values)))
        ]
        for index in range(len(values)):
            is_one = syntax.OneOf(_indexed(path, index), values, path.index)
            ends = syntax.Compare(syntax.Length(path, path.index), "<=", syntax.Literal(index))
            parts.append(syntax.Or((is_one, ends)) if index else is_one)
        return syntax.And(tuple(parts))

    def _literals(self, end: str) -> tuple[syntax.Literal, ...]:
        """Parse values up to a closing sign."""
        values = [self._literal()]
        while self._has(","):
            values.append(self._literal())
        self.expect(end)
        return tuple(values)

    def _literal(self) -> syntax.Literal:
        token, value = self._token, self._operand()
        if not isinstance(value, syntax.Literal):
            raise refusal(
                self._text,
                token.start,
                f"a value is expected, not {token.text}",
                _quote_hint(token),
            )
        return value

    def _operand(self) -> syntax.Operand:
        token = self._take()
        match token.kind, token.word:
            case "number", _:
                return syntax.Literal(self._number(token), token.start)
            case "text", _:
                return syntax.Literal(_unquoted(token.text), token.start)
            case "name", "":
                return _path(token)
            case _, "true" | "false":
                return syntax.Literal(token.word == "true", token.start)
            case _, "len":
                self.expect("(")
                path = self._operand()
                if not isinstance(path, syntax.Path):
                    raise refusal(self._text, path.index, "len() takes a list")
                self.expect(")")
                return syntax.Length(path, token.start)
        pair = self._text[token.start - 1 : token.start + 1]
        hint = _OF_OTHERS.get(pair) if token.start else None
        if hint is None:
            hint = "null is tested by `is null`" if token.word == "null" else self._example
        raise refusal(self._text, token.start, f"a value is expected, not {_quoted(token)}", hint)

    def _number(self, token: _Token) -> int | float:
        if re.fullmatch(r"-?\d{1,19}", token.text) and -(1 << 63) <= int(token.text) < 1 << 63:
            return int(token.text)
        value = float(token.text)
        if value in (float("inf"), -float("inf")):
            raise refusal(self._text, token.start, f"{token.text} is too large")
        return value


_OF_OTHERS = {
    "==": "equality is a single =",
    "&&": "both is: and",
    "||": "either is: or",
}
"""Hints for operators of other languages."""


def _tokens(text: str, example: str) -> list[_Token]:
    tokens, index = [], _skipped(text, 0)
    while index < len(text):
        match = _TOKEN.match(text, index)
        if not match or not match.lastgroup:
            what = (
                "the quote is not closed"
                if text[index] in "'\""
                else f"{text[index]!r} is not expected"
            )
            raise refusal(text, index, what, _OF_OTHERS.get(text[index : index + 2], example))
        tokens.append(_Token(match.lastgroup, match[0], index))
        index = _skipped(text, match.end())
    return [*tokens, _Token("end", "", len(text))]


def _skipped(text: str, index: int) -> int:
    blanks = _BLANKS.match(text, index)
    return blanks.end() if blanks else index


def _path(token: _Token) -> syntax.Path:
    return syntax.Path(tuple(map(_unquoted, _PART.findall(token.text))), token.start)


def _indexed(path: syntax.Path, index: int) -> syntax.Path:
    return syntax.Path((*path.names, str(index)), path.index)


def _unquoted(text: str) -> str:
    quote = text[0]
    return text[1:-1].replace(quote * 2, quote) if quote in "'\"" else text


def _quoted(token: _Token) -> str:
    return token.text if token.kind != "end" else "the end"


def _quote_hint(token: _Token) -> str | None:
    return f"text is quoted: '{token.text}'" if token.kind == "name" else None

"""Lines of our shell: words as people know them from others, and where the output goes."""

from __future__ import annotations

from typing import NamedTuple

from kraftops_shell.grammar.arguments import BadLineError
from kraftops_shell.grammar.words import Token

_QUOTES = "'\""
_SPECIAL = "|>"
_IN_DOUBLE_QUOTES = '"\\'
"""What a backslash takes as it is between double quotes; before others it stays."""


class Line(NamedTuple):
    """A line: the words of its command, then `|` or `>` or `>>` and what follows it."""

    tokens: list[Token]
    operator: str = ""
    rest: str = ""
    rest_start: int = 0

    @property
    def words(self) -> list[str]:
        """What the command is given."""
        return [token.text for token in self.tokens]

    @property
    def filter(self) -> str:
        """The command line of the system's shell that gets the output; empty if there is none."""
        return self.rest.strip() if self.operator == "|" else ""

    @property
    def file(self) -> str:
        """The file that the output goes to; empty if there is none."""
        return scan(self.rest).tokens[0].text if self.operator.startswith(">") else ""


def read_line(text: str) -> Line:
    """Return what a whole line says.

    Raises:
        BadLineError: a quote is not closed, something is missing around `|` or `>`, or there is
            what no name and no program can be given.
    """
    if "\0" in text:
        raise BadLineError("there is a NUL character in the line")
    line = scan(text)
    _check_quotes(line)
    if not line.operator:
        return line
    if not line.tokens:
        raise BadLineError(f"there is no command before {line.operator}")
    if line.operator == "|":
        if not line.filter:
            raise BadLineError("there is no command after |")
        return line
    target = scan(line.rest)
    _check_quotes(target)
    if len(target.tokens) != 1 or not target.tokens[0].text or target.operator:
        raise BadLineError(f"one file, and nothing else, belongs after {line.operator}")
    return line


def _check_quotes(line: Line) -> None:
    if line.tokens and line.tokens[-1].quote:
        raise BadLineError(f"there is no closing {line.tokens[-1].quote}")


def scan(text: str) -> Line:
    """Return the words of a line, or of the beginning of one.

    Words end at blanks, `|` and `>`. Single quotes take what is between them as it is; double
    quotes do, but for a backslash before `"` or a backslash; elsewhere a backslash takes the next
    character as it is.
    """
    found: list[Token] = []
    word: list[str] = []
    start: int | None = None
    quote = ""
    at = 0
    while at < len(text):
        letter = text[at]
        if quote:
            if letter == quote:
                quote = ""
            elif letter == "\\" and quote == '"' and text[at + 1 : at + 2] in _IN_DOUBLE_QUOTES:
                at += 1
                word.append(text[at : at + 1])
            else:
                word.append(letter)
        elif letter.isspace() or letter in _SPECIAL:
            if start is not None:
                found.append(Token("".join(word), start, at))
            word, start = [], None
            if letter in _SPECIAL:
                operator = ">>" if text.startswith(">>", at) else letter
                end = at + len(operator)
                return Line(found, operator, text[end:], end)
        else:
            start = at if start is None else start
            if letter in _QUOTES:
                quote = letter
            elif letter == "\\" and at + 1 < len(text):
                at += 1
                word.append(text[at])
            else:
                word.append(letter)
        at += 1
    if start is not None:
        found.append(Token("".join(word), start, len(text), quote))
    return Line(found)

"""Lines in our form: commands, their words with quotes as in POSIX shells, their output."""

from typing import NamedTuple

from kraftops_shell.grammar.arguments import BadLineError
from kraftops_shell.grammar.words import Token

_QUOTES = "'\""
_SPECIAL = "|>;"
_IN_DOUBLE_QUOTES = '"\\'
"""The characters that a backslash escapes between double quotes."""


class Line(NamedTuple):
    """A line: the words of its command, then `|`, `>`, `>>` or `;` and the rest."""

    tokens: list[Token]
    operator: str = ""
    rest: str = ""
    rest_start: int = 0

    @property
    def words(self) -> list[str]:
        return [token.text for token in self.tokens]

    @property
    def filter(self) -> str:
        """The command line of the system's shell after `|`; empty without one."""
        return self.rest.strip() if self.operator == "|" else ""

    @property
    def file(self) -> str:
        """The file after `>` or `>>`; empty without one."""
        return scan(self.rest).tokens[0].text if self.operator.startswith(">") else ""


def read_line(text: str) -> list[Line]:
    """Return the commands of a complete line, with their targets; none for a comment.

    All that is behind `|` belongs to the system's shell.

    Raises:
        BadLineError: a quote is not closed, the text before or after an operator is missing, or
            there is a NUL character.
    """
    if "\0" in text:
        raise BadLineError("there is a NUL character in the line")
    if text.lstrip().startswith("#"):
        return []
    lines: list[Line] = []
    rest: str | None = text
    while rest is not None:
        line, rest = _read_command(rest)
        if line.tokens:
            lines.append(line)
    return lines


def _read_command(text: str) -> tuple[Line, str | None]:
    """Return the first command of a text, and the text after its `;`, None without one."""
    line = scan(text)
    _check_quotes(line)
    if line.operator in ("", ";"):
        return line, line.rest if line.operator else None
    if not line.tokens:
        raise BadLineError(f"there is no command before {line.operator}")
    if line.operator == "|":
        if not line.filter:
            raise BadLineError("there is no command after |")
        return line, None
    target = scan(line.rest)
    _check_quotes(target)
    if len(target.tokens) != 1 or not target.tokens[0].text or target.operator not in ("", ";"):
        raise BadLineError(f"one file, and nothing else, belongs after {line.operator}")
    return line, target.rest if target.operator else None


def _check_quotes(line: Line) -> None:
    if line.tokens and line.tokens[-1].quote:
        raise BadLineError(f"there is no closing {line.tokens[-1].quote}")


def scan(text: str) -> Line:
    """Return the parts of a line, or of its beginning.

    Words end at blanks, `|`, `>` and `;`. All characters between single quotes are literal; between
    double quotes a backslash escapes `"` or a backslash, and elsewhere any character.
    """
    tokens: list[Token] = []
    word: list[str] = []
    start: int | None = None
    quote = ""
    position = 0
    while position < len(text):
        letter = text[position]
        escape = _escaped(text, position, quote)
        if escape is not None:
            start = position if start is None else start
            word.append(escape)
            position += 1
        elif quote:
            if letter == quote:
                quote = ""
            else:
                word.append(letter)
        elif letter.isspace() or letter in _SPECIAL:
            if start is not None:
                tokens.append(Token("".join(word), start, position))
            word, start = [], None
            if letter in _SPECIAL:
                operator = ">>" if text.startswith(">>", position) else letter
                end = position + len(operator)
                return Line(tokens, operator, text[end:], end)
        else:
            start = position if start is None else start
            if letter in _QUOTES:
                quote = letter
            else:
                word.append(letter)
        position += 1
    if start is not None:
        tokens.append(Token("".join(word), start, len(text), quote))
    return Line(tokens)


def _escaped(text: str, position: int, quote: str) -> str | None:
    """Return the character that a backslash at a position escapes; None if it escapes none."""
    if text[position] != "\\" or quote == "'":
        return None
    letter = text[position + 1 : position + 2]
    if quote:
        return letter if letter in _IN_DOUBLE_QUOTES else None
    return letter or None

"""The words of a line, as the line reader of Kafka's shell splits it (JLine's `DefaultParser`)."""

from __future__ import annotations

from typing import NamedTuple

_QUOTES = "'\""
_NO_BLANKS = "\x85\u00a0\u2007\u202f"
"""What Python takes for white space, and Java does not."""


class Token(NamedTuple):
    """A word, where it begins and ends in its line, and the quote that is still open there."""

    text: str
    start: int
    end: int
    quote: str = ""


def words(line: str) -> list[str]:
    """Return the words of a line.

    Words end at blanks. A quote that begins a word holds it together to the next one of its kind,
    or to the end of the line; elsewhere it does so, too, and stays a character of the word. A
    backslash takes the next character as it is, also in quotes. Words without characters are none.
    """
    return [token.text for token in tokens(line)]


def tokens(line: str) -> list[Token]:
    """Return the words of a line with their places."""
    found: list[Token] = []
    word: list[str] = []
    start: int | None = None
    quote = ""
    is_quoted = False
    letters = enumerate(line)
    for at, letter in letters:
        if not quote and is_blank(letter):
            if word:
                found.append(Token("".join(word), start or 0, at))
            word, start = [], None
            continue
        start = at if start is None else start
        if letter == "\\":
            word.append(next(letters, (0, ""))[1])
        elif letter == quote:
            quote = ""
            if not is_quoted:
                word.append(letter)
            is_quoted = False
        elif not quote and letter in _QUOTES:
            quote = letter
            if word:
                word.append(letter)
            else:
                is_quoted = True
        else:
            word.append(letter)
    if word or quote:
        found.append(Token("".join(word), start or 0, len(line), quote))
    return found


def is_blank(letter: str) -> bool:
    """Tell whether words end at this character, by Java's `Character.isWhitespace`."""
    return letter.isspace() and letter not in _NO_BLANKS

"""Words of a line in Kafka's form, split as by JLine's `DefaultParser`."""

from typing import NamedTuple

from kraftops.java.text import is_white_space

_QUOTES = "'\""


class Token(NamedTuple):
    """A word, its start and end in the line, and the quote that is open at its end."""

    text: str
    start: int
    end: int
    quote: str = ""


def words(line: str) -> list[str]:
    """Return the words of a line.

    Words end at blanks, but not between quotes of one kind or after an open quote. A quote inside a
    word stays a character of it. A backslash escapes any character, also between quotes. Empty
    words are left out.
    """
    return [token.text for token in tokens(line)]


def tokens(line: str) -> list[Token]:
    tokens_of_line: list[Token] = []
    word: list[str] = []
    start: int | None = None
    quote = ""
    is_quoted = False
    letters = enumerate(line)
    for position, letter in letters:
        if not quote and is_white_space(letter):
            if word:
                tokens_of_line.append(Token("".join(word), start or 0, position))
            word, start = [], None
            continue
        start = position if start is None else start
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
        tokens_of_line.append(Token("".join(word), start or 0, len(line), quote))
    return tokens_of_line

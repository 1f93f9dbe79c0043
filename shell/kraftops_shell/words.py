"""The words of a line, as the line reader of Kafka's shell splits it (JLine's `DefaultParser`)."""

from __future__ import annotations

_QUOTES = "'\""


def words(line: str) -> list[str]:
    """Return the words of a line.

    Words end at blanks. A quote that begins a word holds it together to the next one of its kind,
    or to the end of the line; elsewhere it is a character like others. A backslash takes the next
    character as it is, also in quotes.
    """
    found: list[str] = []
    word: list[str] = []
    quote = ""
    is_word = False
    letters = iter(line)
    for letter in letters:
        if letter == "\\":
            word.append(next(letters, ""))
            is_word = True
        elif quote:
            if letter == quote:
                quote = ""
            else:
                word.append(letter)
        elif letter.isspace():
            if is_word:
                found.append("".join(word))
            word, is_word = [], False
        elif letter in _QUOTES and not is_word:
            quote, is_word = letter, True
        else:
            word.append(letter)
            is_word = True
    if is_word:
        found.append("".join(word))
    return found

"""Earlier lines in a new one: `!!`, `!3`, `!ls`, `^a^b`, as Kafka's shell (JLine) expands them."""

import re
from collections.abc import Callable

from kraftops_shell.session.history import History

_NUMBER = re.compile(r"(-?)([0-9]*)")
_MAX = 2**31 - 1
_PROTECTED = 5  # characters after \u: JLine skips its digits


def expanded(line: str, history: History) -> str:
    """Return a line with earlier lines inserted; unchanged if one of them does not exist.

    `!!` is the last line, `!N` the line with number N from 1, `!-N` the Nth last line, `!text` the
    last line that begins with the text, `!?text?` the last line that contains it, `!$` the last
    word of the last line, `!#` the text before it, `^a^b` the last line with b for a. A backslash
    or single quotes prevent an expansion.
    """
    try:
        return _expanded(line, history)
    except LookupError:
        return line


def _expanded(line: str, history: History) -> str:
    out = ""
    is_quoted = False
    protected = position = 0
    while position < len(line):
        letter = line[position]
        if protected:
            protected = _PROTECTED if protected == 1 and letter == "u" else protected - 1
        elif letter == "'":
            is_quoted = not is_quoted
        elif letter == "\\" and not is_quoted:
            protected = 1
        elif letter == "!" and not is_quoted and position + 1 < len(line):
            replacement, position = _event(line, position + 1, out, history)
            out += replacement
            continue
        elif letter == "^" and position == 0 and line.find("^", 1) > 0:
            replacement, position = _replaced(line, history)
            out += replacement
            continue
        out += letter
        position += 1
    return out


def _event(line: str, position: int, before: str, history: History) -> tuple[str, int]:
    """Return the expansion of an event after its `!`, and the position after the event."""
    letter = line[position]
    if letter in " \t":
        return f"!{letter}", position + 1
    if letter in "!$":
        last = _line(history, history.end - 1)
        return last if letter == "!" else last.strip().rpartition(" ")[2], position + 1
    if letter == "#":
        return before, position + 1
    if letter == "?":
        end = line.find("?", position + 1)
        end = len(line) if end < 0 else end
        text = line[position + 1 : end]
        return _last(history, lambda old: text in old), end + 1
    number = _NUMBER.match(line, position)
    if number and number[0]:
        # The character after a number is lost in JLine.
        return _numbered(number[1], number[2], history), number.end() + 1
    return _last(history, lambda old: old.startswith(line[position:])), len(line)


def _numbered(minus: str, digits: str, history: History) -> str:
    value = int(digits) if digits else 0
    if not 0 < value <= _MAX:
        raise LookupError
    return _line(history, history.end - value if minus else value - 1)


def _replaced(line: str, history: History) -> tuple[str, int]:
    """Return the last line with the replacement of `^old^new^`, and the position after it."""
    middle = line.find("^", 1)
    end = line.find("^", middle + 1)
    end = len(line) if end < 0 else end
    last = _line(history, history.end - 1)
    # What follows the last ^ loses its first two characters in JLine.
    return last.replace(line[1:middle], line[middle + 1 : end]), end + 2


def _line(history: History, number: int) -> str:
    line = history.at(number)
    if line is None:
        raise LookupError
    return line


def _last(history: History, test: Callable[[str], bool]) -> str:
    for line in reversed(list(history)):
        if test(line):
            return line
    raise LookupError

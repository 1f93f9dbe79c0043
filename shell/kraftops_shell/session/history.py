"""The history of lines: of a session, its events (`!!`), and in a file for later sessions."""

import os
import re
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice

from kraftops.fileio.atomic import temporary_file
from kraftops.fileio.private import make_private_directories

KAFKAS_LIMIT = 500  # `DefaultHistory.DEFAULT_HISTORY_SIZE` of JLine, which Kafka's shell uses
_LIMIT = 10_000  # lines, of 50 bytes usually: a file that is read at each start
_FOLDER, _FILE = "kraftops", "metadata-shell-history"
_NUMBER = re.compile(r"(-?)([0-9]*)")
_MAX = 2**31 - 1
_PROTECTED = 5  # characters after \u: JLine skips its digits


class History:
    """The last lines of a session, by fixed numbers.

    As in Kafka's shell, a line that begins with a blank is not kept, nor one equal to the line
    before it.
    """

    def __init__(self, limit: int = _LIMIT, lines: Iterable[str] = ()) -> None:
        """Begin with some lines; above *limit*, the oldest are removed."""
        self._lines = deque(lines, limit)
        self._first = 0

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def add(self, line: str) -> bool:
        """Add a line; tell whether it is kept."""
        kept = line.strip()
        if not kept or line.startswith(" ") or (self._lines and kept == self._lines[-1]):
            return False
        if len(self._lines) == self._lines.maxlen:
            self._first += 1
        self._lines.append(kept)
        return True

    def last(self, count: int | None = None) -> list[tuple[int, str]]:
        """Return numbers and texts of the last lines, or of all, oldest first."""
        start = 0 if count is None else max(0, len(self._lines) - max(count, 0))
        return list(enumerate(islice(self._lines, start, None), self._first + start))

    def at(self, number: int) -> str | None:
        index = number - self._first
        return self._lines[index] if 0 <= index < len(self._lines) else None

    @property
    def end(self) -> int:
        """The number of the next line."""
        return self._first + len(self._lines)


def history_path(environment: Mapping[str, str]) -> str | None:
    """Return the path of the history file; None without a state or home directory."""
    folder = environment.get("XDG_STATE_HOME", "")
    if not os.path.isabs(folder):  # the XDG specification ignores relative paths
        home = environment.get("HOME", "")
        if not os.path.isabs(home):
            return None
        folder = os.path.join(home, ".local", "state")
    return os.path.join(folder, _FOLDER, _FILE)


class HistoryFile:
    """A file of lines, readable for its owner alone; errors are ignored."""

    def __init__(self, path: str) -> None:
        """Use the file at *path*, which may not exist."""
        self._path = path

    def load(self) -> list[str]:
        """Return the lines of the file, oldest first; a file that is too long is cut."""
        try:
            fd = self._opened(os.O_RDONLY)
            with open(fd, encoding="utf-8", errors="surrogateescape") as file:
                lines = [line.rstrip("\n") for line in file]
        except OSError:
            return []
        if len(lines) > 2 * _LIMIT:
            self._replace(lines[-_LIMIT:])
        return lines[-_LIMIT:]

    def add(self, line: str) -> None:
        """Append a line; sessions at the same time do not overwrite each other."""
        with suppress(OSError):  # a full disk must not stop it
            make_private_directories(os.path.dirname(self._path))
            fd = self._opened(os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            with open(fd, "wb", buffering=0) as file:
                os.fchmod(fd, 0o600)
                file.write(_encoded([line]))

    def _opened(self, flags: int) -> int:
        """Open the file, and nothing else: `/dev/null` in its place stays as it is.

        Raises:
            OSError: it cannot be opened, or is not a regular file.
        """
        fd = os.open(self._path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return fd
        os.close(fd)
        raise OSError(f"{self._path} is not a regular file")

    def _replace(self, lines: list[str]) -> None:
        temporary = f"{self._path}.{os.getpid()}"
        with suppress(OSError):
            with temporary_file(temporary, self._path, mode=0o600) as file:
                file.write(_encoded(lines))
            os.replace(temporary, self._path)


def _encoded(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


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

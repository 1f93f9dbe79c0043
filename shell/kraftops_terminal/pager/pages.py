"""Our own pager: pages on a screen, with a status line."""

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from types import TracebackType

from kraftops_terminal.pager.program import ReaderGoneError
from kraftops_terminal.screen import Screen
from kraftops_terminal.theme import painted
from kraftops_terminal.widths import width_of_text

_COLOR = re.compile(r"(\x1b\[[\d;]*m)")
_RESET = "\x1b[0m"
_HELP = ", q quits, Space and b turn pages, G goes to the end"
_TO_THE_END = math.inf
_STEPS: Mapping[str, tuple[int, int]] = {
    "down": (0, 1),
    "enter": (0, 1),
    "j": (0, 1),
    "up": (0, -1),
    "k": (0, -1),
    "page-down": (1, 0),
    " ": (1, 0),
    "f": (1, 0),
    "page-up": (-1, 0),
    "backspace": (-1, 0),
    "b": (-1, 0),
}
"""The pages and rows that a key moves on."""
_ENDS: Mapping[str, float] = {"home": 0, "g": 0, "end": _TO_THE_END, "G": _TO_THE_END}
_QUITS = ("q", "Q", "escape", "end-of-input")


class Pages:
    """Text on the alternate screen of a terminal, page by page.

    Keys are read while text is written: who writes more than is looked at waits.
    """

    def __init__(self, output: int, keyboard: int) -> None:
        """Take the descriptors of the terminal; it is changed with the first page."""
        self._screen = Screen(output, keyboard)
        self._entered = ExitStack()
        self._lines: list[str] = []
        self._part = ""
        self._rows: list[str] = []
        self._numbers: list[int] = []
        """The line of each row."""
        self._columns = 0
        self._top: float = 0
        """The first row of the page."""
        self._is_all = False

    def write(self, text: str) -> None:
        """Add text; return when more of it is needed.

        Raises:
            ReaderGoneError: no more is wanted.
            EndedBySignal: as `Screen`.
        """
        if not self._columns:
            self._entered.enter_context(self._screen)
            self._columns = self._screen.size[0]
        *lines, self._part = (self._part + text).split("\n")
        for line in lines:
            self._add(line)
        self._look()

    def finish(self) -> None:
        """Show what there is until no more is wanted, and leave the terminal as it was."""
        with suppress(ReaderGoneError), self._entered:
            if self._part:
                self._add(self._part)
            self._is_all = True
            self._look()

    def give_up(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the terminal as it was after an error."""
        self._entered.__exit__(kind, error, trace)

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._fold(line, len(self._lines))

    def _fold(self, line: str, number: int) -> None:
        rows = list(folded(line, self._columns))
        self._rows += rows
        self._numbers += [number] * len(rows)

    def _look(self) -> None:
        """Show pages until more rows are needed."""
        while True:
            columns, rows = self._screen.size
            if columns != self._columns:
                self._change_width(columns)
            room = max(rows - 1, 1)
            if not self._is_all and self._top + room > len(self._rows):
                return
            self._top = max(0, min(self._top, len(self._rows) - room))
            top = int(self._top)
            page = self._rows[top : top + room]
            self._screen.draw([*page, *[""] * (room - len(page)), self._status(top, len(page))])
            for key in self._screen.wait(None):
                self._press(key, room)

    def _change_width(self, columns: int) -> None:
        """Fold all lines again, and stay at the same one."""
        top_line = (
            self._numbers[min(int(self._top), len(self._numbers) - 1)] if self._numbers else 1
        )
        self._columns, self._rows, self._numbers = columns, [], []
        for number, line in enumerate(self._lines, 1):
            self._fold(line, number)
        self._top = bisect_left(self._numbers, top_line)

    def _press(self, key: str, room: int) -> None:
        if key in _QUITS:
            raise ReaderGoneError
        pages, rows = _STEPS.get(key, (0, 0))
        self._top = max(_ENDS.get(key, self._top) + pages * room + rows, 0)

    def _status(self, top: int, count: int) -> str:
        first, last = (self._numbers[top], self._numbers[top + count - 1]) if count else (0, 0)
        total = f" of {len(self._lines)}" if self._is_all else ""
        return painted(f"lines {first}-{last}{total}{_HELP}"[: self._columns], "header")


def folded(line: str, columns: int) -> Iterator[str]:
    """Yield a line of text in rows of this many columns; colours go on in the next row."""
    row, used, color = "", 0, ""
    for index, part in enumerate(_COLOR.split(line)):
        if index % 2:
            color = "" if part == _RESET else color + part
            row += part
            continue
        if used + len(part) <= columns and part.isascii():
            row, used = row + part, used + len(part)
            continue
        for letter in part:
            width = width_of_text(letter)
            if used + width > columns and used:
                yield row
                row, used = color, 0
            row, used = row + letter, used + width
    yield row

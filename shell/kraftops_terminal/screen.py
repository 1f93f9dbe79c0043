"""Screen: frames and keys of a terminal, which is left as it was."""

import os
import re
import select
import signal
import termios
import tty
from codecs import getincrementaldecoder
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType, TracebackType
from typing import NoReturn, Self

from kraftops_terminal.descriptors import USUAL_WIDTH, is_terminal
from kraftops_terminal.ending import ENDING, EndedBySignal

# The alternate screen, without a cursor, and lines that end at the edge instead of the next line.
_ENTER = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"
_LEAVE = b"\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l"
_USUAL_ROWS = 24  # of a terminal that does not know its size, as the VT100 had
_ESCAPE_SECONDS = 0.05
"""Time in which the bytes of one key come."""
_PATIENCE = 0.5  # seconds that a terminal may take no output, before it is given up
_ENDING = (*ENDING, signal.SIGQUIT)
_INPUT_FLAGS, _START_AND_STOP = 0, termios.IXON  # of the attributes of a terminal
_SEQUENCES = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "1;2C": "shift-right",
    "1;2D": "shift-left",
    "1;3C": "shift-right",
    "1;3D": "shift-left",
    "H": "home",
    "F": "end",
    "1~": "home",
    "4~": "end",
    "5~": "page-up",
    "6~": "page-down",
    "7~": "home",
    "8~": "end",
}
_SINGLE = {
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\b": "backspace",
    "\x04": "end-of-input",
}
_SEQUENCE = re.compile(r"\x1b(?:\[|O)([0-?]*)[ -/]*([@-~])")
_BEGUN = re.compile(r"\x1b(?:(?:\[|O)[0-?]*[ -/]*)?\Z")


class Screen:
    """A terminal that shows frames, for the main thread; a context manager.

    At its end the terminal is as it was, whatever the reason: also after Ctrl-C, after a signal
    (SIGTERM, SIGHUP, SIGQUIT), which then ends the process as usual, and while it is suspended.
    """

    def __init__(self, output: int, keyboard: int) -> None:
        """Make one, and change nothing yet.

        Args:
            output: The descriptor of the terminal.
            keyboard: That of standard input, which is read if it is a terminal.
        """
        self._output = output
        self._keyboard = keyboard if is_terminal(keyboard) else None
        self._modes: list[object] | None = None
        self._handlers: dict[int, object] = {}
        self._shown: list[str] | None = None
        self._begun = 0
        self._shown_in = ((0, 0), 0)
        self._rest = b""
        self._is_leaving = False
        self._woken, self._waker = os.pipe()
        os.set_blocking(self._waker, False)
        os.set_blocking(self._woken, False)

    def __enter__(self) -> Self:
        try:
            for number in (*_ENDING, signal.SIGINT):
                self._handlers[number] = signal.signal(number, self._ended)
            self._handlers[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._suspended)
            self._handlers[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, lambda *_: None)
            signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
            self._begin()
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> None:
        self._is_leaving = True  # from now on, signals wait
        self._end()
        signal.set_wakeup_fd(-1)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # as it came
        if isinstance(error, EndedBySignal):
            os.kill(os.getpid(), error.number)

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows of the terminal as they are now."""
        try:
            size = os.get_terminal_size(self._output)
        except OSError:
            return USUAL_WIDTH, _USUAL_ROWS
        return size.columns or USUAL_WIDTH, size.lines or _USUAL_ROWS

    @property
    def has_keys(self) -> bool:
        """Whether there is a keyboard."""
        return self._keyboard is not None

    def draw(self, lines: Sequence[str]) -> None:
        """Show lines, as many as fit; only those that differ from the last frame are written.

        Raises:
            OSError: the terminal is gone.
        """
        size = self.size
        begun = self._begun
        previous = self._shown if (size, begun) == self._shown_in else None
        lines = [*lines[: size[1]], *[""] * (size[1] - len(lines))]
        parts = [] if previous is not None else ["\x1b[2J"]
        for row, line in enumerate(lines):
            if previous is None or previous[row] != line:
                parts.append(f"\x1b[{row + 1};1H\x1b[0m\x1b[2K{line}\x1b[0m")
        self._shown, self._shown_in = None, (size, begun)  # until all is written
        _write(self._output, "".join(parts).encode("utf-8", "replace"))
        self._shown = lines

    def wake(self) -> None:
        """End a `wait`, from any thread."""
        with suppress(BlockingIOError):
            os.write(self._waker, b"\0")

    def wait(self, seconds: float | None) -> list[str]:
        """Wait for keys, `wake` or a change of size, at most for this time; return the keys.

        A terminal that is gone is the key `end-of-input`.
        """
        descriptors = [self._woken, *([] if self._keyboard is None else [self._keyboard])]
        limit = _ESCAPE_SECONDS if self._rest else seconds
        ready, _, _ = select.select(descriptors, [], [], limit)
        if self._woken in ready:
            with suppress(BlockingIOError):
                os.read(self._woken, 1 << 12)
        if self._keyboard not in ready:
            data, is_all = b"", not ready
        else:
            assert self._keyboard is not None
            try:
                data, is_all = os.read(self._keyboard, 1 << 12), False
            except OSError:
                data = b""
            if not data:
                return ["end-of-input"]
        keys, self._rest = keys_of(self._rest + data, is_all=is_all)
        return keys

    def _begin(self) -> None:
        """Change the terminal: letters come at once, and are not shown."""
        if self._keyboard is not None:
            self._modes = termios.tcgetattr(self._keyboard)
            tty.setcbreak(self._keyboard, termios.TCSANOW)
            modes = termios.tcgetattr(self._keyboard)
            modes[_INPUT_FLAGS] &= ~_START_AND_STOP  # Ctrl-S would stop the process, too
            termios.tcsetattr(self._keyboard, termios.TCSANOW, modes)
        _write(self._output, _ENTER)
        self._begun += 1  # what is being drawn meanwhile is gone

    def _end(self) -> None:
        """Leave the terminal as it was; one that is gone is left alone."""
        with suppress(OSError):
            if select.select([], [self._output], [], _PATIENCE)[1]:
                _write(self._output, _LEAVE)
        if self._keyboard is not None and self._modes is not None:
            with suppress(OSError, termios.error):
                termios.tcsetattr(self._keyboard, termios.TCSANOW, self._modes)  # type: ignore[arg-type]

    def _ended(self, number: int, _: FrameType | None) -> None:
        if self._is_leaving:
            return
        _raise(number)

    def _suspended(self, number: int, _: FrameType | None) -> None:
        """Leave the terminal to the shell until the process goes on."""
        if self._is_leaving:
            return
        self._end()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)  # it goes on from here
        signal.signal(number, self._suspended)
        self._begin()


def _raise(number: int) -> NoReturn:
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise EndedBySignal(number)


def _write(fd: int, data: bytes) -> None:
    unwritten = memoryview(data)
    while unwritten:
        unwritten = unwritten[os.write(fd, unwritten) :]


def erase(output: int) -> None:
    """Clear the terminal that a descriptor leads to, also the lines above the screen."""
    _write(output, b"\x1b[H\x1b[2J\x1b[3J")


def keys_of(data: bytes, *, is_all: bool) -> tuple[list[str], bytes]:
    """Return the keys in bytes, and the bytes at the end that may be the beginning of a key.

    A key is a letter, or a name as `page-up`; keys without a name are left out.

    Args:
        data: The bytes.
        is_all: Whether no more bytes have come for a while: then an escape is a key of its own.
    """
    decoder = getincrementaldecoder("utf-8")("surrogateescape")
    text = decoder.decode(data, final=is_all)
    rest = decoder.getstate()[0]
    keys: list[str] = []
    index = 0
    while index < len(text):
        if text[index] != "\x1b":
            if named := _named(text[index]):
                keys.append(named)
            index += 1
        elif sequence := _SEQUENCE.match(text, index):
            index = sequence.end()
            whole = sequence[1] + sequence[2]
            if named := _SEQUENCES.get(whole) or _SEQUENCES.get(sequence[2]):
                keys.append(named)
        elif not is_all and _BEGUN.match(text, index):
            return keys, text[index:].encode("utf-8", "surrogateescape") + rest
        else:
            keys.append("escape")
            index += 1
    return keys, rest


def _named(letter: str) -> str | None:
    if letter in _SINGLE:
        return _SINGLE[letter]
    return letter if letter.isprintable() else None

"""A terminal that is paged: by the user's program, by less, or by our own pages."""

import os
import re
from collections.abc import Mapping
from types import TracebackType
from typing import Protocol, Self

from kraftops_terminal.pager.pages import Pages
from kraftops_terminal.pager.program import Program, ReaderGoneError

OUR_PAGES = ""
"""The command of our own pager."""
_NO_SUCH_PROGRAM = 127  # the exit code of a POSIX shell that does not find it
_PROGRAM = re.compile(r"[\w./~+-]+")
# One screen is only printed; ignore case; colours; leave the text there; the status line.
_LESS_OPTIONS = r"FIRX-Pslines %lt-%lb?L of %L. q quits, h helps$"


class PagedStreams(Protocol):
    """The streams of a terminal."""

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment of the process."""

    def write(self, text: str, /) -> object: ...
    def flush(self) -> object:
        """Flush standard output."""

    def error(self, line: str, /) -> object: ...
    def encode(self, text: str, /) -> bytes: ...
    def shown_lines(self, text: str, /) -> str:
        """Return text from data as it may reach the terminal."""

    def size(self) -> os.terminal_size:
        """Return columns and lines of the terminal as they are now."""


class Pager:
    """The terminal, and a pager as soon as the output is longer than a screen.

    No more than a screen is buffered.
    """

    is_terminal = True
    code = 0

    def __init__(self, streams: PagedStreams, command: str) -> None:
        """Use the pager that *command* starts, or `OUR_PAGES`."""
        self._streams = streams
        self._command = command
        self._columns, self._rows = streams.size()
        self._buffer: list[str] = []
        self._lines = 1  # for the next prompt
        self._pager: Program | None = None
        self._pages: Pages | None = None
        self._errors: list[str] = []

    def write(self, text: str) -> None:
        """Write text; errors as `Program.write` and `Pages.write`."""
        text = self._streams.shown_lines(text)
        if not self._is_paged:
            self._buffer.append(text)
            self._lines += sum(len(line) // self._columns for line in text.splitlines())
            self._lines += text.count("\n")
            if self._lines <= self._rows:
                return
            self._begin()
            text = "".join(self._buffer)
            self._buffer.clear()
        if self._pages:
            self._pages.write(text)
        elif self._pager:
            self._pager.write(self._streams.encode(text))

    def error(self, line: str) -> None:
        """Keep a line for standard error until the pager has ended."""
        self._errors.append(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if self._pager and self._pager.finish() == _NO_SUCH_PROGRAM:
            self._errors.append(f"{self._command}: there is no such program; PAGER names a pager")
        if self._pages and kind:
            self._pages.give_up(kind, error, trace)
        elif self._pages:
            self._pages.finish()
        for text in self._buffer:
            self._streams.write(text)
        self._streams.flush()
        for line in self._errors:
            self._streams.error(line)
        return kind is ReaderGoneError

    @property
    def _is_paged(self) -> bool:
        return self._pager is not None or self._pages is not None

    def _begin(self) -> None:
        self._streams.flush()
        if self._command == OUR_PAGES:
            self._pages = Pages(1, 0)
            return
        environment = {"LESS": _LESS_OPTIONS, **self._streams.environment}
        self._pager = Program(_or_cat(self._command), environment)


def pager_command(environment: Mapping[str, str]) -> str | None:
    """Return the command of the pager, `OUR_PAGES` where there is no less; None for no pager."""
    import shutil

    named = environment.get("PAGER")
    if named is not None:
        return named.strip() if named.strip() not in ("", "cat") else None
    return "less" if shutil.which("less", path=environment.get("PATH")) else OUR_PAGES


def _or_cat(command: str) -> str:
    """Return a command line that falls back to `cat` where the program is missing."""
    name = command.split(maxsplit=1)[0]
    if not _PROGRAM.fullmatch(name):
        return command  # more than a name: left to the system's shell
    missing = f"cat; exit {_NO_SUCH_PROGRAM}"
    return f"if command -v {name} >/dev/null; then {command}; else {missing}; fi"

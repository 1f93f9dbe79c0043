"""Where the output of a command goes: standard output, or a file."""

from __future__ import annotations

import re
from types import TracebackType
from typing import IO, Protocol, Self

from kraftops.errors import SourceError
from kraftops_shell.output.json_text import leaf_text
from kraftops_shell.session.console import Console
from kraftops_shell.session.session import Session

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]|\x1b(?!\[[0-9;]*m)")


class ReaderGoneError(Exception):
    """Whoever got the output wants no more of it."""


class Outlet(Protocol):
    """Takes the output of one command; a context manager, in which `ReaderGoneError` ends."""

    is_terminal: bool
    code: int
    """What the other side made of it, when all is done: 0 if it was content."""

    def write(self, text: str) -> object:
        """Take some text.

        Raises:
            ReaderGoneError: nobody wants more.
            SourceError: it cannot be written.
        """

    def error(self, line: str) -> object:
        """Take a line for standard error."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None: ...


def shown(text: str) -> str:
    """Return text without what would move a terminal's cursor, or worse; colours stay."""
    return _CONTROLS.sub("?", text)


class Straight:
    """Standard output as it is."""

    code = 0

    def __init__(self, console: Console) -> None:
        """Write to the standard output of *console*."""
        self.is_terminal = console.is_output_terminal
        self._console = console
        self.error = console.error

    def write(self, text: str) -> object:
        """Take some text."""
        return self._console.write(shown(text) if self.is_terminal else text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._console.flush()


class ToFile:
    """A file, which is made, emptied or added to."""

    is_terminal = False
    code = 0

    def __init__(self, console: Console, path: str, *, is_append: bool) -> None:
        """Open the file.

        Raises:
            SourceError: it cannot be opened.
        """
        self._console = console
        self._path = path
        self.error = console.error
        try:
            self._file: IO[bytes] = open(path, "ab" if is_append else "wb")  # noqa: SIM115 - see __exit__
        except OSError as error:
            raise self._refusal(error) from None

    def write(self, text: str) -> object:
        """Take some text."""
        try:
            return self._file.write(self._console.encode(text))
        except OSError as error:
            raise self._refusal(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._file.close()
        except OSError as error:
            if kind is None:
                raise self._refusal(error) from None

    def _refusal(self, error: OSError) -> SourceError:
        return SourceError(f"cannot write {self._path}: {error.strerror}")


def direct(session: Session, console: Console, outlet: Outlet) -> None:
    """Let a session of ours write to an outlet, in the way that suits it."""
    session.out, session.err = outlet.write, outlet.error
    session.leaf_text = leaf_text(
        is_pretty=outlet.is_terminal, has_color=console.has_color(for_terminal=outlet.is_terminal)
    )
    measure(session, console, has_columns=outlet.is_terminal and not console.is_dumb)


def measure(session: Session, console: Console, *, has_columns: bool) -> None:
    """Let a session know how wide the terminal is now, and whether names go side by side."""
    columns = console.size().columns
    session.width = columns if has_columns else 0
    session.text_width = columns

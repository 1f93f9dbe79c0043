"""Outlets for the output of a command: standard output or a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Protocol, Self

from kraftops.errors import SourceError
from kraftops.fileio.output import open_plainly
from kraftops_shell.session.console import Console
from kraftops_shell.session.session import Session
from kraftops_terminal.console import Console as TableConsole
from kraftops_terminal.escaping import escaped
from kraftops_terminal.json_text import leaf_text
from kraftops_terminal.pager.program import Program, ReaderGoneError

_STANDARD_OUTPUT = 1


class Outlet(Protocol):
    """The target of one command's output; a context manager that ends `ReaderGoneError`."""

    is_terminal: bool
    code: int
    """The exit code of the program that got the output; 0 without a program."""

    def write(self, text: str) -> object:
        """Write text.

        Raises:
            kraftops_terminal.pager.program.ReaderGoneError: the reader has closed its end.
            SourceError: it cannot be written.
        """

    def error(self, line: str) -> object: ...
    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None: ...


class StandardOutput:
    """The standard output."""

    code = 0

    def __init__(self, console: Console) -> None:
        self.is_terminal = console.is_output_terminal
        self._console = console
        self.error = console.error

    def write(self, text: str) -> object:
        return self._console.write(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._console.flush()


class FileOutlet:
    """A file: created, truncated or appended to; a symbolic link is not followed."""

    is_terminal = False
    code = 0

    def __init__(
        self, console: Console, path: str, *, is_append: bool, is_private: bool = False
    ) -> None:
        """Open the file; if *is_private*, nobody but its owner may read it.

        Raises:
            SourceError: it cannot be opened.
        """
        self._console = console
        self._path = path
        self.error = console.error
        try:
            self._file = open_plainly(path, is_append=is_append, is_private=is_private)
        except OSError as error:
            raise self._refusal(error) from None

    def write(self, text: str) -> object:
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
        return SourceError(f"cannot write {self._path}: {error.strerror}", code="not-writable")


def connect(session: Session, console: Console, outlet: Outlet) -> None:
    """Connect a session in our form to an outlet, with JSON and widths for it."""
    session.out, session.err = outlet.write, outlet.error
    session.shown = escaped if outlet.is_terminal and console.is_escaping else str
    session.shown_leaf = leaf_text(
        is_pretty=outlet.is_terminal, has_color=console.has_color(for_terminal=outlet.is_terminal)
    )
    has_columns = outlet.is_terminal and not console.is_dumb
    set_widths(session, console, has_columns=has_columns)
    session.table_console = TableConsole(
        outlet.write,
        _STANDARD_OUTPUT if has_columns else -1,
        is_terminal=has_columns,
        color=console.color,
        environment=console.environment,
    )


@contextmanager
def connected(session: Session, console: Console, outlet: Outlet) -> Iterator[None]:
    """Connect a session to an outlet for a while, as `connect`, then to the one before."""
    before = {name: getattr(session, name) for name in _OF_OUTLETS}
    connect(session, console, outlet)
    session.is_on_terminal = console.is_input_terminal and outlet.is_terminal
    try:
        with outlet:
            yield
    finally:
        for name, value in before.items():
            setattr(session, name, value)


_OF_OUTLETS = (
    "out",
    "err",
    "shown",
    "shown_leaf",
    "width",
    "text_width",
    "table_console",
    "is_on_terminal",
)


def set_widths(session: Session, console: Console, *, has_columns: bool) -> None:
    """Set the widths of a session from the terminal's present size."""
    columns = console.size().columns
    session.width = columns if has_columns else 0
    session.text_width = columns


class ProgramOutlet:
    """A command line of the system's shell."""

    is_terminal = False
    code = 0

    def __init__(self, console: Console, command: str) -> None:
        console.flush()
        self.error = console.error
        self._encode = console.encode
        self._command = command
        self._program = Program(command, console.environment)

    def write(self, text: str) -> None:
        """Write text; errors as `Program.write`."""
        self._program.write(self._encode(text))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        code = self._program.finish()
        if code < 0 and kind is not KeyboardInterrupt:
            self.error(f"{self._command}: ended by signal {-code}")
        self.code = 1 if code else 0
        return kind is ReaderGoneError

"""The loop of the interactive shell: read a line without editing, run it, print errors."""

import gc
from typing import Protocol

from kraftops.errors import KraftopsError, with_code
from kraftops_shell.session.console import Console
from kraftops_shell.session.session import Session


class Shell(Protocol):
    """A shell in one of the two forms."""

    @property
    def code(self) -> int:
        """The exit code of the session."""

    def read(self) -> str:
        """Return the next line.

        Raises:
            EOFError: the input has ended.
            KeyboardInterrupt: the user has abandoned the line.
        """

    def run_line(self, line: str) -> None:
        """Run a line.

        Raises:
            KraftopsError: the command failed.
            OSError: a file, which the error names, or standard output cannot be written.
        """

    def interrupted(self, *, is_reading: bool) -> None:
        """Go on after an interrupt during reading or during a command.

        Raises:
            KeyboardInterrupt: it ends the session.
        """


def run_shell(shell: Shell, session: Session, console: Console) -> int:
    """Read and run lines until the session or the input ends; return the exit code.

    After an error is printed, the next line is read.

    Raises:
        KeyboardInterrupt: it ends the session.
        OSError: standard output cannot be written.
    """
    gc.freeze()  # the image is large and has no cycles to find
    gc.enable()
    while not session.is_over:
        try:
            line = shell.read()
        except EOFError:
            break
        except KeyboardInterrupt:
            shell.interrupted(is_reading=True)
            continue
        try:
            shell.run_line(line)
            console.flush()
        except KeyboardInterrupt:
            shell.interrupted(is_reading=False)
        except (KraftopsError, OSError) as error:
            print_error(session, console, error)
    return shell.code


def print_error(session: Session, console: Console, error: KraftopsError | OSError) -> None:
    """Print an error of a line, with the place of the line in a script.

    Raises:
        OSError: it is about standard output: no more can be printed.
    """
    if isinstance(error, KraftopsError):
        message, hint = error.message, error.hint
        if not session.is_kafka:
            message = with_code(message, error.code)
    elif error.filename:
        message, hint = f"{error.filename}: {error.strerror}", None
    else:
        raise error
    if console.is_debugging:
        import traceback

        for line in "".join(traceback.format_exception(error)).splitlines():
            console.error(line)
        return
    console.error(f"{session.place}{message}")
    if hint:
        console.error(f"hint: {hint}")


class LineReader(Protocol):
    """Reads the lines of a session."""

    def read(self, prompt: str) -> str:
        """Return the next line.

        Raises:
            EOFError: the input has ended.
            KeyboardInterrupt: the user has abandoned the line.
        """

    def keep(self, line: str) -> None:
        """Add a line to the reader's history."""


class PlainLineReader:
    """Reads lines without editing."""

    def __init__(self, console: Console, *, is_prompting: bool, is_strict: bool = False) -> None:
        """Read the input of *console*; if *is_strict*, a last line without its end is ignored."""
        self._console = console
        self._is_prompting = is_prompting
        self._is_strict = is_strict

    def read(self, prompt: str) -> str:
        """Return the next line; errors as `LineReader.read`."""
        if self._is_prompting:
            self._console.write(prompt)
        self._console.flush()
        line = self._console.read()
        if not line or (self._is_strict and not line.endswith("\n")):
            raise EOFError
        return line.rstrip("\r\n")

    def keep(self, line: str) -> None:
        """Ignore the line: there is no history."""

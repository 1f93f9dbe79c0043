"""The loop of the interactive shell: read a line, run it, print errors."""

from __future__ import annotations

import gc
from typing import Protocol

from kraftops.errors import KraftopsError
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
        except KraftopsError as error:
            _print_error(console, error, error.message, error.hint)
        except OSError as error:
            if not error.filename:
                raise  # of standard output: no more can be printed
            _print_error(console, error, f"{error.filename}: {error.strerror}", None)
    return shell.code


def _print_error(console: Console, error: Exception, message: str, hint: str | None) -> None:
    if console.is_debugging:
        import traceback

        for line in "".join(traceback.format_exception(error)).splitlines():
            console.error(line)
        return
    console.error(message)
    if hint:
        console.error(f"hint: {hint}")

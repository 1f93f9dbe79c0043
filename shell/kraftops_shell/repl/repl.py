"""The loop of the interactive shell: lines are read and answered, and errors told."""

from __future__ import annotations

import gc
from typing import Protocol

from kraftops.errors import KraftopsError
from kraftops_shell.session.console import Console
from kraftops_shell.session.session import Session


class Shell(Protocol):
    """Who reads and answers."""

    @property
    def code(self) -> int:
        """The exit code, when all is done."""

    def read(self) -> str:
        """Return the next line.

        Raises:
            EOFError: there are no more.
            KeyboardInterrupt: it is abandoned.
        """

    def answer(self, line: str) -> None:
        """Run a line.

        Raises:
            KraftopsError: it could not be done.
            OSError: neither could this, because of the file that it names, or of standard output.
        """

    def interrupted(self, *, is_reading: bool) -> None:
        """Go on after an interrupt, of a line that was read or of a command.

        Raises:
            KeyboardInterrupt: it ends the session.
        """


def converse(shell: Shell, session: Session, console: Console) -> int:
    """Read and answer lines until the session is over or there are no more; return the exit code.

    Errors are told, and the next line is read.

    Raises:
        KeyboardInterrupt: nobody is there who would go on after it.
        OSError: standard output cannot be written.
    """
    gc.freeze()  # the image has no cycles, and is too big to be looked through again and again
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
            shell.answer(line)
            console.flush()
        except KeyboardInterrupt:
            shell.interrupted(is_reading=False)
        except KraftopsError as error:
            _tell(console, error, error.message, error.hint)
        except OSError as error:
            if not error.filename:
                raise  # of standard output: nobody would see what comes
            _tell(console, error, f"{error.filename}: {error.strerror}", None)
    return shell.code


def _tell(console: Console, error: Exception, message: str, hint: str | None) -> None:
    if console.is_debugging:
        import traceback

        for line in "".join(traceback.format_exception(error)).splitlines():
            console.error(line)
        return
    console.error(message)
    if hint:
        console.error(f"hint: {hint}")

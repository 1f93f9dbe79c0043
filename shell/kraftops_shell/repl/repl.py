"""The loop of the interactive shell: read a line, run it, print errors."""

import gc
from typing import Protocol

from kraftops.errors import KraftopsError
from kraftops_shell.repl.errors import print_error
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

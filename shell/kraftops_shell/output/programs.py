"""Programs as outlets: a command line of the user."""

from __future__ import annotations

from typing import Self

from kraftops_shell.session.console import Console
from kraftops_terminal.pager.program import Program, ReaderGoneError


class ProgramOutlet:
    """A command line of the system's shell."""

    is_terminal = False
    code = 0

    def __init__(self, console: Console, command: str) -> None:
        """Start the command."""
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

"""Lines that are given to the shell."""

from __future__ import annotations

from typing import Protocol

from kraftops_shell.session.console import Console


class Lines(Protocol):
    """Where lines come from."""

    def read(self, prompt: str) -> str:
        """Return the next line.

        Raises:
            EOFError: there are no more.
            KeyboardInterrupt: it is abandoned.
        """

    def keep(self, line: str) -> None:
        """Let a line be there to go back to."""


class PlainLines:
    """Lines as they come, from a pipe or a terminal without a cursor."""

    def __init__(self, console: Console, *, is_prompting: bool, is_strict: bool = False) -> None:
        """Read the input of *console*; where that *is strict*, a line without its end is none."""
        self._console = console
        self._is_prompting = is_prompting
        self._is_strict = is_strict

    def read(self, prompt: str) -> str:
        """Return the next line; errors as those of `Lines.read`."""
        if self._is_prompting:
            self._console.write(prompt)
        self._console.flush()
        line = self._console.read()
        if not line or (self._is_strict and not line.endswith("\n")):
            raise EOFError
        return line.rstrip("\r\n")

    def keep(self, line: str) -> None:
        """Forget the line: nobody can go back here."""

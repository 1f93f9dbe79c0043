"""Line readers: from a pipe or a terminal without a cursor; `editor` has another."""

from typing import Protocol

from kraftops_shell.session.console import Console


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

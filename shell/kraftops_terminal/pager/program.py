"""A program that reads what is written to it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subprocess import Popen


class ReaderGoneError(Exception):
    """The reader of the output has closed it."""


class Program:
    """A program that reads from a pipe."""

    def __init__(self, command: str, environment: Mapping[str, str]) -> None:
        """Start a command line of the system's shell."""
        import subprocess

        self._process: Popen[bytes] = subprocess.Popen(  # noqa: S602 - it is what the user typed
            command, shell=True, stdin=subprocess.PIPE, env=environment
        )

    def write(self, data: bytes) -> None:
        """Write bytes to the program.

        Raises:
            ReaderGoneError: it has closed its input.
        """
        assert self._process.stdin
        try:
            self._process.stdin.write(data)
        except BrokenPipeError:
            raise ReaderGoneError from None

    def finish(self) -> int:
        """Close the pipe and wait; return the exit code.

        An interrupt reaches the program, too, which may go on after it.
        """
        assert self._process.stdin
        while True:
            try:
                with suppress(BrokenPipeError):
                    self._process.stdin.close()
                return self._process.wait()
            except KeyboardInterrupt:
                continue

"""Programs as outlets: a command line of the user, or a pager."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from kraftops_shell.output.outlets import ReaderGoneError
from kraftops_shell.session.console import Console
from kraftops_terminal.escaping import escaped_lines

if TYPE_CHECKING:
    from subprocess import Popen

_NO_SUCH_PROGRAM = 127
_PROGRAM = re.compile(r"[\w./~+-]+")
_LESS_OPTIONS = "FIRX"  # one screen is only printed; ignore case; colours; leave the text there


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


class Pager:
    """The terminal, and a pager as soon as the output is longer than a screen.

    No more than a screen is buffered.
    """

    is_terminal = True
    code = 0

    def __init__(self, console: Console, command: str) -> None:
        """Use the pager that *command* starts."""
        self._console = console
        self._command = command
        self._columns, self._rows = console.size()
        self._buffer: list[str] = []
        self._lines = 1  # for the next prompt
        self._pager: Program | None = None
        self._errors: list[str] = []

    def write(self, text: str) -> None:
        """Write text; errors as `Program.write`."""
        if self._console.is_escaping:
            text = escaped_lines(text, keeps_colors=self._console.has_color(for_terminal=True))
        if self._pager is None:
            self._buffer.append(text)
            self._lines += sum(len(line) // self._columns for line in text.splitlines())
            self._lines += text.count("\n")
            if self._lines <= self._rows:
                return
            self._console.flush()
            environment = _pager_environment(self._console.environment)
            self._pager = Program(_or_cat(self._command), environment)
            text = "".join(self._buffer)
            self._buffer.clear()
        self._pager.write(self._console.encode(text))

    def error(self, line: str) -> None:
        """Keep a line for standard error until the pager has ended."""
        self._errors.append(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        if self._pager and self._pager.finish() == _NO_SUCH_PROGRAM:
            self._errors.append(f"{self._command}: there is no such program; PAGER names a pager")
        for text in self._buffer:
            self._console.write(text)
        self._console.flush()
        for line in self._errors:
            self._console.error(line)
        return kind is ReaderGoneError


def pager_command(environment: Mapping[str, str]) -> str | None:
    """Return the command of the pager; None for no pager."""
    import shutil

    named = environment.get("PAGER")
    if named is not None:
        return named.strip() if named.strip() not in ("", "cat") else None
    return "less" if shutil.which("less", path=environment.get("PATH")) else None


def _or_cat(command: str) -> str:
    """Return a command line that falls back to `cat` where the program is missing."""
    name = command.split(maxsplit=1)[0]
    if not _PROGRAM.fullmatch(name):
        return command  # more than a name: left to the system's shell
    missing = f"cat; exit {_NO_SUCH_PROGRAM}"
    return f"if command -v {name} >/dev/null; then {command}; else {missing}; fi"


def _pager_environment(environment: Mapping[str, str]) -> dict[str, str]:
    return {"LESS": _LESS_OPTIONS, **environment}

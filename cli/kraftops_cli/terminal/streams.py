"""Standard output and standard error of commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BufferedWriter, FileIO, TextIOWrapper
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

from kraftops.answers.version import JSON_VERSION
from kraftops.errors import with_code
from kraftops.fileio.writing import write_all
from kraftops.memory import USUAL

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from kraftops.errors import KraftopsError
    from kraftops_terminal.console import Console
    from kraftops_terminal.escaped_output import EscapedOutput
    from kraftops_terminal.status import Status

_LINES_AT_ONCE = 4096  # one call of write for many lines


class Terminal:
    """Standard output as bytes and standard error as lines, and what was asked of the whole run.

    *command* is the command that runs, *is_json* says that a program reads the output, and
    *has_kafkas_form* that it has Kafka's form: texts and exit codes of Kafka's tool. *color* is
    `auto`, `always` or `never`, *keeps_escapes* says that data reaches a terminal as it is, and
    *budget* is what the run may take.
    """

    def __init__(self, name: str, *, is_json: bool = False) -> None:
        """Make the streams of the tool *name*; its messages begin with this name."""
        self.name = name
        self.command = name
        self.is_json = is_json
        self.has_kafkas_form = name.startswith("kafka-")  # until the command is known
        self.color = "auto"
        self.budget = USUAL
        self.keeps_escapes = False
        self._status: Status | None = None
        self._stdout: BinaryIO | None = None
        self._is_terminal: bool | None = None
        self._answer: dict[str, object] = {}
        self._escaped: EscapedOutput | None = None

    @property
    def status(self) -> Status:
        """Lines on standard error that stand below all others until the next is written."""
        if self._status is None:
            from kraftops_terminal.status import Status

            self._status = Status()
        return self._status

    def has_seen_status(self, output: int) -> bool:
        """Tell whether status is seen, and does not disturb output to the descriptor *output*."""
        if not os.isatty(2):
            return False
        from kraftops_terminal.status import is_seen

        return is_seen(output)

    def erase_status(self) -> None:
        """Erase the status, before other lines are written."""
        if self._status:
            self._status.erase()

    @property
    def _out(self) -> BinaryIO:
        if self._stdout is None:
            # Not sys.stdout: it has no buffer if the interpreter runs unbuffered.
            self._stdout = BufferedWriter(PatientFile(1))
        return self._stdout

    def write(self, text: str) -> None:
        """Write *text* to standard output, file names by their original bytes.

        On a terminal it is escaped, but for line ends and colours: data with these is escaped by
        whoever writes it.
        """
        self.erase_status()
        if self.is_escaping:
            from kraftops_terminal.escaping import escaped_lines

            text = escaped_lines(text, keeps_colors=self.console.has_color)
        self._out.write(encoded(text))

    def json(self, command: str, fields: Mapping[str, object]) -> None:
        """Write a JSON object of *fields* on a line, with the name of the command.

        This is for commands that answer again and again; the others have one `answer`.
        """
        self.write(json_line(command, fields))

    def answer(self, command: str, fields: Mapping[str, object]) -> None:
        """Add *fields* to the one JSON object that answers *command*.

        It is written when the command ends: a failure until then is reported in the same object.
        """
        self._answer |= {"command": command, **fields}

    @property
    def has_answer(self) -> bool:
        """Whether there is an answer that is not yet written."""
        return bool(self._answer)

    def end_answer(self, failure: Mapping[str, object] | None = None) -> None:
        """Write the answer, if there is one, with the fields of a *failure* before all others."""
        answer, self._answer = self._answer, {}
        if answer or failure:
            command = str(answer.pop("command", self.command))
            self.json(command, {**(failure or {}), **answer})

    @property
    def fd(self) -> int:
        """The descriptor of standard output, which is flushed before."""
        self.erase_status()
        self.flush()
        return self._out.fileno()

    @property
    def is_escaping(self) -> bool:
        """Whether standard output is a terminal whose user did not choose `--no-escape`."""
        if self._is_terminal is None:
            self._is_terminal = os.isatty(self.fd)
        return self._is_terminal and not self.keeps_escapes

    def shown(self, text: str) -> str:
        """Return text from data as it is written to standard output: escaped on a terminal."""
        return _escaped(text) if self.is_escaping else text

    @contextmanager
    def data_fd(self, *, is_csv: bool = False) -> Iterator[int]:
        """Give a descriptor for data on standard output: on a terminal, it is escaped.

        With *is_csv*, ends of lines in its cells are escaped, too.
        """
        if not self.is_escaping:
            yield self.fd
            return
        from kraftops_terminal.escaped_output import EscapedOutput

        with EscapedOutput(self.fd, is_csv=is_csv) as self._escaped:
            yield self._escaped.fd
        self._escaped = None

    @property
    def console(self) -> Console:
        """Standard output as a console."""
        from kraftops_terminal.console import console_on

        return console_on(self.fd, self.write, self.color)

    def flush(self) -> None:
        """Flush standard output."""
        if self._stdout:
            self._stdout.flush()
        if self._escaped:
            self._escaped.drain()

    def line(self, text: str) -> None:
        """Write a line to standard error, after a flush of standard output."""
        self.erase_status()
        self.flush()
        if sys.stderr is None:  # the caller has closed it
            return
        try:
            sys.stderr.write(_escaped(text) + "\n")
            sys.stderr.flush()
        except OSError:
            pass  # a closed standard error must not stop it

    def lines(self, texts: Iterable[str]) -> None:
        """Write many lines to standard error."""
        self.erase_status()
        remaining = iter(texts)
        while some := list(islice(remaining, _LINES_AT_ONCE)):
            self.flush()
            if sys.stderr is None:
                return
            with suppress(OSError):
                sys.stderr.write("\n".join(map(_escaped, some)) + "\n")
                sys.stderr.flush()

    def failure(self, error: KraftopsError) -> None:
        self.error(error.message, error.hint, error.code)

    def error(self, message: str, hint: str | None = None, code: str = "failed") -> None:
        """Write an error in one line, in our forms with its code, and its hint."""
        if self.is_json or not self.has_kafkas_form:
            message = with_code(message, code)
        self.line(f"{self.name}: {message}")
        if hint:
            self.line(f"hint: {hint}")


def json_line(command: str, fields: Mapping[str, object]) -> str:
    """Return a JSON object with the name of a command, the version of its form, and *fields*."""
    import json

    answer = {"command": command, "formatVersion": JSON_VERSION, **fields}
    return json.dumps(answer, ensure_ascii=False) + "\n"


class PatientFile(FileIO):
    """A descriptor for output; one that is non-blocking is waited for."""

    def __init__(self, fd: int) -> None:
        """Use the descriptor, and leave it open."""
        super().__init__(fd, "w", closefd=False)

    def write(self, data: ReadableBuffer, /) -> int:
        buffer = memoryview(data).cast("B")
        write_all(self.fileno(), buffer)
        return len(buffer)


def wait_for_slow_streams() -> None:
    """Have texts wait for streams that another process, which shares them, made non-blocking."""
    for name, fd in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is not None and not os.get_blocking(fd):
            file = BufferedWriter(PatientFile(fd))
            setattr(sys, name, TextIOWrapper(file, stream.encoding, stream.errors))


def _escaped(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    from kraftops_terminal.escaping import escaped

    return escaped(text)


def encoded(text: str) -> bytes:
    """Return text in UTF-8, file names by their original bytes, other surrogates as in Java."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def drop_output() -> None:
    """Discard buffered output, since standard output is closed."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)

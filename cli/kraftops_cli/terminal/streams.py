"""The streams that commands write to."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import islice
from typing import BinaryIO

JSON_VERSION = 1
"""Of the JSON that the tools print: it changes when a field changes its meaning."""

_LINES_AT_ONCE = 4096
_CONTROLS = {number: f"\\x{number:02x}" for number in [*range(0x20), *range(0x7F, 0xA0)]}
_CONTROLS |= {ord("\n"): "\\n", ord("\r"): "\\r"}


class Terminal:
    """Standard output as bytes and standard error as lines."""

    def __init__(self, name: str) -> None:
        """Make one for the tool *name*, with which its own messages begin."""
        self._name = name
        self._stdout: BinaryIO | None = None

    @property
    def _out(self) -> BinaryIO:
        if self._stdout is None:
            # Not sys.stdout: its buffer is missing when the interpreter runs unbuffered.
            self._stdout = open(1, "wb", closefd=False)  # noqa: SIM115 - lives as the process does
        return self._stdout

    def write(self, text: str) -> None:
        """Write *text* to standard output, file names as the bytes that they were."""
        self._out.write(encoded(text))

    def json(self, command: str, data: Mapping[str, object]) -> None:
        """Write *data* as a JSON object on one line, with the command that made it."""
        import json

        told = {"command": command, "formatVersion": JSON_VERSION, **data}
        self.write(json.dumps(told, ensure_ascii=False) + "\n")

    @property
    def fd(self) -> int:
        """The descriptor of standard output, for who writes to it; nothing is held back then."""
        self.flush()
        return self._out.fileno()

    def flush(self) -> None:
        """Send what is still held back."""
        if self._stdout:
            self._stdout.flush()

    def line(self, text: str) -> None:
        """Write a line to standard error, after what standard output was given."""
        self.flush()
        if sys.stderr is None:  # the caller closed it
            return
        try:
            sys.stderr.write(printable(text) + "\n")
            sys.stderr.flush()
        except OSError:
            pass  # nobody reads it: not a reason to stop

    def lines(self, texts: Iterable[str]) -> None:
        """Write many lines to standard error, as `line` does each."""
        left = iter(texts)
        while some := list(islice(left, _LINES_AT_ONCE)):
            self.flush()
            if sys.stderr is None:
                return
            with suppress(OSError):
                sys.stderr.write("\n".join(map(printable, some)) + "\n")
                sys.stderr.flush()

    def error(self, message: str, hint: str | None = None) -> None:
        """Write an error of the request, one line, and its hint."""
        self.line(f"{self._name}: {message}")
        if hint:
            self.line(f"hint: {hint}")


def encoded(text: str) -> bytes:
    """Return text in UTF-8, file names as the bytes that they were, other surrogates as Java's."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def printable(text: str) -> str:
    """Return *text* in a form that standard error can take, on one line."""
    if text.isascii() and text.isprintable():
        return text
    return encoded(text.translate(_CONTROLS)).decode("utf-8", "backslashreplace")


def drop_output() -> None:
    """Let whatever is still buffered for standard output vanish, since nobody reads it."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)

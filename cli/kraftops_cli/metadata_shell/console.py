"""The console of the metadata shell: streams and environment of this process."""

from __future__ import annotations

import os
from functools import cache
from typing import BinaryIO

from kraftops.errors import SourceError
from kraftops_cli.terminal.streams import Terminal, encoded
from kraftops_shell.session.console import Console
from kraftops_terminal.descriptors import is_terminal


def console_of(terminal: Terminal) -> Console:
    """Return the streams and the environment of this process."""
    return Console(
        write=terminal.write,
        flush=terminal.flush,
        error=terminal.line,
        read=_read_line,
        encode=encoded,
        environment=dict(os.environ),
        is_input_terminal=is_terminal(0),
        is_output_terminal=is_terminal(1),
        color=terminal.color,
        is_escaping=not terminal.keeps_escapes,
    )


def _read_line() -> str:
    """Return the next line of standard input; nothing at its end.

    Raises:
        SourceError: it cannot be read.
    """
    try:
        return _input().readline().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise SourceError(f"cannot read standard input: {error.strerror}") from None


@cache
def _input() -> BinaryIO:
    return open(0, "rb", closefd=False)

"""Output of others to a terminal, escaped on its way."""

import codecs
import os
from threading import Lock
from typing import Self

from kraftops.fileio.writing import write_all
from kraftops.parallel.background import BackgroundCall
from kraftops_terminal.escaping import escaped_lines

_BLOCK = 1 << 16  # bytes: what a pipe of Linux holds
_PAUSE = 0.001  # seconds between looks at a pipe that is not empty


class EscapedOutput:
    """A descriptor for UTF-8, which a thread writes to a terminal, escaped.

    A context manager that ends when all is written. Who writes after the terminal has gone gets
    `BrokenPipeError`.
    """

    def __init__(self, terminal: int, *, is_csv: bool = False) -> None:
        """Begin with the descriptor of a terminal; ends of lines in quoted CSV are escaped."""
        self._terminal = terminal
        self._is_csv = is_csv
        self._is_quoted = False
        self._reader, self.fd = os.pipe()
        self._writing = Lock()
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._copying: BackgroundCall[None] | None = None

    def __enter__(self) -> Self:
        self._copying = BackgroundCall(self._copy)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)
        if self._copying:
            self._copying.wait()

    def drain(self) -> None:
        """Wait until all is written that came before."""
        from select import select

        copying = self._copying
        while copying and not copying.wait(0) and select([self._reader], [], [], 0)[0]:
            copying.wait(_PAUSE)
        with self._writing:
            pass

    def _copy(self) -> None:
        from select import select

        try:
            while True:
                select([self._reader], [], [])
                with self._writing:
                    data = os.read(self._reader, _BLOCK)
                    text = self._decoder.decode(data, final=not data)
                    if self._is_csv:
                        text = self._on_one_line(text)
                    write_all(self._terminal, escaped_lines(text).encode())
                    if not data:
                        return
        except OSError:
            pass  # the terminal is gone
        finally:
            os.close(self._reader)

    def _on_one_line(self, text: str) -> str:
        """Return CSV with escapes for the ends of lines in its cells."""
        parts = text.split('"')
        for index, part in enumerate(parts):
            if index:
                self._is_quoted = not self._is_quoted
            if self._is_quoted:
                parts[index] = part.replace("\n", "\\n")
        return '"'.join(parts)

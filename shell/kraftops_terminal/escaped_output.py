"""Output of others to a terminal, escaped on its way."""

from __future__ import annotations

import codecs
import os
from threading import Lock, Thread
from typing import Self

from kraftops.fileio.writing import write_all
from kraftops_terminal.escaping import escaped_lines

_BLOCK = 1 << 16
_PAUSE = 0.001  # seconds between looks at a pipe that is not empty


class EscapedOutput:
    """A descriptor for UTF-8, which a thread writes to a terminal, escaped.

    A context manager that ends when all is written. Who writes after the terminal has gone gets
    `BrokenPipeError`.
    """

    def __init__(self, terminal: int) -> None:
        """Begin with the descriptor of a terminal."""
        self._terminal = terminal
        self._reader, self.fd = os.pipe()
        self._writing = Lock()
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._thread = Thread(target=self._copy, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)
        self._thread.join()

    def drain(self) -> None:
        """Wait until all is written that came before."""
        from select import select
        from time import sleep

        while self._thread.is_alive() and select([self._reader], [], [], 0)[0]:
            sleep(_PAUSE)
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
                    write_all(self._terminal, escaped_lines(text).encode())
                    if not data:
                        return
        except OSError:
            pass  # the terminal is gone
        finally:
            os.close(self._reader)

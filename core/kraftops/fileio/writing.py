"""Write output to a file descriptor, in pieces that are worth a call of the system."""

from __future__ import annotations

import os
from collections.abc import Callable

_WORTH_WRITING = 1 << 18


def write_all(fd: int, data: bytes) -> None:
    """Write all of *data*, waiting where the descriptor itself would not.

    Raises:
        OSError: it cannot be written; `BrokenPipeError`, if nobody reads it.
    """
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(fd, left) :]
        except BlockingIOError:  # whoever shares it with us has made it so
            from select import POLLOUT, poll

            waiting = poll()
            waiting.register(fd, POLLOUT)
            waiting.poll()


class Chunks:
    """Joins small pieces of output into larger ones, which it gives to *sink*."""

    def __init__(self, sink: Callable[[bytes], None]) -> None:
        self._sink = sink
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, chunk: str | bytes) -> None:
        """Add a piece; file names in a text become the bytes that they were."""
        if isinstance(chunk, str):
            chunk = chunk.encode("utf-8", "surrogateescape")
        self._parts.append(chunk)
        self._size += len(chunk)
        if self._size >= _WORTH_WRITING:
            self.flush()

    def flush(self) -> None:
        """Give on what is still held back."""
        if self._size:
            parts, self._parts, self._size = self._parts, [], 0
            self._sink(parts[0] if len(parts) == 1 else b"".join(parts))

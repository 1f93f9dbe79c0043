"""Output to a file descriptor, in blocks large enough for a system call each."""

import os
from collections.abc import Callable

_BLOCK_SIZE = 1 << 18  # one call of write for many lines


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Write all of *data*; wait where the descriptor is non-blocking.

    Raises:
        OSError: it cannot be written; `BrokenPipeError` where nobody reads it.
    """
    unwritten = memoryview(data)
    while unwritten:
        try:
            unwritten = unwritten[os.write(fd, unwritten) :]
        except BlockingIOError:  # another process that has it made it non-blocking
            from select import POLLOUT, poll

            waiting = poll()
            waiting.register(fd, POLLOUT)
            waiting.poll()


class Chunks:
    """Buffer of output: joins small pieces into blocks for *sink*."""

    def __init__(self, sink: Callable[[bytes], None]) -> None:
        self._sink = sink
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, chunk: str | bytes) -> None:
        """Add a piece; file names in a text become their bytes again."""
        if isinstance(chunk, str):
            chunk = chunk.encode("utf-8", "surrogateescape")
        self._parts.append(chunk)
        self._size += len(chunk)
        if self._size >= _BLOCK_SIZE:
            self.flush()

    def flush(self) -> None:
        """Give what is left to the sink."""
        if self._size:
            parts, self._parts, self._size = self._parts, [], 0
            self._sink(parts[0] if len(parts) == 1 else b"".join(parts))

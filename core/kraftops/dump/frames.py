"""Messages between a parent and its worker processes, through pipes."""

from __future__ import annotations

import os
import pickle
from struct import Struct
from typing import Any

from kraftops.dump.writing import write_all

TASK = b"t"  # to a worker: work on this
TURN = b"w"  # to a worker: write the output of the oldest task that you have
RESULT = b"r"  # from the worker that writes: something else was found
DONE = b"d"  # from the worker that writes: the task's output is written
FAILED = b"f"  # from a worker: this went wrong
NEXT = b"n"  # from a worker: it has nothing to work on

_HEAD = Struct(">cI")
_BLOCK = 1 << 16


def send_frame(fd: int, kind: bytes, payload: bytes = b"") -> None:
    """Write a message to a pipe.

    Raises:
        BrokenPipeError: nobody is there to read it.
    """
    write_all(fd, _HEAD.pack(kind, len(payload)) + payload)


class FrameReader:
    """Reads messages from a pipe."""

    def __init__(self, fd: int) -> None:
        """Read from *fd*, which stays the caller's to close."""
        self.fd = fd
        self._buffer = bytearray()

    def receive(self) -> list[tuple[bytes, bytes]]:
        """Wait for bytes; return the messages, kind and payload, that they have made whole.

        Raises:
            EOFError: nobody is there to write any more.
        """
        block = os.read(self.fd, _BLOCK)
        if not block:
            raise EOFError
        buffer, pos = self._buffer, 0
        buffer += block
        found = []
        while len(buffer) - pos >= _HEAD.size:
            kind, size = _HEAD.unpack_from(buffer, pos)
            end = pos + _HEAD.size + size
            if end > len(buffer):
                break
            found.append((kind, bytes(buffer[pos + _HEAD.size : end])))
            pos = end
        del buffer[:pos]
        return found


def pack(thing: object) -> bytes:
    """Return anything that can be pickled as a payload."""
    return pickle.dumps(thing)


def unpack(payload: bytes) -> Any:
    """Return what was packed, by a process that is forked from this one or its parent."""
    return pickle.loads(payload)  # noqa: S301 - from nowhere else

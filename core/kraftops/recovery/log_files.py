"""Files of a metadata log: their state, and steps that write or remove them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from kraftops.fileio.atomic import write_file
from kraftops.fileio.directories import Owner, sync_directory
from kraftops.log.ranges import ByteRange

TEMPORARY = ".recovering"
"""End of the names of unfinished files, which no server knows."""
_BLOCK = 1 << 20  # bytes that are copied at once

FileStates = dict[str, tuple[int, int]]
"""Size and time of change in ns of each file, by name."""


def file_states(folder: str) -> FileStates:
    """Return the states of the finished files of a directory; none if it does not exist.

    Raises:
        OSError: it cannot be read.
    """
    states = {}
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False) and not entry.name.endswith(TEMPORARY):
                status = entry.stat()
                states[entry.name] = status.st_size, status.st_mtime_ns
    return states


def write_parts(
    path: str, parts: Sequence[ByteRange | bytes], owner: Owner | None, time_ns: int | None = None
) -> None:
    """Make a file of parts, or replace it; *time_ns* is its time of change.

    Raises:
        OSError: it cannot be made; then nothing has changed.
    """
    write_file(path, path + TEMPORARY, _blocks(parts), owner=owner, time_ns=time_ns)


def remove_file(path: str) -> None:
    """Remove a file, if it is there.

    Raises:
        OSError: it cannot be removed.
    """
    with suppress(FileNotFoundError):
        os.unlink(path)
        sync_directory(os.path.dirname(path))


def whole_file(path: str) -> ByteRange:
    """Return the range of all bytes of a file."""
    return ByteRange(path, 0, os.path.getsize(path))


def _blocks(parts: Sequence[ByteRange | bytes]) -> Iterator[bytes]:
    for part in parts:
        if isinstance(part, bytes):
            yield part
            continue
        with open(part.path, "rb") as file:
            file.seek(part.start)
            remaining = part.size
            while remaining:
                block = file.read(min(remaining, _BLOCK))
                if not block:
                    raise OSError(0, "it has shrunk", part.path)
                remaining -= len(block)
                yield block

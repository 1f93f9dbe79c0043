"""Files of a metadata log, copied whole or in parts: under a temporary name, synced, renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from kraftops.fileio.atomic import Owner, give, sync_directory
from kraftops.log.ranges import ByteRange

TEMPORARY = ".recovering"
"""What the names of unfinished files end in, which no server knows."""
_BLOCK = 1 << 20

State = dict[str, tuple[int, int]]
"""Sizes, and times of change in ns, of files by their names."""


def state_of(folder: str) -> State:
    """Return what files are in a directory, but for unfinished ones; none if it is not there.

    Raises:
        OSError: it cannot be read.
    """
    found = {}
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False) and not entry.name.endswith(TEMPORARY):
                status = entry.stat()
                found[entry.name] = status.st_size, status.st_mtime_ns
    return found


def put(
    path: str, parts: Sequence[ByteRange | bytes], owner: Owner | None, time_ns: int | None = None
) -> None:
    """Make a file of parts of others, or replace it; *time_ns* is that of its last change.

    Raises:
        OSError: it cannot be made; then nothing has changed.
    """
    temporary = path + TEMPORARY
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        with open(fd, "wb") as file:
            file.writelines(_blocks(parts))
            file.flush()
            give(fd, owner)
            os.fsync(fd)
        if time_ns is not None:
            os.utime(temporary, ns=(time_ns, time_ns))
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_directory(os.path.dirname(path))


def remove(path: str) -> None:
    """Remove a file, if it is there.

    Raises:
        OSError: it cannot be removed.
    """
    with suppress(FileNotFoundError):
        os.unlink(path)
        sync_directory(os.path.dirname(path))


def copied(path: str) -> ByteRange:
    """Return all of a file as a part of another one."""
    return ByteRange(path, 0, os.path.getsize(path))


def _blocks(parts: Sequence[ByteRange | bytes]) -> Iterator[bytes]:
    for part in parts:
        if isinstance(part, bytes):
            yield part
            continue
        with open(part.path, "rb") as file:
            file.seek(part.start)
            left = part.size
            while left:
                block = file.read(min(left, _BLOCK))
                if not block:
                    raise OSError(0, "it has shrunk", part.path)
                left -= len(block)
                yield block

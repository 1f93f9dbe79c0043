"""Files that people write, read whole up to a size that none of them has."""

from __future__ import annotations

import errno
import os

CONFIG_BYTES = 4 << 20
PLAN_BYTES = 64 << 20  # the replicas of half a million partitions


def read_whole(path: str, most: int) -> bytes:
    """Return the bytes of a file, a device or a FIFO.

    Raises:
        OSError: it cannot be read, or has more than *most* bytes.
    """
    with open(path, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return data

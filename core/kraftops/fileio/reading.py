"""Files that people write, read whole up to a size that none of them has."""

import errno
import os
import stat

from kraftops.fileio.mounts import archive_of, extent_at

# server.properties have some thousand bytes; a log that is named by mistake more.
CONFIG_BYTES = 4 << 20
PLAN_BYTES = 64 << 20  # the replicas of half a million partitions
_SMALL_BYTES = 16 << 20  # checkpoints have 20 to 300 for a partition


def read_whole(path: str, most: int) -> bytes:
    """Return the bytes of a file, a device or a FIFO.

    Raises:
        OSError: it cannot be read, or has more than *most* bytes.
    """
    if extent := extent_at(path):
        data = extent.read_at(0, most + 1)
    else:
        with open(path, "rb") as file:
            data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return data


def read_small(path: str) -> bytes:
    """Return the bytes of a small regular file.

    Raises:
        OSError: it cannot be read, or is not a regular file, or is none that is small.
    """
    if extent_at(path):
        return read_whole(path, _SMALL_BYTES)
    # Non-blocking: a FIFO in place of a file must not hang its reader.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(fd, "rb") as file:
        kind = os.fstat(fd).st_mode
        if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):  # reading reports a directory itself
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        data = file.read(_SMALL_BYTES + 1)
    if len(data) > _SMALL_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return data


def lost_target(path: str) -> str | None:
    """Return what a symbolic link leads to, if nothing is there: the disk may not be mounted."""
    return os.path.realpath(path) if os.path.islink(path) and not os.path.exists(path) else None


def is_forbidden(path: str) -> bool:
    """Tell whether this user may not read a file or directory, or not even look for it."""
    if archive_of(path):
        return False
    try:
        os.stat(path)
    except PermissionError:
        return True
    except (OSError, ValueError):  # it does not exist, or no file can have such a name
        return False
    return not os.access(path, os.R_OK)

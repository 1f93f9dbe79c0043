"""Ranges of a whole file."""

from kraftops.log.log_file import LogFile
from kraftops.log.ranges import ByteRange, cut_log


def cut_file(path: str, target_bytes: int) -> list[ByteRange]:
    """Return ranges of about *target_bytes* that together are the whole log *path*."""
    with LogFile(path) as log:
        return list(cut_log(log, target_bytes))

"""Bytes of a part of a disk by what they are for, and sums of them."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Space:
    """Bytes by the names of files; None for what is not known, as from DescribeLogDirs.

    *pending_deletion* are files and directories that a broker has renamed, and removes after
    `file.delete.delay.ms`. *allocated* is what the file system has given: less than the sizes where
    files are sparse, as preallocated indexes of 10 MiB are.
    """

    log: int = 0
    segments: int | None = 0
    index: int | None = 0
    pending_deletion: int | None = 0
    stray: int | None = 0
    tier_cache: int | None = 0
    other: int | None = 0
    allocated: int | None = 0

    @classmethod
    def told_by_broker(cls, size: int) -> Self:
        """Return the space of a replica by DescribeLogDirs, which has the segments alone.

        `UnifiedLog.size` sums up the logs of segments that are not deleted.
        """
        return cls(
            log=size,
            segments=None,
            index=None,
            pending_deletion=None,
            stray=None,
            tier_cache=None,
            other=None,
            allocated=None,
        )

    @property
    def total(self) -> int:
        """All sizes that are known."""
        parts = (self.index, self.pending_deletion, self.stray, self.tier_cache, self.other)
        return self.log + sum(part or 0 for part in parts)

    @property
    def taken(self) -> int:
        """What fills the disk, as far as that is known: sparse files take less than their size."""
        return self.total if self.allocated is None else self.allocated


_NAMES = tuple(field.name for field in fields(Space))


def sum_of(spaces: Iterable[Space]) -> Space:
    """Add up; what is unknown of one is unknown of all (None)."""
    spaces = list(spaces)
    sums: dict[str, Any] = {}
    for name in _NAMES:
        column = [getattr(space, name) for space in spaces]
        sums[name] = None if None in column else sum(column)
    return Space(**sums)

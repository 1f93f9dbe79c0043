"""The order of a log: offsets and epochs of batches, and findings where they do not continue."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

from kraftops.engine.fold_contract import BatchHead
from kraftops.image.state.findings import EPOCH, GAP, LATE_START, REPEAT
from kraftops.log.batch import Header

_NO_OFFSET = 1 << 63


class LogOrder:
    """The next offset and the epoch of a log while it is read."""

    def __init__(self) -> None:
        self.is_log = False
        """Whether the file is a segment: a snapshot has offsets of its own."""
        self.next_offset: int | None = None
        """The offset expected next; None where it is unknown."""
        self.logged: int | None = None
        """The offset after the last batch of a segment."""
        self.repeated = -1
        """The last offset that was read before a repeat; -1 without one."""
        self.epoch = -1
        self._path = ""  # the file with the last repeat

    def copy(self) -> LogOrder:
        return copy(self)

    def follow(self, header: Header, path: str) -> Iterator[tuple[str, str]]:
        """Take the next batch of a file; yield kind and reason of findings."""
        if not self.is_log:
            return
        expected, offset = self.next_offset, header.base_offset
        if expected is None and offset > 0:
            reason = f"the log begins at offset {offset}, and there is no snapshot before it"
            yield LATE_START, reason
        elif expected is not None and offset > expected:
            yield GAP, f"offsets {expected} to {offset - 1} are missing"
        if self.logged is not None and offset < self.logged:
            if path != self._path:
                yield REPEAT, f"offsets from {offset} on are repeated, and left out"
            self._path = path
            self.repeated = self.logged - 1
            if header.last_offset < self.logged:
                return
        self.logged = header.last_offset + 1
        if header.leader_epoch < self.epoch:
            yield EPOCH, f"leader epoch {header.leader_epoch} comes after {self.epoch}"
        self.epoch = header.leader_epoch
        self.next_offset = max(header.last_offset + 1, expected or 0)

    def is_known(self) -> bool:
        """Tell whether the next offset is known and can exist."""
        return not self.is_log or (self.next_offset is not None and self.next_offset < _NO_OFFSET)

    def skip_to(self, last: BatchHead) -> None:
        """Go on after batches in order, up to *last*."""
        if self.is_log:
            self.next_offset = self.logged = last.last_offset + 1
            self.epoch = last.epoch

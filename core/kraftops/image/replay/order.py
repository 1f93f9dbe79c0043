"""How the batches of a log follow on each other: where offsets or epochs do not, it is told."""

from __future__ import annotations

from collections.abc import Iterator

from kraftops.engine.fold_contract import BatchHead
from kraftops.image.state.findings import FindingKind
from kraftops.log.batch import Header

_NO_OFFSET = 1 << 63


class Order:
    """Where in a log reading is."""

    def __init__(self) -> None:
        self.is_log = False
        """Whether offsets are those of the log: a snapshot's are its own."""
        self.next_offset: int | None = None
        """The offset that is to come; None where nobody knows."""
        self.logged: int | None = None
        """The offset after the last batch that was no snapshot's."""
        self.repeated = -1
        """The offset up to which the log was read before it came again."""
        self.epoch = -1
        self._path = ""  # the file whose offsets were last found to come again

    def follow(self, header: Header, path: str) -> Iterator[tuple[FindingKind, str]]:
        """Go on with a batch of a file; yield what is odd about that."""
        if not self.is_log:
            return
        expected, offset = self.next_offset, header.base_offset
        if expected is None and offset > 0:
            reason = f"the log begins at offset {offset}, and there is no snapshot before it"
            yield FindingKind.START, reason
        elif expected is not None and offset > expected:
            yield FindingKind.GAP, f"offsets {expected} to {offset - 1} are missing"
        if self.logged is not None and offset < self.logged:
            if path != self._path:
                yield FindingKind.REPEAT, f"offsets from {offset} on come again: they are left out"
            self._path = path
            self.repeated = self.logged - 1
            if header.last_offset < self.logged:
                return
        self.logged = header.last_offset + 1
        if header.leader_epoch < self.epoch:
            yield FindingKind.EPOCH, f"leader epoch {header.leader_epoch} comes after {self.epoch}"
        self.epoch = header.leader_epoch
        self.next_offset = max(header.last_offset + 1, expected or 0)

    def can_run(self) -> bool:
        """Tell whether it is known what comes next, and can come."""
        return not self.is_log or (self.next_offset is not None and self.next_offset < _NO_OFFSET)

    def ran(self, last: BatchHead) -> None:
        """Go on behind batches that followed on each other as they should."""
        if self.is_log:
            self.next_offset = self.logged = last.last_offset + 1
            self.epoch = last.epoch

"""The leader-epoch-checkpoint of a partition, beside its batches (`LeaderEpochFileCache`)."""

import os
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from kraftops.dump.check.findings import Findings
from kraftops.dump.small_files import content_of
from kraftops.engine.scan_contract import SeenBatch
from kraftops.errors import SourceError
from kraftops.server.loader.text_files import EpochEntry
from kraftops.server.partition_files import EPOCHS, PartitionFiles

_NO_EPOCH = -1  # as Kafka stores it (`RecordBatch.NO_PARTITION_LEADER_EPOCH`)
_NO_END = 1 << 63  # above every offset: the newest epoch has no end yet


class EpochCheck:
    """Check of a leader-epoch-checkpoint, batch by batch."""

    def __init__(
        self,
        files: PartitionFiles,
        findings: Findings,
        *,
        log_start: int | None,
        entries: Sequence[EpochEntry] | None = None,
    ) -> None:
        """Take the *entries* of the file, as the loader read them; None if it could not.

        Batches before *log_start* may no longer have an epoch; None is an unknown one.
        """
        self.path = os.path.join(files.path, EPOCHS)
        self.files, self.findings = files, findings
        self._exists = files.has_epochs
        self._log_start = log_start
        self.starts = entries if self._exists else None
        if self._exists and entries is None:
            findings.add("bad-epochs", self.path, _damage(self.path, files))
        self._offsets = [start.start_offset for start in self.starts or ()]
        self._current = (_NO_END, 0, _NO_EPOCH)
        """The first offset, the end and the number of the epoch of the batch before."""
        self._is_told = False
        for entry, following in pairwise(self.starts or ()):
            if following.epoch <= entry.epoch or following.start_offset <= entry.start_offset:
                self._differs(
                    f"epoch {following.epoch} from {following.start_offset} on comes after epoch "
                    f"{entry.epoch} from {entry.start_offset} on"
                )

    @property
    def first_offset(self) -> int | None:
        """The offset of the first epoch; None if there is none."""
        return self._offsets[0] if self._offsets else None

    def ignore(self) -> None:
        """Leave the epochs of batches alone: the logs were copied without the checkpoint."""
        self._is_told = True

    def batch(self, batch: SeenBatch) -> None:
        """Compare the epoch of a batch."""
        if batch.epoch == _NO_EPOCH or self._is_told or (self._exists and self.starts is None):
            return
        if not self._offsets:
            self._is_told = True
            code = "epochs-differ" if self._exists else "no-epochs"
            reason = f"the log has epoch {batch.epoch} at offset {batch.base_offset}"
            self.findings.add(code, self.path, reason)
            return
        first, end, epoch = self._current
        if first <= batch.base_offset and batch.last_offset < end and batch.epoch == epoch:
            return
        assert self.starts
        for offset in (batch.base_offset, batch.last_offset):
            index = bisect_right(self._offsets, offset) - 1
            if index < 0 and (self._log_start is None or offset < self._log_start):
                continue
            start_epoch = self.starts[index].epoch if index >= 0 else None
            if start_epoch != batch.epoch:
                epoch_text = "no epoch" if start_epoch is None else f"epoch {start_epoch}"
                self._differs(f"{epoch_text} at offset {offset}, where the log has {batch.epoch}")
                return
        if index >= 0:
            end = self._offsets[index + 1] if index + 1 < len(self._offsets) else _NO_END
            self._current = self._offsets[index], end, batch.epoch

    def end(self, end_offset: int) -> int:
        """Return the highest offset that the epochs prove, at least *end_offset*."""
        return max(self._offsets[-1], end_offset) if self._offsets else end_offset

    def _differs(self, reason: str) -> None:
        self.findings.add("epochs-differ", self.path, reason)


def _damage(path: str, files: PartitionFiles) -> str:
    """Return why a broker cannot read leader-epoch-checkpoint."""
    try:
        with files.open(path) as file:
            damage = content_of(file).get("damage", "a negative epoch or offset")
    except SourceError as error:
        return error.message
    return f"{damage}; a broker stops"

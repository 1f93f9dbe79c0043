"""Open transactions of a log, and their snapshots (Kafka's `ProducerStateManager`).

Sequences, epochs and timestamps of producers are left out: with batches from a log
(`AppendOrigin.REPLICATION`) they raise nothing, and change no file's name.
"""

from collections.abc import Callable, Iterable

from kraftops.errors import DecodeError
from kraftops.log.producers import open_transactions
from kraftops.server.loader import thrown
from kraftops.server.loader.contract import LogBatch, Marker
from kraftops.server.loader.disk import DELETED, SNAPSHOT, Disk, DiskFile, name_of
from kraftops.server.loader.thrown import LoadError


class ProducerState:
    """Open transactions at an offset of a log."""

    def __init__(self, disk: Disk) -> None:
        """Begin with the snapshots that are there, none loaded.

        Raises:
            LoadError: the name of one has no offset.
        """
        self._disk = disk
        self._snapshots = disk.snapshots()
        self._first_offsets: dict[int, int] = {}
        """Of open transactions, by producer."""
        self._producers: dict[int, int] = {}
        """Of open transactions, by first offset (`ongoingTxns`)."""
        self._completed: set[int] = set()
        """First offsets of completed ones, all above the high watermark (`unreplicatedTxns`)."""
        self.end_offset = 0
        self._snapshot_offset = 0

    @property
    def latest_snapshot(self) -> int | None:
        return max(self._snapshots, default=None)

    @property
    def first_unstable_offset(self) -> int | None:
        """The first offset of the first transaction that is open or not yet replicated."""
        return min((*self._producers, *self._completed), default=None)

    # Snapshots

    def _remove(self, offset: int) -> None:
        name = self._snapshots.pop(offset, None)
        if name is not None:
            self._disk.delete(name)

    def take_snapshot(self) -> None:
        """Write a snapshot, if the state is newer than the last one."""
        if self.end_offset <= self._snapshot_offset:
            return
        name = name_of(self.end_offset, SNAPSHOT)
        self._disk.files[name] = DiskFile(None, 0, open_txns=dict(self._first_offsets))
        self._disk.snapshots_written.append(self.end_offset)
        self._snapshots[self.end_offset] = name
        self._snapshot_offset = self.end_offset

    def remove_stray_snapshots(self, base_offsets: list[int]) -> None:
        """List the snapshots again, and delete those of no segment but the last, of a shutdown.

        Raises:
            LoadError: the name of one has no offset.
        """
        self._snapshots = self._disk.snapshots()
        strays = sorted(set(self._snapshots) - set(base_offsets))
        for offset in strays[:-1]:
            self._remove(offset)
        if strays and base_offsets and strays[-1] < max(base_offsets):
            self._remove(strays[-1])

    def mark_for_deletion(self, offset: int) -> None:
        """Rename the snapshot of a deleted segment; one that is gone already is forgotten."""
        name = self._snapshots.pop(offset, None)
        if name is not None:
            self._disk.rename(name, name + DELETED)

    def start_fully_at(self, offset: int) -> None:
        """Delete all snapshots (`truncateFullyAndStartAt`)."""
        for snapshot in list(self._snapshots):
            self._remove(snapshot)
        self._snapshot_offset, self.end_offset = 0, offset

    def truncate_and_reload(self, start_offset: int, end_offset: int) -> None:
        """Delete the snapshots outside of the log, and load the latest of the others."""
        for offset in list(self._snapshots):
            if offset > end_offset or offset <= start_offset:
                self._remove(offset)
        if end_offset != self.end_offset:
            self._load(start_offset)
        else:
            self.end_offset = max(self.end_offset, start_offset)
            latest = self.latest_snapshot
            self._snapshot_offset = start_offset if latest is None else latest

    def _load(self, start_offset: int) -> None:
        while (latest := self.latest_snapshot) is not None:
            file = self._disk.files.get(self._snapshots[latest])
            first_offsets = self._read(self._snapshots[latest], file)
            if first_offsets is not None:
                self._first_offsets = first_offsets
                self._producers = {first: producer for producer, first in first_offsets.items()}
                self._snapshot_offset = self.end_offset = latest
                return
            self._remove(latest)
        self._snapshot_offset = self.end_offset = start_offset

    def _read(self, name: str, file: DiskFile | None) -> dict[int, int] | None:
        """Return the open transactions of a snapshot; None if it is damaged."""
        if file is not None and file.origin is None:
            return dict(file.open_txns)
        try:
            return open_transactions(self._disk.read_whole(name))
        except DecodeError:
            return None

    # Batches

    def add(
        self, batches: Iterable[LogBatch], on_abort: Callable[[LogBatch], None] | None = None
    ) -> None:
        """Take in the batches of a read; transactions end when all of them are taken in.

        *on_abort* gets the markers of those that are aborted.

        Raises:
            LoadError: Kafka's exception (`UnifiedLog.loadProducersFromRecords`).
        """
        open_txns = self._first_offsets
        ended: list[tuple[int, LogBatch]] = []
        for batch in batches:
            if batch.producer_id < 0:
                continue
            before = open_txns.get(batch.producer_id)
            after = _first_offset_after(batch, before)
            if before is None and after is not None:
                open_txns[batch.producer_id] = after
                self._producers[after] = batch.producer_id
            elif before is not None and after is None:
                del open_txns[batch.producer_id]
                ended.append((before, batch))
        for first_offset, marker in ended:
            if on_abort and marker.marker is Marker.ABORT:
                on_abort(marker)
            if self._producers.pop(first_offset, None) is None:
                reason = f"Attempted to complete the transaction at {first_offset}, never started"
                raise LoadError(thrown.ILLEGAL_ARGUMENT, reason)
            self._completed.add(first_offset)


def _first_offset_after(batch: LogBatch, first_offset: int | None) -> int | None:
    """Return the first offset of a producer's open transaction after a batch of it.

    Raises:
        LoadError: Kafka's exception (`ProducerAppendInfo.append`).
    """
    if batch.is_control:
        if isinstance(batch.marker, LoadError):
            raise batch.marker
        return None if batch.marker else first_offset
    if not batch.is_transactional and first_offset is not None:
        reason = f"Expected transactional write from producer {batch.producer_id}"
        raise LoadError(thrown.INVALID_TXN_STATE, reason, position=batch.position)
    return batch.base_offset if batch.is_transactional and first_offset is None else first_offset

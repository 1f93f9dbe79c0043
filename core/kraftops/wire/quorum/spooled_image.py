"""Image of a live metadata log, and the spool files that keep the log's batches."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from tempfile import TemporaryFile
from weakref import finalize

from kraftops.errors import SourceError, UsageError, WireError
from kraftops.image.load.loader import Loader, Progress
from kraftops.image.load.sources import SourceFile, snapshot_time
from kraftops.image.replay.limits import Limits
from kraftops.image.replay.replay import Replay
from kraftops.image.state.findings import DAMAGE, OPEN_TRANSACTION
from kraftops.image.state.image import MetadataImage
from kraftops.log.batch import Batch
from kraftops.log.files import FileKind, FileName
from kraftops.log.log_file import LogFile
from kraftops.log.reader import LogReader
from kraftops.log.streams import OpenName
from kraftops.memory import Meter
from kraftops.wire.net.addresses import Address
from kraftops.wire.quorum.fetch import SnapshotId
from kraftops.wire.quorum.leader_record import Leader, put_leader
from kraftops.wire.quorum.live_log import CaughtUp, Event, LiveBatch, Started

_AddNext = Callable[[], Batch | None]
"""Adds the next batch to the spool and returns it; None at the end."""
_BLOCK_BYTES = 8 << 20
"""Bytes that a reader waits for, unless the log ends: to read single batches is slow."""


class Spool:
    """A log that grows; *name* opens it repeatedly, as long as this object exists."""

    def __init__(self, endpoint: str, file_name: str) -> None:
        """Make an empty spool of the file *file_name* at *endpoint*.

        Raises:
            SourceError: there is no room for it, or no directory that can be written to.
        """
        self._endpoint = endpoint
        self.size = 0
        try:
            self._file = TemporaryFile(buffering=0)  # noqa: SIM115 - closed with this
        except FileNotFoundError as error:
            raise SourceError(
                f"cannot keep what {endpoint} sends: no directory of temporary files can be "
                "written to",
                hint="TMPDIR names one",
            ) from error
        except OSError as error:
            raise self._failed(error) from error
        fd = self._file.fileno()
        self._sources: list[_AddNext] = []
        sources = self._sources

        # Not a method: a reference cycle would keep the file.
        def open_file(path: str) -> _SpoolFile:
            return _SpoolFile(path, fd, sources)

        self.name = OpenName(f"{endpoint}/{file_name}", endpoint, open_file)
        finalize(self, self._file.close)

    @contextmanager
    def growing(self, add_next: _AddNext) -> Iterator[None]:
        """Let readers at the end of the spool go on with the batches that *add_next* adds."""
        self._sources.append(add_next)
        try:
            yield
        finally:
            self._sources.clear()

    def add(self, batch: Batch) -> Batch:
        """Append a batch; return it with its position here.

        Raises:
            SourceError: there is no room for it.
        """
        added = Batch(self.size, batch.size, batch.data)
        rest = memoryview(batch.data)
        try:
            while rest:
                # Not a write at the file's position, which readers share.
                written = os.pwrite(self._file.fileno(), rest, self.size)
                self.size += written
                rest = rest[written:]
        except OSError as error:
            raise self._failed(error) from error
        return added

    def _failed(self, error: OSError) -> SourceError:
        return SourceError(
            f"cannot keep what {self._endpoint} sends: {error.strerror}",
            hint="TMPDIR names a directory with more room",
        )


class _SpoolFile(LogFile):
    """A spool that is open for reading."""

    def __init__(self, path: str, fd: int, sources: list[_AddNext]) -> None:
        self.path = path
        self._sources = sources
        self._file = os.fdopen(os.dup(fd), "rb", buffering=0)
        self.size = os.fstat(fd).st_size

    def batches(
        self, start: int = 0, stop: int | None = None, meter: Meter | None = None
    ) -> LogReader:
        if not self._sources:
            return super().batches(start, stop, meter)
        read = _growing(self._file.fileno(), start, self._sources[0])
        return LogReader(read, start, None, None, meter)


def _growing(fd: int, start: int, add_next: _AddNext) -> Callable[[int], bytes]:
    """Read a file from byte *start* on; at its end, have *add_next* lengthen it."""
    position = start

    def read(size: int) -> bytes:
        nonlocal position
        data = os.pread(fd, size, position)
        added = 0
        while not data and added < _BLOCK_BYTES and (batch := add_next()):
            added += batch.size
        if added:
            data = os.pread(fd, size, position)
        position += len(data)
        return data

    return read


class _StartedAgain(Exception):
    """The log is read again: no more batches of this start come."""


def _too_new(endpoint: Address, snapshot: SnapshotId) -> UsageError:
    return UsageError(
        f"{endpoint}: the snapshot {snapshot} is newer than that, and all that controllers give",
        hint=f"the earliest state that can be shown is that at offset {snapshot.end_offset - 1}",
    )


class SpooledImage:
    """Image of the log from one start on, with the spools of the snapshot and of the log."""

    def __init__(
        self, start: Started, limits: Limits, image: MetadataImage, progress: Progress | None
    ) -> None:
        """Begin with nothing; *image* has no state.

        Raises:
            UsageError: the snapshot is newer than the limits.
            SourceError: there is no room for the spools.
        """
        if start.snapshot and start.snapshot.end_offset > limits.until + 1:
            raise _too_new(start.endpoint, start.snapshot)
        self.endpoint, self.snapshot = start
        self.offset = start.snapshot.end_offset if start.snapshot else 0
        self._loader = Loader(Replay(image, limits), progress)
        self._limits = limits
        endpoint = str(self.endpoint)
        self._snapshot_spool = (
            Spool(endpoint, f"{self.snapshot}.checkpoint") if self.snapshot else None
        )
        self._log_spool = Spool(endpoint, f"{self.offset:020}.log")
        self._applied = -1  # bytes of the log
        self._leader: Leader | None = None  # for an image that has no record of it
        self._is_damaged = False

    @property
    def image(self) -> MetadataImage:
        """The image of all that was applied."""
        return self._loader.image

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the spools: of the snapshot, if there is one, and of the log."""
        return tuple(spool.name for spool in (self._snapshot_spool, self._log_spool) if spool)

    def read(self, events: Iterator[Event]) -> Started | CaughtUp | None:
        """Apply events as they come; return the event at the end, None if limits ended it.

        Raises:
            UsageError: nothing is within the limits.
            WireError: the events raise it, or the log is empty.
        """
        last: list[Started | CaughtUp] = []

        def add_next(spool: Spool) -> Batch | None:
            """Add the next batch to its spool; return it if that is *spool*.

            Raises:
                _StartedAgain: no more batches of this start come.
            """
            if last:
                return None
            event = next(events)
            if isinstance(event, LiveBatch):
                where, batch = self.add(event)
                return batch if where is spool else None
            last.append(event)
            if isinstance(event, Started):
                raise _StartedAgain
            return None

        with ExitStack() as growing:
            for spool in filter(None, (self._snapshot_spool, self._log_spool)):
                growing.enter_context(spool.growing(partial(add_next, spool)))
            try:
                self.apply()
                while not (last or self._loader.is_over):
                    add_next(self._log_spool)  # after damage
            except _StartedAgain:
                pass
        return last[0] if last else None

    def add(self, event: LiveBatch) -> tuple[Spool, Batch]:
        """Add a batch to its spool, to be applied later; return spool and batch."""
        spool = (
            self._snapshot_spool
            if event.is_of_snapshot and self._snapshot_spool
            else self._log_spool
        )
        return spool, spool.add(event.batch)

    def apply(self) -> None:
        """Apply the batches in the spools; nothing after damage, as with files.

        Raises:
            UsageError: nothing is within the limits.
            WireError: the log is empty.
        """
        if self._is_damaged or self._applied == self._log_spool.size:
            return
        image = self._loader.image
        if self._applied < 0:
            self._load()
        else:
            findings = image.log_findings
            findings[:] = [finding for finding in findings if finding.code != OPEN_TRANSACTION]
            self._loader.read_on(self._log_spool.name, self._applied)
        self._applied = self._log_spool.size
        self._is_damaged = any(finding.code == DAMAGE for finding in image.log_findings)

    def finish(self, caught_up: CaughtUp, voters: Callable[[], list[int]]) -> None:
        """Set leader and offset; add the leader to an image that has no record of it.

        *voters* returns the voters of a static quorum, as far as they are known.
        """
        self.endpoint, self.offset, leader, epoch = caught_up
        image, snapshot = self._loader.image, self.snapshot
        if snapshot is None or image.quorum.leader is not None or self._loader.is_over:
            return
        self._leader = Leader(leader, epoch, voters() if image.quorum.voters is None else [])
        self.add_leader(image)

    def add_leader(self, image: MetadataImage) -> None:
        """Add the leader to an image that has no record of it."""
        if self._leader and self.snapshot and image.quorum.leader is None:
            put_leader(image, str(self.endpoint), self.snapshot.end_offset, self._leader)

    def _load(self) -> None:
        pieces = [SourceFile(self._log_spool.name, None, is_snapshot=False)]
        if self._snapshot_spool and self.snapshot:
            name = self._snapshot_spool.name
            if self._limits.time != Limits().time:
                time = snapshot_time(FileName(name, FileKind.CHECKPOINT, ""))
                if time is not None and time > self._limits.time:
                    raise _too_new(self.endpoint, self.snapshot)
            pieces.insert(0, SourceFile(name, self.snapshot.end_offset, is_snapshot=True))
        self._loader.read(pieces)
        if self._loader.has_records:
            return
        if self._loader.is_over:
            raise UsageError(f"{self.endpoint}: its log has nothing that old")
        for finding in self._loader.image.log_findings:
            raise WireError(f"cannot read {finding}")
        raise WireError.at(self.endpoint, "there are no metadata records in its log")

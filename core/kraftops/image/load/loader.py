"""A loader: feeds the batches of files to a replay, and notes damage, gaps and repeats of a log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from copy import copy
from typing import NamedTuple

from kraftops.engine.fold_contract import BATCH_FIELDS, BatchBounds, FoldProgress, WindowResult
from kraftops.errors import DecodeError, SourceError
from kraftops.fileio.mounts import exists
from kraftops.findings.finding import Place
from kraftops.image.load.sources import SourceFile
from kraftops.image.replay.events import ControlRecordRead, Event, SnapshotEnded
from kraftops.image.replay.limits import Limits
from kraftops.image.replay.order import LogOrder
from kraftops.image.replay.replay import NOT_OPEN, OLDEST, Replay
from kraftops.image.state.changes import Provenance
from kraftops.image.state.findings import CUTS_SHORT, DAMAGE, log_finding
from kraftops.image.state.image import MetadataImage
from kraftops.log.batch import Batch, is_valid
from kraftops.log.log_file import LogFile
from kraftops.log.reader import EndReason, LogEnd, LogReader
from kraftops.log.streams import LogStream, open_log

Progress = Callable[[int], None]
"""Called with the bytes that were read since the last call."""
Stop = Callable[[Batch], bool]
"""Tells whether to read no further than before a batch."""
Listener = Callable[[Event], None]
"""Called with each event of a replay."""

_MAGIC = 16  # the position of the magic in a batch of any format

NOT_READ = "; what follows is not read"
"""The end of the reason of damage in a batch."""


class VanishedFileError(SourceError):
    """A file of a directory was deleted before it was opened."""


class Tail(NamedTuple):
    """The end of the part of a segment that was read: byte *position*, and the *last* batch."""

    path: str
    position: int = 0
    last: Batch | None = None


class Loader:
    """Feeds batches to a replay, and notes damage, gaps and repeats of the log."""

    def __init__(
        self,
        replay: Replay,
        progress: Progress | None = None,
        *,
        may_grow: bool = False,
        listen: Callable[[Event], None] | None = None,
        hears_windows: bool = True,
    ) -> None:
        """Load by *replay*, as far as its limits allow.

        Args:
            replay: applies the batches to its image.
            progress: is called with the number of bytes read.
            may_grow: whether the last file may be growing.
            listen: is called with each event of the replay.
            hears_windows: whether it is called for each of the batches that are applied at once.
        """
        self.image = replay.image
        self.has_records = False
        """Whether a batch was whole and sound, and within the limits."""
        self.order = LogOrder()
        self.tail: Tail | None = None
        """The position for reading on."""
        self._limits = replay.limits
        self._replay = replay
        self._progress = progress
        self._may_grow = may_grow
        self._listen = listen
        self._hears_windows = hears_windows
        self._sources: dict[str, int] = {}
        self._stop: Stop | None = None
        self._pause: Callable[[], bool] | None = None

    @property
    def is_over(self) -> bool:
        """Whether a record beyond the limits was met."""
        return self._replay.is_over

    @property
    def covered(self) -> int:
        """The last offset that a snapshot, or an earlier reading of it, covers."""
        return self._replay.limits.after

    @property
    def has_open_transaction(self) -> bool:
        """Whether records wait for the end of their metadata transaction."""
        return self._replay.open_transaction is not None

    @property
    def newest(self) -> int:
        """The newest time of the batches after the snapshot, in ms."""
        return self._replay.newest

    @property
    def stray_marker(self) -> int | None:
        """The offset of the first marker that ends no transaction; None if there is none."""
        fold = self.image.fold
        for number in range(fold.dropped):
            address, reason = fold.dropped_record(number)
            if reason == NOT_OPEN:
                return self.image.record(address).offset
        return self._replay.stray_marker  # the applier need not be the fold

    @property
    def is_other_log(self) -> bool:
        """Whether all was read, and no record has a type of the metadata log."""
        return (
            self._replay.has_unreadable
            and not self._replay.has_readable
            and not self.is_over
            and not any(finding.code in CUTS_SHORT for finding in self.image.log_findings)
        )

    def read(self, files: list[SourceFile]) -> bool:
        """Read files in order; tell whether the snapshot among them, if there is one, is whole.

        Raises:
            SourceError: one cannot be read.
        """
        for number, file in enumerate(files):
            is_whole = self.read_small(file, file.start, is_last=number == len(files) - 1)
            if file.is_snapshot and not is_whole:
                return False
            if not is_whole or self.is_over:
                break
        self._replay.finish()
        return True

    def read_small(self, file: SourceFile, start: int = 0, *, is_last: bool) -> bool:
        """Read a file from byte *start*, where a batch begins; tell whether the next can follow.

        Raises:
            SourceError: it cannot be read.
        """
        log = self._open(file.path)
        source = self._sources.get(file.path)
        if source is None:
            source = self._add_source(log, file)
        # A stream is read once; the image reads files again, and closes them in the end.
        is_kept = isinstance(log, LogFile) and self.image.store.holds(source, log)
        with nullcontext() if is_kept else log:
            batches = log.batches(start, meter=self._replay.meter)
            if file.is_snapshot:
                return self._read_snapshot(batches, source, file)
            return self._read_segment(batches, source, file.path, is_last=is_last)

    def copy(self) -> Loader:
        """Return an independent copy that continues after the last batch."""
        loader = copy(self)
        loader._replay = self._replay.copy()  # noqa: SLF001 - its own class
        loader.image = loader._replay.image  # noqa: SLF001 - its own class
        loader.order = self.order.copy()
        loader._sources = dict(self._sources)  # noqa: SLF001 - its own class
        return loader

    def set_limits(
        self,
        limits: Limits,
        *,
        stop: Stop | None = None,
        pause: Callable[[], bool] | None = None,
        listen: Listener | None = None,
    ) -> None:
        """Have the next files read within other limits, with other functions to call.

        Args:
            limits: *after* stays as it is.
            stop: is called before each sound batch of a segment, and ends the reading there if it
                returns True; it is not called before ordinary batches within the limits.
            pause: is called after batches of a segment, where this can be copied, and ends the
                reading there if it returns True.
            listen: is called with each event of the replay.
        """
        self._limits = limits
        self._replay.limits = limits._replace(after=self._replay.limits.after)
        self._stop, self._pause, self._listen = stop, pause, listen

    def finish(self) -> None:
        """Note a transaction that is open at the end of the log."""
        self._replay.finish()

    def add(self, batches: Iterable[Batch], source: int, path: str) -> bool:
        """Apply batches of a log; tell whether all of them were sound.

        *source* is their number in the image's store.
        """
        if self.tail is None or self.tail.path != path:
            self.tail = Tail(path)
        for batch, progress in self._left_by_windows(batches, source, path):
            reason = _damage_of(batch)
            if reason is None and self._is_stopped_before(batch, progress):
                break
            reason = reason or self._add(batch, source, path, progress)
            if reason is not None:
                self._note_damage(f"{reason}{NOT_READ}", path, batch.position)
                return False
            self.tail = Tail(path, batch.position + batch.size, batch)
            if self._progress:
                self._progress(batch.size)
            if self.is_over or self._is_paused():
                break
        return True

    def read_on(self, path: str, start: int) -> bool:
        """Read a segment from byte *start*, where a batch begins; tell whether all is sound.

        Raises:
            SourceError: it cannot be read.
        """
        return self.read_small(SourceFile(path), start, is_last=True)

    def _left_by_windows(
        self, batches: Iterable[Batch], source: int, path: str
    ) -> Iterator[tuple[Batch, FoldProgress | None]]:
        """Apply batches by windows; yield batches that are left, with the progress inside them."""
        if not isinstance(batches, LogReader) or not self._replay.can_apply_windows:
            yield from ((batch, None) for batch in batches)
            return
        while True:
            progress, window = None, batches.window()
            if window is not None and self.order.is_known():
                result = self._apply_window(window, source)
                if result.last is not None:
                    batches.advance(result.next)
                    self._note_window(result, window, path)
                if self._listen and self._hears_windows:
                    for event in self._replay.window_events(result):
                        self._listen(event)
                progress = result.inside
                if progress is None and result.next > window[1]:
                    if self._is_paused():
                        return
                    continue
            batch = batches.next_batch()
            if batch is None:
                return
            yield batch, progress

    def _is_stopped_before(self, batch: Batch, progress: FoldProgress | None) -> bool:
        if self._stop is None or progress is not None or not self.order.is_log:
            return False
        return self._stop(batch)

    def _is_paused(self) -> bool:
        """Let the caller copy this after a batch of a segment, or end the reading."""
        return self._pause is not None and self.order.is_log and self._pause()

    def _apply_window(self, window: tuple[bytes, int, int], source: int) -> WindowResult:
        order, limits = self.order, self._replay.limits
        bounds = BatchBounds(
            expected=order.next_offset if order.is_log else None,
            epoch=order.epoch,
            after=limits.after,
            until=limits.until,
            time=limits.time,
        )
        data, start, position = window
        return self._replay.apply_window(data, start, position, source, bounds)

    def _note_window(self, result: WindowResult, window: tuple[bytes, int, int], path: str) -> None:
        """Note that the replay has applied batches of a window."""
        assert result.last is not None
        self.has_records = True
        self.order.skip_to(result.last)
        data, start, position = window
        last = memoryview(result.batches).cast("q")[-BATCH_FIELDS]
        batch = Batch(position + last, result.next - start - last, data[start + last : result.next])
        self.tail = Tail(path, batch.position + batch.size, batch)
        if self._progress:
            self._progress(result.next - start)

    def _add(
        self, batch: Batch, source: int, path: str, progress: FoldProgress | None
    ) -> str | None:
        """Apply a sound batch; return the reason if not all of its records could be read."""
        for code, reason in self.order.follow(batch.header, path):
            self._note(code, reason, path, batch.position)
        limits = self._replay.limits
        if self.order.repeated > limits.after:
            self._replay.limits = limits._replace(after=self.order.repeated)
        is_within = False
        self._replay.tells_drops = self._listen is not None
        try:
            for event in self._replay.add(batch, source, progress):
                is_within |= not (isinstance(event, ControlRecordRead) and event.is_covered)
                if self._listen:
                    self._listen(event)
        except DecodeError as error:
            self.has_records |= self.image.provenance != Provenance()
            return error.message
        self.has_records |= is_within
        return None

    def _add_source(self, log: LogFile | LogStream, file: SourceFile) -> int:
        again = log if isinstance(log, LogFile) else None
        source = self.image.store.add_source(file.path, again, file.end_offset)
        self._sources[file.path] = source
        return source

    def _open(self, path: str) -> LogFile | LogStream:
        try:
            return open_log(path)
        except SourceError as error:
            if self._may_grow and not exists(path):
                raise VanishedFileError(error.message) from None
            raise

    def _read_snapshot(self, batches: LogReader, source: int, file: SourceFile) -> bool:
        """Read a snapshot without limits; tell whether it is whole."""
        self._replay.limits = Limits()
        self.order.is_log = False
        is_sound = self.add(batches, source, file.path)
        if file.end_offset is not None:
            self.image.note_end_of_snapshot(file.end_offset)
        if not is_sound:
            return False
        end = batches.end
        if end and end.reason is not EndReason.END:
            self._note_damage(_end_text(end), file.path, end.position)
            return False
        if end and not self._replay.has_footer:
            reason = "the snapshot has no footer: its end is missing"
            self._note_damage(reason, file.path, end.position)
            return False
        self._replay.newest = OLDEST
        self.order.next_offset = file.end_offset
        after = -1 if file.end_offset is None else file.end_offset - 1
        self._replay.limits = self._limits._replace(after=after)
        if self._listen:
            self._listen(SnapshotEnded(file.end_offset))
        return True

    def _read_segment(self, batches: LogReader, source: int, path: str, *, is_last: bool) -> bool:
        """Read a segment; tell whether the next one can follow."""
        self.order.is_log = True
        is_sound = self.add(batches, source, path)
        end = batches.end
        if not is_sound or end is None:
            return is_sound
        if end.reason is EndReason.END or (end.reason is EndReason.PADDING and is_last):
            return True
        if end.reason is EndReason.PARTIAL and is_last and self._may_grow:
            return True  # a server is still writing
        self._note_damage(_end_text(end), path, end.position)
        return False

    def _note_damage(self, reason: str, path: str, position: int) -> None:
        self._note(DAMAGE, reason, path, position)

    def _note(self, code: str, reason: str, path: str, position: int) -> None:
        place = Place(file=path, position=position)
        self.image.log_findings.append(log_finding(code, reason, place))


def new_loader(image: MetadataImage, limits: Limits) -> Loader:
    return Loader(Replay(image, limits))


def _damage_of(batch: Batch) -> str | None:
    if len(batch.data) > _MAGIC and batch.is_legacy:
        return f"a batch of magic {batch.data[_MAGIC]}, which no metadata log has"
    try:
        crc = batch.header.crc
    except DecodeError as error:
        return error.message
    return None if is_valid(batch, crc) else "the checksum of a batch is wrong"


def _end_text(end: LogEnd) -> str:
    return end.detail or f"{end.left} bytes at the end are not a whole batch"

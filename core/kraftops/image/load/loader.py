"""Feed the batches of files to a replay, and note where a log is not what it should be."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from typing import NamedTuple, Protocol

from kraftops.engine.fold_contract import BATCH_FIELDS, BatchBounds, FoldProgress, WindowResult
from kraftops.errors import DecodeError, SourceError
from kraftops.image.load.sources import Piece
from kraftops.image.replay.events import Controlled, Event, SnapshotEnded
from kraftops.image.replay.order import Order
from kraftops.image.replay.replay import NOT_OPEN, Limits, Replay
from kraftops.image.state.changes import Provenance
from kraftops.image.state.findings import CUTS_SHORT, Finding, FindingKind
from kraftops.image.state.image import MetadataImage
from kraftops.log.batch import Batch, is_valid
from kraftops.log.reader import EndReason, LogEnd, LogFile, LogReader
from kraftops.log.streams import LogStream, open_log

Progress = Callable[[int], None]
"""Called with the bytes that were read since the last call."""

_MAGIC = 16


class GoneError(SourceError):
    """A file of a directory that was there is not any more."""


class Tail(NamedTuple):
    """How far a segment was read: to byte *position*; *last* is the batch that ends there."""

    path: str
    position: int = 0
    last: Batch | None = None


class Make(Protocol):
    """Makes a loader."""

    def __call__(self, image: MetadataImage, limits: Limits) -> Loader:
        """Return one that loads into an image, as far as limits allow."""


class Loader:
    """Feeds batches to a replay, and notes where the log is not what it should be."""

    def __init__(
        self,
        image: MetadataImage,
        limits: Limits | None = None,
        progress: Progress | None = None,
        *,
        may_grow: bool = False,
        replay: Replay | None = None,
        listen: Callable[[Event], None] | None = None,
        opened: Callable[[str], LogFile | LogStream] = open_log,
    ) -> None:
        """Load into *image*.

        Args:
            image: gets the state, as *replay* makes it if that is given.
            limits: which records count.
            progress: is told how much has been read.
            may_grow: whether the last file may be growing.
            replay: applies the batches.
            listen: gets what the replay tells, while it goes on.
            opened: opens files.
        """
        self.image = image
        self.has_records = False
        """Whether a batch was whole and sound, and within the limits."""
        self.order = Order()
        """Where in the log reading is."""
        self.tail: Tail | None = None
        """Where the log can be read on."""
        self._limits = limits or Limits()
        self._replay = replay or Replay(image)
        self._replay.limits = self._limits
        self._progress = progress
        self._may_grow = may_grow
        self._listen = listen
        self._opened = opened
        self._sources: dict[str, int] = {}
        self.another: Make = Loader
        """Gives another loader of this sort."""

    @property
    def is_over(self) -> bool:
        """Whether a record beyond the limits was met."""
        return self._replay.is_over

    @property
    def stray(self) -> int | None:
        """The offset of the first marker that ends no transaction; None if there is none."""
        fold = self.image.fold
        for number in range(fold.dropped):
            address, reason = fold.dropped_record(number)
            if reason == NOT_OPEN:
                return self.image.record(address).offset
        return self._replay.stray  # what is dropped need not be the fold's

    @property
    def is_of_no_metadata(self) -> bool:
        """Whether all was read, and none of the records is one of the metadata."""
        return (
            self._replay.has_unreadable
            and not self._replay.has_readable
            and not self.is_over
            and not any(one.kind in CUTS_SHORT for one in self.image.log_findings)
        )

    def read(self, pieces: list[Piece]) -> bool:
        """Read files in order; tell whether the snapshot among them, if there is one, is whole.

        Raises:
            SourceError: one cannot be read.
        """
        for number, piece in enumerate(pieces):
            log = self._open(piece.path)
            source = self._add_source(log, piece)
            # A stream is read once; the image reads files again, and closes them in the end.
            with log if isinstance(log, LogStream) else nullcontext():
                batches = log.batches()
                if piece.is_snapshot:
                    if not self._read_snapshot(batches, source, piece):
                        return False
                elif not self._read_segment(
                    batches, source, piece.path, is_last=number == len(pieces) - 1
                ):
                    break
            if self.is_over:
                break
        self._replay.finish()
        return True

    def add(self, batches: Iterable[Batch], source: int, path: str) -> bool:
        """Apply batches of a log; tell whether all of them were sound.

        *source* is their number in the image's store.
        """
        if self.tail is None or self.tail.path != path:
            self.tail = Tail(path)
        for batch, begun in self._one_by_one(batches, source, path):
            reason = _damage_of(batch) or self._add(batch, source, path, begun)
            if reason is not None:
                self._note(
                    FindingKind.DAMAGE, f"{reason}; what follows is not read", path, batch.position
                )
                return False
            self.tail = Tail(path, batch.position + batch.size, batch)
            if self._progress:
                self._progress(batch.size)
            if self.is_over:
                break
        return True

    def has_open(self, path: str) -> bool:
        """Tell whether the file of this name is still the one that was read."""
        source = self._sources.get(path)
        return source is None or self.image.store.is_current(source)

    def read_on(self, path: str, start: int = 0) -> bool:
        """Read a segment from byte *start*, where a batch begins; tell whether all is sound.

        Raises:
            SourceError: it cannot be read.
        """
        log = self._open(path)
        source = self._sources.get(path)
        is_known = source is not None
        if source is None:
            source = self._add_source(log, Piece(path, None, False))
        with log if is_known else nullcontext():
            return self._read_segment(log.batches(start), source, path, is_last=True)

    def _one_by_one(
        self, batches: Iterable[Batch], source: int, path: str
    ) -> Iterator[tuple[Batch, FoldProgress | None]]:
        """Yield batches, and where in them the replay is; those that it runs over are done."""
        if not isinstance(batches, LogReader) or not self._replay.can_run:
            yield from ((batch, None) for batch in batches)
            return
        while True:
            begun, window = None, batches.window()
            if window is not None and self.order.can_run():
                data, start, position = window
                order = self.order
                expected = order.next_offset if order.is_log else None
                limits = self._replay.limits
                bounds = BatchBounds(expected, order.epoch, *limits)
                ran = self._replay.run(data, start, position, source, bounds)
                if ran.last is not None:
                    batches.advance(ran.next)
                    self._went_on(ran, window, path)
                if self._listen:
                    for event in self._replay.ran_over(ran):
                        self._listen(event)
                begun = ran.inside
                if begun is None and ran.next > start:
                    continue
            batch = batches.next_batch()
            if batch is None:
                return
            yield batch, begun

    def _went_on(self, ran: WindowResult, window: tuple[bytes, int, int], path: str) -> None:
        """Note that the replay ran over batches of a window."""
        assert ran.last is not None
        self.has_records = True
        self.order.ran(ran.last)
        data, start, position = window
        last = memoryview(ran.batches).cast("q")[-BATCH_FIELDS]
        batch = Batch(position + last, ran.next - start - last, data[start + last : ran.next])
        self.tail = Tail(path, batch.position + batch.size, batch)
        if self._progress:
            self._progress(ran.next - start)

    def _add(self, batch: Batch, source: int, path: str, begun: FoldProgress | None) -> str | None:
        """Apply a sound batch; return why not all of it could be read, if it could not."""
        for kind, reason in self.order.follow(batch.header, path):
            self._note(kind, reason, path, batch.position)
        limits = self._replay.limits
        if self.order.repeated > limits.after:
            self._replay.limits = limits._replace(after=self.order.repeated)
        is_within = False
        try:
            for event in self._replay.add(batch, source, begun):
                is_within |= not (isinstance(event, Controlled) and event.is_behind)
                if self._listen:
                    self._listen(event)
        except DecodeError as error:
            self.has_records |= self.image.provenance != Provenance()
            return error.message
        self.has_records |= is_within
        return None

    def _add_source(self, log: LogFile | LogStream, piece: Piece) -> int:
        file = log if isinstance(log, LogFile) else None
        source = self.image.store.add_source(piece.path, file, piece.end_offset)
        self._sources[piece.path] = source
        return source

    def _open(self, path: str) -> LogFile | LogStream:
        try:
            return self._opened(path)
        except SourceError as error:
            if self._may_grow and not os.path.lexists(path):
                raise GoneError(error.message) from None
            raise

    def _read_snapshot(self, batches: LogReader, source: int, piece: Piece) -> bool:
        """Read a snapshot, all of which counts; tell whether it is whole."""
        self._replay.limits = Limits()
        self.order.is_log = False
        is_sound = self.add(batches, source, piece.path)
        if piece.end_offset is not None:
            self.image.note_end_of_snapshot(piece.end_offset)
        if not is_sound:
            return False
        end = batches.end
        if end and end.reason is not EndReason.END:
            self._note(FindingKind.DAMAGE, _end_text(end), piece.path, end.position)
            return False
        if end and not self._replay.has_footer:
            reason = "the snapshot has no footer: its end is missing"
            self._note(FindingKind.DAMAGE, reason, piece.path, end.position)
            return False
        self.order.next_offset = piece.end_offset
        after = -1 if piece.end_offset is None else piece.end_offset - 1
        self._replay.limits = self._limits._replace(after=after)
        if self._listen:
            self._listen(SnapshotEnded(piece.end_offset))
        return True

    def _read_segment(self, batches: LogReader, source: int, path: str, *, is_last: bool) -> bool:
        """Read a segment; tell whether reading can go on behind it."""
        self.order.is_log = True
        is_sound = self.add(batches, source, path)
        end = batches.end
        if not is_sound or end is None:
            return is_sound
        if end.reason is EndReason.END or (end.reason is EndReason.PADDING and is_last):
            return True
        if end.reason is EndReason.PARTIAL and is_last and self._may_grow:
            return True  # a server is about to write the rest of it
        self._note(FindingKind.DAMAGE, _end_text(end), path, end.position)
        return False

    def _note(self, kind: FindingKind, reason: str, path: str, position: int) -> None:
        self.image.log_findings.append(Finding(kind, reason, None, path, position))


def _damage_of(batch: Batch) -> str | None:
    """Return why a batch cannot be trusted; None if it can."""
    if len(batch.data) > _MAGIC and batch.is_legacy:
        return f"a batch of magic {batch.data[_MAGIC]}, which no metadata log has"
    try:
        crc = batch.header.crc
    except DecodeError as error:
        return error.message
    return None if is_valid(batch, crc) else "the checksum of a batch is wrong"


def _end_text(end: LogEnd) -> str:
    return end.detail or f"{end.left} bytes at the end are no whole batch"

"""Load an image from files, or from anything that yields batches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from itertools import count
from typing import NamedTuple, TypeVar

from kraftops.errors import DecodeError, SourceError, UsageError
from kraftops.image.findings import CUTS_SHORT, Finding, Kind
from kraftops.image.image import MetadataImage, Provenance
from kraftops.image.replay import Limits, Replay
from kraftops.image.sources import Piece, files_of, plans
from kraftops.log.batch import Batch, is_valid
from kraftops.log.reader import EndReason, LogEnd, LogFile, LogReader
from kraftops.log.streams import LogStream, open_log

Progress = Callable[[int], None]
"""Called with the bytes that were read since the last call."""

L = TypeVar("L", bound="Loader")
_MAGIC = 16
_TRIES = 5  # a running server deletes snapshots and segments between a look and an opening


def load(
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    at_offset: int | None = None,
    at_time: int | None = None,
    dialect: str = "kafka",
    progress: Progress | None = None,
) -> MetadataImage:
    """Return the state of the metadata that *source* holds.

    Nothing is locked, changed or left behind, also under a running server, whose log is read up to
    its last whole batch. What is wrong with the log is in the image's `findings`.

    Args:
        source: a snapshot, a segment, the directory of the metadata partition or one that holds
            it; several of these are one log. Of a directory, the newest whole snapshot is read and
            the segments after it, or bootstrap.checkpoint where there is nothing else.
        at_offset: show the state after the record of this offset.
        at_time: show the state before the first record later than this, in ms since the epoch.
        dialect: how records are framed and numbered; see `kraftops.records.dialects.DIALECTS`.
        progress: is told how much has been read.

    Raises:
        SourceError: the source cannot be read, or holds no metadata records.
        UsageError: it does not reach back to what is asked for, or there is no such dialect.
    """
    given = [source] if isinstance(source, (str, os.PathLike)) else source
    names = [os.fspath(one) for one in given]
    limits = limits_of(at_offset, at_time)
    return loaded(names, limits, dialect, progress).image


def limits_of(at_offset: int | None, at_time: int | None) -> Limits:
    """Return which records make the state after the one of an offset, or at a time."""
    return Limits(
        until=Limits().until if at_offset is None else at_offset,
        time=Limits().time if at_time is None else at_time,
    )


def loaded(
    names: list[str], limits: Limits, dialect: str, progress: Progress | None = None
) -> Loader:
    """Return the loader that has read what *names* stand for; errors as those of `load`."""

    def make(may_grow: bool) -> Loader:
        return Loader(MetadataImage(dialect), limits, progress, may_grow=may_grow)

    return loaded_by(make, names, limits)


def loaded_by(make: Callable[[bool], L], names: list[str], limits: Limits) -> L:
    """Return the same of a loader that *make* makes, given whether a file may be growing."""
    for attempt in count(1):
        try:
            return _loaded(make, names, limits)
        except _GoneError as error:
            if attempt == _TRIES:
                raise SourceError(error.message) from None
    raise AssertionError


class _GoneError(SourceError):
    """A file of a directory that was there is not any more."""


def _loaded(make: Callable[[bool], L], names: list[str], limits: Limits) -> L:
    files = files_of(names)
    first = loader = None
    for pieces, findings in plans(files, limits):
        loader = make(files.is_directory)
        loader.image.log_findings += findings
        first = first or loader
        if loader.read(pieces):
            break
    else:
        loader = first  # no snapshot is whole: what the newest has
    if loader is None:
        raise SourceError(
            f"{', '.join(names)}: there is no metadata log",
            "name a snapshot, a segment, or a directory that holds __cluster_metadata-0",
        )
    if not loader.has_records:
        if loader.is_over:
            raise UsageError(f"{', '.join(names)}: nothing in it is as old as that")
        for finding in loader.image.log_findings:
            raise SourceError(f"cannot read {finding}")
        raise SourceError(f"{', '.join(names)}: there are no metadata records in it")
    if loader.is_of_no_metadata:
        raise SourceError(
            f"{', '.join(names)}: nobody can read any record in it as one of the metadata",
            "is it the log of another topic, or of another dialect?",
        )
    return loader


class Tail(NamedTuple):
    """How far a segment was read: to byte *position*; *last* is the batch that ends there."""

    path: str
    position: int = 0
    last: Batch | None = None


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
    ) -> None:
        """Load into *image*, by *replay* if that is given; the last file's end *may* be growing."""
        self.image = image
        self.has_records = False
        """Whether a batch was whole and sound, and within the limits."""
        self._limits = limits or Limits()
        self._replay = replay or Replay(image)
        self._replay.limits = self._limits
        self._progress = progress
        self._may_grow = may_grow
        self._next_offset: int | None = None
        self._logged: int | None = None  # the offset after the last batch that was no snapshot's
        self._repeated = ""  # the file whose offsets were last found to come again
        self._epoch = -1
        self._is_log = False  # a snapshot's offsets are its own
        self._sources: dict[str, int] = {}
        self.tail: Tail | None = None
        """Where the log can be read on."""

    @property
    def is_over(self) -> bool:
        """Whether a record beyond the limits was met."""
        return self._replay.is_over

    @property
    def is_of_no_metadata(self) -> bool:
        """Whether all was read, and none of the records is one of the metadata."""
        return (
            self._replay.is_of_no_metadata
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
        for batch in batches:
            reason = self._damage_of(batch)
            if reason is None:
                self._compare(batch, path)
                try:
                    if self._replay.add(batch, source):
                        self.has_records = True
                except DecodeError as error:
                    reason = error.message
                    self.has_records |= self.image.provenance != Provenance()
            if reason is not None:
                self._note(Kind.DAMAGE, f"{reason}; what follows is not read", path, batch.position)
                return False
            self.tail = Tail(path, batch.position + batch.size, batch)
            if self._progress:
                self._progress(batch.size)
            if self.is_over:
                break
        return True

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

    def _add_source(self, log: LogFile | LogStream, piece: Piece) -> int:
        file = log if isinstance(log, LogFile) else None
        source = self.image.store.add_source(piece.path, file, piece.end_offset)
        self._sources[piece.path] = source
        return source

    def _open(self, path: str) -> LogFile | LogStream:
        try:
            return open_log(path)
        except SourceError as error:
            if self._may_grow and not os.path.lexists(path):
                raise _GoneError(error.message) from None
            raise

    def _read_snapshot(self, batches: LogReader, source: int, piece: Piece) -> bool:
        """Read a snapshot, all of which counts; tell whether it is whole."""
        self._replay.limits = Limits()
        self._is_log = False
        is_sound = self.add(batches, source, piece.path)
        if piece.end_offset is not None:
            self.image.note_end_of_snapshot(piece.end_offset)
        end = batches.end
        if is_sound and end and end.reason is not EndReason.END:
            self._note(Kind.DAMAGE, _end_text(end), piece.path, end.position)
        elif is_sound and end and not self._replay.has_footer:
            reason = "the snapshot has no footer: its end is missing"
            self._note(Kind.DAMAGE, reason, piece.path, end.position)
        elif is_sound:
            self._next_offset = piece.end_offset
            after = -1 if piece.end_offset is None else piece.end_offset - 1
            self._replay.limits = self._limits._replace(after=after)
            return True
        return False

    def _read_segment(self, batches: LogReader, source: int, path: str, *, is_last: bool) -> bool:
        """Read a segment; tell whether reading can go on behind it."""
        self._is_log = True
        is_sound = self.add(batches, source, path)
        end = batches.end
        if not is_sound or end is None:
            return is_sound
        if end.reason is EndReason.END or (end.reason is EndReason.PADDING and is_last):
            return True
        if end.reason is EndReason.PARTIAL and is_last and self._may_grow:
            return True  # a server is about to write the rest of it
        self._note(Kind.DAMAGE, _end_text(end), path, end.position)
        return False

    def _damage_of(self, batch: Batch) -> str | None:
        """Return why a batch cannot be trusted; None if it can."""
        if len(batch.data) > _MAGIC and batch.is_legacy:
            return f"a batch of magic {batch.data[_MAGIC]}, which no metadata log has"
        try:
            crc = batch.header.crc
        except DecodeError as error:
            return error.message
        return None if is_valid(batch, crc) else "the checksum of a batch is wrong"

    def _compare(self, batch: Batch, path: str) -> None:
        """Note where offsets or epochs of the log do not follow on those before."""
        if not self._is_log:
            return
        header, expected = batch.header, self._next_offset
        offset = header.base_offset
        if expected is None and offset > 0:
            reason = f"the log begins at offset {offset}, and there is no snapshot before it"
            self._note(Kind.START, reason, path, batch.position)
        elif expected is not None and offset > expected:
            reason = f"offsets {expected} to {offset - 1} are missing"
            self._note(Kind.GAP, reason, path, batch.position)
        if self._logged is not None and offset < self._logged:
            if path != self._repeated:
                reason = f"offsets from {offset} on come again: they are left out"
                self._note(Kind.REPEAT, reason, path, batch.position)
            self._repeated = path
            limits = self._replay.limits
            self._replay.limits = limits._replace(after=max(limits.after, self._logged - 1))
            if header.last_offset < self._logged:
                return
        self._logged = header.last_offset + 1
        if header.leader_epoch < self._epoch:
            reason = f"leader epoch {header.leader_epoch} comes after {self._epoch}"
            self._note(Kind.EPOCH, reason, path, batch.position)
        self._epoch = header.leader_epoch
        self._next_offset = max(header.last_offset + 1, expected or 0)

    def _note(self, kind: Kind, reason: str, path: str, position: int) -> None:
        self.image.log_findings.append(Finding(kind, reason, None, path, position))


def _end_text(end: LogEnd) -> str:
    return end.detail or f"{end.left} bytes at the end are no whole batch"

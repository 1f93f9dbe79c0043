"""Pre-scan of a metadata log without an image: the byte ranges that count, topics and findings.

A part of a file is scanned by itself, and the load of the whole log accepts the result where it
would come to the same; it reads all other parts itself.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple
from weakref import proxy

from kraftops.engine.fold_contract import FoldProgress
from kraftops.errors import DecodeError, SourceError
from kraftops.image.load.loader import Loader
from kraftops.image.load.topic_ranges import TopicRangeCollector, TopicRanges
from kraftops.image.replay.events import ControlRecordRead, Event, RecordsProcessed
from kraftops.image.replay.limits import Limits
from kraftops.image.replay.order import LogOrder
from kraftops.image.replay.replay import Replay
from kraftops.image.state.changes import Provenance
from kraftops.image.state.image import MetadataImage
from kraftops.log.batch import Batch
from kraftops.log.log_file import LogFile
from kraftops.log.ranges import ByteRange
from kraftops.log.reader import EndReason, LogEnd, LogReader
from kraftops.log.streams import LogStream


class CountedRange(NamedTuple):
    """Bytes of a file with batches that count; control records count after offset *after*.

    *source* is the number of the file; a snapshot has an *end_offset*. *records* is the range of
    records that count in a single batch; None if all of them do.
    """

    source: int
    path: str
    end_offset: int | None
    start: int
    stop: int
    after: int
    records: tuple[int, int] | None = None


class PackedTopics(NamedTuple):
    """Topics in a tenth of their memory, for processes that only hand them on."""

    packed: bytes

    @classmethod
    def of(cls, topics: TopicRanges) -> PackedTopics:
        """Pack topics."""
        return cls(zlib.compress(pickle.dumps(tuple(topics)), 1))

    def unpacked(self) -> TopicRanges:
        """Return the topics."""
        return TopicRanges(*pickle.loads(zlib.decompress(self.packed)))  # noqa: S301 - by `of`


class ScannedPart(NamedTuple):
    """The result for a part of a file without findings; *newest* is its newest time in ms."""

    start: int
    stop: int
    first_offset: int
    first_epoch: int
    next_offset: int
    epoch: int
    newest: int
    has_footer: bool
    has_records: bool
    has_readable: bool
    has_unreadable: bool
    provenance: Provenance | None
    topics: PackedTopics


Parts = Sequence[tuple[ByteRange, ScannedPart | None]]
"""All parts of a file, and their results; None where only the load of the whole log can tell."""


class PrescanReplay(Replay):
    """A replay that notes the byte ranges that count, and applies no record."""

    def __init__(self, image: MetadataImage, limits: Limits | None = None) -> None:
        """Scan a log; *image* gets findings and provenance alone."""
        collector = TopicRangeCollector(image.dialect)
        super().__init__(image, limits, applier=collector)
        self.topics = collector.topics
        self.ranges: list[CountedRange] = []

    def add(
        self, batch: Batch, source: int, progress: FoldProgress | None = None
    ) -> Iterator[Event]:
        """Note the records of a batch that count."""
        if self.open_transaction is None:
            self.image.store.forget()  # only records of an open transaction are read again
        spans: list[tuple[int, int]] = []
        try:
            for event in super().add(batch, source, progress):
                if isinstance(event, RecordsProcessed):
                    spans.append((event.first, event.stop))
                elif isinstance(event, ControlRecordRead):
                    spans.append((event.number, event.number + 1))
                yield event
        finally:
            if spans:
                counted = spans[0][0], spans[-1][1]
                records = None if counted == (0, batch.header.record_count) else counted
                self._note(source, batch.position, batch.position + batch.size, records)

    def accept(self, part: ScannedPart, source: int) -> None:
        """Add the result for a part."""
        self._note(source, part.start, part.stop, None)
        self.topics.update(part.topics.unpacked())
        self.has_footer |= part.has_footer
        self.has_readable |= part.has_readable
        self.has_unreadable |= part.has_unreadable
        if part.provenance:
            self.image.provenance = part.provenance

    def _note(self, source: int, start: int, stop: int, records: tuple[int, int] | None) -> None:
        """Note bytes that count; adjacent ranges become one."""
        path, end_offset = self.image.store.source(source)
        noted = CountedRange(source, path, end_offset, start, stop, self.limits.after, records)
        last = self.ranges[-1] if self.ranges else None
        if (
            last
            and records is None
            and noted == last._replace(start=start, stop=stop)
            and start == last.stop
        ):
            self.ranges[-1] = last._replace(stop=stop)
        else:
            self.ranges.append(noted)


class PrescanLoader(Loader):
    """A loader that scans a log without making its image."""

    def __init__(
        self,
        prescan: PrescanReplay,
        *,
        may_grow: bool = False,
        parts: Mapping[str, Parts] | None = None,
    ) -> None:
        """Scan by *prescan*, as far as its limits allow.

        Args:
            prescan: gets the ranges and topics.
            may_grow: whether the last file may be growing.
            parts: results for the parts of some files, by their paths.
        """
        super().__init__(prescan, may_grow=may_grow)
        self.prescan = prescan
        self.others: list[PrescanLoader] = []
        """The loaders that `factory` made."""
        self._parts = parts or {}
        others = self.others

        def factory(image: MetadataImage, limits: Limits) -> PrescanLoader:
            others.append(PrescanLoader(PrescanReplay(image, limits)))
            return others[-1]

        self.factory = factory

    def scan_part(self, log: LogFile, part: ByteRange, *, is_snapshot: bool) -> ScannedPart | None:
        """Return the result for a part of a file; None where it depends on earlier parts.

        Raises:
            SourceError: it cannot be read.
        """
        batches = log.batches(part.start, part.stop)
        self.order.is_log = not is_snapshot
        headers = _PartHeaders(self.order)
        source = self.image.store.add_source(log.path, log)
        is_sound = self.add(headers.noted(batches), source, log.path)
        is_whole = is_sound and batches.end is not None and batches.end.reason is EndReason.END
        if not is_whole or self.image.log_findings or self.prescan.open_transaction is not None:
            return None
        if headers.first is None or self.order.next_offset is None or headers.is_odd:
            return None
        return ScannedPart(
            part.start,
            part.start + part.size,
            *headers.first,
            self.order.next_offset,
            self.order.epoch,
            headers.newest,
            self.prescan.has_footer,
            self.has_records,
            self.prescan.has_readable,
            self.prescan.has_unreadable,
            self.image.provenance if self.image.provenance != Provenance() else None,
            PackedTopics.of(self.prescan.topics),
        )

    def accept(self, part: ScannedPart, source: int) -> bool:
        """Add the result for a part; false if not all of it counts or it does not continue."""
        if self.prescan.open_transaction is not None:
            return False
        order = self.order
        if order.is_log:
            limits = self.prescan.limits
            if (
                part.first_offset != (order.next_offset or 0)
                or part.first_offset < (order.logged or 0)
                or part.first_epoch < order.epoch
                or part.first_offset <= limits.after
                or part.next_offset - 1 > limits.until
                or part.newest > limits.time
            ):
                return False
            order.next_offset = order.logged = part.next_offset
            order.epoch = part.epoch
        self.has_records |= part.has_records
        self.prescan.accept(part, source)
        return True

    def _open_log(self, path: str) -> LogFile | LogStream:
        parts = self._parts.get(path)
        if parts is not None:
            with suppress(SourceError):
                return _ScannedLog(path, parts, proxy(self))  # else the store never closes a file
        return super()._open_log(path)


class _PartHeaders:
    """Fields of the batch headers of a part that is scanned by itself."""

    def __init__(self, order: LogOrder) -> None:
        self.first: tuple[int, int] | None = None
        """Offset and epoch."""
        self.newest = -(1 << 63)
        self.is_odd = False
        self._order = order

    def noted(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield batches; the order of the log begins with the first."""
        for batch in batches:
            with suppress(DecodeError):  # the loader finds that, too
                header = batch.header
                if self.first is None:
                    self.first = header.base_offset, header.leader_epoch
                    self._order.next_offset = header.base_offset
                self.newest = max(self.newest, header.max_timestamp)
                self.is_odd |= header.base_offset < 0 or header.last_offset_delta < 0
            yield batch


class _ScannedLog(LogFile):
    """A file with results for its parts."""

    def __init__(self, path: str, parts: Parts, loader: PrescanLoader) -> None:
        super().__init__(path)
        self._parts = parts
        self._loader = loader

    def batches(self, start: int = 0, stop: int | None = None) -> LogReader:  # noqa: ARG002
        """Return a reader of the parts that the loader does not accept."""
        return _UnacceptedParts(self, self._parts, self._loader)

    def read(self, start: int, stop: int | None) -> LogReader:
        """Return a reader of all batches."""
        return super().batches(start, stop)


class _UnacceptedParts(LogReader):
    """A reader of the parts of a file that a loader does not accept."""

    def __init__(self, log: _ScannedLog, parts: Parts, loader: PrescanLoader) -> None:
        super().__init__(lambda _: b"", 0, None)
        self._log = log
        self._parts = parts
        self._loader = loader

    def __iter__(self) -> Iterator[Batch]:
        source = self._loader.image.store.sources()[-1]
        for number, (part, result) in enumerate(self._parts, 1):
            is_last = number == len(self._parts)
            is_all = not is_last or self._log.size == part.stop
            if result and is_all and self._loader.accept(result, source):
                self.end = LogEnd(EndReason.END, part.start + part.size, 0)
                continue
            reader = self._log.read(part.start, None if is_last else part.stop)
            yield from reader
            self.end = reader.end
            if reader.end and reader.end.reason is not EndReason.END:
                return


def scan_part(part: ByteRange, dialect: str, *, is_snapshot: bool) -> ScannedPart | None:
    """Return the result for a part of a log; None where only the load of the whole log can tell."""
    try:
        with LogFile(part.path) as log:
            loader = PrescanLoader(PrescanReplay(MetadataImage(dialect)))
            return loader.scan_part(log, part, is_snapshot=is_snapshot)
    except SourceError:
        return None

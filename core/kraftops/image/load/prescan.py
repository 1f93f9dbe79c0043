"""Load a metadata log without an image: note what counts of it, and what crosses entities.

What was found in a part of a file on its own, the load of the whole log takes over where it would
find the same: all that is odd it reads itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple
from weakref import proxy

from kraftops.engine.choice import index_records
from kraftops.engine.fold_contract import FoldProgress
from kraftops.engine.index_contract import RANGE_BITS, RecordGroup
from kraftops.errors import DecodeError, SourceError
from kraftops.image.load.loader import Loader
from kraftops.image.replay.events import Controlled, Event, Folded
from kraftops.image.replay.order import Order
from kraftops.image.replay.replay import Limits, Replay
from kraftops.image.state.changes import Provenance
from kraftops.image.state.image import MetadataImage
from kraftops.log.batch import Batch, read_record
from kraftops.log.ranges import ByteRange
from kraftops.log.reader import EndReason, LogEnd, LogFile, LogReader
from kraftops.log.streams import LogStream, open_log
from kraftops.records.kip_631 import record_reader
from kraftops.records.meaning import Unknown
from kraftops.records.metadata_numbers import PARTITION, TOPIC, TRANSACTION_MARKERS

if TYPE_CHECKING:
    from kraftops.records.metadata_types import TopicRecord

_RANGES = 64  # several ranges may go together, so that a mask of them is small


class Stretch(NamedTuple):
    """Bytes of a file whose batches count, from record *after* on.

    *source* is the number of the file; *end_offset* is that of a snapshot. *records* says which of
    its only batch's count, where not all do.
    """

    source: int
    path: str
    end_offset: int | None
    start: int
    stop: int
    after: int
    records: tuple[int, int] | None = None


class Names(NamedTuple):
    """What records say of topics: pairs of ids and names, and where partitions are.

    The latter is, by topic id, a mask of `range_of` of all partitions that are not in the first.
    """

    pairs: dict[tuple[bytes, str], None]
    ranges: dict[bytes, int]

    def add(self, others: Names) -> None:
        """Add what others say."""
        self.pairs.update(others.pairs)
        for topic_id, mask in others.ranges.items():
            self.ranges[topic_id] = self.ranges.get(topic_id, 0) | mask

    def see(self, topic_id: bytes, number: int) -> None:
        """Add a partition."""
        bit = 1 << range_of(number)
        if bit > 1:
            self.ranges[topic_id] = self.ranges.get(topic_id, 0) | bit


def range_of(number: int) -> int:
    """Return the number of the range of partitions that one belongs to, 0 for nearly all."""
    return (number >> RANGE_BITS) % _RANGES


class Run(NamedTuple):
    """Batches without anything odd, which follow one another; times in ms."""

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
    names: Names


class _Ahead(NamedTuple):
    """Records of a batch behind a marker of a transaction, from *number* up to *stop*."""

    data: bytes
    number: int
    stop: int
    left: Iterator[RecordGroup]


class _NamesOf:
    """Stands where a fold is: it notes what records say of topics, and applies nothing."""

    def __init__(self, dialect: str) -> None:
        self.names = Names({}, {})
        self._dialect = dialect
        self._meaning = record_reader(dialect)
        self._ahead = _Ahead(b"", 0, 0, iter(()))

    def begin_unit(self) -> None:
        """Do nothing: a unit matters only to what can be refused."""

    def drop(self, address: int, reason: str) -> None:
        """Do nothing: the second pass finds this again."""

    def apply(
        self,
        data: bytes,
        address: int,  # noqa: ARG002 - see `Applier`
        position: int,
        number: int,
        stop: int,
    ) -> FoldProgress:
        """Note what records say, up to a marker of a transaction."""
        return self._go_on(data, position, number, stop, is_noted=True)

    def skim(self, data: bytes, position: int, number: int, stop: int) -> FoldProgress:
        """Read over records up to a marker of a transaction."""
        return self._go_on(data, position, number, stop, is_noted=False)

    def _go_on(
        self, data: bytes, position: int, number: int, stop: int, *, is_noted: bool
    ) -> FoldProgress:
        known = self._ahead
        if data is known.data and (number, stop) == (known.number, known.stop):
            left = known.left
        else:
            left = iter(index_records(self._dialect, data, position, number, stop))
        first, last, unreadable, marker = number, position, 0, None
        for seen in left:
            last, position, number = seen.start, seen.end, seen.number + seen.total
            if seen.type in TRANSACTION_MARKERS:
                marker = seen.type
                self._ahead = _Ahead(data, number, stop, left)
                break
            unreadable += seen.type is None
            if is_noted:
                self._note(data, seen)
        looked_at = number - first - (marker is not None)
        applied, dropped = (looked_at - unreadable, unreadable) if is_noted else (0, 0)
        is_odd = marker is None and number < stop
        return FoldProgress(
            position, number, last, marker, is_odd, False, applied, dropped, unreadable
        )

    def _note(self, data: bytes, seen: RecordGroup) -> None:
        if seen.type == PARTITION and seen.topic_id is not None and seen.partition is not None:
            self.names.see(seen.topic_id, seen.partition)
        elif seen.type == TOPIC:
            found = self._meaning(read_record(data, seen.start, 0, 0)[0].value)
            if not isinstance(found, Unknown):
                said: TopicRecord = found[1]
                self.names.pairs[said["topicId"], said["name"]] = None


class DryReplay(Replay):
    """A replay that notes what counts, and applies nothing."""

    def __init__(self, image: MetadataImage) -> None:
        """Note what counts of a log, whose *image* gets findings and provenance alone."""
        found = _NamesOf(image.dialect)
        super().__init__(image, applier=found)
        self.names = found.names
        self.stretches: list[Stretch] = []

    def add(self, batch: Batch, source: int, begun: FoldProgress | None = None) -> Iterator[Event]:
        """Note a batch, as far as it counts."""
        if self.began is None:
            self.image.store.forget()  # only what waits for the end of a transaction is asked for
        seen: list[tuple[int, int]] = []
        try:
            for event in super().add(batch, source, begun):
                if isinstance(event, Folded):
                    seen.append((event.first, event.stop))
                elif isinstance(event, Controlled):
                    seen.append((event.number, event.number + 1))
                yield event
        finally:
            if seen:
                counted = seen[0][0], seen[-1][1]
                records = None if counted == (0, batch.header.record_count) else counted
                self._note(source, batch.position, batch.position + batch.size, records)

    def take(self, run: Run, source: int) -> None:
        """Take over what was found in a part."""
        self._note(source, run.start, run.stop, None)
        self.names.add(run.names)
        self.has_footer |= run.has_footer
        self.has_readable |= run.has_readable
        self.has_unreadable |= run.has_unreadable
        if run.provenance:
            self.image.provenance = run.provenance

    def _note(self, source: int, start: int, stop: int, records: tuple[int, int] | None) -> None:
        """Note a stretch; one that goes on where another ends is one with it."""
        path, end_offset = self.image.store.source(source)
        stretch = Stretch(source, path, end_offset, start, stop, self.limits.after, records)
        last = self.stretches[-1] if self.stretches else None
        if (
            last
            and records is None
            and stretch == last._replace(start=start, stop=stop)
            and start == last.stop
        ):
            self.stretches[-1] = last._replace(stop=stop)
        else:
            self.stretches.append(stretch)


class DryLoader(Loader):
    """Loads a metadata log by a dry replay; *runs* has, by path, what is known of its parts."""

    def __init__(
        self,
        image: MetadataImage,
        limits: Limits | None = None,
        *,
        may_grow: bool = False,
        runs: Mapping[str, Sequence[tuple[ByteRange, Run | None]]] | None = None,
    ) -> None:
        """Load as far as *limits* allow; the end of the last file *may* be growing.

        The *image* gets findings and provenance alone.
        """
        self.dry = DryReplay(image)
        known, weak = runs or {}, proxy(self)  # or its store would never close a file

        def opened(path: str) -> LogFile | LogStream:
            parts = known.get(path)
            if parts is not None:
                with suppress(SourceError):
                    return _PartedLog(path, parts, weak)
            return open_log(path)

        super().__init__(self.dry.image, limits, may_grow=may_grow, replay=self.dry, opened=opened)
        others: list[DryLoader] = []

        def another(image: MetadataImage, limits: Limits) -> DryLoader:
            others.append(DryLoader(image, limits))
            return others[-1]

        self.another, self.others = another, others

    def run_of_part(self, log: LogFile, split: ByteRange, *, is_snapshot: bool) -> Run | None:
        """Return what is in a part of a file; None where that depends on what is before it.

        Raises:
            SourceError: it cannot be read.
        """
        batches = log.batches(split.start, split.stop)
        self.order.is_log = not is_snapshot
        part = _Part(self.order)
        source = self.image.store.add_source(log.path, log)
        is_sound = self.add(part.noted(batches), source, log.path)
        is_whole = is_sound and batches.end is not None and batches.end.reason is EndReason.END
        if not is_whole or self.image.log_findings or self.dry.began is not None:
            return None
        if part.first is None or self.order.next_offset is None or part.is_odd:
            return None
        return Run(
            split.start,
            split.start + split.size,
            *part.first,
            self.order.next_offset,
            self.order.epoch,
            part.newest,
            self.dry.has_footer,
            self.has_records,
            self.dry.has_readable,
            self.dry.has_unreadable,
            self.image.provenance if self.image.provenance != Provenance() else None,
            self.dry.names,
        )

    def takes(self, run: Run, source: int) -> bool:
        """Take over what was found in a part, if all of it counts and follows on what is before."""
        if self.dry.began is not None:
            return False
        order = self.order
        if order.is_log:
            limits = self.dry.limits
            if (
                run.first_offset != (order.next_offset or 0)
                or run.first_offset < (order.logged or 0)
                or run.first_epoch < order.epoch
                or run.first_offset <= limits.after
                or run.next_offset - 1 > limits.until
                or run.newest > limits.time
            ):
                return False
            order.next_offset = order.logged = run.next_offset
            order.epoch = run.epoch
        self.has_records |= run.has_records
        self.dry.take(run, source)
        return True


class _Part:
    """What the headers of the batches of a part say, which is looked at by itself."""

    def __init__(self, order: Order) -> None:
        self.first: tuple[int, int] | None = None
        """Offset and epoch."""
        self.newest = -(1 << 63)
        self.is_odd = False
        self._order = order

    def noted(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield batches; the first is where the log goes on."""
        for batch in batches:
            with suppress(DecodeError):  # who loads it finds that
                header = batch.header
                if self.first is None:
                    self.first = header.base_offset, header.leader_epoch
                    self._order.next_offset = header.base_offset
                self.newest = max(self.newest, header.max_timestamp)
                self.is_odd |= header.base_offset < 0 or header.last_offset_delta < 0
            yield batch


class _PartedLog(LogFile):
    """A file of which parts are known."""

    def __init__(
        self, path: str, parts: Sequence[tuple[ByteRange, Run | None]], loader: DryLoader
    ) -> None:
        super().__init__(path)
        self._parts = parts
        self._loader = loader

    def batches(self, start: int = 0, stop: int | None = None) -> LogReader:  # noqa: ARG002
        """Return the batches of parts that the loader does not take as they are known."""
        return _PartedReader(self, self._parts, self._loader)

    def read(self, start: int, stop: int | None) -> LogReader:
        """Return all batches."""
        return super().batches(start, stop)


class _PartedReader(LogReader):
    def __init__(
        self, log: _PartedLog, parts: Sequence[tuple[ByteRange, Run | None]], loader: DryLoader
    ) -> None:
        super().__init__(lambda _: b"", 0, None)
        self._log = log
        self._parts = parts
        self._loader = loader

    def __iter__(self) -> Iterator[Batch]:
        source = self._loader.image.store.sources()[-1]
        for number, (split, run) in enumerate(self._parts, 1):
            is_last = number == len(self._parts)
            is_all = not is_last or self._log.size == split.stop
            if run and is_all and self._loader.takes(run, source):
                self.end = LogEnd(EndReason.END, split.start + split.size, 0)
                continue
            reader = self._log.read(split.start, None if is_last else split.stop)
            yield from reader
            self.end = reader.end
            if reader.end and reader.end.reason is not EndReason.END:
                return


def run_of(split: ByteRange, dialect: str, *, is_snapshot: bool) -> Run | None:
    """Return what is in a part of a log, None where only the load of all of it can tell."""
    try:
        with LogFile(split.path) as log:
            return DryLoader(MetadataImage(dialect)).run_of_part(
                log, split, is_snapshot=is_snapshot
            )
    except SourceError:
        return None

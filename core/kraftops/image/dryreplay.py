"""Load a metadata log without an image: note what counts of it, and what crosses entities.

What was found in a part of a file on its own, the load of the whole log takes over where it would
find the same: all that is odd it reads itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, cast
from weakref import proxy

from kraftops.errors import SourceError
from kraftops.image import frames
from kraftops.image.batchscan import BatchScan
from kraftops.image.image import MetadataImage, Provenance
from kraftops.image.loading import Loader
from kraftops.image.recordtypes import BEGIN_TRANSACTION, PARTITION, TOPIC
from kraftops.image.replay import Limits, Replay, Span
from kraftops.image.sources import Piece
from kraftops.image.store import Held
from kraftops.log.batch import Batch, Record
from kraftops.log.reader import EndReason, LogEnd, LogFile, LogReader
from kraftops.log.splits import Split
from kraftops.log.streams import LogStream

RANGE_BITS = 13
"""Partitions of a topic are dealt out by ranges of so many bits of their numbers."""
_RANGES = 64  # several ranges may go together, so that a mask of them is small
_SECOND_RANGE = (1 << RANGE_BITS).to_bytes(4)
_CHOSEN = frozenset({BEGIN_TRANSACTION, PARTITION, TOPIC})
_FIRST_BYTES = {bytes([number]) for number in _CHOSEN}


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


class DryReplay(Replay):
    """Stands where a replay is; it notes what counts, and applies nothing."""

    def __init__(self, image: MetadataImage) -> None:
        super().__init__(image)
        self.stretches: list[Stretch] = []
        self.pieces: list[Piece] = []
        self.names = Names({}, {})
        self._scan = BatchScan(image.dialect)
        self._cut: tuple[int, int] | None = None

    @property
    def is_open(self) -> bool:
        """Whether a transaction is open."""
        return self._began is not None

    @property
    def readability(self) -> tuple[bool, bool]:
        """Whether there were records that one can read, and others; not all need be counted."""
        return self._has_readable, self._has_unreadable

    def add(self, batch: Batch, source: int) -> bool:
        """Note a batch, as far as it counts."""
        store = self.image.store
        if self._began is None:
            store.forget()  # only what waits for the end of a transaction is asked for
        self._cut, before = None, len(store.numbers())
        try:
            return super().add(batch, source)
        finally:
            if len(store.numbers()) > before:
                piece = self.pieces[source]
                end = batch.position + batch.size
                records = None if self._cut == (0, batch.header.record_count) else self._cut
                place = source, piece.path, piece.end_offset, batch.position, end
                self._note(Stretch(*place, self.limits.after, records))

    def take(self, run: Run, source: int) -> None:
        """Take over what was found in a part."""
        piece = self.pieces[source]
        place = source, piece.path, piece.end_offset, run.start, run.stop
        self._note(Stretch(*place, self.limits.after))
        self.names.add(run.names)
        self.has_footer |= run.has_footer
        self._has_readable |= run.has_readable
        self._has_unreadable |= run.has_unreadable
        if run.provenance:
            self.image.provenance = run.provenance

    def _note(self, stretch: Stretch) -> None:
        last = self.stretches[-1] if self.stretches else None
        if (
            last
            and stretch.records is None
            and stretch == last._replace(start=stretch.start, stop=stretch.stop)
            and stretch.start == last.stop
        ):
            self.stretches[-1] = last._replace(stop=stretch.stop)
        else:
            self.stretches.append(stretch)

    def _within(self, inside: Held, count: int) -> tuple[int, int, int, int, int]:
        found = super()._within(inside, count)
        self._cut = found[0], found[2]
        return found

    def _reach(self, inside: Held, stop: int, last: int, time: int) -> None:  # noqa: ARG002
        # What Kafka would count, nobody asks for here.
        self.image.provenance = Provenance(last, inside.epoch, time)

    def _apply(self, b: bytes, inside: Held, span: Span) -> Span:  # noqa: ARG002 - as a replay
        """Look at records up to one that begins a transaction; return those that are left."""
        base, p, number, stop = span
        data, is_kafka = inside.data, self.image.dialect == "kafka"
        is_odd = not self._has_readable  # until then, all must be tried
        for seen in self._scan.records(inside, p, number, stop, is_odd=is_odd):
            if seen.record is None:
                body = seen.body
                if seen.sort == frames.PARTITIONS and data[body : body + 4] >= _SECOND_RANGE:
                    self._see_partition(data[body + 4 : body + frames.KEY], data[body : body + 4])
            else:
                value = seen.record.value
                if is_odd or not is_kafka or (value and value[1:2] in _FIRST_BYTES):
                    self._see(seen.record, base + seen.start)
            p, number = seen.end, seen.number + seen.total
            if self._began is not None:
                break
        return Span(base, p, number, stop)

    def _see(self, record: Record, address: int) -> None:
        found = self._read(record)
        if isinstance(found, str):
            self._unreadable += 1
            return
        number, data = found
        if number == BEGIN_TRANSACTION:
            self._began = address
        elif number == TOPIC:
            pair = cast("bytes", data["topicId"]), cast("str", data["name"])
            self.names.pairs[pair] = None
        elif number == PARTITION:
            partition = cast("int", data["partitionId"]).to_bytes(4, signed=True)
            self._see_partition(cast("bytes", data["topicId"]), partition)

    def _see_partition(self, topic_id: bytes, number: bytes) -> None:
        bit = 1 << range_of(int.from_bytes(number, signed=True))
        if bit > 1:
            self.names.ranges[topic_id] = self.names.ranges.get(topic_id, 0) | bit


class DryLoader(Loader):
    """Loads a metadata log by a dry replay; *runs* has, by path, what is known of its parts."""

    def __init__(
        self,
        dialect: str,
        limits: Limits | None = None,
        *,
        may_grow: bool = False,
        runs: Mapping[str, Sequence[tuple[Split, Run | None]]] | None = None,
    ) -> None:
        """Load as far as *limits* allow; the end of the last file *may* be growing."""
        self.dry = DryReplay(MetadataImage(dialect))
        super().__init__(self.dry.image, limits, may_grow=may_grow, replay=self.dry)
        self._runs = runs or {}
        self._first: tuple[int, int] | None = None  # offset and epoch
        self._newest = -(1 << 63)
        self._is_alone = self._is_odd = False

    def run_of_part(self, log: LogFile, split: Split, *, is_snapshot: bool) -> Run | None:
        """Return what is in a part of a file; None where that depends on what is before it.

        Raises:
            SourceError: it cannot be read.
        """
        self._is_alone, self._is_log = True, not is_snapshot
        source = self._add_source(log, Piece(log.path, None, is_snapshot))
        batches = log.batches(split.start, split.stop)
        is_sound = self.add(batches, source, log.path)
        is_whole = is_sound and batches.end is not None and batches.end.reason is EndReason.END
        if not is_whole or self.image.log_findings or self.dry.is_open:
            return None
        if self._first is None or self._next_offset is None or self._is_odd:
            return None
        return Run(
            split.start,
            split.stop,
            *self._first,
            self._next_offset,
            self._epoch,
            self._newest,
            self.dry.has_footer,
            self.has_records,
            *self.dry.readability,
            self.image.provenance if self.image.provenance != Provenance() else None,
            self.dry.names,
        )

    def takes(self, run: Run, source: int) -> bool:
        """Take over what was found in a part, if all of it counts and follows on what is before."""
        if self.dry.is_open:
            return False
        if self._is_log:
            limits, expected = self.dry.limits, self._next_offset
            if (
                run.first_offset != (expected or 0)
                or run.first_offset < (self._logged or 0)
                or run.first_epoch < self._epoch
                or run.first_offset <= limits.after
                or run.next_offset - 1 > limits.until
                or run.newest > limits.time
            ):
                return False
            self._next_offset = self._logged = run.next_offset
            self._epoch = run.epoch
        self.has_records |= run.has_records
        self.dry.take(run, source)
        return True

    def _add_source(self, log: LogFile | LogStream, piece: Piece) -> int:
        self.dry.pieces.append(piece)
        return super()._add_source(log, piece)

    def _open(self, path: str) -> LogFile | LogStream:
        parts = self._runs.get(path)
        if parts is not None:
            with suppress(SourceError):
                return _PartedLog(path, parts, proxy(self))  # or its store would never close it
        return super()._open(path)

    def _compare(self, batch: Batch, path: str) -> None:
        if self._is_alone:
            header = batch.header
            if self._first is None:
                self._first = header.base_offset, header.leader_epoch
                self._next_offset = header.base_offset
            self._newest = max(self._newest, header.max_timestamp)
            self._is_odd |= header.base_offset < 0 or header.last_offset_delta < 0
        super()._compare(batch, path)


class _PartedLog(LogFile):
    """A file of which parts are known."""

    def __init__(
        self, path: str, parts: Sequence[tuple[Split, Run | None]], loader: DryLoader
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
        self, log: _PartedLog, parts: Sequence[tuple[Split, Run | None]], loader: DryLoader
    ) -> None:
        super().__init__(lambda _: b"", 0, None)
        self._log = log
        self._parts = parts
        self._loader = loader

    def __iter__(self) -> Iterator[Batch]:
        source = len(self._loader.dry.pieces) - 1
        for number, (split, run) in enumerate(self._parts, 1):
            is_last = number == len(self._parts)
            is_all = not is_last or self._log.size == split.stop
            if run and is_all and self._loader.takes(run, source):
                self.end = LogEnd(EndReason.END, split.stop, 0)
                continue
            reader = self._log.read(split.start, None if is_last else split.stop)
            yield from reader
            self.end = reader.end
            if reader.end and reader.end.reason is not EndReason.END:
                return


def run_of(split: Split, dialect: str, *, is_snapshot: bool) -> Run | None:
    """Return what is in a part of a log, None where only the load of all of it can tell."""
    try:
        with LogFile(split.path) as log:
            return DryLoader(dialect).run_of_part(log, split, is_snapshot=is_snapshot)
    except SourceError:
        return None

"""Count the batches of a file in a summary."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from kraftops.dump.summary.details import NoDetails
from kraftops.dump.summary.sketches import Amount, OffsetSpan, TimeHistogram
from kraftops.dump.summary.summary import DamageSite, Summary
from kraftops.dump.summary.transactions import Producer, Transactions, TransactionStart
from kraftops.engine.count_contract import (
    Counted,
    CountRequest,
    LargeBatch,
    OffsetTally,
    ProducerTally,
    Tally,
    TransactionTally,
    Window,
)
from kraftops.engine.counting import EngineCounter
from kraftops.engine.reference.records import sized_records
from kraftops.errors import DecodeError, UsageError
from kraftops.log import batch as v2
from kraftops.log import legacy
from kraftops.log.batch import Batch, Header, Record
from kraftops.log.codecs import CODECS
from kraftops.log.files import FileKind, file_name
from kraftops.log.reader import LogReader
from kraftops.memory import ALONE, Turn
from kraftops.query.query import NO_LIMIT, Query
from kraftops.records.control import control_name, control_type_name
from kraftops.records.decoder import whole_record
from kraftops.records.internal_topics import USER
from kraftops.records.meaning import UNKNOWN, Label

_SMALLEST_RECORD = 7  # bytes: a length and six fields of one byte
_USER = Label(USER, None)
_MARKERS = ("ABORT", "COMMIT")
_ALL = Window(0, (1 << 64) - 1)


@dataclass(slots=True)
class Quota:
    """The selected records of a log that are passed over, and those that are counted after them."""

    skip: int
    most: int

    def take(self, counted: Counted) -> None:
        """Use up what a batch took."""
        self.skip -= counted.skipped
        self.most -= counted.records


@dataclass(frozen=True, slots=True)
class Counting:
    """The extent of a count: with groups, transactional ids, keys and largest records or without.

    *quota* are the records of all files together that count; None is all. *turn* is that of who
    counts.
    """

    details: bool = True
    quota: Quota | None = None
    turn: Turn = ALONE


class FileCounter:
    """Counts the batches of one file in a summary."""

    def __init__(self, summary: Summary, path: str, query: Query, counting: Counting) -> None:
        self.summary = summary
        self.query = query
        self._path = path
        self._quota = quota = counting.quota
        name = file_name(path)
        self._in_log = name is None or name.kind is not FileKind.CHECKPOINT
        self._is_read_to_end = quota is None and query.max_bytes == NO_LIMIT
        if name and not name.is_stdin:
            with suppress(UsageError):  # a name without an offset
                self._reach(name.base_offset)
        scope = summary.scope
        self.meter = query.budget.meter(counting.turn)
        request = CountRequest(path, query, scope.has_details)
        self._counter = EngineCounter(request, self.meter)
        has_types = scope.decoder.has_types
        self._has_details = not isinstance(summary.details, NoDetails)
        self._walks = scope.is_chosen or scope.has_details or has_types or query.check

    @property
    def is_done(self) -> bool:
        """Whether no more records count."""
        return self._quota is not None and not self._quota.most

    def add_windows(self, batches: LogReader) -> None:
        """Count batches as long as the engine takes many at once; `add` counts the next one."""
        if self._quota or self._has_details:
            return
        while window := batches.window():
            buffer, start, position = window
            end = self._counter.add_window(buffer, start, position)
            if end == start:
                break
            batches.advance(end)
        if tally := self._counter.tally():
            if tally.reach is not None:
                self._reach(tally.reach)
            _add_tally(self.summary, tally, self._path, in_log=self._in_log)

    def add(self, batch: Batch) -> None:
        """Count a batch; a damaged one as damage and nothing else."""
        try:
            if batch.is_legacy:
                self._add_legacy(batch)
            else:
                self._add(batch, batch.header)
        except DecodeError as error:
            self._damage(batch, error.message)
        except MemoryError:
            self._damage(batch, "the batch needs more memory than there is")

    def finish(self) -> None:
        """Add what the engine has kept of all batches."""
        if self.summary.tops:
            for tops in self._counter.tops():
                self.summary.tops.add_found(self._path, tops)

    def _reach(self, end: int) -> None:
        """Note that the log goes at least up to an offset, exclusive."""
        if self._in_log and self._is_read_to_end:
            self.summary.reach(end)

    def _damage(self, batch: Batch, reason: str) -> None:
        self.summary.add_damage(self._path, batch.position, batch.size, reason)
        if self.meter.is_spent:
            self.summary.spent.append(DamageSite(self._path, batch.position, batch.size, reason))

    def _add(self, batch: Batch, header: Header) -> None:
        if not v2.is_valid(batch, header.crc):
            raise DecodeError("a wrong checksum")
        if header.codec >= len(CODECS):
            raise DecodeError(f"unknown codec {header.codec}")
        self._reach(header.last_offset + 1)
        if not self.query.filter.may_match(header):
            return
        self._refuse_many(batch, header)
        count = header.record_count
        buffer, pos = v2.inflated(batch, header, self.meter) if count else (b"", 0)
        size = len(buffer) - pos
        if not 0 <= count <= size // _SMALLEST_RECORD:
            raise DecodeError(f"{count} records in {size} bytes")
        counted = _whole(count, size, _USER)
        if count and (self._walks or header.is_control):
            counted = self._counted(batch, header, buffer, pos)
        self._note(batch, counted)
        if header.is_control:
            self._add_control(header, buffer, pos, counted)
        elif self._has_details and counted.records:
            records = sized_records(buffer, pos, header, skips_headers=True)
            self._add_details(batch, header.producer_id, records, counted)
        if counted.records or not self.summary.scope.is_chosen:
            self._add_batch(batch, header, size, counted)

    def _refuse_many(self, batch: Batch, header: Header) -> None:
        """Refuse a batch whose details would take minutes: each of its records is read here.

        Raises:
            DecodeError: it is compressed, and counts more records than any of a coordinator.
        """
        most = v2.FREE_RECORDS + batch.size // 2
        if self._has_details and header.codec and header.record_count > most:
            raise DecodeError(
                f"{header.record_count} records in a compressed batch of {batch.size} bytes, more"
                f" than the {most} whose details are read"
            )

    def _add_batch(self, batch: Batch, header: Header, size: int, counted: Counted) -> None:
        """Count a batch and its records; *size* are the bytes of all its records, inflated."""
        summary = self.summary
        part = None if counted.numbers is None else counted
        summary.add_batch(header, batch, size, part, in_log=self._in_log)
        if header.is_control:
            return
        producer_id = None if header.producer_id < 0 else header.producer_id
        if producer_id is not None:
            summary.transactions.add_batch(header, part)
        summary.add_records(counted.amounts)
        if summary.tops:
            codec = CODECS[header.codec]
            large = (batch.position, header.base_offset, counted.records, codec, producer_id)
            summary.tops.add_batch(self._path, LargeBatch(batch.size, *large))
            if producer_id is not None:
                summary.tops.producers.add(producer_id, counted.size)

    def _counted(self, batch: Batch, header: Header, buffer: bytes, pos: int) -> Counted:
        """Return the counts of the selected records of a batch.

        Raises:
            DecodeError: the bytes are not exactly the records of the batch.
        """
        counted = self._counter.add(batch, header, buffer, pos, self._window)
        if counted is None:
            for _ in sized_records(buffer, pos, header):
                pass
            raise DecodeError("records that cannot be read")
        return counted

    @property
    def _window(self) -> Window:
        return Window(self._quota.skip, self._quota.most) if self._quota else _ALL

    def _note(self, batch: Batch, counted: Counted) -> None:
        """Use up the quota, and count the records that cannot be decoded."""
        if self._quota:
            self._quota.take(counted)
        for offset, size, error in counted.errors:
            self._undecodable(batch, offset, size, error)

    def _undecodable(self, batch: Batch, offset: int, size: int, error: str) -> None:
        reason = f"offset {offset}: {error}"
        self.summary.add_undecodable(self._path, batch.position, size, reason)

    def _add_control(self, header: Header, buffer: bytes, pos: int, counted: Counted) -> None:
        """Count control records.

        A marker that a condition on records leaves out has no key or type to be chosen by; it
        still ends the transactions of the details, if it is in the range of offsets and times.
        """
        summary, filter_ = self.summary, self.query.filter
        numbers = None if counted.numbers is None else set(counted.numbers)
        for number, (record, size) in enumerate(sized_records(buffer, pos, header)):
            name = control_type_name(record.key)
            is_commit = name == "COMMIT"
            if numbers is None or number in numbers:
                summary.add_control(name, size)
                if name in _MARKERS:
                    summary.transactions.add_marker(header, is_commit=is_commit)
            is_near = filter_.fits_offset_and_time(record.offset, record.timestamp)
            if name in _MARKERS and is_near:
                summary.details.add_marker(header.producer_id, is_commit=is_commit)

    def _add_details(
        self,
        batch: Batch,
        producer_id: int,
        records: Iterable[tuple[Record, int]],
        counted: Counted,
    ) -> None:
        """Add the counted records, with their sizes, to the details of the summary."""
        numbers = None if counted.numbers is None else set(counted.numbers)
        bad = {offset for offset, _, _ in counted.errors}
        for number, (record, size) in enumerate(records):
            if (numbers is not None and number not in numbers) or record.offset in bad:
                continue
            try:
                self.summary.details.add_record(whole_record(record), producer_id)
            except DecodeError as error:
                self._undecodable(batch, record.offset, size, error.message)

    def _add_legacy(self, batch: Batch) -> None:
        if not legacy.is_valid(batch):
            raise DecodeError("a wrong checksum")
        head = legacy.header(batch)
        summary = self.summary
        counted = self._counter.add_legacy(batch, head, self._window)
        self._reach(head.offset + 1)
        self._note(batch, counted)
        if not counted.records:
            return
        if self._has_details:
            messages = legacy.records(batch, self.meter)
            self._add_details(batch, -1, ((message.record, 0) for message in messages), counted)
        summary.add_records(counted.amounts)
        summary.add_legacy(head, batch, counted)
        if summary.tops:
            large = (batch.position, head.offset, counted.records, CODECS[head.codec], None)
            summary.tops.add_batch(self._path, LargeBatch(batch.size, *large))


def _whole(count: int, size: int, label: Label) -> Counted:
    return Counted(
        records=count,
        size=size,
        skipped=0,
        offsets=None,
        times=None,
        amounts=[(label, count, size)] if count else [],
        numbers=None,
        errors=[],
    )


def _add_tally(summary: Summary, tally: Tally, path: str, *, in_log: bool) -> None:
    """Add the batches of a tally, from the file *path*, to a summary.

    *in_log*: the offsets count as offsets of the log.
    """
    if summary.batches.count:
        part = Summary(summary.scope)
        _fill_summary(part, tally, path, in_log=in_log)
        summary.merge(part)
    else:
        _fill_summary(summary, tally, path, in_log=in_log)


def _fill_summary(part: Summary, tally: Tally, path: str, *, in_log: bool) -> None:
    batches = tally.batches
    part.batches, part.records = Amount(*batches.amount), Amount(*tally.records)
    part.control_batches, part.transactional_batches = batches.control, batches.transactional
    part.magics = batches.magics
    part.sizes.fill(batches.sizes)
    part.records_per_batch.fill(batches.records)
    if in_log and tally.offsets is not None:
        _fill_offsets(part.offsets, tally.offsets)
    if tally.times is not None:
        part.first_time, part.last_time = tally.times
    shift, first, buckets = tally.history
    _fill_history(part.history, shift, first, [count for count, _ in buckets])
    _fill_history(part.volume, shift, first, [size for _, size in buckets])
    for epoch, offset, number, records in tally.epochs:
        part.epochs.put(epoch, [offset, number, records])
    part.codecs = {codec: list(numbers) for codec, numbers in tally.codecs}
    part.add_records(tally.amounts)
    for kind, (count, size) in tally.controls:
        name = UNKNOWN if kind is None else control_name(kind)
        part.control[name] = Amount(count, size)
    for position, offset, size, reason in tally.errors:
        part.add_undecodable(path, position, size, f"offset {offset}: {reason}")
    _fill_transactions(part.transactions, tally.transactions)


def _fill_offsets(empty: OffsetSpan, tally: OffsetTally) -> None:
    empty.first, empty.last = tally.first, tally.last
    empty.gaps, empty.gap_count, empty.missing = tally.gaps
    empty.backward, empty.removed = tally.backward, tally.removed


def _fill_history(empty: TimeHistogram, shift: int, first: int, counts: Iterable[int]) -> None:
    counts_by_key = {key: count for key, count in enumerate(counts, first) if count}
    if counts_by_key:
        empty.counts, empty.shift = counts_by_key, shift
        empty.first, empty.last = min(counts_by_key), max(counts_by_key)


def _fill_transactions(empty: Transactions, tally: TransactionTally) -> None:
    empty.committed, empty.aborted = tally.committed, tally.aborted
    empty.durations.fill(dict(tally.durations))
    for producer in tally.producers:
        empty.producers.put(producer.producer_id, _producer(producer))
    for producer_id in tally.idempotent:
        empty.idempotent.put(producer_id, None)


def _producer(tally: ProducerTally) -> Producer:
    producer = Producer()
    producer.epoch = tally.epoch
    producer.batches, producer.records, producer.committed, producer.aborted = tally.numbers
    producer.head = None if tally.head is None else TransactionStart(*tally.head)
    producer.first_end = tally.first_end
    producer.tail = None if tally.tail is None else TransactionStart(*tally.tail)
    return producer

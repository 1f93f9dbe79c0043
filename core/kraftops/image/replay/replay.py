"""Replay of a metadata log into a fold, batch by batch (Kafka's `MetadataBatchLoader`)."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Generator, Iterator
from copy import copy
from typing import NamedTuple, cast

from kraftops.engine.fold_contract import (
    BATCH_FIELDS,
    POSITION_BITS,
    BatchBounds,
    FoldProgress,
    WindowResult,
)
from kraftops.errors import DecodeError
from kraftops.findings.finding import Place
from kraftops.image.replay.events import (
    ControlRecordRead,
    EntriesChanged,
    Event,
    RecordDropped,
    RecordsProcessed,
    TransactionAborted,
    TransactionBegun,
    TransactionEnded,
)
from kraftops.image.replay.limits import Limits, RecordSpan, readable_span, span_within
from kraftops.image.state.changes import Provenance
from kraftops.image.state.findings import OPEN_TRANSACTION, log_finding
from kraftops.image.state.image import MetadataImage
from kraftops.image.state.store import InflatedBatch, inflated_batch
from kraftops.log.batch import Batch, read_record
from kraftops.records import control
from kraftops.records.meaning import Unknown
from kraftops.records.metadata_numbers import ABORT_TRANSACTION, BEGIN_TRANSACTION

NOT_OPEN = "no metadata transaction is open"
"""The reason for leaving out a marker that ends no transaction."""
OLDEST = -(1 << 63)
"""The time of no batch."""
_MOST = (1 << 63) - 1
_LEADER_CHANGE = "LEADER_CHANGE"
_QUORUM_FIELDS = {
    _LEADER_CHANGE: "leader",
    "KRAFT_VERSION": "kraft_version",
    "KRAFT_VOTERS": "voters",
    "SNAPSHOT_HEADER": "snapshot_header",
}
"""The attributes of `Quorum` by types of control records."""


class _Pending(NamedTuple):
    """Records *first* up to *stop* of the batch at *address*, from *position* on."""

    address: int
    position: int
    first: int
    stop: int


class Replay:
    """Applies batches, in the order of their offsets, to an image."""

    def __init__(self, image: MetadataImage, limits: Limits | None = None) -> None:
        """Apply batches to *image*, as far as *limits* allow.

        Args:
            image: gets findings and provenance, and the records in its fold.
            limits: the records that count.
        """
        self.image = image
        self.limits = limits or Limits()
        self.is_over = False
        """Whether a record beyond the limits was met."""
        self.has_footer = False
        """Whether the footer of a snapshot was met."""
        self.stray_marker: int | None = None
        """The offset of the first marker in `add` that ends no transaction."""
        self.has_readable = self.has_unreadable = False
        """Whether there were records, apart from control records, of a known or an unknown type."""
        self.newest = OLDEST
        """The newest time of the batches after the snapshot, in ms."""
        self.open_transaction: int | None = None
        """The address of the record that began the metadata transaction which is open."""
        self.tells_drops = True
        """Whether there is an event for each record that is left out: a bad log has millions."""
        self.can_apply_windows = True
        """Whether many batches may be applied at once."""
        self._progress: FoldProgress | None = None  # in the batch of `add`, by `apply_window`
        self._reported = self._window_reported = image.fold.dropped
        self._unreadable = 0  # records of this batch
        self.meter = image.store.budget.meter()
        self._deferred: list[_Pending] = []  # the records of the open transaction

    def copy(self) -> Replay:
        """Return an independent copy that continues after the last batch."""
        replay = copy(self)
        replay.image = self.image.copy()
        replay._deferred = list(self._deferred)  # noqa: SLF001 - its own class
        return replay

    def apply_window(
        self, window: bytes, start: int, position: int, source: int, bounds: BatchBounds
    ) -> WindowResult:
        """Apply the ordinary batches of a window at once; `window_events` has the events.

        It may leave all batches to `add`. Where it stops inside a batch, `add` goes on there.

        Args:
            window: bytes of the source.
            start: where the next batch begins in the window.
            position: where that batch begins in the source.
            source: its number in the store.
            bounds: limits of ordinary batches, in addition to the limits of this replay.
        """
        store, first = self.image.store, self.image.store.numbers().stop
        is_open = self.open_transaction is not None
        if not self.can_apply_windows or is_open or not store.can_read_again(source):
            return WindowResult(next=start, batches=b"", transactions=[], last=None, inside=None)
        after, until, time = (min(limit, _MOST) for limit in self.limits)
        bounds = bounds._replace(after=after, until=until, time=time)
        result = self.image.fold.apply_window(window, start, first, bounds)
        self.image.forget()
        fields = array("q", result.batches)
        dropped = sum(fields[4::BATCH_FIELDS]) + sum(row[3] for row in result.transactions)
        self._window_reported = self._reported
        self._reported += dropped
        if result.last is None:
            return result
        counts, unreadable = fields[2::BATCH_FIELDS], fields[5::BATCH_FIELDS]
        positions = (position + relative for relative in fields[::BATCH_FIELDS])
        store.add_many(source, positions, fields[1::BATCH_FIELDS])
        self.has_unreadable |= any(unreadable)
        self.has_readable |= sum(counts) > sum(unreadable)
        last = result.last
        self.newest = max(self.newest, result.newest)
        counted = last.base_offset + last.records - 1 - unreadable[-1]
        self.image.provenance = Provenance(last.last_offset, last.epoch, last.time, counted)
        return result

    def window_events(self, result: WindowResult) -> Iterator[Event]:
        """Yield the events of the last `apply_window`, batch by batch."""
        fields, stop = array("q", result.batches), self.image.store.numbers().stop
        reported = self._window_reported
        markers = deque(result.transactions)
        for index in range(0, len(fields), BATCH_FIELDS):
            address = (stop - (len(fields) - index) // BATCH_FIELDS) << POSITION_BITS
            _, _, count, applied, dropped, unreadable = fields[index : index + BATCH_FIELDS]
            yield from self._drops(reported, reported + dropped)
            reported += dropped
            yield RecordsProcessed(
                address=address,
                first=0,
                stop=count,
                applied=applied,
                dropped=dropped,
                unreadable=unreadable,
            )
            while markers and markers[0][1] < address + (1 << POSITION_BITS):
                dropped = markers[0][3]
                yield from self._drops(reported, reported + dropped)
                reported += dropped
                yield _marker_event(*markers.popleft())
        for marker in markers:
            yield from self._drops(reported, reported + marker[3])
            reported += marker[3]
            yield _marker_event(*marker)

    def add(
        self, batch: Batch, source: int, progress: FoldProgress | None = None
    ) -> Iterator[Event]:
        """Apply a batch of magic 2 with a right checksum, while its events are taken.

        A batch outside the limits has no events.

        Args:
            batch: the batch.
            source: its number in the store.
            progress: where `apply_window` stopped inside it, if it did.

        Raises:
            DecodeError: it does not hold the records that it counts; those before are applied.
        """
        header, limits = batch.header, self.limits
        is_covered = header.last_offset <= limits.after
        if is_covered and not header.is_control:
            return
        if header.record_count < 0:
            raise DecodeError(f"a batch of {header.record_count} records")
        self.image.store.drop_large()
        inflated = inflated_batch(batch, self.meter)
        last, time = header.last_offset, header.max_timestamp
        span = RecordSpan(
            first=0, stop=header.record_count, position=inflated.start, last_offset=last, time=time
        )
        # A snapshot does not name the leader, but the log before its end may.
        if not is_covered and (
            header.base_offset <= limits.after or last > limits.until or time > limits.time
        ):
            span, is_cut = span_within(inflated, limits)
            self.is_over |= is_cut
            if span.first == span.stop:
                return
        if not is_covered:
            self.newest = max(self.newest, time)
        address = self.image.store.add(source, batch, inflated)
        if header.is_control:
            yield from self._read_control(inflated, address, span, is_covered=is_covered)
            return
        self._progress = progress
        if progress is None:
            self.image.fold.begin_unit()
        yield from self._add_records(inflated, address, span)

    def finish(self) -> None:
        """Note a transaction that is open at the end of the log."""
        if self.open_transaction is not None and not self.is_over:
            name, position, _ = self.image.store.place(self.open_transaction)
            offset = self.image.record(self.open_transaction).offset
            reason = "the metadata transaction that begins here never ends: it is left out"
            self.image.log_findings.append(
                log_finding(
                    OPEN_TRANSACTION,
                    reason,
                    Place(
                        file=name, position=position, offset=offset, address=self.open_transaction
                    ),
                )
            )

    def _read_control(
        self, batch: InflatedBatch, address: int, span: RecordSpan, *, is_covered: bool
    ) -> Iterator[Event]:
        """Read control records, which change only the state of the quorum.

        Those that a snapshot covers can only name the leader.
        """
        quorum, position = self.image.quorum, span.position
        view = cast("bytes", memoryview(batch.data))  # a slice of it copies nothing
        for number in range(span.first, span.stop):
            here = address + position
            record, position = read_record(view, position, batch.base_offset, batch.base_timestamp)
            decoded = control.decode(record.key, record.value, whole=False)
            if isinstance(decoded, Unknown):
                self.image.fold.drop(here, decoded.reason)
                yield from self._new_drops()
            elif not is_covered or decoded.type == _LEADER_CHANGE:
                if decoded.type in _QUORUM_FIELDS:
                    setattr(quorum, _QUORUM_FIELDS[decoded.type], here)
                self.has_footer |= decoded.type == "SNAPSHOT_FOOTER"
            yield ControlRecordRead(here, number, is_covered)

    def _add_records(self, batch: InflatedBatch, address: int, span: RecordSpan) -> Iterator[Event]:
        """Apply the records of a batch, and note how far the image goes then."""
        self._unreadable = 0
        if not batch.records:
            yield RecordsProcessed(address, 0, 0)
        try:
            pending = _Pending(address, span.position, span.first, span.stop)
            end = yield from self._process(batch, pending, span.time)
        except DecodeError:
            whole = readable_span(batch, span)
            if self.open_transaction is None and span.first < whole.stop < span.stop:
                self._set_provenance(batch, whole.stop, whole.last_offset, whole.time)
            raise
        self.has_readable |= self._unreadable < span.stop - span.first
        self.has_unreadable |= self._unreadable > 0
        if self.open_transaction is None:
            self._set_provenance(batch, span.stop, span.last_offset, span.time)
        if span.stop == batch.records and end < len(batch.data):
            remaining = len(batch.data) - end
            raise DecodeError(f"{remaining} bytes are left after {batch.records} records")

    def _set_provenance(self, batch: InflatedBatch, stop: int, last: int, time: int) -> None:
        """Note that the image has the first *stop* records of a batch, up to offset *last*."""
        counted = batch.base_offset + stop - 1 - self._unreadable
        self.image.provenance = Provenance(last, batch.epoch, time, counted)

    def _process(
        self, batch: InflatedBatch, pending: _Pending, time: int
    ) -> Generator[Event, None, int]:
        """Apply records, or defer those of an open transaction; return the position after them."""
        while pending.first < pending.stop:
            if self.open_transaction is not None:
                pending = yield from self._defer(batch, pending)
                continue
            pending = yield from self._apply(batch, pending)
            before = pending.first - 1
            if self.open_transaction is not None and before:
                # The records before the transaction count now, and not at its end.
                offset = self.image.record(self.open_transaction).offset
                self._set_provenance(batch, before, offset - 1, time)
        return pending.position

    def _apply(self, batch: InflatedBatch, pending: _Pending) -> Generator[Event, None, _Pending]:
        """Apply records up to one that begins a transaction; return the records after that."""
        base, position, number, stop = pending
        applied = dropped = unreadable = 0
        begin: int | None = None
        self.image.fold.set_clock(batch.base_timestamp, batch.append_time)
        while number < stop and begin is None:
            step, self._progress = self._progress, None
            if step is None:
                step = self.image.fold.apply(batch.data, base, position, number, stop)
            self.image.forget()
            applied += step.applied
            dropped += step.dropped
            unreadable += step.unreadable
            address = base + step.last
            if step.has_changes:
                yield EntriesChanged(address, self.image.fold.changes())
            elif step.marker == BEGIN_TRANSACTION:
                begin = address
            elif step.marker is not None:
                self.image.fold.drop(address, NOT_OPEN)
                self._note_stray_marker(batch, step.last)
                dropped += 1
            yield from self._new_drops()
            position, number = step.position, step.number
            if step.is_malformed:
                break
        self._unreadable += unreadable
        if number > pending.first:
            yield RecordsProcessed(
                address=base,
                first=pending.first,
                stop=number,
                applied=applied,
                dropped=dropped,
                unreadable=unreadable,
            )
        if begin is not None:
            self.open_transaction = begin
            self.image.fold.begin_unit()
            yield TransactionBegun(begin)
        elif number < stop:
            raise _malformed(batch, position)
        return _Pending(base, position, number, stop)

    def _note_stray_marker(self, batch: InflatedBatch, position: int) -> None:
        if self.stray_marker is None:
            base, time = batch.base_offset, batch.base_timestamp
            self.stray_marker = read_record(batch.data, position, base, time)[0].offset

    def _defer(self, batch: InflatedBatch, pending: _Pending) -> Generator[Event, None, _Pending]:
        """Keep records for the end of the transaction; return the records after its next marker."""
        base, position, first, stop = pending
        step = self.image.fold.skim(batch.data, position, first, stop)
        if step.is_malformed:
            raise _malformed(batch, step.position)
        self._unreadable += step.unreadable
        if step.marker is None:
            self._deferred.append(pending)
            yield RecordsProcessed(base, first, stop, is_deferred=True)
        else:
            address = base + step.last
            self._deferred.append(_Pending(base, position, first, step.number - 1))
            is_begin = step.marker == BEGIN_TRANSACTION
            if is_begin:
                self.image.fold.drop(address, "a metadata transaction is open already")
                yield from self._new_drops()
            dropped = int(is_begin)
            yield RecordsProcessed(base, first, step.number, dropped=dropped, is_deferred=True)
            if step.marker == ABORT_TRANSACTION:
                self._deferred, self.open_transaction = [], None
                yield TransactionAborted(address)
            elif not is_begin:
                yield from self._end_transaction(address)
        return _Pending(base, step.position, step.number, stop)

    def _end_transaction(self, address: int) -> Iterator[Event]:
        """Apply the records of the transaction that the record at *address* ends."""
        deferred, self._deferred, self.open_transaction = self._deferred, [], None
        unreadable = self._unreadable
        applied = dropped = 0
        for pending in deferred:
            batch = self.image.store.batch(pending.address >> POSITION_BITS)
            for event in self._apply(batch, pending):
                if isinstance(event, RecordsProcessed):
                    applied += event.applied
                    dropped += event.dropped
                else:
                    yield event
        self._unreadable = unreadable  # each batch counts its own
        yield TransactionEnded(address, applied, dropped)

    def _new_drops(self) -> Iterator[RecordDropped]:
        """Yield an event for each record that could not be applied since the last call."""
        reported, self._reported = self._reported, self.image.fold.dropped
        yield from self._drops(reported, self._reported)

    def _drops(self, first: int, stop: int) -> Iterator[RecordDropped]:
        for number in range(first, stop if self.tells_drops else first):
            yield RecordDropped(*self.image.fold.dropped_record(number))


def _marker_event(marker: int, address: int, applied: int, dropped: int) -> Event:
    """Return the event of a marker that took effect."""
    if marker == BEGIN_TRANSACTION:
        return TransactionBegun(address)
    if marker == ABORT_TRANSACTION:
        return TransactionAborted(address)
    return TransactionEnded(address, applied, dropped)


def _malformed(batch: InflatedBatch, position: int) -> DecodeError:
    """Read the record at a position again, and return the error."""
    try:
        read_record(batch.data, position, batch.base_offset, batch.base_timestamp)
    except DecodeError as error:
        return error
    return DecodeError(f"there is no record at position {position} of the batch")

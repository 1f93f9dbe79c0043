"""Replay of a metadata log into a fold, batch by batch (Kafka's `MetadataBatchLoader`)."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Generator, Iterator
from typing import NamedTuple, Protocol, cast

from kraftops.engine.fold_contract import (
    BATCH_FIELDS,
    POSITION_BITS,
    BatchBounds,
    FoldProgress,
    WindowResult,
)
from kraftops.errors import DecodeError
from kraftops.image.replay.events import (
    Aborted,
    Applied,
    Begun,
    Controlled,
    Dropped,
    Ended,
    Event,
    Folded,
)
from kraftops.image.state.changes import Provenance
from kraftops.image.state.findings import Finding, FindingKind
from kraftops.image.state.image import MetadataImage
from kraftops.image.state.store import InflatedBatch, inflated_batch
from kraftops.log.batch import Batch, read_record
from kraftops.records import control
from kraftops.records.meaning import Unknown
from kraftops.records.metadata_numbers import ABORT_TRANSACTION, BEGIN_TRANSACTION

NOT_OPEN = "no metadata transaction is open"
"""Why a marker that ends one is left out."""
_FAR = (1 << 63) - 1


class Limits(NamedTuple):
    """Which records count: those after offset *after*, up to *until* and not newer than *time*."""

    after: int = -1
    until: int = 1 << 63
    time: int = 1 << 63


class Applier(Protocol):
    """What a replay hands records to: see `kraftops.engine.fold_contract.Fold`, which is one."""

    def begin_unit(self) -> None:
        """Have what follows be a batch, or transaction, of its own."""

    def apply(
        self, data: bytes, address: int, position: int, number: int, stop: int
    ) -> FoldProgress:
        """Apply records of a batch, up to a marker of a transaction."""

    def skim(self, data: bytes, position: int, number: int, stop: int) -> FoldProgress:
        """Read over records up to the marker of a transaction."""

    def drop(self, address: int, reason: str) -> None:
        """Note that a record is left out."""


class _Span(NamedTuple):
    """Records *first* to *stop* of the batch at *address*, which begin at *position*."""

    address: int
    position: int
    first: int
    stop: int


class Replay:
    """Applies batches, in the order of their offsets, to an image."""

    def __init__(
        self,
        image: MetadataImage,
        limits: Limits | None = None,
        *,
        applier: Applier | None = None,
        each_record: bool = False,
    ) -> None:
        """Apply batches to *image*, as far as *limits* allow.

        Args:
            image: gets what is found, and the records in its fold.
            limits: which records count.
            applier: gets the records in the fold's place.
            each_record: tell of each record that is left out, and do not only count them.
        """
        self.image = image
        self.limits = limits or Limits()
        self.is_over = False
        """Whether a record beyond the limits was met."""
        self.has_footer = False
        """Whether the last record that a snapshot has was met."""
        self.stray: int | None = None
        """The offset of the first marker that ends no transaction, of those that `add` met."""
        self.has_readable = self.has_unreadable = False
        """Whether there were records, apart from control records, that one can read, or not."""
        self.began: int | None = None
        """The address of the record that opened a metadata transaction, while that is open."""
        self._applier = applier or image.fold
        self._each_record = each_record
        self.can_run = not each_record and applier is None
        """Whether `run` may do something."""
        self._begun: FoldProgress | None = None
        self._told = image.fold.dropped
        self._unreadable = 0  # records of this batch
        self._waiting: list[_Span] = []  # what is in the open transaction so far

    def run(
        self, window: bytes, start: int, position: int, source: int, bounds: BatchBounds
    ) -> WindowResult:
        """Apply the ordinary batches of a window at once; `ran_over` tells of each of them.

        It may well do nothing. Where it stops inside a batch, `add` is to go on with that.

        Args:
            window: bytes of the source.
            start: where in them the next batch begins.
            position: of that batch in the source.
            source: its number in the store.
            bounds: what ordinary batches have; the limits count as well.
        """
        store, first = self.image.store, self.image.store.numbers().stop
        if not self.can_run or self.began is not None or not store.can_read_again(source):
            return WindowResult(start, b"", [], None, None)
        after, until, time = (min(limit, _FAR) for limit in self.limits)
        bounds = bounds._replace(after=after, until=until, time=time)
        ran = self.image.fold.apply_window(window, start, first, bounds)
        self.image.forget()
        if ran.last is None:
            return ran
        found = array("q", ran.batches)
        counts, unreadable = found[2::BATCH_FIELDS], found[5::BATCH_FIELDS]
        places = (position + at for at in found[::BATCH_FIELDS])
        store.add_many(source, places, found[1::BATCH_FIELDS])
        self.has_unreadable |= any(unreadable)
        self.has_readable |= sum(counts) > sum(unreadable)
        last = ran.last
        counted = last.base_offset + last.records - 1 - unreadable[-1]
        self.image.provenance = Provenance(last.last_offset, last.epoch, last.time, counted)
        return ran

    def ran_over(self, ran: WindowResult) -> Iterator[Event]:
        """Yield what `run` did last, batch by batch, and in the one in which it stopped."""
        found, stop = array("q", ran.batches), self.image.store.numbers().stop
        heeded = deque(ran.transactions)
        for at in range(0, len(found), BATCH_FIELDS):
            address = (stop - (len(found) - at) // BATCH_FIELDS) << POSITION_BITS
            _, _, count, applied, dropped, unreadable = found[at : at + BATCH_FIELDS]
            yield Folded(address, 0, count, applied, dropped, unreadable)
            while heeded and heeded[0][1] < address + (1 << POSITION_BITS):
                yield _heeded(*heeded.popleft())
        yield from (_heeded(*one) for one in heeded)

    def add(self, batch: Batch, source: int, begun: FoldProgress | None = None) -> Iterator[Event]:
        """Apply a batch of magic 2 whose checksum holds, while what that does is told.

        There is nothing to tell of a batch that is not within the limits.

        Args:
            batch: the batch.
            source: its number in the store.
            begun: where `run` stopped inside it, if it did.

        Raises:
            DecodeError: it does not hold the records that it counts; those before are applied.
        """
        header = batch.header
        limits = self.limits
        is_behind = header.last_offset <= limits.after
        if is_behind and not header.is_control:
            return
        if header.record_count < 0:
            raise DecodeError(f"a batch of {header.record_count} records")
        inside = inflated_batch(batch)
        first, position, stop, last = 0, inside.start, header.record_count, header.last_offset
        time = header.max_timestamp
        # A snapshot does not know the leader, but the log before its end may.
        if not is_behind and (
            header.base_offset <= limits.after or last > limits.until or time > limits.time
        ):
            first, position, stop, last, time = self._within(inside)
            if first == stop:
                return
        span = _Span(self.image.store.add(source, batch), position, first, stop)
        if header.is_control:
            yield from self._control(inside, span, is_behind=is_behind)
            return
        self._begun = begun
        if begun is None:
            self._applier.begin_unit()
        self._unreadable = 0
        if not header.record_count:
            yield Folded(span.address, 0, 0)
        try:
            end = yield from self._records(inside, span, time)
        except DecodeError:
            self._reach_damage(inside, span)
            raise
        self.has_readable |= self._unreadable < stop - first
        self.has_unreadable |= self._unreadable > 0
        if self.began is None:
            self._reach(inside, stop, last, time)
        if stop == header.record_count and end < len(inside.data):
            left = len(inside.data) - end
            raise DecodeError(f"{left} bytes are left after {header.record_count} records")

    def finish(self) -> None:
        """Note what is left open at the end of the log."""
        if self.began is not None and not self.is_over:
            name, position, _ = self.image.store.place(self.began)
            offset = self.image.record(self.began).offset
            reason = "the metadata transaction that begins here never ends: it is left out"
            self.image.log_findings.append(
                Finding(FindingKind.TRANSACTION, reason, offset, name, position, self.began)
            )

    def _within(self, inside: InflatedBatch) -> tuple[int, int, int, int, int]:
        """Return which records of a batch are within the limits.

        That is the number of the first, its position, that after the last, and the latter's
        offset and time.
        """
        after, until, time = self.limits
        first, position, last, at = 0, inside.start, -1, inside.start
        newest = -(1 << 63)
        for number in range(inside.records):
            record, end = read_record(inside.data, at, inside.base_offset, inside.base_timestamp)
            stamp = record.timestamp if inside.append_time is None else inside.append_time
            if record.offset > until or stamp > time:
                self.is_over = True
                return first, position, number, last, newest
            if record.offset <= after:
                first, position = number + 1, end
            last, newest, at = record.offset, max(newest, stamp), end
        return first, position, inside.records, last, newest

    def _control(self, inside: InflatedBatch, span: _Span, *, is_behind: bool) -> Iterator[Event]:
        """Take in control records, which change no state but that of the quorum.

        Where a snapshot has them already, *is_behind*, they say nothing new but who leads.
        """
        quorum, at = self.image.quorum, span.position
        view = cast("bytes", memoryview(inside.data))  # a slice of it copies nothing
        for number in range(span.first, span.stop):
            address = span.address + at
            record, at = read_record(view, at, inside.base_offset, inside.base_timestamp)
            found = control.decode(record.key, record.value, whole=False)
            if isinstance(found, Unknown):
                self._applier.drop(address, found.reason)
                yield from self._left_out()
            elif found.type == "LEADER_CHANGE":
                quorum.leader = address
            elif is_behind:
                pass
            elif found.type == "KRAFT_VERSION":
                quorum.kraft_version = address
            elif found.type == "KRAFT_VOTERS":
                quorum.voters = address
            elif found.type == "SNAPSHOT_HEADER":
                quorum.snapshot_header = address
            elif found.type == "SNAPSHOT_FOOTER":
                self.has_footer = True
            yield Controlled(address, number, is_behind)

    def _reach(self, inside: InflatedBatch, stop: int, last: int, time: int) -> None:
        """Note that the image has the first *stop* records of a batch, up to offset *last*."""
        counted = inside.base_offset + stop - 1 - self._unreadable
        self.image.provenance = Provenance(last, inside.epoch, time, counted)

    def _reach_damage(self, inside: InflatedBatch, span: _Span) -> None:
        """Note that the image has the records of a batch before one that cannot be read."""
        at, newest, number, last = span.position, -(1 << 63), span.first, -1
        try:
            while number < span.stop:
                record, at = read_record(inside.data, at, inside.base_offset, inside.base_timestamp)
                stamp = record.timestamp if inside.append_time is None else inside.append_time
                number, last, newest = number + 1, record.offset, max(newest, stamp)
        except DecodeError:
            if self.began is None and number > span.first:
                self._reach(inside, number, last, newest)

    def _records(
        self, inside: InflatedBatch, span: _Span, time: int
    ) -> Generator[Event, None, int]:
        """Apply records, or keep those of an open transaction for its end.

        Return the position behind them.
        """
        while span.first < span.stop:
            if self.began is not None:
                span = yield from self._wait(inside, span)
                continue
            span = yield from self._apply(inside, span)
            before = span.first - 1
            if self.began is not None and before:
                # What the batch has before the transaction counts now, and not at its end.
                offset = self.image.record(self.began).offset
                self._reach(inside, before, offset - 1, time)
        return span.position

    def _apply(self, inside: InflatedBatch, span: _Span) -> Generator[Event, None, _Span]:
        """Apply records up to one that begins a transaction; return those that are left."""
        base, position, number, stop = span
        applied = dropped = unreadable = 0
        began: int | None = None
        while number < stop and began is None:
            found, self._begun = self._begun, None
            if found is None:
                found = self._applier.apply(inside.data, base, position, number, stop)
            self.image.forget()
            applied += found.applied
            dropped += found.dropped
            unreadable += found.unreadable
            if found.has_changes:
                address = base + found.last
                yield Applied(address, self.image.fold.changes())
            elif found.marker is not None:
                address = base + found.last
                if found.marker == BEGIN_TRANSACTION:
                    began = address
                else:
                    self._applier.drop(address, NOT_OPEN)
                    self._note_stray(inside, found.last)
                    dropped += 1
            yield from self._left_out()
            position, number = found.position, found.number
            if found.is_malformed:
                break
        self._unreadable += unreadable
        if number > span.first:
            yield Folded(base, span.first, number, applied, dropped, unreadable)
        if began is not None:
            self.began = began
            self._applier.begin_unit()
            yield Begun(began)
        elif number < stop:
            raise _oddity(inside, position)
        return _Span(base, position, number, stop)

    def _note_stray(self, inside: InflatedBatch, position: int) -> None:
        if self.stray is None:
            base, time = inside.base_offset, inside.base_timestamp
            self.stray = read_record(inside.data, position, base, time)[0].offset

    def _wait(self, inside: InflatedBatch, span: _Span) -> Generator[Event, None, _Span]:
        """Keep records for the end of the transaction; return those behind the next marker.

        Markers are no part of what is kept.
        """
        base, position, first, stop = span
        found = self._applier.skim(inside.data, position, first, stop)
        if found.is_malformed:
            raise _oddity(inside, found.position)
        self._unreadable += found.unreadable
        if found.marker is None:
            self._waiting.append(span)
            yield Folded(base, first, stop, is_waiting=True)
        else:
            last = found.number - 1
            address = base + found.last
            self._waiting.append(_Span(base, position, first, last))
            is_begun = found.marker == BEGIN_TRANSACTION
            if is_begun:
                self._applier.drop(address, "a metadata transaction is open already")
                yield from self._left_out()
            yield Folded(base, first, found.number, dropped=int(is_begun), is_waiting=True)
            if found.marker == ABORT_TRANSACTION:
                self._waiting, self.began = [], None
                yield Aborted(address)
            elif not is_begun:
                yield from self._end_transaction(address)
        return _Span(base, found.position, found.number, stop)

    def _end_transaction(self, address: int) -> Iterator[Event]:
        """Apply what is in the transaction that the record at *address* ends."""
        waiting, self._waiting, self.began = self._waiting, [], None
        unreadable = self._unreadable
        applied = dropped = 0
        for span in waiting:
            inside = self.image.store.batch(span.address >> POSITION_BITS)
            for event in self._apply(inside, span):
                if isinstance(event, Folded):
                    applied += event.applied
                    dropped += event.dropped
                else:
                    yield event
        self._unreadable = unreadable  # each batch counts its own
        yield Ended(address, applied, dropped)

    def _left_out(self) -> Iterator[Dropped]:
        """Tell of the records that were left out, if that is asked for."""
        if self._each_record:
            fold = self.image.fold
            for number in range(self._told, fold.dropped):
                yield Dropped(*fold.dropped_record(number))
            self._told = fold.dropped


def _heeded(kind: int, address: int, applied: int, dropped: int) -> Event:
    """Return what a marker of a transaction did."""
    if kind == BEGIN_TRANSACTION:
        return Begun(address)
    return Aborted(address) if kind == ABORT_TRANSACTION else Ended(address, applied, dropped)


def _oddity(inside: InflatedBatch, position: int) -> DecodeError:
    """Return why there is no record at a position."""
    try:
        read_record(inside.data, position, inside.base_offset, inside.base_timestamp)
    except DecodeError as error:
        return error
    return DecodeError(f"there is no record at position {position} of the batch")

"""The producers of a log and their transactions, by batch headers and transaction markers.

A transaction begins with a producer's first batch and ends with its marker (KIP-98). Timestamps of
batches are by the clocks of producers, timestamps of markers by the clock of the coordinator.
"""

from __future__ import annotations

from typing import NamedTuple

from kraftops.dump.summary.sketches import Distribution, SampledDict
from kraftops.engine.count_contract import Counted
from kraftops.log.batch import DELETE_HORIZON, LOG_APPEND_TIME, TRANSACTIONAL, Header

MOST_PRODUCERS = 100_000
"""Producers with transactions that are kept, in about 30 MB (measured); others are only counted."""


class TransactionStart(NamedTuple):
    """The first record of a transaction."""

    offset: int
    time: int


class OpenTransaction(NamedTuple):
    """A transaction without a marker, and its startning as far as it is known, *since* in ms."""

    transactional_id: str | None
    producer_id: int
    producer_epoch: int
    first_offset: int | None
    since: int | None


class Producer:
    """A producer with transactions.

    *head* is the first transactional record before the first marker, *first_end* the timestamp of
    that marker, and *tail* the first transactional record after the last marker. By these, parts
    that were counted on their own can be joined.
    """

    __slots__ = (
        "aborted",
        "batches",
        "committed",
        "epoch",
        "first_end",
        "head",
        "records",
        "tail",
    )

    def __init__(self) -> None:
        self.epoch = -1
        self.batches = self.records = self.committed = self.aborted = 0
        self.head: TransactionStart | None = None
        self.first_end: int | None = None
        self.tail: TransactionStart | None = None

    @property
    def open(self) -> TransactionStart | None:
        """The start of the open transaction; None if there is none."""
        return self.head if self.first_end is None else self.tail

    def begin(self, begin: TransactionStart) -> None:
        """Note a record of a transaction; the first one begins it."""
        if self.first_end is None:
            self.head = self.head or begin
        else:
            self.tail = self.tail or begin


class Transactions:
    """The producers of a log; see `sketches` for the merging of parts.

    Without *has_open*, markers may be left out: nothing is known of the end of transactions.
    """

    def __init__(self, *, has_open: bool = True) -> None:
        self.has_open = has_open
        self.committed = self.aborted = 0
        self.durations = Distribution()  # ms; without transactions that end at a `first_end`
        self.producers: SampledDict[int, Producer] = SampledDict(MOST_PRODUCERS)
        self.idempotent: SampledDict[int, None] = SampledDict(MOST_PRODUCERS)

    def add_batch(self, header: Header, part: Counted | None = None) -> None:
        """Count a batch of data with a producer id, or the *part* of its records that counts."""
        if not header.attributes & TRANSACTIONAL:
            if header.producer_id not in self.idempotent:
                self.idempotent.put(header.producer_id, None)
            return
        producer = self._producer(header.producer_id)
        if producer is None:
            return
        producer.epoch = header.producer_epoch
        producer.batches += 1
        producer.records += header.record_count if part is None else part.records
        if producer.open is None:
            producer.begin(_begin(header, part))

    def add_marker(self, header: Header, *, is_commit: bool) -> None:
        """Count a transaction marker; *header* is the header of its control batch."""
        self.committed += is_commit
        self.aborted += not is_commit
        producer = self._producer(header.producer_id)
        if producer is None:
            return
        producer.epoch = header.producer_epoch
        producer.committed += is_commit
        producer.aborted += not is_commit
        self._end(producer, header.max_timestamp)

    def merge(self, later: Transactions) -> None:
        self.committed += later.committed
        self.aborted += later.aborted
        self.durations.merge(later.durations)
        self.producers.merge(later.producers, self._join)
        self.idempotent.merge(later.idempotent, _same)

    @property
    def known_durations(self) -> Distribution:
        """The durations of the transactions that ended, in ms."""
        durations = Distribution()
        if self.has_open:
            durations.merge(self.durations)
            for _, producer in self.producers.in_order():
                if producer.first_end is not None and producer.head is not None:
                    durations.add(max(producer.first_end - producer.head.time, 0))
        return durations

    @property
    def is_whole(self) -> bool:
        """Whether no producer was dropped."""
        return self.producers.is_whole and self.idempotent.is_whole

    @property
    def producers_in_order(self) -> list[tuple[int, Producer, bool | None]]:
        """The producers by id, and whether each has an open transaction, if that is known."""
        return [
            (producer_id, producer, producer.open is not None if self.has_open else None)
            for producer_id, producer in self.producers.in_order()
        ]

    @property
    def open(self) -> list[OpenTransaction] | None:
        """The open transactions; None where nothing is known of their ends."""
        if not self.has_open:
            return None
        transactions = sorted(
            (producer.open, producer_id, producer.epoch)
            for producer_id, producer in self.producers.in_order()
            if producer.open is not None
        )
        return [
            OpenTransaction(
                transactional_id=None,
                producer_id=producer_id,
                producer_epoch=epoch,
                first_offset=begin.offset,
                since=begin.time,
            )
            for begin, producer_id, epoch in transactions
        ]

    def _producer(self, producer_id: int) -> Producer | None:
        producer = self.producers.get(producer_id)
        if producer is None:
            producer = Producer()
            if not self.producers.put(producer_id, producer):
                return None
        return producer

    def _end(self, producer: Producer, time: int) -> None:
        if producer.first_end is None:
            producer.first_end = time
        elif producer.tail is not None:
            self.durations.add(max(time - producer.tail.time, 0))
            producer.tail = None

    def _join(self, ours: Producer, later: Producer) -> None:
        """Add a later part of the same producer."""
        ours.epoch = later.epoch
        ours.batches += later.batches
        ours.records += later.records
        ours.committed += later.committed
        ours.aborted += later.aborted
        if ours.open is None and later.head is not None:
            ours.begin(later.head)
        if later.first_end is not None:
            self._end(ours, later.first_end)
            ours.tail = later.tail


def _begin(header: Header, part: Counted | None) -> TransactionStart:
    if part is not None and part.offsets and part.times:
        return TransactionStart(part.offsets[0], part.times[0])
    if header.attributes & (LOG_APPEND_TIME | DELETE_HORIZON):
        return TransactionStart(header.base_offset, header.max_timestamp)
    return TransactionStart(header.base_offset, header.base_timestamp)


def _same(_: None, __: None) -> None:
    pass

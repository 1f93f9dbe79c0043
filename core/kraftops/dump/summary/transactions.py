"""The producers of a log and their transactions, by batch headers and transaction markers.

A transaction begins with a producer's first batch and ends with its marker (KIP-98). What is told
of time is by the clocks of those who wrote: producers, and for markers the coordinator.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kraftops.display.times import time_fields
from kraftops.dump.summary.sketches import Distribution, Kept
from kraftops.log.batch import DELETE_HORIZON, LOG_APPEND_TIME, TRANSACTIONAL, Header

MOST_PRODUCERS = 100_000
"""Producers with transactions that are told one by one; of others, only counts."""


class Begin(NamedTuple):
    """The first record of a transaction."""

    offset: int
    time: int


class Producer:
    """A producer with transactions.

    *head* is the first transactional record before the first marker, *first_end* the time of that
    marker, *tail* the first record behind the last one: so a part that was counted on its own can
    be joined to what came before.
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
        self.head: Begin | None = None
        self.first_end: int | None = None
        self.tail: Begin | None = None

    @property
    def open(self) -> Begin | None:
        """Where the transaction begins that has no end."""
        return self.head if self.first_end is None else self.tail

    def begin(self, begin: Begin) -> None:
        """See a record of a transaction."""
        if self.first_end is None:
            self.head = self.head or begin
        else:
            self.tail = self.tail or begin


class Transactions:
    """The producers of a log; `sketches` says how parts are put together."""

    def __init__(self) -> None:
        self.committed = self.aborted = 0
        self.durations = Distribution()  # ms; without those that end with a `first_end`
        self.producers: Kept[int, Producer] = Kept(MOST_PRODUCERS)
        self.idempotent: Kept[int, None] = Kept(MOST_PRODUCERS)

    def add_batch(self, header: Header) -> None:
        """See a batch of data with a producer id."""
        if not header.attributes & TRANSACTIONAL:
            if header.producer_id not in self.idempotent:
                self.idempotent.put(header.producer_id, None)
            return
        producer = self._producer(header.producer_id)
        if producer is None:
            return
        producer.epoch = header.producer_epoch
        producer.batches += 1
        producer.records += header.record_count
        if producer.open is None:
            time = header.base_timestamp
            if header.attributes & (LOG_APPEND_TIME | DELETE_HORIZON):
                time = header.max_timestamp
            producer.begin(Begin(header.base_offset, time))

    def add_marker(self, header: Header, *, is_commit: bool) -> None:
        """See a marker, in a control batch."""
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
        """Add what a later part of the log has."""
        self.committed += later.committed
        self.aborted += later.aborted
        self.durations.merge(later.durations)
        self.producers.merge(later.producers, self._join)
        self.idempotent.merge(later.idempotent, _same)

    def as_dict(self) -> dict[str, Any]:
        """Return the transactions: open, ended, how long they took."""
        self.producers.trim()
        durations = Distribution()
        durations.merge(self.durations)
        for producer in self.producers.values():
            if producer.first_end is not None and producer.head is not None:
                durations.add(max(producer.first_end - producer.head.time, 0))
        return {
            "committed": self.committed,
            "aborted": self.aborted,
            "open": self._open(),
            "durationMs": duration_fields(durations),
        }

    def producers_dict(self) -> dict[str, Any]:
        """Return how many producers there are, and what each with transactions did."""
        self.producers.trim()
        self.idempotent.trim()
        return {
            "transactional": self.producers.estimate(),
            "idempotent": self.idempotent.estimate(),
            "exact": self.producers.is_whole and self.idempotent.is_whole,
            "producers": [
                {
                    "producerId": producer_id,
                    "producerEpoch": producer.epoch,
                    "batches": producer.batches,
                    "records": producer.records,
                    "committed": producer.committed,
                    "aborted": producer.aborted,
                    "open": producer.open is not None,
                }
                for producer_id, producer in sorted(self.producers.items())
            ],
        }

    def _open(self) -> list[dict[str, Any]]:
        found = [
            (begin, producer_id, producer.epoch)
            for producer_id, producer in self.producers.items()
            if (begin := producer.open) is not None
        ]
        return [
            {
                "transactionalId": None,
                "producerId": producer_id,
                "producerEpoch": epoch,
                "firstOffset": begin.offset,
                **time_fields("since", begin.time),
            }
            for begin, producer_id, epoch in sorted(found)
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
        """Add to a producer what it did later."""
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


def duration_fields(durations: Distribution) -> dict[str, Any]:
    """Return the shortest, the median and the longest of durations in ms."""
    return {
        "min": durations.min,
        "median": durations.quantile(0.5),
        "max": durations.max,
        "exact": durations.is_exact,
    }


def _same(_: None, __: None) -> None:
    pass

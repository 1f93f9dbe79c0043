"""The transactional ids of `__transaction_state`, and their transactions."""

from __future__ import annotations

from typing import Any, NamedTuple

from kraftops.dump.summary.sketches import Distribution, SampledDict
from kraftops.dump.summary.transactions import OpenTransaction
from kraftops.errors import DecodeError
from kraftops.java.text import decode_utf8
from kraftops.log.batch import Record
from kraftops.records.decoders.keyed import key_head
from kraftops.records.decoders.transaction import DECODER

MOST_IDS = 100_000
"""Transactional ids that are kept, in about 55 MB (measured); the rest is a sample."""
MOST_TOPICS = 20
"""Topics of a transaction, and partitions of each, that are kept: a record can name thousands."""

STATES = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
)
"""By number (Kafka's `TransactionState`)."""

_OPEN = {"Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"}


class IdState(NamedTuple):
    """The last state of a transactional id in the log; times are in ms, -1 for none."""

    state: str
    producer_id: int
    producer_epoch: int
    timeout: int
    topics: tuple[tuple[str, tuple[int, ...]], ...]
    partition_count: int
    updated: int
    started: int

    @property
    def begin(self) -> int | None:
        """The begin of the transaction; None for none."""
        return self.started if self.started >= 0 else None


class IdChange(NamedTuple):
    """The change of a transactional id by a record; without a state it is a tombstone."""

    transactional_id: bytes
    state: IdState | None


def read_id_change(record: Record) -> IdChange:
    """Return the change by a record.

    Raises:
        DecodeError: key or value cannot be read.
    """
    number, end = key_head(record.key)
    transactional_id = (record.key or b"")[4:end]
    if number != 0:
        raise DecodeError(f"unknown record type {number}")
    if record.value is None:
        return IdChange(transactional_id, None)
    data: dict[str, Any] = DECODER.read_value(number, record.value)
    status = data["transactionStatus"]
    topics = data["transactionPartitions"] or ()
    return IdChange(
        transactional_id,
        IdState(
            state=STATES[status] if 0 <= status < len(STATES) else f"Unknown({status})",
            producer_id=data["producerId"],
            producer_epoch=data["producerEpoch"],
            timeout=data["transactionTimeoutMs"],
            topics=tuple(
                (topic["topic"], tuple(topic["partitionIds"][:MOST_TOPICS]))
                for topic in topics[:MOST_TOPICS]
            ),
            partition_count=sum(len(topic["partitionIds"]) for topic in topics),
            updated=data["transactionLastUpdateTimestampMs"],
            started=data["transactionStartTimestampMs"],
        ),
    )


class TransactionalIds:
    """The transactional ids in a log; see `sketches` for the merging of parts.

    Without *has_open*, records may be left out: nothing is known of the end of transactions.
    """

    def __init__(self, *, has_open: bool = True) -> None:
        self.has_open = has_open
        self.committed = self.aborted = 0
        self.known_durations = Distribution()  # ms
        self.ids: SampledDict[bytes, list[IdState | None]] = SampledDict(MOST_IDS)

    def add_record(self, record: Record, producer_id: int) -> None:  # noqa: ARG002 - only the coordinator writes
        """Count a record.

        Raises:
            DecodeError: it cannot be read.
        """
        self.add(read_id_change(record))

    def add_marker(self, producer_id: int, *, is_commit: bool) -> None:
        """Count nothing: the log has only records about transactions, and none of its own."""

    def add(self, change: IdChange) -> None:
        transactional_id, state = change
        states = self.ids.get(transactional_id)
        if states is None:
            self.ids.put(transactional_id, [state])
        else:
            states[0] = state
        if state is None or not state.state.startswith("Complete"):
            return
        self.committed += state.state == "CompleteCommit"
        self.aborted += state.state == "CompleteAbort"
        if 0 <= state.started <= state.updated:
            self.known_durations.add(state.updated - state.started)

    def merge(self, later: TransactionalIds) -> None:
        self.committed += later.committed
        self.aborted += later.aborted
        self.known_durations.merge(later.known_durations)
        self.ids.merge(later.ids, _replace)

    @property
    def open(self) -> list[OpenTransaction] | None:
        """Return the open transactions; None where nothing is known of their ends."""
        if not self.has_open:
            return None
        return [
            OpenTransaction(
                transactional_id=name,
                producer_id=state.producer_id,
                producer_epoch=state.producer_epoch,
                first_offset=None,
                since=state.begin,
            )
            for name, state in self.live()
            if state.state in _OPEN
        ]

    def live(self) -> list[tuple[str, IdState]]:
        """Return the ids that are kept by name, without removed ones."""
        return [
            (decode_utf8(transactional_id), state)
            for transactional_id, (state,) in self.ids.in_order()
            if state is not None
        ]


def _replace(ours: list[IdState | None], later: list[IdState | None]) -> None:
    ours[:] = later

"""Transactions and producers of a log: what its transaction indexes and snapshots must say.

The rules are those of Kafka's `ProducerStateManager`, `ProducerAppendInfo` and `TransactionIndex`.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from kraftops.dump.check.findings import Findings
from kraftops.dump.check.index_checks import not_an_entry
from kraftops.engine.scan_contract import ABORT, SeenBatch
from kraftops.errors import DecodeError, SourceError
from kraftops.findings.finding import Severity
from kraftops.log.indexes import AbortedTxn, TxnIndex
from kraftops.log.log_file import LogFile
from kraftops.log.producers import ProducerState, read_producers
from kraftops.memory import Budget


class Producer(NamedTuple):
    """The last data of a producer in the log so far."""

    last_offset: int
    last_sequence: int


class Producers:
    """State of the producers in a log, batch by batch."""

    def __init__(self) -> None:
        """Begin before the first batch."""
        self.first_offset = 0
        self.last: dict[int, Producer] = {}
        """By the producer's id."""
        self.open: dict[int, int] = {}
        """The first offset of each open transaction, by the producer's id."""
        self.is_complete = True
        """Whether every open transaction is known: the log begins here, or a snapshot says so."""

    def begin(self, first_offset: int, snapshot: list[ProducerState] | None) -> None:
        """Begin at an offset with the state in a snapshot; None is unknown."""
        self.first_offset = first_offset
        self.is_complete = snapshot is not None
        for state in snapshot or ():
            if state.first_txn_offset >= 0:
                self.open[state.producer_id] = state.first_txn_offset

    def add(self, batch: SeenBatch) -> AbortedTxn | None:
        """Add a batch of a producer; return the transaction that it aborts, if that has data."""
        if batch.marker is None:
            self.last[batch.producer_id] = Producer(batch.last_offset, batch.last_sequence)
            if batch.is_transactional and not batch.is_empty:
                self.open.setdefault(batch.producer_id, batch.base_offset)
            return None
        first = self.open.pop(batch.producer_id, None)
        if batch.marker != ABORT or first is None:
            return None
        stable = min(self.open.values(), default=batch.last_offset + 1)
        return AbortedTxn(
            version=0,
            producer_id=batch.producer_id,
            first_offset=first,
            last_offset=batch.last_offset,
            last_stable_offset=stable,
        )


class TxnIndexCheck:
    """Check of a transaction index beside the aborted transactions of its segment."""

    def __init__(
        self,
        path: str | None,
        base_offset: int,
        log_path: str,
        findings: Findings,
        severity: Severity,
    ) -> None:
        """Check the file *path*, None if there is none, of a segment."""
        self._path, self._log_path = path, log_path
        self._findings, self._severity = findings, severity
        self._entries = _aborted(path, base_offset, findings) if path else iter(())
        self._next = next(self._entries, None)
        self._number = 0
        self._is_stopped = False

    def aborted(self, txn: AbortedTxn, *, is_exact: bool) -> None:
        """Check the entry of an aborted transaction.

        Unless *is_exact*, its beginning may have been compacted, or lie before the log.
        """
        if self._is_stopped:
            return
        self._before(txn.last_offset)
        entry = self._next
        if entry is None or entry.last_offset > txn.last_offset:
            where = self._path or self._log_path
            reason = f"the transaction that was aborted at offset {txn.last_offset} is missing"
            self._findings.add("txn-index-short", where, reason, self._severity)
            return
        differs = entry.producer_id != txn.producer_id or entry.first_offset > txn.first_offset
        if is_exact:
            differs = entry[1:] != txn[1:]
        if differs:
            self._differs(
                f"producer {entry.producer_id} from {entry.first_offset}, stable to "
                f"{entry.last_stable_offset}; the log has producer {txn.producer_id} from "
                f"{txn.first_offset}, stable to {txn.last_stable_offset}"
            )
        self._advance()

    def marker(self, offset: int) -> None:
        """Pass an abort marker without data: compaction leaves it, and its entry may stay."""
        if self._is_stopped:
            return
        self._before(offset)
        if self._next and self._next.last_offset == offset:
            self._advance()

    def stop(self) -> None:
        """Check no further entries: the log is damaged here."""
        self._is_stopped = True

    def end(self) -> None:
        """Check the entries after the last marker."""
        if not self._is_stopped:
            self._before(None)

    def _before(self, offset: int | None) -> None:
        while self._next and (offset is None or self._next.last_offset < offset):
            self._differs(f"nothing is aborted at offset {self._next.last_offset}")
            self._advance()

    def _advance(self) -> None:
        self._next = next(self._entries, None)
        self._number += 1

    def _differs(self, reason: str) -> None:
        assert self._path
        self._findings.add(
            "txn-index-differs",
            self._path,
            f"entry {self._number}: {reason}",
            self._severity,
            self._number * TxnIndex.layout.size,
        )


def _aborted(path: str, base_offset: int, findings: Findings) -> Iterator[AbortedTxn]:
    with suppress(SourceError), LogFile(path) as file:
        index = TxnIndex(file, base_offset)
        if index.left_over:
            reason = not_an_entry(index.left_over)
            position = len(index) * index.layout.size
            findings.add("txn-index-torn", path, reason, position=position)
        for number, entry in enumerate(index):
            if entry.version:
                position = number * index.layout.size
                reason = f"entry {number}: version {entry.version}"
                findings.add("txn-index-differs", path, reason, position=position)
            yield entry


def snapshot_producers(
    path: str,
    budget: Budget,
    findings: Findings | None,
    severity: Severity = Severity.NOTE,
    opened: Callable[[str], LogFile] = LogFile,
) -> list[ProducerState] | None:
    """Return the producers of a snapshot; None, and a finding with a severity, if it is damaged.

    One of more than a quarter of the memory budget is not read. *opened* opens it.
    """
    try:
        with opened(path) as file:
            if file.size <= budget.batch:
                return read_producers(file.read_at(0, file.size))
            reason = f"it is not read: {file.size} bytes are more than a quarter of --max-memory"
            if findings is not None:
                findings.add("bad-producers", path, reason, severity)
    except (DecodeError, SourceError) as error:
        if findings is not None:
            reason = f"{error.message}; a start takes an earlier one and reads the log"
            findings.add("bad-producers", path, reason, severity)
    return None


def snapshot_differences(
    states: Iterable[ProducerState], offset: int, producers: Producers, *, is_exact: bool
) -> Iterator[str]:
    """Yield how a snapshot of the offsets before *offset* contradicts the log before it.

    Unless *is_exact*, batches of producers may have been compacted.
    """
    for state in states:
        if reason := _difference(state, offset, producers, is_exact=is_exact):
            yield f"producer {state.producer_id}: {reason}"


def _difference(state: ProducerState, offset: int, producers: Producers, *, is_exact: bool) -> str:
    """Return how a snapshot contradicts the log; empty if it does not."""
    for offset_in_state in (state.last_offset, state.first_txn_offset):
        if offset_in_state >= offset:
            return f"offset {offset_in_state} is not before {offset}, where the snapshot ends"
    last = producers.last.get(state.producer_id)
    is_before = last is None and state.last_offset < producers.first_offset
    if is_before or not is_exact:
        return ""
    if last is None:
        return f"offset {state.last_offset}, where the log has none of its batches"
    if state.last_offset >= 0 and state[2:4] != (last.last_sequence, last.last_offset):
        return (
            f"sequence {state.last_sequence} at offset {state.last_offset}, where the log has "
            f"{last.last_sequence} at {last.last_offset}"
        )
    first = producers.open.get(state.producer_id, -1)
    if producers.is_complete and state.first_txn_offset != first:
        return f"an open transaction from {state.first_txn_offset}, where the log has {first}"
    return ""

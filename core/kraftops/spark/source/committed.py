"""The rows that a consumer with isolation.level=read_committed gets: of committed transactions.

As Kafka's `UnifiedLog.read` and `CompletedFetch` have it: nothing from the first open transaction
on (the last stable offset), no records of aborted transactions, and no control records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from kraftops.dump.check.batches import seen
from kraftops.dump.check.transactions import Producers
from kraftops.dump.sources.names import Source
from kraftops.engine.scan_contract import NO_PRODUCER
from kraftops.errors import DecodeError, SourceError
from kraftops.log.batch_search import NO_LIMIT
from kraftops.log.files import FileKind, FileName, file_name
from kraftops.log.indexes import AbortedTxn, TxnIndex
from kraftops.log.log_file import LogFile
from kraftops.log.producers import ProducerState, read_producers
from kraftops.memory import Budget, Meter

if TYPE_CHECKING:
    import pyarrow as pa

NEEDED = ("offset", "producerId", "transactional", "control")
"""The columns that tell of the transaction of a row."""


@dataclass(frozen=True, slots=True)
class Isolation:
    """The transactions of a log that are not committed.

    *open* has the first offset of each open one, by the producer's id.
    """

    aborted: tuple[AbortedTxn, ...]
    open: Mapping[int, int]

    @property
    def last_stable_offset(self) -> int | None:
        """Where the first open transaction begins; None if none is open."""
        return min(self.open.values(), default=None)

    def committed(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        import pyarrow.compute as pc

        withheld = pc.or_kleene(rows.column("control"), self._aborted(rows))
        if self.last_stable_offset is not None:
            is_unstable = pc.greater_equal(rows.column("offset"), self.last_stable_offset)
            withheld = pc.or_kleene(withheld, is_unstable)
        return rows.filter(pc.invert(pc.fill_null(withheld, fill_value=False)))

    def states(self, rows: pa.RecordBatch) -> pa.Array:
        """Return the state of the transaction of each row; null of a row that is of none."""
        import pyarrow as pa
        import pyarrow.compute as pc

        spans = [_Span(producer, first) for producer, first in self.open.items()]
        is_open = _is_in_any(rows, spans)
        states = pc.if_else(is_open, "open", "committed")
        states = pc.if_else(self._aborted(rows), "aborted", states)
        is_of_one = pc.and_not_kleene(rows.column("transactional"), rows.column("control"))
        return pc.if_else(pc.fill_null(is_of_one, fill_value=False), states, pa.scalar(None))

    def _aborted(self, rows: pa.RecordBatch) -> pa.Array:
        return _is_in_any(rows, self.aborted)


class _Span(NamedTuple):
    """The offsets of a transaction, up to that of its marker."""

    producer_id: int
    first_offset: int
    last_offset: int = NO_LIMIT


def _is_in_any(rows: pa.RecordBatch, spans: Iterable[_Span | AbortedTxn]) -> pa.Array:
    """Tell of each row whether it is in a transaction; null if it is not a record."""
    import pyarrow as pa
    import pyarrow.compute as pc

    offsets, producers = rows.column("offset"), rows.column("producerId")
    limits = pc.min_max(offsets).as_py()
    first, last = limits["min"], limits["max"]
    is_in_any = pa.repeat(pa.scalar(value=False), rows.num_rows)
    for span in spans:
        if first is None or span.last_offset < first or span.first_offset > last:
            continue
        is_after = pc.greater_equal(offsets, span.first_offset)
        is_inside = pc.and_kleene(is_after, pc.less(offsets, span.last_offset))
        is_of_producer = pc.equal(producers, span.producer_id)
        is_in_any = pc.or_kleene(is_in_any, pc.and_kleene(is_of_producer, is_inside))
    return is_in_any


def isolations(sources: Sequence[Source], budget: Budget) -> Mapping[str, Isolation]:
    """Return what read_committed withholds of the logs of *sources*, by the path of each file.

    Transaction indexes tell it of all segments but a log's last one, which is read; where other
    segments have no indexes beside them, they are read, too.

    Raises:
        SourceError: a segment cannot be read.
    """
    by_path = {}
    for _, log in groupby(sources, lambda source: source.group):
        paths = [source.path for source in log]
        by_path.update(dict.fromkeys(paths, isolation(paths, budget)))
    return by_path


def isolation(paths: Sequence[str], budget: Budget, high_watermark: int | None = None) -> Isolation:
    """Return what read_committed withholds of the log with these segments.

    A transaction whose marker is not below the high watermark is open: the marker may be cut off
    yet (`ProducerStateManager.firstUnstableOffset`). Only the last segment is looked at for that.

    Raises:
        SourceError: a segment cannot be read.
    """
    segments = [name for path in paths if (name := file_name(path)) and name.kind is FileKind.LOG]
    aborted: list[AbortedTxn] = []
    first_read = 0
    for index, segment in enumerate(segments[:-1]):
        indexed = _indexed(segment)
        if indexed is None:
            break
        aborted += indexed
        first_read = index + 1
    producers = Producers()
    if first_read:
        snapshot = _snapshot(segments[first_read])
        if snapshot is None:  # transactions that are open there may have begun anywhere before
            aborted, first_read = [], 0
        producers.begin(0, snapshot)
    for segment in segments[first_read:]:
        aborted += _read_transactions(segment, budget.meter(), producers, high_watermark)
    return Isolation(tuple(aborted), producers.open)


def _read_transactions(
    segment: FileName, meter: Meter, producers: Producers, high_watermark: int | None
) -> list[AbortedTxn]:
    aborted = []
    with LogFile(segment.path) as log:
        for batch in log.batches(meter=meter):
            with suppress(DecodeError):  # the table has a row about the damage
                seen_batch = seen(batch, meter)
                if high_watermark is not None and seen_batch.last_offset >= high_watermark:
                    break
                if seen_batch.producer_id != NO_PRODUCER:
                    aborted.append(producers.add(seen_batch))
    return [txn for txn in aborted if txn is not None]


def _indexed(segment: FileName) -> list[AbortedTxn] | None:
    """Return the transactions that are aborted in a closed segment; None without its indexes.

    Kafka keeps no transaction index of a segment in which none is (`TransactionIndex`).
    """
    try:
        with LogFile(segment.sibling(FileKind.TXN_INDEX)) as file:
            index = TxnIndex(file, segment.base_offset)
            return None if index.left_over else [*index]
    except SourceError:
        return [] if _is_readable(segment.sibling(FileKind.INDEX)) else None


def _is_readable(path: str) -> bool:
    with suppress(SourceError), LogFile(path):
        return True
    return False


def _snapshot(segment: FileName) -> list[ProducerState] | None:
    """Return the producers where a segment begins; None without a readable snapshot of them."""
    path = segment.sibling(FileKind.PRODUCER_SNAPSHOT)
    with suppress(SourceError, DecodeError), LogFile(path) as file:
        return read_producers(file.read_at(0, file.size))
    return None

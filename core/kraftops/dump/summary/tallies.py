"""Parts of a summary from the tallies of an engine."""

from collections.abc import Iterable

from kraftops.dump.summary.offset_span import OffsetSpan
from kraftops.dump.summary.sketches import Amount, TimeHistogram
from kraftops.dump.summary.summary import Summary
from kraftops.dump.summary.transactions import Begin, Producer, Transactions
from kraftops.engine.count_contract import OffsetTally, ProducerTally, Tally, TransactionTally
from kraftops.records.control import control_name
from kraftops.records.meaning import UNKNOWN


def add_tally(summary: Summary, tally: Tally, path: str, *, in_log: bool) -> None:
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
    producer.head = None if tally.head is None else Begin(*tally.head)
    producer.first_end = tally.first_end
    producer.tail = None if tally.tail is None else Begin(*tally.tail)
    return producer

"""Read a log, or a part of one, into a summary."""

from contextlib import nullcontext
from dataclasses import replace

from kraftops.dump.summary.file_counter import Counting, FileCounter
from kraftops.dump.summary.summary import Scope, Summary
from kraftops.log.damage.salvage import Gap, salvaged
from kraftops.log.log_file import LogFile
from kraftops.log.reader import NOT_READ, EndReason
from kraftops.log.streams import LogStream, open_log
from kraftops.query.query import NO_LIMIT, Query

EVERYTHING = Counting()


def summarise(
    source: str | LogFile | LogStream,
    query: Query | None = None,
    *,
    start: int = 0,
    stop: int | None = None,
    counting: Counting = EVERYTHING,
) -> Summary:
    """Return the summary of a log or snapshot, or of its bytes from *start* to *stop*.

    Records count that the same query would print as rows, of whole batches with a correct checksum;
    all other bytes are damage, also of records that a filter leaves out.

    Args:
        source: a path, or an open log, which is not closed.
        query: decoder, dialect, filter and limits. With `salvage`, batches after damage are counted
            too; a stream is then copied to a temporary file. With `check`, each record is decoded.
        start: the position of the first batch.
        stop: the end, exclusive; None is the end of the file.
        counting: the details to count, and how many records.

    Raises:
        SourceError: the source cannot be read.
        UsageError: there is no such dialect.
    """
    query = query or Query()
    if query.max_bytes != NO_LIMIT:
        stop = query.max_bytes if stop is None else min(stop, query.max_bytes)
    summary = Summary(scope_of(query, counting))
    with open_log(source) if isinstance(source, str) else nullcontext(source) as log:
        if _may_be_sound(query, counting, log):
            plain = replace(query, salvage=False)
            summary_without_gaps = summarise(log, plain, start=start, stop=stop, counting=counting)
            if not summary_without_gaps.damage.count:
                return summary_without_gaps
        counter = FileCounter(summary, log.path, query, counting)
        if not query.salvage:
            _add_batches(counter, log, start, stop)
        elif isinstance(log, LogStream):
            with log.spooled() as spooled:
                _add_salvaged(counter, spooled, start, stop)
                if spooled.damage:
                    summary.add_damage(log.path, spooled.size, 0, spooled.damage)
        else:
            _add_salvaged(counter, log, start, stop)
        counter.finish()
    return summary


def scope_of(query: Query, counting: Counting = EVERYTHING) -> Scope:
    has_quota = counting.quota is not None
    is_chosen = has_quota or not query.filter.is_empty
    decoder, chosen = query.record_decoder, query.filter
    if decoder.name == "transaction":  # all records of a transactional id have its key
        chosen = replace(chosen, keys=frozenset())
    has_open = not (chosen.types or chosen.needs_rows or has_quota)
    return Scope(decoder, is_chosen, has_open, counting.details)


def _may_be_sound(query: Query, counting: Counting, log: LogFile | LogStream) -> bool:
    """Tell whether a count without salvage, which is quicker, may be the same."""
    is_whole = counting.quota is None and query.max_bytes == NO_LIMIT
    return query.salvage and is_whole and isinstance(log, LogFile)


def _add_batches(
    counter: FileCounter, log: LogFile | LogStream, start: int, stop: int | None
) -> None:
    """Count the batches of a log up to the first damage, and the bytes after them."""
    batches = log.batches(start, stop, counter.meter)
    while True:
        counter.add_windows(batches)
        batch = batches.next_batch()
        if batch is None:
            break
        counter.add(batch)
        if counter.meter.is_spent:
            batches.stop_short()
        if counter.is_done:
            counter.summary.add_file(log.path, batch.position + batch.size - start)
            return
    end = batches.end
    assert end is not None
    counter.summary.add_file(log.path, end.position + end.left - start)
    if end.reason is EndReason.PADDING:
        counter.summary.padding += end.left
    elif end.reason is EndReason.PARTIAL and counter.query.max_bytes != NO_LIMIT:
        return
    elif end.reason is not EndReason.END:
        if end.reason is EndReason.PARTIAL:
            counter.summary.torn = end.left
        counter.summary.add_damage(log.path, end.position, end.left, end.detail or "no whole batch")


def _add_salvaged(counter: FileCounter, log: LogFile, start: int, stop: int | None) -> None:
    """Count all whole batches of a log, and the bytes between them as damage."""
    stop = log.size if stop is None else min(stop, log.size)
    end = start
    for part in salvaged(log, start, stop, counter.query.budget.meter()):
        end = part.position + part.size
        if isinstance(part, Gap):
            counter.summary.add_damage(log.path, part.position, part.size, part.reason)
        else:
            counter.add(part)
            if counter.is_done:
                stop = end
                break
            if counter.meter.is_spent:
                counter.summary.add_damage(log.path, end, stop - end, NOT_READ)
                end = stop
                break
    counter.summary.add_file(log.path, stop - start)
    counter.summary.padding += stop - end

"""Byte ranges between two offsets of a stream, as the splits of a batch."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kraftops.errors import UsageError
from kraftops.log.files import file_name
from kraftops.log.heads import heads
from kraftops.log.log_file import LogFile
from kraftops.log.ranges import ByteRange, cut_log
from kraftops.spark.jobs.planning import LabelledRange, Split, packed, split_bytes
from kraftops.spark.source.reader import SplitPartition
from kraftops.spark.stream.ends import End, Look
from kraftops.spark.stream.logs import StreamLog
from kraftops.spark.stream.marks import Mark, OnLoss
from kraftops.spark.stream.places import Loss, Place, locate, rest_of
from kraftops.uris import is_remote


class UnreadLog(NamedTuple):
    """A log, the mark up to which it was read, and the byte ranges after it.

    The mark is None where the first range is known to begin with the record of the mark.
    """

    log: StreamLog
    start: Mark | None
    ranges: list[ByteRange]


def unread(log: StreamLog, start: End, end: End, on_loss: OnLoss, look: Look | None) -> UnreadLog:
    """Return the byte ranges of a log between two marks.

    What a *look* at the same log up to *end* has seen is not looked for again.

    Before Spark 4.2, a query that is started again may get an *end* before *start*: compaction has
    removed the last batches below the high watermark, and it is unknown where the query was.
    A query that died in its first batch may begin with a snapshot after *end*: it is read, and the
    log from *end* on after it.

    Raises:
        SourceError: a segment cannot be read, or *on_loss* raises it.
        UsageError: *end* lies before *start*, and there are records between them.
    """
    first = look.place if look and look.start == start else None
    first = first or locate(log, start.mark, start.batch)
    if look and end.batch:
        last: Place | Loss = Place(rest_of(log, end.mark.offset - 1), end.batch.end)
    else:
        last = locate(log, end.mark, end.batch)
    for loss in dict.fromkeys(place for place in (first, last) if isinstance(place, Loss)):
        on_loss(loss.reason)
    begin, stop = (place.place if isinstance(place, Loss) else place for place in (first, last))
    if isinstance(first, Loss) or isinstance(last, Loss) or not end.mark.is_before(start.mark):
        parts = list(_between(begin, stop))
        is_exact = bool(start.batch and parts and parts[0].start == start.batch.end)
        return UnreadLog(log, None if is_exact else start.mark, parts)
    if start.mark.is_unread_snapshot:
        return UnreadLog(log, start.mark, [ByteRange(begin.files[0].path, 0, begin.files[0].size)])
    if any(_between(stop, begin)):
        raise UsageError(
            f"{log.name}: its end has gone back from offset {start.mark.offset} to"
            f" {end.mark.offset}",
            hint="start the query again once the high watermark has been written again",
        )
    return UnreadLog(log, start.mark, [])


def _between(begin: Place, stop: Place) -> Iterator[ByteRange]:
    last = stop.files[0].path if stop.files else None
    if last is not None and last not in {file.path for file in begin.files}:
        return
    for index, file in enumerate(begin.files):
        start = 0 if index else begin.position
        is_last = file.path != last
        end = file.size if is_last else stop.position
        if start < end:
            yield ByteRange(file.path, start, end, is_last=is_last)
        if not is_last:
            return


def batch_splits(
    unread_logs: Iterable[UnreadLog], cores: int, size: int | None
) -> list[SplitPartition]:
    """Return the splits of what is unread of logs, large local files cut.

    Raises:
        SourceError: a segment cannot be read.
    """
    plain: list[LabelledRange] = []
    halves: list[SplitPartition] = []
    for log, start, parts in unread_logs:
        for index, part in enumerate(parts):
            labelled = LabelledRange(part, log.decoder, log.topic, log.partition)
            rest = labelled if index else _without_begin(labelled, start, halves)
            plain += [rest] if rest.range.size else []
    total = sum(labelled.range.size for labelled in plain)
    target = split_bytes(total, cores) if size is None else size
    pieces = [piece for labelled in plain for piece in _cut(labelled, target)]
    splits = packed(((piece, piece.range.size) for piece in pieces), target)
    return [*halves, *(SplitPartition(split) for split in splits)]


def _without_begin(
    labelled: LabelledRange, start: Mark | None, halves: list[SplitPartition]
) -> LabelledRange:
    """Return a range without its first batch, if this begins before the offset of the mark.

    That batch becomes a split of its own in *halves*, and so does the rest of an object that has
    grown, whose first batch a worker looks for.
    """
    part = labelled.range
    if start is None:
        return labelled
    if start.size and part.start:
        halves.append(SplitPartition(Split(len(halves), (labelled,), part.size), is_resumed=True))
        return labelled._replace(range=part._replace(start=part.stop or part.start))
    file = file_name(part.path)
    if start.snapshot or start.size or file is None or start.offset <= file.base_offset:
        return labelled
    with LogFile(part.path) as log:
        head = next(heads(log, part.start, min(part.stop or 0, log.size)), None)
    if head is None or not head.base_offset < start.offset <= head.last_offset:
        return labelled
    half = labelled._replace(range=part._replace(stop=head.end, is_last=False))
    split = Split(len(halves), (half,), head.size)
    halves.append(SplitPartition(split, first_offset=start.offset))
    return labelled._replace(range=part._replace(start=head.end))


def _cut(labelled: LabelledRange, target: int) -> Iterator[LabelledRange]:
    part = labelled.range
    if part.size <= target or is_remote(part.path):
        yield labelled
        return
    with LogFile(part.path) as log:
        pieces = list(cut_log(log, target, part.stop, start=part.start))
    for piece in pieces:
        is_last = piece.is_last and part.is_last
        yield labelled._replace(range=piece._replace(is_last=is_last))

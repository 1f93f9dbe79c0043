"""Why nothing is deleted or compacted of a partition, what will go, and when.

It reads the indexes, checkpoints and producer snapshots of the partition; the rules are those of
`UnifiedLog.deletableSegments` and `LogCleanerManager.cleanableOffsets` (4.3.1).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from kraftops.disk import settings as keys
from kraftops.disk.settings import TopicSettings
from kraftops.display.sizes import many, size_text
from kraftops.display.times import iso_time, span_text
from kraftops.errors import KraftopsError
from kraftops.fileio.mounts import status_of
from kraftops.fileio.reading import read_small
from kraftops.log.files import FileKind
from kraftops.log.indexes import TimeIndex
from kraftops.log.log_file import LogFile
from kraftops.log.producers import read_producers
from kraftops.server.loader.load_plan import CLEANER, HIGH_WATERMARK, LOG_START
from kraftops.server.log_directory import LogDirectory
from kraftops.server.partition_files import PartitionFiles, SegmentFiles, partition_files

_TRANSACTION_TIMEOUT_MS = 900_000
"""The default of `transaction.max.timeout.ms`: the coordinator aborts what is open for longer."""


@dataclass(frozen=True, slots=True)
class SegmentFate:
    """A segment, and when retention takes it: None for never, or not known.

    *largest_timestamp* is that of its time index; without one, Kafka counts from *modified*.
    """

    base_offset: int
    size: int
    modified: int
    largest_timestamp: int | None
    is_active: bool
    goes_at: int | None = None

    @property
    def age_from(self) -> int:
        """The ms from which Kafka counts its age (`LogSegment.largestTimestamp`)."""
        return self.modified if self.largest_timestamp is None else self.largest_timestamp


class OpenTransaction(NamedTuple):
    """A transaction that is open in the newest producer snapshot; *time* is of its last batch."""

    producer_id: int
    first_offset: int
    time: int

    def hangs(self, now: int) -> bool:
        """Tell whether its coordinator should have ended it."""
        return now - self.time > _TRANSACTION_TIMEOUT_MS


class Reason(NamedTuple):
    """Why something stays: a word for programs, a sentence, and what to do about it."""

    kind: str
    text: str
    cure: str = ""


@dataclass(frozen=True, slots=True)
class RetentionState:
    """A partition, as its files and the metadata have it, at the time *now* in ms."""

    directory: LogDirectory
    topic: str
    partition: int
    settings: TopicSettings
    segments: tuple[SegmentFate, ...]
    transactions: tuple[OpenTransaction, ...]
    waiting: int
    """Bytes of renamed segments that wait for their deletion."""
    now: int

    @property
    def clean_offset(self) -> int | None:
        """The offset up to which the cleaner has compacted; None if it never has."""
        return self.directory.offset(CLEANER, self.topic, self.partition)

    @property
    def high_watermark(self) -> int | None:
        """The high watermark as the broker noted it last, which is every 5 seconds."""
        return self.directory.offset(HIGH_WATERMARK, self.topic, self.partition)

    @property
    def log_start(self) -> int | None:
        """The first offset that consumers may read; None if it is that of the first segment."""
        return self.directory.offset(LOG_START, self.topic, self.partition)

    @property
    def hanging(self) -> tuple[OpenTransaction, ...]:
        """Transactions that their coordinator should have ended."""
        return tuple(
            transaction for transaction in self.transactions if transaction.hangs(self.now)
        )


def read_retention(
    directory: LogDirectory, topic: str, partition: int, settings: TopicSettings, now: int
) -> RetentionState:
    """Return the state of a partition in a log directory.

    Raises:
        SourceError: its files cannot be listed.
    """
    files = partition_files(os.path.join(directory.path, f"{topic}-{partition}"))
    assert files.folder
    return RetentionState(
        directory,
        topic,
        partition,
        settings,
        tuple(_with_times(list(_segments(files)), settings, now)),
        tuple(open_transactions(files)),
        sum(size for name, size in files.folder.files.items() if name.endswith(".deleted")),
        now,
    )


def _segments(files: PartitionFiles) -> Iterator[SegmentFate]:
    for segment in files.segments:
        is_active = segment is files.segments[-1]
        try:
            status = status_of(segment.log)
        except FileNotFoundError:  # a server has deleted it
            continue
        yield SegmentFate(
            segment.base_offset,
            status.size,
            status.modified_ms,
            _largest_timestamp(segment),
            is_active,
        )


def _largest_timestamp(segment: SegmentFiles) -> int | None:
    """Return the last timestamp in the time index; None where it has no entry.

    A segment gets its last entry when the next one begins; that of the active one may come late.
    """
    path = segment.indexes.get(FileKind.TIME_INDEX)
    with suppress(KraftopsError):
        if path is not None:
            with LogFile(path) as file:
                timestamp = TimeIndex(file, segment.base_offset).last_used().timestamp
                return timestamp if timestamp > 0 else None
    return None


def _with_times(
    segments: Sequence[SegmentFate], settings: TopicSettings, now: int
) -> Iterator[SegmentFate]:
    """Yield the segments with the times at which retention takes them.

    It begins with the oldest one, and ends at the first one that stays: a segment goes no sooner
    than those before it.
    """
    deletes = "delete" in settings.policies
    limit_ms, limit_bytes = settings.retention_ms, settings.retention_bytes
    excess = sum(segment.size for segment in segments) - limit_bytes
    due: int | None = 0
    is_in_excess = limit_bytes >= 0
    for segment in segments:
        if segment.is_active and not segment.size:  # `deletableSegments` leaves it alone
            yield segment
            continue
        goes_at = None
        if deletes and limit_ms >= 0 and due is not None:
            due = max(due, segment.age_from + limit_ms)
            goes_at = due
        # `deleteRetentionSizeBreachedSegments` takes whole segments while the limit is exceeded.
        excess -= segment.size
        is_in_excess = is_in_excess and excess >= 0
        if deletes and is_in_excess:
            goes_at = now if goes_at is None else min(goes_at, now)
        yield replace(segment, goes_at=goes_at)


def open_transactions(files: PartitionFiles) -> Iterator[OpenTransaction]:
    """Yield the transactions that are open in the newest producer snapshot, if it can be read."""
    for offset in sorted(files.snapshots, reverse=True)[:1]:
        with suppress(OSError, KraftopsError):
            for producer in read_producers(read_small(files.snapshots[offset])):
                if producer.first_txn_offset >= 0:
                    yield OpenTransaction(
                        producer.producer_id, producer.first_txn_offset, producer.timestamp
                    )


def reasons(state: RetentionState, copied_to: int | None = None) -> list[Reason]:
    """Return why nothing goes, the main reason first; *copied_to* is the last offset in a tier."""
    if not state.segments:
        return [Reason("empty", "the partition has no segments")]
    stated = [*_deletion(state, copied_to)] if "delete" in state.settings.policies else []
    if "compact" in state.settings.policies:
        stated += _compaction(state)
    if not state.settings.policies:
        stated.append(Reason("no-policy", "cleanup.policy is empty: nothing is deleted"))
    if state.waiting:
        delay = span_text(max(0, state.settings.number(keys.DELETE_DELAY)))
        stated.append(
            Reason(
                "waiting",
                f"{size_text(state.waiting)} are renamed already: a running broker deletes them"
                f" {delay} after that, and one that was stopped meanwhile at its next start",
            )
        )
    return stated


def _deletion(state: RetentionState, copied_to: int | None) -> Iterator[Reason]:
    settings = state.settings
    oldest = state.segments[0]
    if not any(fate.size for fate in state.segments):
        yield Reason("empty", "the partition has no records")
        return
    if settings.retention_ms < 0 and settings.retention_bytes < 0:
        source = settings.source(keys.RETENTION_MS)
        yield Reason(
            "no-limit",
            f"{keys.RETENTION_MS} is -1 ({source}), and there is no {keys.RETENTION_BYTES}:"
            " nothing is ever deleted",
            f"set {keys.RETENTION_MS} or {keys.RETENTION_BYTES} of the topic",
        )
        return
    yield from _future(state)
    first = oldest.goes_at
    if first is not None and first <= state.now:
        due = [
            fate
            for fate in state.segments
            if fate.goes_at is not None and fate.goes_at <= state.now
        ]
        yield from _held_back(state, due, copied_to)
        yield _due(state, due, first)
    elif first is not None and oldest.age_from <= state.now:
        yield Reason(
            "not-yet",
            f"the oldest segment has records of {iso_time(oldest.age_from)}, and stays for"
            f" {span_text(settings.retention_ms)} ({settings.source(keys.RETENTION_MS)}):"
            f" it goes at {iso_time(first)}",
        )
    elif first is None:
        yield Reason(
            "below-limit",
            f"the log is not larger than {keys.RETENTION_BYTES} by a whole segment, and there is no"
            f" {keys.RETENTION_MS}",
        )
    if len(state.segments) == 1 and (first is None or first > state.now):
        yield Reason(
            "active",
            "all records are in the active segment, and whole segments are deleted: the next one"
            f" begins at {size_text(settings.number(keys.SEGMENT_BYTES))} or after"
            f" {span_text(settings.number(keys.SEGMENT_MS))}",
            f"a smaller {keys.SEGMENT_MS} or {keys.SEGMENT_BYTES} has them deleted sooner",
        )


def _due(state: RetentionState, due: Sequence[SegmentFate], since: int) -> Reason:
    interval = state.settings.number(keys.CHECK_INTERVAL)
    size, be = size_text(sum(fate.size for fate in due)), "is" if len(due) == 1 else "are"
    if not state.directory.holder:
        text = (
            "due, and no broker runs on this directory: deletion begins at the first retention"
            " check after a start"
        )
    elif state.now - since > 2 * interval:
        text = (
            f"due since {iso_time(since)}, and the broker checks every"
            f" {span_text(interval)}: its log has the reason"
        )
    else:
        text = f"due: the broker deletes at its next check, every {span_text(interval)}"
    if due[-1].is_active:
        # `UnifiedLog.deleteSegments` rolls where all segments go, whatever segment.ms is.
        text += "; the active segment is rolled first, and goes too"
    return Reason("due", f"{many(len(due), 'segment')} with {size} {be} {text}")


def _future(state: RetentionState) -> Iterator[Reason]:
    """Yield the segment with timestamps in the future that holds up itself and all later ones."""
    ahead = [fate for fate in state.segments if fate.age_from > state.now]
    if ahead and state.settings.retention_ms >= 0:
        first = ahead[0]
        stays = [fate for fate in state.segments if fate.base_offset >= first.base_offset]
        until = iso_time(first.age_from + state.settings.retention_ms)
        yield Reason(
            "future-timestamp",
            f"segment {first.base_offset} has a timestamp"
            f" {span_text(first.age_from - state.now)} in the future,"
            f" {iso_time(first.age_from)}: it and all later segments,"
            f" {size_text(sum(fate.size for fate in stays))}, stay until {until or 'for ever'}",
            f"set {keys.RETENTION_BYTES} of the topic, or delete its records by"
            " kafka-delete-records; message.timestamp.after.max.ms refuses such records",
        )


def _held_back(
    state: RetentionState, due: Sequence[SegmentFate], copied_to: int | None
) -> Iterator[Reason]:
    """Yield why segments that are due are not deleted all the same."""
    ends = [fate.base_offset for fate in state.segments[1:]]
    high = state.high_watermark
    if ends and high is not None and high < ends[0]:
        yield Reason(
            "high-watermark",
            f"the high watermark is {high}, below the end of the oldest segment: replicas that are"
            " in sync have not fetched it",
        )
    if not state.settings.is_copied_to_tier or not ends:
        return
    uncopied = [fate for fate in due if copied_to is None or fate.base_offset > copied_to]
    if uncopied:
        end = "it is not known how far" if copied_to is None else f"up to offset {copied_to}"
        yield Reason(
            "not-in-tier",
            f"the disk keeps segments until the tier has them: it has them {end}, and"
            f" {many(len(uncopied), 'segment')} that are due may not be there",
            "the metrics RemoteCopyLagBytes and RemoteCopyErrorsPerSec of the leader tell why",
        )
        yield from _hanging(state, "is not copied to the tier")


def _compaction(state: RetentionState) -> Iterator[Reason]:
    settings = state.settings
    if not settings.is_on(keys.CLEANER):
        yield Reason("cleaner-off", f"{keys.CLEANER} is false: the broker never compacts")
        return
    active = state.segments[-1]
    start = max(state.log_start or 0, state.segments[0].base_offset)
    clean = state.clean_offset
    first_dirty = clean if clean is not None and clean >= start else start
    stable = min((txn.first_offset for txn in state.transactions), default=active.base_offset)
    lag = max(0, settings.number(keys.MIN_LAG))
    recent = [
        fate.base_offset
        for fate in state.segments[:-1]
        if fate.base_offset >= first_dirty and fate.age_from > state.now - lag and lag
    ]
    end = min([stable, active.base_offset, *recent])
    dirty = sum(fate.size for fate in state.segments if first_dirty <= fate.base_offset < end)
    cleaned = sum(fate.size for fate in state.segments if fate.base_offset < first_dirty)
    if state.transactions and stable < active.base_offset:
        yield from _hanging(state, "is not compacted")
    if clean is None:
        yield Reason("never-compacted", "the cleaner has not compacted the partition yet")
    if recent and end == recent[0]:
        yield Reason(
            "lag",
            f"segments from {end} on are younger than {keys.MIN_LAG}, {span_text(lag)}",
        )
    ratio = dirty / (dirty + cleaned) if dirty + cleaned else 0.0
    least = settings.ratio(keys.DIRTY_RATIO)
    if not dirty:
        yield Reason(
            "nothing-dirty",
            f"nothing before the active segment ({active.base_offset}) needs compaction",
        )
    elif ratio <= least:
        yield Reason(
            "not-dirty-enough",
            f"{ratio:.0%} of the bytes are not compacted yet, and the cleaner begins above"
            f" {least:.0%} ({keys.DIRTY_RATIO}, {settings.source(keys.DIRTY_RATIO)})",
        )
    else:
        yield Reason(
            "dirty",
            f"{size_text(dirty)}, {ratio:.0%} of the bytes, can be compacted, from offset"
            f" {first_dirty} to {end}: if that stays so, the cleaner is behind or has failed",
            "the log of the cleaner says so (log-cleaner.log), and the metrics"
            " uncleanable-partitions-count and DeadThreadCount",
        )


def _hanging(state: RetentionState, consequence: str) -> Iterator[Reason]:
    for transaction in state.hanging:
        yield Reason(
            "hanging-transaction",
            f"a transaction of producer {transaction.producer_id} is open since"
            f" {iso_time(transaction.time)}: what comes from offset {transaction.first_offset} on"
            f" {consequence}",
            "kafka-transactions find-hanging lists it, and abort ends it",
        )

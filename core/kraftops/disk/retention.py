"""Why nothing is deleted or compacted of a partition, what will go, and when.

It reads the indexes, checkpoints and producer snapshots of the partition; the rules are those of
`UnifiedLog.deletableSegments` and `LogCleanerManager.cleanableOffsets` (4.3.1).
"""

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from kraftops.disk import settings as keys
from kraftops.disk.settings import TopicSettings
from kraftops.display.sizes import many, size_text
from kraftops.display.times import iso_time, span_text
from kraftops.errors import KraftopsError
from kraftops.fileio.mounts import status_of
from kraftops.fileio.packaged import packaged_text
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
    first_timestamp: int | None = None
    """That of the first batch of the active segment."""
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
        """Tell whether its coordinator should have aborted it by now; *now* is in ms."""
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
        directory=directory,
        topic=topic,
        partition=partition,
        settings=settings,
        segments=tuple(_with_times(list(_segments(files)), settings, now)),
        transactions=tuple(open_transactions(files)),
        waiting=sum(size for name, size in files.folder.files.items() if name.endswith(".deleted")),
        now=now,
    )


def _segments(files: PartitionFiles) -> Iterator[SegmentFate]:
    for segment in files.segments:
        is_active = segment is files.segments[-1]
        try:
            status = status_of(segment.log)
        except FileNotFoundError:  # a server has deleted it
            continue
        yield SegmentFate(
            base_offset=segment.base_offset,
            size=status.size,
            modified=status.modified_ms,
            largest_timestamp=_largest_timestamp(segment),
            is_active=is_active,
            first_timestamp=_first_timestamp(segment.log) if is_active else None,
        )


def _first_timestamp(path: str) -> int | None:
    with suppress(KraftopsError), LogFile(path) as file:
        return next((batch.header.max_timestamp for batch in file.batches()), None)
    return None


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
    for offset in sorted(files.producer_snapshots, reverse=True)[:1]:
        with suppress(OSError, KraftopsError):
            for producer in read_producers(read_small(files.producer_snapshots[offset])):
                if producer.first_txn_offset >= 0:
                    yield OpenTransaction(
                        producer.producer_id, producer.first_txn_offset, producer.timestamp
                    )


def reason(kind: str, **values: object) -> Reason:
    texts = _texts()[kind]
    return Reason(kind, texts["text"].format(**values), texts.get("cure", "").format(**values))


@cache
def _texts() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(packaged_text(__file__, "reasons.toml"))


def reasons(state: RetentionState, copied_to: int | None = None) -> list[Reason]:
    """Return why nothing goes, the main reason first; *copied_to* is the last offset in a tier."""
    if not state.segments:
        return [reason("empty", what="segments")]
    stated = [*_deletion(state, copied_to)] if "delete" in state.settings.policies else []
    if "compact" in state.settings.policies:
        stated += _compaction(state)
    if not state.settings.policies:
        stated.append(reason("no-policy"))
    if state.waiting:
        delay = span_text(max(0, state.settings.number(keys.DELETE_DELAY)))
        stated.append(reason("waiting", size=size_text(state.waiting), delay=delay))
    return stated


def _deletion(state: RetentionState, copied_to: int | None) -> Iterator[Reason]:
    settings = state.settings
    oldest = state.segments[0]
    source = settings.source(keys.RETENTION_MS)
    if not any(fate.size for fate in state.segments):
        yield reason("empty", what="records")
        return
    if settings.retention_ms < 0 and settings.retention_bytes < 0:
        yield reason("no-limit", source=source)
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
        yield reason(
            "not-yet",
            time=iso_time(oldest.age_from),
            retention=span_text(settings.retention_ms),
            source=source,
            due=iso_time(first),
            key=settings.retention_key,
        )
    elif first is None:
        yield reason("below-limit")
    if len(state.segments) == 1 and (first is None or first > state.now) and _has_due(state):
        bytes_, age = settings.number(keys.SEGMENT_BYTES), settings.number(keys.SEGMENT_MS)
        yield reason("active", bytes=size_text(bytes_), age=span_text(age))


def _has_due(state: RetentionState) -> bool:
    """Tell whether retention would delete records if the active segment were rolled."""
    (active,), settings = state.segments, state.settings
    oldest, limit_ms, limit_bytes = (
        active.first_timestamp,
        settings.retention_ms,
        settings.retention_bytes,
    )
    return (
        limit_ms >= 0 and oldest is not None and 0 <= oldest <= state.now - limit_ms
    ) or 0 <= limit_bytes < active.size


def _due(state: RetentionState, due: Sequence[SegmentFate], since: int) -> Reason:
    interval = state.settings.number(keys.CHECK_INTERVAL)
    which = "overdue" if state.now - since > 2 * interval else "soon"
    texts = _texts()["due"]
    text = texts[which if state.directory.holder else "stopped"]
    return reason(
        "due",
        segments=many(len(due), "segment"),
        size=size_text(sum(fate.size for fate in due)),
        be="is" if len(due) == 1 else "are",
        state=text.format(since=iso_time(since), interval=span_text(interval))
        # `UnifiedLog.deleteSegments` rolls where all segments go, whatever segment.ms is.
        + texts["active"] * due[-1].is_active,
    )


def _future(state: RetentionState) -> Iterator[Reason]:
    """Yield the segment whose future timestamps hold up itself and all later segments."""
    ahead = [fate for fate in state.segments if fate.age_from > state.now]
    if ahead and state.settings.retention_ms >= 0:
        first = ahead[0]
        stays = [fate for fate in state.segments if fate.base_offset >= first.base_offset]
        yield reason(
            "future-timestamp",
            segment=first.base_offset,
            ahead=span_text(first.age_from - state.now),
            time=iso_time(first.age_from),
            size=size_text(sum(fate.size for fate in stays)),
            until=iso_time(first.age_from + state.settings.retention_ms) or "forever",
        )


def _held_back(
    state: RetentionState, due: Sequence[SegmentFate], copied_to: int | None
) -> Iterator[Reason]:
    """Yield why segments that are due are not deleted."""
    ends = [fate.base_offset for fate in state.segments[1:]]
    high = state.high_watermark
    if ends and high is not None and high < ends[0]:
        yield reason("high-watermark", offset=high)
    if not state.settings.is_copied_to_tier or not ends:
        return
    uncopied = [fate for fate in due if copied_to is None or fate.base_offset > copied_to]
    if uncopied:
        end = "it is not known how far" if copied_to is None else f"up to offset {copied_to}"
        yield reason("not-in-tier", end=end, segments=many(len(uncopied), "segment"))
        yield from _hanging(state, "is not copied to the tier")


def _compaction(state: RetentionState) -> Iterator[Reason]:
    settings = state.settings
    if not settings.is_on(keys.CLEANER):
        yield reason("cleaner-off")
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
        yield reason("never-compacted")
    if recent and end == recent[0]:
        yield reason("lag", offset=end, lag=span_text(lag))
    ratio = dirty / (dirty + cleaned) if dirty + cleaned else 0.0
    least = settings.ratio(keys.DIRTY_RATIO)
    if not dirty:
        yield reason("nothing-dirty", offset=active.base_offset)
    elif ratio <= least:
        source = settings.source(keys.DIRTY_RATIO)
        yield reason("not-dirty-enough", ratio=ratio, least=least, source=source)
    else:
        yield reason("dirty", size=size_text(dirty), ratio=ratio, begin=first_dirty, end=end)


def _hanging(state: RetentionState, consequence: str) -> Iterator[Reason]:
    for transaction in state.hanging:
        yield reason(
            "hanging-transaction",
            producer=transaction.producer_id,
            time=iso_time(transaction.time),
            offset=transaction.first_offset,
            consequence=consequence,
        )

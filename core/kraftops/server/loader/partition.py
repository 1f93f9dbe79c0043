"""What a start makes of a partition (Kafka's `LogLoader` and `UnifiedLog.create`), step by step.

`foretell_partition` is the way in. It writes nothing, and reads what Kafka reads.
"""

from collections.abc import Callable
from typing import TypeVar

from kraftops.server.loader import thrown
from kraftops.server.loader.contract import (
    Cut,
    DeletedSegment,
    Depth,
    DiskFolder,
    LoadOutcome,
    LoadRequest,
    Refusal,
)
from kraftops.server.loader.disk import (
    CLEANED,
    DELETED,
    DELETED_CHECKPOINT,
    INDEXES,
    LOG,
    SWAP,
    TIME_INDEX,
    Disk,
    name_of,
    offset_of,
)
from kraftops.server.loader.producers import ProducerState
from kraftops.server.loader.segment import LAST_OFFSET, Segment, SegmentOverflow, Segments
from kraftops.server.loader.text_files import (
    LEADER_EPOCHS,
    PARTITION_METADATA,
    EpochEntry,
    LeaderEpochs,
    epoch_entries,
    topic_id_of,
)
from kraftops.server.loader.thrown import LoadError

T = TypeVar("T")


def foretell_partition(folder: DiskFolder, request: LoadRequest) -> LoadOutcome:
    """Return what a start makes of a partition's directory.

    Raises:
        SourceError: a file cannot be read, or is far larger than Kafka's are.
    """
    disk = Disk(folder, request)
    load = _Load(disk)
    try:
        load.run()
    except LoadError as error:
        refusal = Refusal(error.java_class, error.message, error.file, error.position)
        return load.outcome(set(folder.files), refusal)
    return load.outcome(set(folder.files), None)


class _Load:
    """One loading of a partition."""

    def __init__(self, disk: Disk) -> None:
        self._disk, self._request = disk, disk.request
        self._segments = Segments()
        self._epochs = LeaderEpochs([])
        self._epochs_read: tuple[EpochEntry, ...] | None = None
        self._cuts: list[Cut] = []
        self._deleted: list[DeletedSegment] = []
        self._recovered: list[int] = []
        self._topic_id: bytes | None = None
        self._unstable_offset: int | None = None
        self._start_offset = self._local_start = self._end_offset = 0

    def run(self) -> None:
        """Load the partition (`UnifiedLog.create`)."""
        request = self._request
        self._epochs = self._read_epochs()
        self._producers = ProducerState(self._disk)
        self._load()
        first_base = self._segments.base_offsets[0]
        self._local_start = max(self._start_offset, first_base)
        if not request.is_tiered:
            self._start_offset = self._local_start
        self._find_first_unstable()
        if self._disk.exists(PARTITION_METADATA):
            self._topic_id = topic_id_of(self._disk.read_whole(PARTITION_METADATA))

    def outcome(self, names_before: set[str], refusal: Refusal | None) -> LoadOutcome:
        files = self._disk.files
        loads = refusal is None
        return LoadOutcome(
            refusal=refusal,
            log_start_offset=self._start_offset if loads else None,
            local_start_offset=self._local_start if loads else None,
            end_offset=self._end_offset if loads else None,
            latest_epoch=self._epochs.latest if loads else None,
            topic_id=self._topic_id,
            first_unstable_offset=self._unstable_offset,
            segments=tuple(self._segments.base_offsets) if loads else (),
            cuts=tuple(self._cuts),
            deleted_segments=tuple(self._deleted),
            recovered_segments=tuple(dict.fromkeys(self._recovered)),
            files=tuple(sorted(files)),
            removed=tuple(sorted(names_before - set(files))),
            rebuilt=tuple(sorted(self._disk.rebuilt & set(files))),
            snapshots_written=tuple(dict.fromkeys(self._disk.snapshots_written)),
            epochs_read=self._epochs_read,
        )

    def _read_epochs(self) -> LeaderEpochs:
        """Read the leader epochs; a missing file is made (`CheckpointFile`)."""
        entries = epoch_entries(self._disk.read_whole(LEADER_EPOCHS))
        epochs = LeaderEpochs(entries)
        self._epochs_read = tuple(entries)
        return epochs

    def _load(self) -> None:
        """Load the segments (`LogLoader.load`)."""
        request = self._request
        self._complete_swaps(self._remove_temporary_files())
        self._retry_after_split(self._load_segment_files)
        if request.name.endswith("-delete"):
            if not len(self._segments):
                self._segments.add(Segment(self._disk, 0))
            self._end_offset = 0
        else:
            self._end_offset = self._retry_after_split(self._recover_log)
            self._segments.last.resize_indexes()
        self._epochs.truncate_from_end(self._end_offset)
        checkpoint, first_base = request.log_start_checkpoint, self._segments.base_offsets[0]
        self._start_offset = checkpoint if request.is_tiered else max(checkpoint, first_base)
        self._epochs.truncate_from_start(checkpoint)
        self._producers.remove_stray_snapshots(self._segments.base_offsets)
        self._rebuild_producers(
            self._producers, self._start_offset, self._end_offset, was_clean=request.was_clean
        )

    # Files of an interrupted deletion, compaction or split

    def _remove_temporary_files(self) -> list[str]:
        """Remove temporary files, and return the names of valid `.swap` files.

        Those at or after the first `.cleaned` file are of an unfinished split.
        """
        disk = self._disk
        cleaned, swaps = {}, []
        for name in list(disk.files):
            if name.endswith(DELETED) and not name.endswith(DELETED_CHECKPOINT):
                disk.delete(name)
            elif name.endswith(CLEANED):
                cleaned[name] = offset_of(name)
            elif name.endswith(SWAP):
                swaps.append(name)
        first_cleaned = min(cleaned.values(), default=LAST_OFFSET)
        unfinished = {name for name in swaps if offset_of(name) >= first_cleaned}
        for name in (*unfinished, *cleaned):
            disk.delete(name)
        return [name for name in swaps if name not in unfinished]

    def _complete_swaps(self, swaps: list[str]) -> None:
        """Delete the segments that `.swap` files replace, and rename these."""
        disk = self._disk
        first = end = None
        for name in swaps:
            if not name.endswith(LOG + SWAP):
                continue
            segment = Segment(disk, offset_of(name), SWAP)
            first = segment.base_offset if first is None else min(first, segment.base_offset)
            next_offset = segment.next_offset()
            end = next_offset if end is None else max(end, next_offset)
        if first is not None and end is not None:
            for name in list(disk.files):
                if not name.endswith(SWAP) and first <= _offset_or(name, first - 1) < end:
                    disk.delete(name)
        for name in disk.names(SWAP):
            disk.rename(name, name.removesuffix(SWAP))

    # Segments

    def _retry_after_split(self, step: Callable[[], T]) -> T:
        """Do a step again after splitting each segment whose offsets do not fit into its indexes.

        What a split makes has offsets that fit, so that each segment is split once.
        """
        for _ in range(len(self._disk.files) + 1):
            try:
                return step()
            except SegmentOverflow as overflow:
                for base_offset in split_overflowed(overflow.segment, self._segments, self._disk):
                    self._producers.mark_for_deletion(base_offset)
        raise LoadError(
            thrown.ILLEGAL_ARGUMENT, "the loader splits the same segment again and again"
        )

    def _load_segment_files(self) -> None:
        """Open the segments, remove indexes without a log, recover segments without an index."""
        disk = self._disk
        for segment in self._segments:
            segment.close()
        self._segments.clear()
        for name in sorted(disk.files):
            if name.endswith(INDEXES):
                if not disk.exists(name_of(offset_of(name), LOG)):
                    disk.delete(name)
            elif name.endswith(LOG):
                base_offset = offset_of(name)
                is_new = not disk.exists(name_of(base_offset, TIME_INDEX))
                segment = Segment(disk, base_offset)
                if not segment.is_sane(has_new_time_index=is_new):
                    self._recover_segment(segment)
                self._segments.add(segment)

    def _recover_segment(self, segment: Segment) -> bool:
        """Recover a segment; tell whether something is cut off."""
        producers = ProducerState(self._disk)
        checkpoint = self._request.log_start_checkpoint
        self._rebuild_producers(producers, checkpoint, segment.base_offset, was_clean=False)
        cut = segment.recover(producers, self._epochs)
        self._recovered.append(segment.base_offset)
        producers.take_snapshot()
        return self._note_cut(cut)

    def _note_cut(self, cut: Cut | None) -> bool:
        self._cuts += [cut] if cut else []
        return cut is not None

    def _recover_log(self) -> int:
        """Recover the segments that may not be flushed; return the end offset."""
        if not self._request.was_clean:
            self._recover_unflushed()
        end_offset = self._end_or_delete_all()
        if not len(self._segments):
            self._segments.add(Segment(self._disk, self._request.log_start_checkpoint))
        return self._segments.last.next_offset() if end_offset is None else end_offset

    def _recover_unflushed(self) -> None:
        unflushed = self._segments.between(self._request.recovery_point)
        for index, segment in enumerate(unflushed):
            try:
                is_cut = self._recover_segment(segment)
            except LoadError as error:
                if error.java_class != thrown.INVALID_OFFSET:
                    raise
                is_cut = self._note_cut(segment.empty(error.message))
            if is_cut:
                segment.next_offset()  # for a line in Kafka's log
                self._delete(unflushed[index + 1 :])
                return

    def _end_or_delete_all(self) -> int | None:
        """Return the end offset; None after deleting a log that ends before its start offset."""
        if not len(self._segments):
            return None
        end_offset = self._segments.last.next_offset()
        checkpoint = self._request.log_start_checkpoint
        if end_offset >= checkpoint:
            return end_offset
        # Their snapshots are not renamed: `LogLoader` looks for them after emptying its own list.
        self._delete(list(self._segments), with_snapshots=False)
        self._epochs.clear()
        self._disk.rebuilt.add(LEADER_EPOCHS)
        self._producers.start_fully_at(checkpoint)
        return None

    def _delete(self, segments: list[Segment], *, with_snapshots: bool = True) -> None:
        """Delete segments and their snapshots, a minute later."""
        for segment in segments:
            self._segments.remove(segment.base_offset)
            try:
                end_offset = segment.next_offset()
            except LoadError:
                end_offset = None
            self._deleted.append(DeletedSegment(segment.base_offset, segment.log.size, end_offset))
        for segment in segments:
            segment.mark_for_deletion()
        for segment in segments if with_snapshots else ():
            self._producers.mark_for_deletion(segment.base_offset)

    # Producers

    def _rebuild_producers(
        self, producers: ProducerState, start_offset: int, end_offset: int, *, was_clean: bool
    ) -> None:
        """Bring producers to an offset, from a snapshot and the batches after it.

        After a clean stop without snapshots nothing is read (`UnifiedLog.rebuildProducerState`).
        """
        segments = self._segments
        to_snapshot = [*segments.base_offsets[-2:], end_offset]
        if producers.latest_snapshot is None and was_clean:
            for offset in to_snapshot:
                producers.end_offset = offset
                producers.take_snapshot()
            return
        is_behind = producers.end_offset < end_offset
        producers.truncate_and_reload(start_offset, end_offset)
        if end_offset > producers.end_offset and is_behind:
            last_segment = segments.floor(end_offset)
            for segment in segments.between(producers.end_offset, end_offset):
                first = max(segment.base_offset, producers.end_offset, start_offset)
                producers.end_offset = first
                if segment.base_offset in to_snapshot:
                    producers.take_snapshot()
                stop = segment.log.size
                if segment is last_segment:
                    last = segment.find(end_offset)
                    stop = stop if last is None else last.position
                self._read_producers(producers, segment, first, stop)
        producers.end_offset = end_offset
        producers.take_snapshot()

    @staticmethod
    def _read_producers(
        producers: ProducerState, segment: Segment, first_offset: int, stop: int
    ) -> None:
        first = segment.find(first_offset)
        if first is None:
            return
        if stop < first.position:  # batches are out of order
            reason = f"Invalid size: {stop - first.position} in read"
            raise LoadError(thrown.ILLEGAL_ARGUMENT, reason, segment.log_name, first.position)
        producers.add(segment.batches(first.position, Depth.PRODUCERS, stop))

    def _find_first_unstable(self) -> None:
        """Look for the first open transaction in the log, which fails where that is damaged.

        `UnifiedLog.maybeIncrementFirstUnstableOffset` does not fail where it is out of range.
        """
        unstable = self._producers.first_unstable_offset
        if unstable is None:
            return
        self._unstable_offset = offset = max(unstable, self._start_offset)
        segment = self._segments.floor(offset)
        if segment is None or offset >= self._end_offset:
            return
        for candidate in self._segments.between(segment.base_offset):
            if candidate.find(offset) is not None:
                return


def _offset_or(name: str, default: int) -> int:
    """Return the offset in a file's name, or *default* if it has none."""
    try:
        return offset_of(name) if "." in name else default
    except LoadError:
        return default


def split_overflowed(segment: Segment, segments: Segments, disk: Disk) -> list[int]:
    """Replace a segment whose offsets do not fit into its indexes (`splitOverflowedSegment`).

    Returns:
        The base offsets of segments that are gone.

    Raises:
        LoadError: its last offset fits, as after damage of other kinds.
    """
    if not segment.has_overflow():
        reason = "Split operation is only permitted for segments with overflow"
        raise LoadError(thrown.ILLEGAL_ARGUMENT, reason, segment.log_name)
    parts: list[Segment] = []
    try:
        _fill(parts, segment, disk)
        return _replace(segment, parts, segments)
    except LoadError:
        for part in parts:
            part.delete()
        raise


def _fill(parts: list[Segment], segment: Segment, disk: Disk) -> None:
    position = 0
    while position < segment.log.size:
        first = next(segment.batches(position, Depth.HEADS), None)
        if first is None:
            raise LoadError(thrown.NO_SUCH_ELEMENT, "the log ends in the middle of a batch")
        part = Segment(disk, first.base_offset, CLEANED)
        if part.log.size:
            part.delete()
            part = Segment(disk, first.base_offset, CLEANED)
        parts.append(part)
        size = part.append_from(segment, position)
        if not size:
            raise LoadError(
                thrown.ILLEGAL_STATE, f"Failed to append records from position {position}"
            )
        position += size
    for part in parts:
        part.become_inactive()


def _replace(segment: Segment, parts: list[Segment], segments: Segments) -> list[int]:
    """Rename the parts in place of a segment (`LocalLog.replaceSegments`)."""
    parts = sorted(parts, key=lambda part: part.base_offset)
    was_loaded = segment.base_offset in segments
    for part in reversed(parts):
        part.rename(SWAP)
        segments.add(part)
    gone = []
    if was_loaded:
        if segment.base_offset != parts[0].base_offset:
            segments.remove(segment.base_offset)
        segment.mark_for_deletion()
        if segment.base_offset not in {part.base_offset for part in parts}:
            gone.append(segment.base_offset)
    for part in parts:
        part.rename("")
    return gone

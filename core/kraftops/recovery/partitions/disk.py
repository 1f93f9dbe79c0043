"""Log directories of brokers, with the copies of partitions: names, checkpoints, last batches."""

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from kraftops.dump.check.findings import lost_text
from kraftops.dump.check.start import (
    damaged_checkpoint,
    expected_start,
    foretold,
    recovering_cure,
)
from kraftops.dump.check.topics import TopicSettings
from kraftops.errors import DecodeError, SourceError
from kraftops.fileio.mounts import archive_of
from kraftops.fileio.reading import read_small
from kraftops.findings.catalogue import with_cure
from kraftops.findings.finding import Finding, Place, Severity, Stake
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.assignments import with_known_id
from kraftops.image.verify.directories import (
    OTHER_DIRECTORY,
    SET_ASIDE,
    DirectoryOwner,
    misplaced_finding,
    misplacement,
    unread_ids,
)
from kraftops.log.damage.salvage import Gap, last_offset, salvaged
from kraftops.log.files import METADATA_PARTITION
from kraftops.log.producers import read_producers
from kraftops.recovery.log_copy import has_partitions
from kraftops.recovery.node_copies import LogSource
from kraftops.recovery.partitions.content import MISSING_OFFSETS
from kraftops.recovery.partitions.copies import MISSING_START, Hole, PartitionCopy
from kraftops.recovery.refusal import PACK, RecoveryRefused
from kraftops.server.loader.batches import whole_heads
from kraftops.server.loader.contract import Cut, DiskFolder, LoadOutcome, LogBatch
from kraftops.server.loader.load_plan import (
    CLEANER,
    HIGH_WATERMARK,
    LOG_START,
    RECOVERY_POINT,
)
from kraftops.server.loader.text_files import (
    LEADER_EPOCHS,
    EpochEntry,
    LeaderEpochs,
    epoch_entries,
)
from kraftops.server.loader.thrown import LoadError
from kraftops.server.log_directory import LogDirectory, PartitionDirectory, read_log_directory
from kraftops.server.metadata_log.files import Segment
from kraftops.server.partition_data import is_cut_short, position_near_end, segment_end
from kraftops.server.partition_files import PartitionFiles, SegmentFiles, partition_files

_LARGEST_WHOLE = 16 << 20  # bytes; of a longer segment only the batches after its last index entry
_UNTIERED = TopicSettings(is_tiered=False)  # whether it is tiered does not change where it ends


@dataclass(frozen=True, slots=True)
class BrokerDisk:
    """A log directory of a node, or a copy of one; *name* is that of the command line.

    *findings* are what a start of the broker takes from the copies, and checkpoints that it cannot
    read. With *is_packed* the directory is in an archive.
    """

    name: str
    directory: LogDirectory
    node_id: int
    cluster_id: str | None
    copies: tuple[PartitionCopy, ...]
    findings: tuple[Finding, ...] = ()
    is_packed: bool = False


def read_disks(sources: Iterable[LogSource]) -> list[BrokerDisk]:
    """Return the log directories among sources, each once.

    Raises:
        RecoveryRefused: a file cannot be read, or nothing names the broker of partitions.
    """
    disks = {os.path.realpath(log_directory_of(source.folder)): source for source in sources}
    return [disk for source in disks.values() if (disk := read_disk(source))]


def read_disk(source: LogSource) -> BrokerDisk | None:
    """Return a log directory; None for a metadata log alone, beside which may lie anything.

    Raises:
        RecoveryRefused: a file cannot be read, or nothing names the broker of partitions.
    """
    path = log_directory_of(source.folder)
    directory = read_log_directory(path)
    meta = directory.meta
    node_id = source.node_id if meta is None or meta.node_id is None else meta.node_id
    if node_id is None:
        if path == source.folder and has_partitions(path):
            raise _nameless(source.name)
        return None
    loads = [*read_copies(directory, node_id)]
    damaged = [
        damaged_checkpoint(checkpoint, path).moved(
            node=node_id, directory=None, file=os.path.join(path, checkpoint.name)
        )
        for checkpoint in directory.plan.damaged
    ]
    return BrokerDisk(
        name=source.name,
        directory=directory,
        node_id=node_id,
        cluster_id=meta.cluster_id if meta else None,
        copies=tuple(copy for copy, _ in loads),
        findings=(*damaged, *(finding for _, findings in loads for finding in findings)),
        is_packed=source.is_packed,
    )


def _nameless(name: str) -> RecoveryRefused:
    return RecoveryRefused(
        "no-identity",
        f"{name} has partitions and neither a meta.properties nor a server.properties: whose they "
        "are is unknown",
        f"pack one of both with them: {PACK}",
    )


def log_directory_of(place: str) -> str:
    """Return the log directory that a directory is, or that holds it as the metadata partition."""
    if os.path.basename(os.path.realpath(place)) == METADATA_PARTITION:
        return os.path.dirname(os.path.realpath(place))
    return place


def unread_directories(
    image: MetadataImage, disks: Iterable[BrokerDisk]
) -> dict[int, Collection[bytes]]:
    """Return the ids of registered log directories that are not among disks, by broker.

    Those of brokers of which nothing was given are left out.

    Raises:
        KraftopsError: a source of the image can no longer be read.
    """
    directories: dict[int, list[LogDirectory]] = defaultdict(list)
    for disk in disks:
        directories[disk.node_id].append(disk.directory)
    return {
        broker: ids
        for broker in sorted(directories)
        if (ids := unread_ids(image, broker, directories[broker]))
    }


def misplaced_partitions(disks: Iterable[BrokerDisk], image: MetadataImage) -> Iterator[Finding]:
    """Yield the directories that the metadata has elsewhere, or under another name.

    Raises:
        KraftopsError: a source of the image can no longer be read.
    """
    disks = list(disks)
    for disk in disks:
        meta = disk.directory.meta
        owner = DirectoryOwner(disk.node_id, meta.directory_id if meta else None)
        beside = [other.directory for other in disks if other.node_id == disk.node_id]
        for partition in disk.directory.partitions():
            misplaced = misplacement(image, owner, partition)
            if misplaced and misplaced.code not in (OTHER_DIRECTORY, SET_ASIDE):
                stray = misplaced_finding(owner.node_id, disk.directory.path, partition, misplaced)
                is_counted = not disk.is_packed or disk.directory.has_segments
                stray = stray if is_counted else replace(stray, stake=None)
                yield with_known_id(stray, image, disk.directory, beside)


def read_copies(
    directory: LogDirectory, broker: int
) -> Iterator[tuple[PartitionCopy, Sequence[Finding]]]:
    """Yield the copies in a log directory, as a start leaves them, and what it takes from them.

    Those that wait for deletion, or move, are left out.

    Raises:
        RecoveryRefused: a file cannot be read.
    """
    try:
        for partition in directory.partitions():
            if not partition.is_renamed:
                yield _read(directory, partition, broker)
    except OSError as error:
        place = error.filename or directory.path
        raise RecoveryRefused("unreadable", f"cannot read {place}: {error.strerror}") from None
    except SourceError as error:
        raise RecoveryRefused("unreadable", error.message, error.hint) from None


def _read(
    directory: LogDirectory, partition: PartitionDirectory, broker: int
) -> tuple[PartitionCopy, Sequence[Finding]]:
    key = (partition.topic, partition.number)
    files = partition_files(partition.path)
    epochs = _epochs(partition.path)
    copy = PartitionCopy(
        broker=broker,
        place=partition.path,
        topic=partition.topic,
        topic_id=partition.topic_id,
        number=partition.number,
        high_watermark=directory.offset(HIGH_WATERMARK, *key),
        snapshot_end=max(files.producer_snapshots, default=0),
        next_producer_id=_next_producer_id(files.producer_snapshots),
        cleaned=_cleaned(directory, files),
        was_clean=directory.plan.was_clean,
        is_packed=archive_of(partition.path) is not None,
    )
    if files.segments:
        return _with_end(copy, files, epochs, directory)
    recovery_point = directory.offset(RECOVERY_POINT, *key)
    if directory.has_segments:  # Copies leave out the segments of all partitions.
        # Each log has a segment from its first start on. One that lost all of them begins again
        # where it began (`LogLoader.load`, 4.3.1).
        start = directory.offset(LOG_START, *key) or 0
        epochs.truncate_from_end(start)
        return replace(copy, start=start, end=start, epochs=epochs.entries), ()
    starts = [entry.start_offset for entry in epochs.entries]
    checkpointed = (copy.high_watermark or 0, recovery_point or 0)
    end = max([0, *checkpointed, *files.producer_snapshots, *starts])
    # After a clean stop the recovery point is the end of the log (`LogManager.shutdown`).
    is_exact = directory.plan.was_clean and recovery_point is not None
    if end and not (starts or files.producer_snapshots):
        # Each log with records has both of the time of its last stop: these files are gone.
        end, is_exact = 0, False
    if is_exact:
        epochs.truncate_from_end(end)  # as a start does
    return replace(copy, end=end, is_end_exact=is_exact, epochs=epochs.entries), ()


def _with_end(
    copy: PartitionCopy,
    files: PartitionFiles,
    epochs: LeaderEpochs,
    directory: LogDirectory,
) -> tuple[PartitionCopy, Sequence[Finding]]:
    start = foretold(files, directory, _UNTIERED)
    loads = [outcome for outcome in start.outcomes if outcome.end_offset is not None]
    limit = min((outcome.end_offset or 0 for outcome in loads), default=None)
    bases = tuple(segment.base_offset for segment in files.segments)
    ended = _with_last_batches(copy, files, epochs, limit)
    hidden_to = _hidden_to(directory, ended, bases[0])
    holes = _holes(copy, files, epochs, directory)
    if hidden_to:
        holes = (Hole(MISSING_START, range(bases[0], hidden_to)), *holes)
    whole = replace(
        ended,
        start=bases[0],
        hidden_to=hidden_to,
        bases=bases,
        holes=holes,
        # That of a copy that no start takes is the end of its whole batches.
        is_end_exact=not loads or start.outcome in loads,
        is_loaded=len(loads) == len(start.outcomes),
    )
    refusals = [
        with_cure(
            refusal.moved(
                node=copy.broker,
                directory=os.path.dirname(copy.place),
                topic=copy.topic,
                partition=copy.number,
            ),
            copy.place,
        )
        for refusal in start.refusals()
    ]
    return whole, [*refusals, *_cuts(whole, files, directory, loads)]


def _holes(
    copy: PartitionCopy, files: PartitionFiles, epochs: LeaderEpochs, directory: LogDirectory
) -> tuple[Hole, ...]:
    """Return offsets that a copy lacks: its start, and ends of segments before the last."""
    holes = []
    if directory.is_topic_tiered(copy.topic) is False and epochs.entries:
        first_epoch = epochs.entries[0].start_offset
        expected = expected_start(directory, copy.topic, copy.number, first_epoch)
        first = files.segments[0].base_offset
        if expected and expected[0] < first:
            holes.append(Hole(MISSING_START, range(expected[0], first)))
    for segment, following in pairwise(files.segments):
        # A cleaner may leave nothing of a segment.
        if copy.cleaned <= segment.base_offset and is_cut_short(files, segment):
            end = segment_end(files, segment)
            if end < following.base_offset:
                holes.append(Hole(MISSING_OFFSETS, range(end, following.base_offset)))
    return tuple(holes)


def _with_last_batches(
    copy: PartitionCopy, files: PartitionFiles, epochs: LeaderEpochs, limit: int | None
) -> PartitionCopy:
    """Return a copy with what its last batches tell, before the offset where a start ends it."""
    full = [
        segment
        for segment in files.segments
        if files.size_of(segment.log) and (limit is None or segment.base_offset < limit)
    ]
    end, times, next_producer_id = files.segments[-1].base_offset, [], copy.next_producer_id
    false_epochs = dict[EpochEntry, None]()
    assert files.folder
    for batch in _last_batches(files.folder, full[-1]) if full else ():
        if limit is not None and batch.last_offset >= limit:
            break
        end = max(end, batch.last_offset + 1)
        times.append(batch.max_timestamp)
        next_producer_id = max(next_producer_id, batch.producer_id + 1)
        latest = epochs.latest if epochs.latest is not None else -1
        wrong = [
            entry
            for entry in (epochs.entries if 0 <= batch.leader_epoch < latest else ())
            if entry.epoch > batch.leader_epoch and entry.start_offset <= batch.base_offset
        ]
        false_epochs.update(dict.fromkeys(wrong))
        if wrong or batch.leader_epoch > latest:
            epochs.assign(EpochEntry(batch.leader_epoch, batch.base_offset))
    end = end if limit is None else limit
    # The checkpoint is flushed before the records of its last epoch. A start drops epochs that
    # begin at the end or after it (`LogLoader.load`).
    epochs.truncate_from_end(end)
    return replace(
        copy,
        end=end,
        epochs=epochs.entries,
        false_epochs=tuple(false_epochs),
        time=max(times, default=None),
        next_producer_id=next_producer_id,
    )


def _hidden_to(directory: LogDirectory, copy: PartitionCopy, base: int) -> int:
    """Return the log start of the checkpoint, if a broker did not write it; otherwise 0.

    Whatever raises a log start cuts the epochs before it (`maybeIncrementLogStartOffset`).
    """
    log_start = directory.offset(LOG_START, copy.topic, copy.number) or 0
    first_epoch = copy.epochs[0].start_offset if copy.epochs else log_start
    is_hidden = base < log_start <= copy.end and first_epoch < log_start
    return log_start if is_hidden and directory.is_topic_tiered(copy.topic) is False else 0


def _cuts(
    copy: PartitionCopy,
    files: PartitionFiles,
    directory: LogDirectory,
    loads: Sequence[LoadOutcome],
) -> Iterator[Finding]:
    """Yield the whole batches that a start cuts off; a torn end is none of them."""
    assert files.folder
    place = Place(
        node=copy.broker, directory=None, topic=copy.topic, partition=copy.number, file=copy.place
    )
    text = f"a start ends the log at offset {copy.end}"
    if loads and copy.end < (copy.high_watermark or 0):
        cure = recovering_cure(files, directory, _UNTIERED, copy.end)
        if cure:
            text += ", before whole batches"
            yield Finding("start-cuts-log", Severity.LOSS, text, place, *cure)
            return
    ends = [segment.end_offset or 0 for load in loads for segment in load.deleted_segments]
    for cut in {cut for load in loads for cut in load.cuts}:
        ends += _ends_after(files.folder, cut)
    end = max(ends, default=0)
    if end > copy.end:
        yield Finding(
            "start-cuts-log",
            Severity.LOSS,
            f"{text}: {lost_text(copy.end, end - 1)}",
            place,
            cure=(
                "another replica may have these records; copy the directory "
                "before the broker starts"
            ),
            stake=Stake(end - copy.end, 0),
        )


def _ends_after(folder: DiskFolder, cut: Cut) -> Iterator[int]:
    """Yield the ends of the batches that are cut off: of a damaged one only if its head follows.

    What is read at a wrong position looks like a head with any offsets.
    """
    for batch in islice(whole_heads(folder, cut.file, cut.position), 1):
        if (
            batch.base_offset == cut.first_offset
            and batch.last_offset - batch.base_offset < cut.size
        ):
            yield batch.last_offset + 1
    with folder.open(cut.file) as log:
        for part in salvaged(log, cut.position):
            if not isinstance(part, Gap):
                yield last_offset(part) + 1


def _cleaned(directory: LogDirectory, files: PartitionFiles) -> int:
    """Return the offset up to which a cleaner may have changed a log: never in its last segment."""
    if CLEANER in directory.plan.offsets:
        return directory.offset(CLEANER, files.topic, files.partition) or 0
    return files.segments[-1].base_offset if files.segments else 0


def _epochs(path: str) -> LeaderEpochs:
    try:
        return LeaderEpochs(epoch_entries(read_small(os.path.join(path, LEADER_EPOCHS))))
    except (FileNotFoundError, LoadError):
        return LeaderEpochs(())


def _next_producer_id(snapshots: Mapping[int, str]) -> int:
    """Return the id after the highest in the newest producer snapshot; 0 without one."""
    if not snapshots:
        return 0
    try:
        producers = read_producers(read_small(snapshots[max(snapshots)]))
    except (FileNotFoundError, DecodeError):
        return 0
    return max((producer.producer_id + 1 for producer in producers), default=0)


def _last_batches(folder: DiskFolder, segment: SegmentFiles) -> Iterator[LogBatch]:
    """Yield the batches of a segment, of a long one the last; they end at the first damage."""
    name = os.path.basename(segment.log)
    start, size = 0, folder.files[name]
    if size > _LARGEST_WHOLE:
        with folder.open(name) as log:
            start = position_near_end(log, Segment(segment.base_offset, segment.log, size))
    return whole_heads(folder, name, start)

"""Log directories of brokers, with the copies of partitions: names, checkpoints, last batches."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kraftops.errors import DecodeError, KraftopsError, SourceError
from kraftops.fileio.reading import read_small
from kraftops.log.files import METADATA_PARTITION, FileKind, file_name
from kraftops.log.indexes import OffsetIndex
from kraftops.log.producers import read_producers
from kraftops.recovery.archives import PACK, LogSource
from kraftops.recovery.partitions.copies import PartitionCopy
from kraftops.recovery.refusal import RecoveryRefused
from kraftops.server.loader.batches import walk_of
from kraftops.server.loader.contract import Depth, DiskFolder, LogBatch
from kraftops.server.loader.load_plan import HIGH_WATERMARK, RECOVERY_POINT
from kraftops.server.loader.text_files import (
    LEADER_EPOCHS,
    EpochEntry,
    LeaderEpochs,
    epoch_entries,
)
from kraftops.server.loader.thrown import LoadError
from kraftops.server.log_directory import LogDirectory, PartitionDirectory, read_log_directory

_LARGEST_WHOLE = 16 << 20  # bytes; of a longer segment only the batches after its last index entry


@dataclass(frozen=True, slots=True)
class BrokerDisk:
    """A log directory of a node, or a copy of one; *name* is that of the command line.

    With *is_unpacked* the directory is a temporary one, made from an archive.
    """

    name: str
    directory: LogDirectory
    node_id: int
    cluster_id: str | None
    copies: tuple[PartitionCopy, ...]
    is_unpacked: bool = False


def read_disks(sources: Iterable[LogSource]) -> list[BrokerDisk]:
    """Return the log directories among sources, each once.

    Raises:
        RecoveryRefused: a file cannot be read, or nothing names the broker of partitions.
    """
    disks: dict[str, BrokerDisk] = {}
    for name, place, is_unpacked, packed_id in sources:
        directory = log_directory_of(place)
        real_path = os.path.realpath(directory)
        if real_path in disks:
            continue
        log_directory = read_log_directory(directory)
        meta = log_directory.meta
        node_id = packed_id if meta is None or meta.node_id is None else meta.node_id
        if node_id is None:
            # Beside a metadata log that was named alone may lie anything.
            if directory == place and has_partitions(place):
                raise _nameless(name)
            continue
        copies = tuple(read_copies(log_directory, node_id, name if is_unpacked else None))
        cluster_id = meta.cluster_id if meta else None
        disks[real_path] = BrokerDisk(name, log_directory, node_id, cluster_id, copies, is_unpacked)
    return list(disks.values())


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


def has_partitions(path: str) -> bool:
    """Tell whether there are copies of partitions in a directory.

    Raises:
        SourceError: it cannot be listed.
    """
    return next(read_log_directory(path).partitions(), None) is not None


def read_copies(
    directory: LogDirectory, broker: int, name: str | None = None
) -> Iterator[PartitionCopy]:
    """Yield the copies in a log directory; those that wait for deletion, or move, are left out.

    Args:
        directory: the log directory.
        broker: the id of its broker.
        name: the name of the archive that it was unpacked from.

    Raises:
        RecoveryRefused: a file cannot be read.
    """
    try:
        for partition in directory.partitions():
            if not partition.is_renamed:
                yield _read(directory, partition, broker, name or partition.path)
    except OSError as error:
        place = error.filename or directory.path
        raise RecoveryRefused("unreadable", f"cannot read {place}: {error.strerror}") from None
    except SourceError as error:
        raise RecoveryRefused("unreadable", error.message, error.hint) from None


def _read(
    directory: LogDirectory, partition: PartitionDirectory, broker: int, place: str
) -> PartitionCopy:
    path, key = partition.path, (partition.topic, partition.number)
    folder = DiskFolder(path)
    segments = _numbered(folder, FileKind.LOG)
    snapshots = _numbered(folder, FileKind.PRODUCER_SNAPSHOT)
    epochs = _epochs(path)
    high_watermark = directory.offset(HIGH_WATERMARK, *key)
    recovery_point = directory.offset(RECOVERY_POINT, *key)
    starts = [entry.start_offset for entry in epochs.entries]
    lowest_end = max([0, high_watermark or 0, recovery_point or 0, *snapshots, *starts])
    end = max(segments, default=lowest_end)
    time: int | None = None
    next_producer_id = _next_producer_id(path, snapshots)
    full = [base for base, name in segments.items() if folder.files[name]]
    if full:
        for batch in _last_batches(folder, max(full), segments[max(full)]):
            end = max(end, batch.last_offset + 1)
            time = batch.max_timestamp if time is None else max(time, batch.max_timestamp)
            next_producer_id = max(next_producer_id, batch.producer_id + 1)
            if batch.leader_epoch > (epochs.latest if epochs.latest is not None else -1):
                epochs.assign(EpochEntry(batch.leader_epoch, batch.base_offset))
    return PartitionCopy(
        broker=broker,
        place=place,
        topic=partition.topic,
        topic_id=partition.topic_id,
        number=partition.number,
        start=min(segments, default=0),
        end=end,
        # After a clean stop the recovery point is the end of the log (`LogManager.shutdown`).
        is_end_exact=bool(segments) or (directory.plan.was_clean and recovery_point is not None),
        epochs=epochs.entries,
        high_watermark=high_watermark,
        time=time,
        next_producer_id=next_producer_id,
    )


def _numbered(folder: DiskFolder, kind: FileKind) -> dict[int, str]:
    """Return the names of files of a kind by their offsets."""
    names = {}
    for name in folder.files:
        file = file_name(name)
        stem = name.partition(".")[0]
        if file and file.kind is kind and not file.renamed and stem.isdecimal() and len(stem) == 20:
            names[int(stem)] = name
    return dict(sorted(names.items()))


def _epochs(path: str) -> LeaderEpochs:
    try:
        return LeaderEpochs(epoch_entries(read_small(os.path.join(path, LEADER_EPOCHS))))
    except (FileNotFoundError, LoadError):
        return LeaderEpochs(())


def _next_producer_id(path: str, snapshots: Mapping[int, str]) -> int:
    """Return the id after the highest in the newest producer snapshot; 0 without one."""
    if not snapshots:
        return 0
    try:
        producers = read_producers(read_small(os.path.join(path, snapshots[max(snapshots)])))
    except (FileNotFoundError, DecodeError):
        return 0
    return max((producer.producer_id + 1 for producer in producers), default=0)


def _last_batches(folder: DiskFolder, base_offset: int, name: str) -> Iterator[LogBatch]:
    """Yield the batches of a segment, of a long one the last; they end at the first damage."""
    size = folder.files[name]
    start = 0
    if size > _LARGEST_WHOLE:
        start = _last_indexed(folder, base_offset, name)
    walk = walk_of(folder)
    try:
        yield from walk(name, start, size, Depth.HEADS)
    except LoadError:
        return  # the end of a log that was preallocated, or that a start cuts


def _last_indexed(folder: DiskFolder, base_offset: int, name: str) -> int:
    """Return the position of the last batch that the index has; 0 if it is of other batches."""
    path = os.path.splitext(name)[0] + FileKind.INDEX.value
    try:
        with folder.open(path) as file:
            entry = OffsetIndex(file, base_offset).last_used()
        batch = next(iter(walk_of(folder)(name, entry.position, folder.files[name], Depth.HEADS)))
    except (KraftopsError, LoadError, StopIteration):
        return 0
    return entry.position if batch.last_offset == entry.offset else 0

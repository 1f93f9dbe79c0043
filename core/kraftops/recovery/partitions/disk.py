"""Log directories of brokers, with the copies of partitions: names, checkpoints, last batches."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kraftops.errors import DecodeError, SourceError
from kraftops.fileio.reading import read_small
from kraftops.log.files import METADATA_PARTITION
from kraftops.log.log_file import LogFile
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
from kraftops.server.metadata_log.files import Segment
from kraftops.server.partition_data import position_near_end
from kraftops.server.partition_files import partition_files

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
    files = partition_files(path)
    segments = [
        Segment(segment.base_offset, segment.log, files.size_of(segment.log))
        for segment in files.segments
    ]
    epochs = _epochs(path)
    high_watermark = directory.offset(HIGH_WATERMARK, *key)
    recovery_point = directory.offset(RECOVERY_POINT, *key)
    starts = [entry.start_offset for entry in epochs.entries]
    end = max([0, high_watermark or 0, recovery_point or 0, *files.snapshots, *starts])
    end = segments[-1].base_offset if segments else end
    time: int | None = None
    next_producer_id = _next_producer_id(files.snapshots)
    full = [segment for segment in segments if segment.size]
    for batch in _last_batches(full[-1]) if full else ():
        end = max(end, batch.last_offset + 1)
        time = batch.max_timestamp if time is None else max(time, batch.max_timestamp)
        next_producer_id = max(next_producer_id, batch.producer_id + 1)
        if batch.leader_epoch > (epochs.latest if epochs.latest is not None else -1):
            epochs.assign(EpochEntry(batch.leader_epoch, batch.base_offset))
    if segments:
        # The checkpoint is flushed before the records of its last epoch. A start drops epochs
        # that begin at the end or after it (`LogLoader.load`).
        epochs.truncate_from_end(end)
    return PartitionCopy(
        broker=broker,
        place=place,
        topic=partition.topic,
        topic_id=partition.topic_id,
        number=partition.number,
        start=segments[0].base_offset if segments else 0,
        end=end,
        # After a clean stop the recovery point is the end of the log (`LogManager.shutdown`).
        is_end_exact=bool(segments) or (directory.plan.was_clean and recovery_point is not None),
        epochs=epochs.entries,
        high_watermark=high_watermark,
        time=time,
        next_producer_id=next_producer_id,
    )


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


def _last_batches(segment: Segment) -> Iterator[LogBatch]:
    """Yield the batches of a segment, of a long one the last; they end at the first damage."""
    folder, name = os.path.split(segment.path)
    start = 0
    if segment.size > _LARGEST_WHOLE:
        with LogFile(segment.path) as log:
            start = position_near_end(log, segment)
    try:
        yield from walk_of(DiskFolder(folder))(name, start, segment.size, Depth.HEADS)
    except LoadError:
        return  # the end of a log that was preallocated, or that a start cuts

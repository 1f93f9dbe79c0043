"""The copies of partitions in a log directory, by names, checkpoints and last batches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kraftops.errors import DecodeError, KraftopsError, SourceError
from kraftops.log.files import FileKind, file_name
from kraftops.log.indexes import OffsetIndex
from kraftops.log.producers import read_producers
from kraftops.recovery.partitions.copies import PartitionCopy
from kraftops.recovery.refusal import RecoveryRefused
from kraftops.server.loader.batches import walk_of
from kraftops.server.loader.contract import Depth, DiskFolder, LogBatch
from kraftops.server.loader.log_directory import (
    CLEAN_SHUTDOWN,
    HIGH_WATERMARKS,
    RECOVERY_POINTS,
    FolderKind,
    parse_folder_name,
)
from kraftops.server.loader.text_files import (
    LEADER_EPOCHS,
    PARTITION_METADATA,
    EpochEntry,
    LeaderEpochs,
    epoch_entries,
    offset_entries,
    topic_id_of,
)
from kraftops.server.loader.thrown import LoadError
from kraftops.storage.logdirs.directories import METADATA_PARTITION, read_file

_LARGEST_WHOLE = 16 << 20  # bytes; of a longer segment only the batches after its last index entry

_Offsets = Mapping[tuple[str, int], int]


class DiskNotes(NamedTuple):
    """What a broker noted in a log directory: offsets by partition, and a clean stop."""

    high_watermarks: _Offsets
    recovery_points: _Offsets
    was_clean: bool


def has_partitions(path: str) -> bool:
    """Tell whether there are copies of partitions in a directory."""
    return next(_folders(path), None) is not None


def read_copies(directory: str, broker: int, name: str | None = None) -> Iterator[PartitionCopy]:
    """Yield the copies in a log directory; those that wait for deletion, or move, are left out.

    Args:
        directory: the log directory.
        broker: the id of its broker.
        name: the name of the archive that it was unpacked from.

    Raises:
        RecoveryRefused: a file cannot be read.
    """
    try:
        notes = DiskNotes(
            _offsets(directory, HIGH_WATERMARKS),
            _offsets(directory, RECOVERY_POINTS),
            os.path.exists(os.path.join(directory, CLEAN_SHUTDOWN)),
        )
        for topic, number, path in _folders(directory):
            yield _read(path, name or path, broker, (topic, number), notes)
    except OSError as error:
        place = error.filename or directory
        raise RecoveryRefused("unreadable", f"cannot read {place}: {error.strerror}") from None
    except SourceError as error:
        raise RecoveryRefused("unreadable", error.message, error.hint) from None


def _folders(directory: str) -> Iterator[tuple[str, int, str]]:
    """Yield topic, number and path of the partitions in a log directory."""
    with os.scandir(directory) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir())
    for name in names:
        parsed = parse_folder_name(name)
        if parsed and parsed.kind is FolderKind.CURRENT and name != METADATA_PARTITION:
            yield parsed.topic, parsed.partition, os.path.join(directory, name)


def _offsets(directory: str, name: str) -> _Offsets:
    """Return the offsets of a checkpoint; none if it is missing or damaged, as a broker does."""
    try:
        return offset_entries(read_file(os.path.join(directory, name)), name)
    except (FileNotFoundError, LoadError):
        return {}


def _read(
    path: str, place: str, broker: int, key: tuple[str, int], notes: DiskNotes
) -> PartitionCopy:
    folder = DiskFolder(path)
    segments = _numbered(folder, FileKind.LOG)
    snapshots = _numbered(folder, FileKind.PRODUCER_SNAPSHOT)
    epochs = _epochs(path)
    high_watermark = notes.high_watermarks.get(key)
    starts = [entry.start_offset for entry in epochs.entries]
    lowest_end = max([0, high_watermark or 0, *snapshots, *starts])
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
    elif not segments:
        end = max(end, notes.recovery_points.get(key, 0))
    return PartitionCopy(
        broker=broker,
        place=place,
        topic=key[0],
        topic_id=_topic_id(path),
        number=key[1],
        start=min(segments, default=0),
        end=end,
        # After a clean stop the recovery point is the end of the log (`LogManager.shutdown`).
        is_end_exact=bool(segments) or (notes.was_clean and key in notes.recovery_points),
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
        return LeaderEpochs(epoch_entries(read_file(os.path.join(path, LEADER_EPOCHS))))
    except (FileNotFoundError, LoadError):
        return LeaderEpochs(())


def _topic_id(path: str) -> bytes | None:
    try:
        return topic_id_of(read_file(os.path.join(path, PARTITION_METADATA)))
    except (FileNotFoundError, LoadError):
        return None


def _next_producer_id(path: str, snapshots: Mapping[int, str]) -> int:
    """Return the id after the highest in the newest producer snapshot; 0 without one."""
    if not snapshots:
        return 0
    try:
        producers = read_producers(read_file(os.path.join(path, snapshots[max(snapshots)])))
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

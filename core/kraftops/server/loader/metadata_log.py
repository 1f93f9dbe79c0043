"""What a start makes of the metadata log (`KafkaRaftLog.createLog`, earlier `KafkaMetadataLog`).

Its segments load as those of a partition after an unclean stop, always from the first one on; then
its snapshots are looked at. Whatever fails ends the server.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from kraftops.java.numbers import parse_integer
from kraftops.log.files import METADATA_PARTITION
from kraftops.server.loader import thrown
from kraftops.server.loader.contract import (
    NEWEST_RELEASE,
    DiskFolder,
    LoadOutcome,
    LoadRequest,
    Refusal,
)
from kraftops.server.loader.partition import foretell_partition
from kraftops.server.loader.thrown import LoadError

METADATA_TOPIC_ID = (1).to_bytes(16)  # `Uuid.METADATA_TOPIC_ID`
_SNAPSHOT = ".checkpoint"
_SNAPSHOTS = (_SNAPSHOT, ".checkpoint.part", ".checkpoint.deleted")
_EPOCH = slice(21, 31)  # after the offset and a dash


class SnapshotId(NamedTuple):
    """The end offset (exclusive) and the epoch of a snapshot."""

    offset: int
    epoch: int


@dataclass(frozen=True, slots=True)
class MetadataLogOutcome:
    """What a start makes of the metadata log.

    *log* is the outcome of the loading of its segments. *snapshots* are kept, by epoch and offset.
    Where the last of them is newer than the log, it starts again there, without earlier segments:
    *restarted_at*.
    """

    log: LoadOutcome
    refusal: Refusal | None
    snapshots: tuple[SnapshotId, ...] = ()
    removed_snapshots: tuple[str, ...] = ()
    restarted_at: SnapshotId | None = None

    @property
    def starts(self) -> bool:
        """Whether the server takes the log; if not, it ends."""
        return self.refusal is None

    @property
    def start_offset(self) -> int | None:
        return self.restarted_at.offset if self.restarted_at else self.log.log_start_offset

    @property
    def end_offset(self) -> int | None:
        """The offset after the last record."""
        return self.restarted_at.offset if self.restarted_at else self.log.end_offset

    @property
    def whole(self) -> LoadOutcome:
        """The outcome as that of a partition: with the refusal, and the offsets that are left.

        Whatever fails ends the server. A log that starts again at a snapshot loses nothing that the
        snapshot does not have.
        """
        if self.refusal:
            return replace(self.log, refusal=self.refusal)
        if self.restarted_at is None:
            return self.log
        end = self.restarted_at.offset
        return replace(
            self.log,
            log_start_offset=end,
            local_start_offset=end,
            end_offset=end,
            segments=(end,),
            cuts=(),
            deleted_segments=(),
        )


def foretell_metadata_log(folder: DiskFolder, release: str = NEWEST_RELEASE) -> MetadataLogOutcome:
    """Return what a start makes of the directory of the metadata log.

    Raises:
        SourceError: a file cannot be read, or is far larger than Kafka's are.
    """
    log = foretell_partition(folder, LoadRequest(METADATA_PARTITION, release=release))
    if log.refusal:
        return MetadataLogOutcome(log, replace(log.refusal, is_fatal=True))
    try:
        return _with_snapshots(log)
    except LoadError as error:
        refusal = Refusal(error.java_class, error.message, error.file, is_fatal=True)
        return MetadataLogOutcome(log, refusal)


def _with_snapshots(log: LoadOutcome) -> MetadataLogOutcome:
    if log.topic_id not in (None, METADATA_TOPIC_ID):
        raise LoadError(thrown.INCONSISTENT_TOPIC_ID, "the log has the id of another topic")
    start, end = log.log_start_offset, log.end_offset
    assert start is not None
    assert end is not None
    snapshots = {name: _snapshot_id(name) for name in log.files if name.endswith(_SNAPSHOTS)}
    old = [
        name
        for name, snapshot in snapshots.items()
        if not name.endswith(_SNAPSHOT) or snapshot.offset < start
    ]
    # `OffsetAndEpoch` compares epochs first.
    newest = sorted({snapshots[name][::-1] for name in snapshots.keys() - set(old)})
    kept = [SnapshotId(offset, epoch) for epoch, offset in newest]
    if start > 0 and not kept:
        raise LoadError(
            thrown.ILLEGAL_STATE,
            "Inconsistent snapshot state: there must be a snapshot at an offset larger then the "
            f"current log start offset {start}",
        )
    latest_epoch = log.latest_epoch or 0
    if kept and (kept[-1].epoch, kept[-1].offset) > (latest_epoch, end):
        removed = [name for name, snapshot in snapshots.items() if snapshot != kept[-1]]
        return MetadataLogOutcome(
            log=log,
            refusal=None,
            snapshots=(kept[-1],),
            removed_snapshots=tuple(sorted(removed)),
            restarted_at=kept[-1],
        )
    if log.latest_epoch is None and kept and not start == end == kept[-1].offset:
        # `KafkaRaftClient` asks for the epoch of the last batch, or of the snapshot in its place.
        raise LoadError(
            thrown.KAFKA, f"Log doesn't have a last fetch epoch and there is a {kept[-1]}"
        )
    return MetadataLogOutcome(log, None, tuple(kept), tuple(old))


def _snapshot_id(name: str) -> SnapshotId:
    """Return the id in the name of a snapshot (`Snapshots.parse`).

    Raises:
        LoadError: there is none.
    """
    if len(name) < _EPOCH.stop:
        raise LoadError(
            thrown.OUT_OF_RANGE, f"{name} is too short for the name of a snapshot", name
        )
    offset, epoch = parse_integer(name[:20], 64), parse_integer(name[_EPOCH], 32)
    if offset is None or epoch is None:
        raise LoadError(thrown.NUMBER_FORMAT, f"{name} is not the name of a snapshot", name)
    return SnapshotId(offset, epoch)

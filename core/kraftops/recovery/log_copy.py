"""Copy of a metadata log: its owner, its end, its voters, and its damage."""

import os
from dataclasses import dataclass, replace

from kraftops.errors import KraftopsError
from kraftops.fileio.mounts import is_directory, is_file
from kraftops.log.batch import Batch, Header
from kraftops.log.files import METADATA_PARTITION
from kraftops.recovery.refusal import RecoveryRefused
from kraftops.server import meta_properties, quorum_state
from kraftops.server.log_directory import read_log_directory
from kraftops.server.meta_properties import MetaProperties
from kraftops.server.metadata_log.batch_comparison import BatchMark, LogTail, SoundBatches
from kraftops.server.metadata_log.content import RecordReader, VoterSet, read_snapshot
from kraftops.server.metadata_log.files import Segment, Snapshot
from kraftops.server.metadata_log.log import MetadataLog, read_partition
from kraftops.server.metadata_log.recovery_mark import RecoveryMark, RecoveryMarks
from kraftops.server.nearby import log_directories_in
from kraftops.server.voters import voters_text
from kraftops.storage.config.server_config import ServerConfig

_NO_OWNER = MetaProperties(1, None, None, None)
_NO_VOTERS = VoterSet()


@dataclass(frozen=True, slots=True)
class LogCopy:
    """A copy of the metadata log in a directory, only read.

    Attributes:
        name: its name on the command line.
        folder: the directory of the partition, which may not exist.
        owner: the meta.properties beside it; no ids where there is none.
        segments: the segments in order.
        snapshot: the newest snapshot that a server would load.
        start: the first offset of the segments; the end of the snapshot where a server drops them.
        end: the offset after the last record.
        epoch: the epoch of the last batch, or of the snapshot where that is newer.
        highest_epoch: the highest epoch in the directory, quorum-state included.
        time: the time of the newest record in ms; None where there is none.
        quorum: the newest control records.
        electors: the ids of the voters at the newest election, by the log and quorum-state.
        recovered: its newest recovery, if it has one.
        last: the last sound batch of the segments.
        tail: the bytes after it.
        damage: why it is not chosen; None if it can be.
        is_cut: whether only its end is damaged: the batches before could go on.
        has_bad_state: whether there is a quorum-state without a valid epoch.
        is_packed: whether it is in an archive.
    """

    name: str
    folder: str
    owner: MetaProperties
    segments: tuple[Segment, ...] = ()
    snapshot: Snapshot | None = None
    start: int = 0
    end: int = 0
    epoch: int = 0
    highest_epoch: int = 0
    time: int | None = None
    quorum: VoterSet = _NO_VOTERS
    electors: frozenset[int] = frozenset()
    recovered: RecoveryMark | None = None
    last: BatchMark | None = None
    tail: LogTail | None = None
    damage: str | None = None
    is_cut: bool = False
    has_bad_state: bool = False
    is_packed: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether no server has ever written to the log."""
        return self.end == 0

    def voter_ids(self, config: ServerConfig) -> frozenset[int]:
        """Return the ids of its voters; of a static quorum those that *config* or it names."""
        if self.quorum.voters is not None:
            return frozenset(voter.node_id for voter in self.quorum.voters)
        return frozenset(config.voters) or self.electors

    def voters_text(self, config: ServerConfig) -> str:
        """Return its voters as text; of a static quorum their ids."""
        return voters_text(self.quorum.voters or (), self.voter_ids(config))

    @property
    def has_sound_beginning(self) -> bool:
        """Whether its snapshot is sound and the first batches follow it."""
        return self.damage is None or self.is_cut

    @property
    def rank(self) -> tuple[int, int]:
        """Epoch and end offset, by which the logs of a quorum compare (KIP-595)."""
        return self.epoch, self.end

    @property
    def is_snapshot_newer(self) -> bool:
        """Whether a server would drop the segments, since the snapshot ends after them."""
        snapshot = self.snapshot
        if snapshot is None:
            return False
        last = (self.last.epoch, self.last.last_offset + 1) if self.last else (0, 0)
        return (snapshot.epoch, snapshot.end_offset) > last and snapshot.end_offset > 0


def partition_folder(name: str, *, is_packed: bool = False) -> str:
    """Return the directory of the metadata partition in, or named by, *name*.

    The log directory of an archive need not have one.

    Raises:
        RecoveryRefused: the directory does not exist.
        RecoveryRefused: it holds no metadata log.
    """
    if not is_directory(name):
        raise RecoveryRefused("not-found", f"{name} is not a directory")
    inside = os.path.join(name, METADATA_PARTITION)
    if is_packed or is_directory(inside):
        return inside
    if os.path.basename(os.path.realpath(name)) == METADATA_PARTITION or _has_log(name):
        return name
    if is_file(os.path.join(name, meta_properties.FILE_NAME)) or has_partitions(name):
        return inside
    others = [path for path in log_directories_in(name) if path != name]
    hint = f"name {' or '.join(others)}" if others else "name a directory that does"
    raise RecoveryRefused("no-log", f"{name} holds no metadata log", hint)


def has_partitions(path: str) -> bool:
    """Tell whether there are copies of partitions in a directory.

    Raises:
        SourceError: it cannot be listed.
    """
    return next(read_log_directory(path).partitions(), None) is not None


def _has_log(folder: str) -> bool:
    log = read_partition(folder)
    return bool(log.segments or log.snapshots)


def read_log(name: str, folder: str, owner: MetaProperties | None = None) -> LogCopy:
    """Read the log in a directory.

    Args:
        name: its name in messages.
        folder: the directory of the partition.
        owner: the meta.properties of its node; if None, the file beside the log is read.

    Raises:
        RecoveryRefused: a file of it cannot be read.
    """
    owner = owner or _owner(folder)
    try:
        return _read(name, folder, owner, read_partition(folder))
    except FileNotFoundError:
        return LogCopy(name, folder, owner)
    except OSError as error:
        place = error.filename or folder
        raise RecoveryRefused("unreadable", f"cannot read {place}: {error.strerror}") from None
    except KraftopsError as error:
        raise RecoveryRefused("unreadable", error.message, error.hint) from None


def _owner(folder: str) -> MetaProperties:
    for place in (os.path.dirname(os.path.abspath(folder)), folder):
        directory = read_log_directory(place)
        if directory.problem:
            text = f"cannot read {directory.meta_path}: {directory.problem}"
            raise RecoveryRefused("unreadable", text)
        if directory.meta:
            return directory.meta
    return _NO_OWNER


def _read(name: str, folder: str, owner: MetaProperties, log: MetadataLog) -> LogCopy:
    snapshot = log.latest_snapshot
    records = RecordReader()
    snapshot_damage = read_snapshot(snapshot, records) if snapshot else ()
    # What is behind the voters in the snapshot of a formatted quorum has no effect.
    damage = [str(damage) for damage in snapshot_damage if not damage.is_harmless]
    snapshot_quorum = records.quorum
    observer = _Observer(log, records)
    expected = snapshot.end_offset if snapshot else 0
    epochs = {snapshot.epoch for snapshot in log.snapshots}
    last: BatchMark | None = None
    gap = ""
    batches = SoundBatches(log.segments)
    for last in batches.marks(observer.observe):
        if last.base_offset > expected:
            missing = f"offsets {expected} to {last.base_offset - 1}"
            gap = gap or f"{missing} are neither in it nor in a snapshot"
        expected = max(expected, last.last_offset + 1)
        epochs.add(last.epoch)
    damage += filter(None, [gap])
    tail, is_cut = batches.tail, False
    if tail and tail.batches:
        epochs.add(tail.epoch)
        is_cut = not damage
        place = f"{log.segments[tail.segment].path}, position {tail.position}"
        damage.append(f"{place}: {tail.reason}, whole batches after it: {tail.batches}")
    state_file = os.path.join(folder, quorum_state.FILE_NAME)
    elected_epoch = quorum_state.leader_epoch(state_file)
    copy = LogCopy(name, folder, owner, log.segments, snapshot, last=last, tail=tail)
    quorum, recovered = records.quorum, observer.marks.newest
    end, epoch = (last.last_offset + 1, last.epoch) if last else (0, 0)
    start = log.segments[0].base_offset if log.segments else end
    if snapshot and copy.is_snapshot_newer:
        start, end, epoch = snapshot.end_offset, snapshot.end_offset, snapshot.epoch
        quorum, recovered = snapshot_quorum, None
    return replace(
        copy,
        start=start,
        end=end,
        epoch=epoch,
        highest_epoch=max({*epochs, epoch, elected_epoch or 0}),
        time=observer.time,
        quorum=quorum,
        electors=observer.marks.electors or quorum_state.static_voters(state_file),
        recovered=recovered,
        damage="; ".join(damage) or None,
        is_cut=is_cut,
        has_bad_state=elected_epoch is None,
    )


class _Observer:
    """What the batches of a log read so far tell: control records, recoveries, the newest time."""

    def __init__(self, log: MetadataLog, records: RecordReader) -> None:
        snapshot = log.latest_snapshot
        self.marks = RecoveryMarks(snapshot)
        self.time: int | None = None
        self._records = records
        self._start = snapshot.end_offset if snapshot else 0  # it has the records before it

    def observe(self, header: Header, batch: Batch) -> None:
        self.time = max(self.time or 0, header.max_timestamp)
        self.marks.observe(header, batch)
        if header.base_offset >= self._start:
            self._records.read("", header, batch)

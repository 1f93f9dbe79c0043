"""Content of a metadata log: its voters, features, epochs and end, and what a start drops of it.

As Kafka's `KRaftControlRecordStateMachine`, it reads the latest snapshot, and goes on with the log.
Files without a record are the loader's: it foretells whether the server takes the log at all
(`server/loader/metadata_log.py`). Both have the same end, which a test compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kraftops.errors import KraftopsError
from kraftops.fileio.mounts import exists
from kraftops.log.batch import Batch, Header
from kraftops.memory import LEAST
from kraftops.records.meaning import Decoded
from kraftops.server.metadata_log.files import (
    Damage,
    Segment,
    Snapshot,
    WholeBatches,
    metadata_records,
    reason_of,
)
from kraftops.server.voters import Voter

_REGISTER_BROKER, _UNREGISTER_BROKER, _FEATURE_LEVEL, _BROKER_CHANGE = 0, 1, 12, 17  # apiKeys


@dataclass(frozen=True, slots=True)
class VoterSet:
    """The voters in a log; *source* is the newest file that names them.

    Without *source* there is no voter set: the quorum is static, or the node has yet to join one.
    *record* is the VotersRecord, which has all endpoints of the voters.
    """

    kraft_version: int = 0
    voters: tuple[Voter, ...] | None = None
    source: str | None = None
    record: Any = None


@dataclass(frozen=True, slots=True)
class LogContent:
    """Content of a metadata log.

    Attributes:
        end_offset: the offset after the last record; None without a record.
        epoch: the epoch of the last batch, or of the snapshot where that is newer.
        epoch_starts: the first offset of each epoch in the log, in order.
        quorum: the voters.
        damage: the damage, in the order of the files.
        missing: the offsets between snapshot and log that neither has.
        features: the finalized levels; only a thorough reading finds them.
        directories: the ids of the log directories of registered brokers; as the features.
    """

    end_offset: int | None = None
    quorum: VoterSet = VoterSet()
    damage: tuple[Damage, ...] = ()
    missing: range = range(0)
    features: dict[str, int] = field(default_factory=dict)
    directories: dict[int, tuple[bytes, ...]] = field(default_factory=dict)
    epoch: int = 0
    epoch_starts: tuple[tuple[int, int], ...] = ()

    @property
    def rank(self) -> tuple[int, int]:
        """Epoch and end: an election is won by a log that is not below most others."""
        return self.epoch, self.end_offset or 0

    def end_of_epoch(self, epoch: int) -> int:
        """Return the offset where a higher epoch begins, else the end.

        A replica whose last epoch this is truncates its log to it (KIP-595's diverging epoch).
        """
        higher = (start for number, start in self.epoch_starts if number > epoch)
        return min(higher, default=self.end_offset or 0)


def read_content(
    snapshot: Snapshot | None, segments: Sequence[Segment], reader: RecordReader
) -> LogContent:
    """Return the content of the latest snapshot and the log.

    Only a thorough *reader* has batches verified that the snapshot replaces, and reads the records
    of the metadata.
    """
    damage = list(read_snapshot(snapshot, reader)) if snapshot else []
    snapshot_content = reader.content()
    log = _LogReader(reader, snapshot)
    for segment in segments:
        log.read(segment)
    damage += log.damage
    if snapshot and (snapshot.epoch, snapshot.end_offset) > (log.epoch, log.end or 0):
        # The log is behind the snapshot, or of an earlier epoch: a server drops it.
        return replace(
            snapshot_content,
            end_offset=snapshot.end_offset,
            epoch=snapshot.epoch,
            epoch_starts=((snapshot.epoch, 0),),
            damage=tuple(damage),
        )
    end = snapshot.end_offset if snapshot and log.end is None else log.end
    return replace(
        reader.content(),
        end_offset=end,
        epoch=max(log.epoch, snapshot.epoch if snapshot else 0),
        epoch_starts=tuple(log.epoch_starts.items()),
        damage=tuple(damage),
        missing=log.missing,
    )


class RecordReader:
    """Reader of records; keeps their newest voters, features and directories."""

    def __init__(self, *, is_thorough: bool = False) -> None:
        self.is_thorough = is_thorough
        self.meter = LEAST.meter()
        self.quorum = VoterSet()
        self._features: dict[str, int] = {}
        self._directories: dict[int, tuple[bytes, ...]] = {}

    def content(self) -> LogContent:
        return LogContent(
            quorum=self.quorum,
            features=dict(self._features),
            directories=dict(self._directories),
        )

    @property
    def has_voters(self) -> bool:
        """Whether a voter set was read."""
        return bool(self.quorum.voters)

    def read(self, path: str, header: Header, batch: Batch) -> bool:
        """Read a batch; return whether it ends a snapshot."""
        is_end = False
        if header.is_control:
            for record in metadata_records(batch, self.meter):
                is_end = self._read_control(path, record.key, record.value)
        elif self.is_thorough:
            for record in metadata_records(batch, self.meter):
                self._read_metadata(record.value or b"")
        return is_end

    def _read_control(self, path: str, key: bytes | None, value: bytes | None) -> bool:
        from kraftops.records import control

        decoded = control.decode(key, value)
        if not isinstance(decoded, Decoded):
            return False
        if decoded.type == "KRAFT_VERSION":
            version = int(str(decoded.data["kRaftVersion"]))
            self.quorum = replace(self.quorum, kraft_version=version, source=path)
        elif decoded.type == "KRAFT_VOTERS":
            voters = voters_of(decoded.data)
            self.quorum = replace(self.quorum, voters=voters, source=path, record=decoded.data)
        return decoded.type == "SNAPSHOT_FOOTER"

    def _read_metadata(self, value: bytes) -> None:
        # Frame version and type are a byte each; to decode every record would take minutes.
        number = value[1] if len(value) > 1 else -1
        if number not in (_REGISTER_BROKER, _UNREGISTER_BROKER, _FEATURE_LEVEL, _BROKER_CHANGE):
            return
        from kraftops.records import metadata

        decoded = metadata.decode(value)
        if not isinstance(decoded, Decoded):
            return
        data: Any = decoded.data
        if number == _FEATURE_LEVEL:
            self._features[data["name"]] = data["featureLevel"]
        elif number == _UNREGISTER_BROKER:
            self._directories.pop(data["brokerId"], None)
        elif number == _REGISTER_BROKER or data.get("logDirs"):
            self._directories[data["brokerId"]] = tuple(data.get("logDirs") or ())


def voters_of(data: Any) -> tuple[Voter, ...]:
    """Return the voters of a VotersRecord, each with the first of its endpoints."""
    voters = []
    for voter in data["voters"]:
        endpoint = (voter["endpoints"] or [{"host": "", "port": 0}])[0]
        voters.append(
            Voter(voter["voterId"], voter["voterDirectoryId"], endpoint["host"], endpoint["port"])
        )
    return tuple(voters)


def read_snapshot(snapshot: Snapshot, reader: RecordReader) -> Iterator[Damage]:
    path = snapshot.path
    batches = WholeBatches(path, reader.meter)
    has_footer = False
    try:
        for header, batch in batches:
            has_footer = reader.read(path, header, batch) or has_footer
        reason = batches.damage or batches.rest
        if reason or not has_footer:
            # The snapshot that begins a quorum has nothing after the voters but the footer.
            is_harmless = not batches.damage and not snapshot.end_offset and reader.has_voters
            reason = reason or "it has no footer: its end is missing"
            yield Damage(path, reason, is_harmless=is_harmless)
    except KraftopsError as error:
        yield Damage(path, reason_of(error, path))


class _LogReader:
    """Reader of segments in order; *epoch* is the epoch of the last batch."""

    def __init__(self, reader: RecordReader, snapshot: Snapshot | None) -> None:
        self._reader = reader
        self._snapshot_end = snapshot.end_offset if snapshot else 0
        self._snapshot_epoch = snapshot.epoch if snapshot else 0
        self._checked_from = 0 if reader.is_thorough else self._snapshot_end
        self._damage: list[Damage] = []
        self._cut: Damage | None = None
        self._base: int | None = None
        self._next: int | None = None
        self.epoch = 0
        self.epoch_starts: dict[int, int] = {}
        self.missing = range(0)

    @property
    def end(self) -> int | None:
        """The offset after the last record; None without any segment."""
        return self._base if self._base is None else max(self._base, self._next or 0)

    @property
    def damage(self) -> list[Damage]:
        """The damage, without what the snapshot replaces."""
        return self._damage + self._dropped(max(self.end or 0, self._snapshot_end))

    def _dropped(self, kept_end: int) -> list[Damage]:
        """Return the cut, if it drops offsets from *kept_end* on."""
        return [self._cut] if self._cut and (self._cut.lost or 0) > kept_end else []

    def read(self, segment: Segment) -> None:
        path = segment.path
        batches = WholeBatches(path, self._reader.meter, checked_from=self._checked_from)
        if not self._cut:
            self._base = segment.base_offset
            self._expect(segment.base_offset)
        try:
            for header, batch in batches:
                if batches.damage and not self._cut:
                    self._cut = Damage(path, batches.damage)
                if not self._cut:
                    self._read_batch(path, header, batch)
                elif header.leader_epoch >= self._snapshot_epoch:
                    self._cut = self._cut._replace(lost=header.last_offset + 1)
        except KraftopsError as error:
            self._damage.append(Damage(path, reason_of(error, path)))
        reason = batches.damage or batches.rest
        if reason and not self._cut and segment.size:
            self._cut = Damage(path, reason)
        if self._cut and self._cut.path == path and not exists(segment.index_path):
            # `LogLoader.loadSegmentFiles` cuts a segment without its index, and keeps the others.
            self._damage += self._dropped(self._snapshot_end)
            self._cut = None

    def _read_batch(self, path: str, header: Header, batch: Batch) -> None:
        self._expect(header.base_offset)
        self._next = header.last_offset + 1
        self.epoch = header.leader_epoch
        self.epoch_starts.setdefault(self.epoch, header.base_offset)
        if header.base_offset >= self._snapshot_end:
            self._reader.read(path, header, batch)

    def _expect(self, offset: int) -> None:
        expected = max(self._next or 0, self._snapshot_end)
        if offset > expected and not self.missing:
            self.missing = range(expected, offset)

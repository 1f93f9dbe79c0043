"""What snapshot and segments of the metadata log amount to, read as a server that starts does.

The rules are those of Kafka's `LogLoader`, `KafkaRaftLog` and `KRaftControlRecordStateMachine`:
it begins with the latest snapshot, goes on with the log, and cuts the log off where it is damaged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftops.errors import KraftopsError
from kraftops.storage.bootstrap.voters import Voter

if TYPE_CHECKING:
    from kraftops.log.batch import Batch, Header

_REGISTER_BROKER, _UNREGISTER_BROKER, _FEATURE_LEVEL, _BROKER_CHANGE = 0, 1, 12, 17


class Snapshot(NamedTuple):
    """A snapshot: the end offset (exclusive) and epoch of what it holds, and its bytes."""

    end_offset: int
    epoch: int
    path: str
    size: int


class Segment(NamedTuple):
    """A segment: its base offset and its bytes."""

    base_offset: int
    path: str
    size: int


class Damage(NamedTuple):
    """Bytes of a file that are not what they should be.

    With *lost* a server starts all the same, but drops the log from there on, up to that offset;
    otherwise it stops, unless that *is_harmless*. What a killed server leaves after the last batch
    of its log is no damage.
    """

    path: str
    reason: str
    lost: int | None = None
    is_harmless: bool = False

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Quorum:
    """The voters that a directory knows of; *source* is the newest file that says so.

    Without *source* no voter set is there: the quorum is static, or the node has yet to join one.
    """

    kraft_version: int = 0
    voters: tuple[Voter, ...] | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """What snapshot and log amount to.

    Attributes:
        end_offset: after the last record; None without any.
        quorum: the voters.
        damage: what could not be read, in the order of the files.
        missing: offsets that neither snapshot nor log has, but one of them should.
        features: the finalized levels; only a thorough reading finds them.
        directories: the ids of the log directories of all registered brokers; as the features.
    """

    end_offset: int | None = None
    quorum: Quorum = Quorum()
    damage: tuple[Damage, ...] = ()
    missing: range = range(0)
    features: dict[str, int] = field(default_factory=dict)
    directories: dict[int, tuple[bytes, ...]] = field(default_factory=dict)


def read_content(
    snapshot: Snapshot | None, segments: Sequence[Segment], *, thorough: bool = False
) -> Content:
    """Return what the latest snapshot and the log amount to.

    Only a *thorough* reading checks batches that the snapshot makes superfluous, and looks at
    the records of the metadata.
    """
    records = _Records(is_thorough=thorough)
    damage = list(_read_snapshot(snapshot, records)) if snapshot else []
    of_snapshot = records.content()
    log = _Log(records, snapshot, is_thorough=thorough)
    for segment in segments:
        log.read(segment)
    damage += log.damage
    if snapshot and (snapshot.epoch, snapshot.end_offset) > (log.epoch, log.end or 0):
        # The log is behind the snapshot, or of an earlier epoch: a server drops it.
        return replace(of_snapshot, end_offset=snapshot.end_offset, damage=tuple(damage))
    end = snapshot.end_offset if snapshot and log.end is None else log.end
    return replace(records.content(), end_offset=end, damage=tuple(damage), missing=log.missing)


class _Records:
    """What the records that were read so far say."""

    def __init__(self, *, is_thorough: bool) -> None:
        self._is_thorough = is_thorough
        self._quorum = Quorum()
        self._features: dict[str, int] = {}
        self._directories: dict[int, tuple[bytes, ...]] = {}

    def content(self) -> Content:
        """Return it."""
        return Content(
            quorum=self._quorum,
            features=dict(self._features),
            directories=dict(self._directories),
        )

    @property
    def has_voters(self) -> bool:
        """Whether a voter set was met."""
        return bool(self._quorum.voters)

    def take(self, path: str, header: Header, batch: Batch) -> bool:
        """Take over what a batch says; return whether it ends a snapshot."""
        from kraftops.log.batch import records

        is_end = False
        if header.is_control:
            for record in records(batch):
                is_end = self._take_control(path, record.key, record.value)
        elif self._is_thorough:
            for record in records(batch):
                self._take_metadata(record.value or b"")
        return is_end

    def _take_control(self, path: str, key: bytes | None, value: bytes | None) -> bool:
        from kraftops.records import control
        from kraftops.records.meaning import Decoded

        found = control.decode(key, value)
        if not isinstance(found, Decoded):
            return False
        if found.type == "KRAFT_VERSION":
            version = int(str(found.data["kRaftVersion"]))
            self._quorum = replace(self._quorum, kraft_version=version, source=path)
        elif found.type == "KRAFT_VOTERS":
            self._quorum = replace(self._quorum, voters=voters_of(found.data), source=path)
        return found.type == "SNAPSHOT_FOOTER"

    def _take_metadata(self, value: bytes) -> None:
        # Frame version and type are a byte each; to decode every record would take minutes.
        number = value[1] if len(value) > 1 else -1
        if number not in (_REGISTER_BROKER, _UNREGISTER_BROKER, _FEATURE_LEVEL, _BROKER_CHANGE):
            return
        from kraftops.records import metadata
        from kraftops.records.meaning import Decoded

        found = metadata.decode(value)
        if not isinstance(found, Decoded):
            return
        data: Any = found.data
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


def _read_snapshot(snapshot: Snapshot, records: _Records) -> Iterator[Damage]:
    path = snapshot.path
    batches = Batches(path)
    has_footer = False
    try:
        for header, batch in batches:
            has_footer = records.take(path, header, batch) or has_footer
        reason = batches.damage or batches.rest
        if reason or not has_footer:
            # With which a quorum begins: voters, and nothing after them but the footer.
            is_harmless = not batches.damage and not snapshot.end_offset and records.has_voters
            reason = reason or "it has no footer: its end is missing"
            yield Damage(path, reason, is_harmless=is_harmless)
    except KraftopsError as error:
        yield Damage(path, reason_of(error, path))


class _Log:
    """What the segments that were read so far amount to; *epoch* is that of the last batch."""

    def __init__(self, records: _Records, snapshot: Snapshot | None, *, is_thorough: bool) -> None:
        self._records = records
        self._snapshot_end = snapshot.end_offset if snapshot else 0
        self._snapshot_epoch = snapshot.epoch if snapshot else 0
        self._checked_from = 0 if is_thorough else self._snapshot_end
        self._unreadable: list[Damage] = []
        self._cut: Damage | None = None
        self._base: int | None = None
        self._next: int | None = None
        self.epoch = 0
        self.missing = range(0)

    @property
    def end(self) -> int | None:
        """The offset after the last record; None without any segment."""
        return self._base if self._base is None else max(self._base, self._next or 0)

    @property
    def damage(self) -> list[Damage]:
        """What could not be read, and matters beside the snapshot."""
        found, cut = list(self._unreadable), self._cut
        if cut and (cut.lost or 0) > max(self.end or 0, self._snapshot_end):
            found.append(cut)
        return found

    def read(self, segment: Segment) -> None:
        """Go on with the next segment."""
        path = segment.path
        batches = Batches(path, checked_from=self._checked_from)
        if not self._cut:
            self._base = segment.base_offset
            self._expect(segment.base_offset)
        try:
            for header, batch in batches:
                if batches.damage and not self._cut:
                    self._cut = Damage(path, batches.damage)
                if not self._cut:
                    self._take(path, header, batch)
                elif header.leader_epoch >= self._snapshot_epoch:
                    self._cut = self._cut._replace(lost=header.last_offset + 1)
        except KraftopsError as error:
            self._unreadable.append(Damage(path, reason_of(error, path)))
        reason = batches.damage or batches.rest
        if reason and not self._cut and segment.size:
            self._cut = Damage(path, reason)

    def _take(self, path: str, header: Header, batch: Batch) -> None:
        self._expect(header.base_offset)
        self._next = header.last_offset + 1
        self.epoch = header.leader_epoch
        if header.base_offset >= self._snapshot_end:
            self._records.take(path, header, batch)

    def _expect(self, offset: int) -> None:
        expected = max(self._next or 0, self._snapshot_end)
        if offset > expected and not self.missing:
            self.missing = range(expected, offset)


def reason_of(error: KraftopsError, path: str) -> str:
    """Return the message of an error without the path of the file."""
    return error.message.removeprefix(f"cannot read {path}: ").removeprefix(f"{path}: ")


class Batches:
    """The whole batches of a log or snapshot, also those after damaged ones; iterate once.

    *damage* says at any time what was met so far, *rest* what is left at the end.
    """

    def __init__(self, path: str, *, checked_from: int = 0, gives_damaged: bool = False) -> None:
        """Make an iterable.

        Args:
            path: of the file.
            checked_from: the checksum matters only of batches with offsets from here on.
            gives_damaged: whether batches with a wrong checksum are given all the same.
        """
        self._path = path
        self._checked_from = checked_from
        self._gives_damaged = gives_damaged
        self.damage: str | None = None
        self.rest: str | None = None

    def __iter__(self) -> Iterator[tuple[Header, Batch]]:
        """Yield them.

        Raises:
            SourceError: the file cannot be read.
            DecodeError: it ends within the header of a batch.
        """
        from kraftops.log.batch import is_valid
        from kraftops.log.log_file import LogFile
        from kraftops.log.reader import EndReason

        with LogFile(self._path) as log:
            reader = log.batches()
            for batch in reader:
                if batch.is_legacy:
                    self._meet(batch, f"a batch of magic {batch.data[16]}")
                    continue
                header = batch.header
                if header.last_offset >= self._checked_from and not is_valid(batch, header.crc):
                    self._meet(batch, "the CRC does not match")
                    if not self._gives_damaged:
                        continue
                yield header, batch
            end = reader.end
        assert end
        if end.reason is not EndReason.END:
            self.rest = f"position {end.position}: {end.left} bytes that are no whole batch"
        elif not end.position:
            self.rest = "it is empty"

    def _meet(self, batch: Batch, what: str) -> None:
        self.damage = self.damage or f"position {batch.position}: {what}"

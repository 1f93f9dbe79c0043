"""A metadata log that a recovery is given: whose it is, how far it goes, and who votes in it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kraftops.errors import DecodeError, KraftopsError
from kraftops.java.properties import properties
from kraftops.log.batch import Batch, Header, records
from kraftops.records import control
from kraftops.records.meaning import Decoded
from kraftops.recovery.refusal import NotThere, Refused
from kraftops.recovery.walk import Mark, Tail, Walk
from kraftops.storage.logdirs import meta_properties, quorum_state
from kraftops.storage.logdirs.directories import METADATA_PARTITION, read_file
from kraftops.storage.logdirs.log_recovery import Batches, Damage, Segment, Snapshot
from kraftops.storage.logdirs.meta_properties import MetaProperties
from kraftops.storage.logdirs.metadata_log import MetadataLog, read_partition

_NOBODY = MetaProperties(1, None, None, None)


@dataclass(frozen=True, slots=True)
class Quorum:
    """The newest control records of a log: the level of kraft.version, and the VotersRecord.

    *voters* has the shape of Kafka's message; None where the quorum is static.
    """

    kraft_version: int = 0
    voters: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class GivenLog:
    """A log as it lies in a directory, which nothing here changes.

    Attributes:
        name: as it was given.
        folder: the directory of the partition; it need not be there.
        owner: what the meta.properties beside it says; nothing where there is none.
        segments: of the log, in order.
        snapshot: the newest one that a server would begin with.
        start: the first offset that the segments have; the end of the snapshot where they are void.
        end: the offset after the last record.
        epoch: of the last batch, or of the snapshot where that is newer.
        highest_epoch: that was ever heard of there, also by quorum-state.
        time: of the newest record, in ms; None where nothing says so.
        quorum: who votes.
        last: the last batch of the segments.
        tail: what lies behind it.
        damage: why it cannot be gone on with; None if it can.
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
    quorum: Quorum = Quorum()
    last: Mark | None = None
    tail: Tail | None = None
    damage: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no server has ever written to it."""
        return self.end == 0

    @property
    def rank(self) -> tuple[int, int]:
        """By which the logs of a quorum compare (KIP-595)."""
        return self.epoch, self.end

    @property
    def is_snapshot_newer(self) -> bool:
        """Whether a server would drop the segments, since the snapshot goes further."""
        found = self.snapshot
        if found is None:
            return False
        last = (self.last.epoch, self.last.last_offset + 1) if self.last else (0, 0)
        return (found.epoch, found.end_offset) > last and found.end_offset > 0


def folder_of(name: str) -> str:
    """Return the directory of the metadata partition that a name stands for.

    Raises:
        NotThere: there is no such directory.
        Refused: it holds no metadata log.
    """
    if not os.path.isdir(name):
        raise NotThere("not-there", f"{name} is no directory")
    inside = os.path.join(name, METADATA_PARTITION)
    if os.path.isdir(inside):
        return inside
    if os.path.basename(os.path.realpath(name)) == METADATA_PARTITION or _has_log(name):
        return name
    if os.path.isfile(os.path.join(name, meta_properties.FILE_NAME)):
        return inside
    raise Refused("no-log", f"{name} holds no metadata log", "name a directory that does")


def _has_log(folder: str) -> bool:
    log = read_partition(folder)
    return bool(log.segments or log.snapshots)


def read_given(name: str, folder: str, owner: MetaProperties | None = None) -> GivenLog:
    """Return what is known of the log in a directory.

    Args:
        name: how messages call it.
        folder: the directory of the partition.
        owner: whose it is; if None, the meta.properties beside it says so.

    Raises:
        Refused: something of it cannot be read.
    """
    owner = owner or _owner(folder)
    try:
        log = read_partition(folder)
        return _read(name, folder, owner, log)
    except FileNotFoundError:
        return GivenLog(name, folder, owner)
    except OSError as error:
        place = error.filename or folder
        raise Refused("unreadable", f"cannot read {place}: {error.strerror}") from None
    except KraftopsError as error:
        if isinstance(error, Refused):
            raise
        raise Refused("unreadable", error.message, error.hint) from None


def _owner(folder: str) -> MetaProperties:
    for place in (os.path.dirname(os.path.abspath(folder)), folder):
        path = os.path.join(place, meta_properties.FILE_NAME)
        try:
            return meta_properties.read(properties(read_file(path)))
        except FileNotFoundError:
            continue
        except (OSError, DecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else error.message
            raise Refused("unreadable", f"cannot read {path}: {reason}") from None
    return _NOBODY


def _read(name: str, folder: str, owner: MetaProperties, log: MetadataLog) -> GivenLog:
    said = _Said()
    damage: list[str] = []
    snapshot = log.latest_snapshot
    if snapshot:
        damage += said.read_snapshot(snapshot)
    of_snapshot = said.quorum
    walk = Walk(log.segments)
    last = None
    said.after = snapshot.end_offset if snapshot else 0
    highest = max((one.epoch for one in log.snapshots), default=0)
    gap = None
    expected = said.after
    for mark in walk.marks(said.see):
        if mark.base_offset > expected and gap is None:
            gap = (
                f"offsets {expected} to {mark.base_offset - 1} are neither in it nor in a snapshot"
            )
        expected = max(expected, mark.last_offset + 1)
        last = mark
        highest = max(highest, mark.epoch)
    if walk.tail and walk.tail.batches:
        highest = max(highest, walk.tail.epoch)
        place = log.segments[walk.tail.segment].path
        damage.append(
            f"{place}, position {walk.tail.position}: {walk.tail.reason}, and "
            f"{walk.tail.batches} whole batches lie behind it"
        )
    damage += [gap] if gap else []
    found = GivenLog(name, folder, owner, log.segments, snapshot, last=last, tail=walk.tail)
    quorum = said.quorum
    if snapshot and found.is_snapshot_newer:
        start, end, epoch = snapshot.end_offset, snapshot.end_offset, snapshot.epoch
        quorum = of_snapshot
    else:
        end, epoch = (last.last_offset + 1, last.epoch) if last else (0, 0)
        start = log.segments[0].base_offset if log.segments else end
    return replace(
        found,
        start=start,
        end=end,
        epoch=epoch,
        highest_epoch=max(highest, epoch, _elected(folder)),
        time=said.time,
        quorum=quorum,
        damage="; ".join(damage) or None,
    )


class _Said:
    """What the control records say that were read so far, and when the newest was written."""

    def __init__(self) -> None:
        self.quorum = Quorum()
        self.time: int | None = None
        self.after = 0
        """The offset up to which a snapshot has said it before."""

    def read_snapshot(self, snapshot: Snapshot) -> list[str]:
        """Take over a snapshot; return what is wrong with it."""
        batches = Batches(snapshot.path)
        is_whole = False
        for header, batch in batches:
            is_whole = self._take(header, batch)
        reason = batches.damage or batches.rest
        # What a quorum is formatted with begins with its voters: the rest of it matters to nobody.
        if not snapshot.end_offset and self.quorum.voters and not batches.damage:
            return []
        if not is_whole:
            reason = reason or "it has no footer: its end is missing"
        return [str(Damage(snapshot.path, reason))] if reason else []

    def see(self, header: Header, batch: Batch) -> None:
        """Take over a batch of the log."""
        self.time = max(self.time or 0, header.max_timestamp)
        if header.is_control and header.base_offset >= self.after:
            self._take(header, batch)

    def _take(self, header: Header, batch: Batch) -> bool:
        """Take over a batch; return whether it ends a snapshot."""
        is_end = False
        for record in records(batch) if header.is_control else ():
            found = control.decode(record.key, record.value)
            if not isinstance(found, Decoded):
                continue
            is_end = found.type == "SNAPSHOT_FOOTER"
            if found.type == "KRAFT_VERSION":
                level = int(str(found.data["kRaftVersion"]))
                self.quorum = Quorum(level, self.quorum.voters)
            elif found.type == "KRAFT_VOTERS":
                self.quorum = Quorum(self.quorum.kraft_version, found.data)
        return is_end


def _elected(folder: str) -> int:
    """Return the epoch that the quorum-state beside a log has; 0 where it has none."""
    path = os.path.join(folder, quorum_state.FILE_NAME)
    if quorum_state.problem(path) or not os.path.exists(path):
        return 0
    found, _ = json.JSONDecoder().raw_decode(read_file(path).decode().strip())
    return int(found["leaderEpoch"])

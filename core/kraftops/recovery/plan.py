"""What a recovery would do, decided from files alone: nothing is written here.

The recipe is that of KAFKA-17973's relaxed voter changes: a server takes the newest VotersRecord of
its log, committed or not, and an only voter elects itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.directories import stray_findings
from kraftops.recovery.copying import State, state_of
from kraftops.recovery.given import GivenLog
from kraftops.recovery.lacking import lacking
from kraftops.recovery.notes import Note, notes
from kraftops.recovery.reading import best_of, common_end, own_directory, read_logs
from kraftops.recovery.refusal import Refused
from kraftops.recovery.steps import Step, steps
from kraftops.recovery.wanted import Place, check_wanted, wanted_record
from kraftops.storage.bootstrap.records import quorum_bytes
from kraftops.storage.bootstrap.releases import KRAFT_VERSION, METADATA_VERSIONS
from kraftops.storage.bootstrap.voters import Voter
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.logdirs.directories import METADATA_PARTITION, LogDirectory
from kraftops.storage.logdirs.log_recovery import voters_of

_LAST_EPOCH = 0x7FFFFFFE
_SET_ASIDE = ("-stray", "-delete")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryRequest:
    """What is asked.

    Attributes:
        sources: the other logs: directories of partitions, or those that they are in.
        voters: `self`, or as `--initial-controllers` has them; None with *moves*.
        moves: the new hosts of the voters by their old ones.
        log_dirs: of brokers, to be held against the chosen log.
    """

    sources: Sequence[str] = ()
    voters: str | None = None
    moves: Mapping[Place, Place]
    log_dirs: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A log, and what it has to do with the chosen one.

    Attributes:
        log: it.
        offset: up to which both are equal.
        lacking: what it has and the chosen one has not, by kind and name.
    """

    log: GivenLog
    offset: int
    lacking: Mapping[str, Sequence[str]]

    @property
    def ahead(self) -> range:
        """The offsets that it has and the chosen one has not, or not so."""
        return range(self.offset, max(self.log.end, self.offset))


@dataclass(frozen=True, slots=True)
class Stray:
    """A partition on disk that the chosen log does not know there, and its bytes."""

    path: str
    reason: str
    size: int


@dataclass(frozen=True, slots=True)
class RecoveryPlan:
    """What would be done.

    Attributes:
        config: of this node.
        directory: the metadata directory of this node.
        own: its log.
        chosen: the log that goes on.
        ranked: all logs, the chosen one first.
        before: the voters of the chosen log, or None if the quorum is static.
        after: the voters that there will be.
        offset: of the batch that says so; None where the chosen log says so already.
        epoch: of that batch, or of the chosen log.
        steps: what is done to the files of *own*.
        strays: what of the brokers' log directories is not in the chosen log.
        brokers: the ids of the brokers that the chosen log knows.
        release: the name of its metadata.version, if it has one.
        notes: what else is to be known.
        files: the files beside *own* when they were looked at.
    """

    config: ServerConfig
    directory: LogDirectory
    own: GivenLog
    chosen: GivenLog
    ranked: tuple[Ranked, ...]
    before: tuple[Voter, ...] | None
    after: tuple[Voter, ...]
    offset: int | None
    epoch: int
    steps: tuple[Step, ...]
    strays: tuple[Stray, ...]
    brokers: tuple[int, ...]
    release: str | None
    notes: tuple[Note, ...]
    files: State

    @property
    def lost_ids(self) -> tuple[int, ...]:
        """The node ids of the voters that will be none: what they have on their disks is void."""
        before = {*self.config.voters}
        if self.before is not None:
            before = {voter.node_id for voter in self.before}
        return tuple(sorted(before - {voter.node_id for voter in self.after}))


def plan_recovery(config: ServerConfig, request: RecoveryRequest, now: int) -> RecoveryPlan:
    """Return what would be done; *now* is the time in ms since the epoch.

    Raises:
        Refused: it would do harm, or makes no sense; with a code.
        UsageError: the voters are of a form that Kafka does not take.
        StorageError: a file cannot be read.
    """
    directory = own_directory(config)
    assert directory.meta
    assert directory.meta.directory_id
    files = state_of(os.path.join(directory.path, METADATA_PARTITION))
    logs = read_logs(directory, request.sources)
    own, chosen = logs[0], best_of(logs)
    offsets = [one.end if one is chosen else common_end(one, chosen) for one in logs]
    quorum = chosen.quorum
    record = wanted_record(
        config, directory.meta.directory_id, quorum, request.voters, request.moves
    )
    before = None if quorum.voters is None else voters_of(quorum.voters)
    after = voters_of(record)
    check_wanted(config, own, logs, before or (), after)
    image = load([chosen.folder])
    batch, epoch = b"", chosen.epoch
    if not _is_said(quorum.voters, record):
        is_first = quorum.kraft_version < 1
        if is_first:
            _check_release(config, image)
        epoch = _next_epoch(logs)
        batch = quorum_bytes(record, is_first=is_first, offset=chosen.end, epoch=epoch, now=now)
    return RecoveryPlan(
        config,
        directory,
        own,
        chosen,
        _ranked(logs, offsets, chosen, image),
        before,
        after,
        chosen.end if batch else None,
        epoch,
        steps(own, chosen, batch, sorted(files)),
        tuple(_strays(image, request.log_dirs)),
        tuple(sorted(image.brokers)),
        _release(image),
        tuple(notes(config, image, logs, chosen, after)),
        files,
    )


def _next_epoch(logs: Sequence[GivenLog]) -> int:
    """Return the epoch after all that were heard of.

    Two batches of one offset and epoch that differ would be the same to who has the other one.

    Raises:
        Refused: there is none.
    """
    epoch = max(one.highest_epoch for one in logs) + 1
    if epoch > _LAST_EPOCH:
        raise Refused("last-epoch", f"epoch {epoch - 1} is the last that there can be")
    return epoch


def _is_said(there: Mapping[str, Any] | None, record: Mapping[str, Any]) -> bool:
    """Tell whether a VotersRecord says this already."""
    return there is not None and there["voters"] == record["voters"]


def _ranked(
    logs: Sequence[GivenLog],
    offsets: Sequence[int],
    chosen: GivenLog,
    image: MetadataImage,
) -> tuple[Ranked, ...]:
    found = []
    for log, offset in zip(logs, offsets, strict=True):
        is_ahead = log.end > offset and not log.is_empty
        found.append(Ranked(log, offset, lacking(image, load([log.folder])) if is_ahead else {}))
    found.sort(key=lambda one: (one.log is chosen, one.log.rank), reverse=True)
    return tuple(found)


def _strays(image: MetadataImage, directories: Sequence[str]) -> list[Stray]:
    found = []
    for one in stray_findings(image, directories):
        path = one.source or ""
        if not path.endswith(_SET_ASIDE):
            found.append(Stray(path, one.reason, _size(path)))
    return found


def _size(folder: str) -> int:
    with os.scandir(folder) as entries:
        return sum(entry.stat().st_size for entry in entries if entry.is_file())


def _release(image: MetadataImage) -> str | None:
    """Return the name of the metadata.version of a state; None if nobody knows it."""
    level = image.metadata_version[0] if image.metadata_version else None
    return next((one.name for one in METADATA_VERSIONS if one.level == level), None)


def _check_release(config: ServerConfig, image: MetadataImage) -> None:
    """Refuse a first VotersRecord where the server is one that cannot read it.

    Raises:
        Refused: it has said so when it registered (KIP-919).
    """
    address = image.controllers.get(config.node_id)
    if address is None:
        return
    features: Any = image.read(address)[1]["features"]
    levels = {one["name"]: one["maxSupportedVersion"] for one in features}
    if levels.get(KRAFT_VERSION, 0) < 1:
        raise Refused(
            "old-release",
            f"controller {config.node_id} has registered without {KRAFT_VERSION} 1: it is older "
            "than Kafka 3.9, which began with dynamic quorums",
            "start a newer release on these directories first, or restore the voters of "
            "controller.quorum.voters",
        )

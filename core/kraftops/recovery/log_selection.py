"""Logs of a recovery: check the directory of this node, read all copies, choose one, compare."""

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from kraftops.errors import SourceError, StorageError
from kraftops.fileio.mounts import is_directory
from kraftops.image.load.loading import load_node_log
from kraftops.image.state.image import MetadataImage
from kraftops.log.files import METADATA_PARTITION
from kraftops.recovery.log_copy import LogCopy, has_partitions, partition_folder, read_log
from kraftops.recovery.missing_state import missing_state
from kraftops.recovery.node_copies import LogSource
from kraftops.recovery.refusal import RecoveryRefused
from kraftops.server.formatted import has_metadata_log
from kraftops.server.locks import InUse, check_unlocked
from kraftops.server.log_directory import LogDirectory
from kraftops.server.metadata_log.batch_comparison import common_prefix
from kraftops.server.metadata_log.recovery_mark import voter_identities
from kraftops.server.voters import Voter
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.logdirs.directories import check_ids, read_directories
from kraftops.storage.verify.metadata_start import lone_log_findings
from kraftops.uuids import random_uuid, to_text

_LEADS_ALONE_MS = 20_000
"""Within this, ten of its fetch timeouts, a leader without a majority has resigned: what voters
lack that end so near to the newest log need not have been committed."""


def own_directory(config: ServerConfig) -> LogDirectory:
    """Return the metadata directory of a controller that is stopped and formatted.

    Raises:
        RecoveryRefused: it is not, or there is none.
    """
    if "controller" not in config.roles:
        raise RecoveryRefused(
            "no-controller",
            f"{config.path}: node {config.node_id} is not a controller",
            "run it with the configuration of a controller; give the disks of brokers with --from",
        )
    directories = read_directories(config)
    own = next(directory for directory in directories if directory.is_metadata)
    if own.problem or not own.meta:
        raise RecoveryRefused(
            "not-formatted",
            f"{own.path} is not formatted" + (f": {own.problem}" if own.problem else ""),
            "kafka-storage format --no-initial-controllers formats it"
            + (", with --force, which keeps the log" if has_metadata_log(own.path) else ""),
        )
    if own.meta.cluster_id is None or own.meta.directory_id is None:
        raise RecoveryRefused(
            "no-identity",
            f"{own.meta_path} has no cluster.id or no directory.id",
            "kafka-storage rewrite --to-v1 --cluster-id writes them"
            if own.meta.version == 0
            else f"add directory.id={to_text(random_uuid())} to it",
        )
    try:
        check_ids(directories, own.meta.cluster_id, config.node_id)
    except StorageError as error:
        raise RecoveryRefused("other-identity", error.message, error.hint) from None
    for directory in directories:
        _refuse_running(directory.path)
    return own


def _refuse_running(directory: str) -> None:
    try:
        check_unlocked(directory, "recover")
    except InUse as error:
        raise RecoveryRefused("running", error.message, error.hint) from None


def read_logs(
    directory: LogDirectory, sources: Sequence[LogSource], own_name: str | None = None
) -> list[LogCopy]:
    """Read the log of this node, which is the first, and those in *sources*.

    *own_name* is the name of the first in messages; else its directory.

    Raises:
        RecoveryRefused: one cannot be read, is in use, or is of another cluster.
    """
    assert directory.meta
    logs = [
        read_log(
            own_name or directory.path,
            os.path.join(directory.path, METADATA_PARTITION),
            directory.meta,
        )
    ]
    read = {os.path.realpath(logs[0].folder)}
    for source in sources:
        name, place, is_packed = source.name, source.folder, source.is_packed
        folder = partition_folder(place, is_packed=is_packed)
        if not is_directory(folder) and has_partitions(place):
            if not is_packed:
                _refuse_running(place)
            continue  # another log directory of a broker
        if os.path.basename(os.path.realpath(folder)) == METADATA_PARTITION:
            _refuse_running(os.path.dirname(os.path.realpath(folder)))
        if os.path.realpath(folder) in read:
            continue
        read.add(os.path.realpath(folder))
        log = replace(read_log(name, folder), is_packed=is_packed)
        if log.owner.node_id is None:
            log = replace(log, owner=replace(log.owner, node_id=source.node_id))
        cluster_id = log.owner.cluster_id
        if cluster_id not in (None, directory.meta.cluster_id):
            raise RecoveryRefused(
                "other-cluster",
                f"{name} is of the cluster {cluster_id}, {directory.path} of "
                f"{directory.meta.cluster_id}",
                "give the logs of one cluster",
            )
        logs.append(log)
    return logs


def choose_log(logs: Sequence[LogCopy], named: str | None) -> LogCopy:
    """Return the log that goes on: the *named* one, or the best sound one.

    The best has the highest epoch, then the highest offset. A log that is cut may be named.

    Raises:
        RecoveryRefused: no log has that name, it has no records, or is damaged; or none is sound.
    """
    candidates = logs if named is None else [_named(logs, named)]
    sound = [log for log in candidates if not log.is_empty and not log.damage]
    if sound:
        return max(sound, key=lambda log: log.rank)
    for log in candidates:
        if log.damage and named and log.is_cut and not log.is_empty:
            return log
        if log.damage:
            hint = "give a sound log with --from: another controller's, or a broker's"
            if log.is_cut:
                hint += "; or go on from the batches before the damage: --choose"
            raise RecoveryRefused("damaged", f"{log.name}: {log.damage}", hint)
    raise RecoveryRefused(
        "no-records",
        f"{named} has no record" if named else "none of the logs has a record",
        "give one with --from: another controller's, or a broker's __cluster_metadata-0",
    )


def _named(logs: Sequence[LogCopy], name: str) -> LogCopy:
    place = os.path.realpath(name)
    for log in logs:
        folder = os.path.realpath(log.folder)
        if name == log.name or (place in (folder, os.path.dirname(folder)) and not log.is_packed):
            return log
    names = ", ".join(log.name for log in logs)
    raise RecoveryRefused("not-found", f"{name} is not one of the logs", f"they are: {names}")


@dataclass(frozen=True, slots=True)
class ComparedLog:
    """A log, compared with the chosen one.

    Attributes:
        log: the log.
        common_end: the offset up to which both are equal.
        missing: the names of what the chosen log lacks, by kind.
        image: its state, where the chosen log lacks records of it.
        is_own: whether it is the log of this node.
        is_chosen: whether it goes on.
    """

    log: LogCopy
    common_end: int
    missing: Mapping[str, Sequence[str]]
    image: MetadataImage | None
    is_own: bool
    is_chosen: bool

    @property
    def ahead(self) -> range:
        """The offsets of its records that the chosen log lacks."""
        return range(self.common_end, max(self.log.end, self.common_end))

    def is_rival(self, voters: Sequence[Voter]) -> bool:
        """Tell whether it was recovered, after the common end, to others than *voters*."""
        mark = self.log.recovered
        own_voters = self.log.quorum.voters or ()
        return (
            mark is not None
            and mark.offset >= self.common_end
            and voter_identities(own_voters) != voter_identities(voters)
        )


def compare_logs(
    logs: Sequence[LogCopy], chosen: LogCopy, image: MetadataImage, *, is_named: bool
) -> tuple[ComparedLog, ...]:
    """Return the logs, the chosen one first, then the best; *image* is the state at its end.

    The first of *logs* is that of this node. *is_named* says whether a person has chosen.

    Raises:
        RecoveryRefused: a log and the chosen one have nothing in common.
        KraftopsError: a source can no longer be read.
    """
    compared = []
    for log in logs:
        end = common_end(log, chosen, is_named=is_named)
        other = load_node_log(log.folder) if log.end > end else None
        missing = missing_state(image, other) if other else {}
        compared.append(
            ComparedLog(
                log=log,
                common_end=end,
                missing=missing,
                image=other,
                is_own=log is logs[0],
                is_chosen=log is chosen,
            )
        )
    compared.sort(key=lambda log: (log.is_chosen, log.log.rank), reverse=True)
    return tuple(compared)


def common_end(log: LogCopy, chosen: LogCopy, *, is_named: bool) -> int:
    """Return the offset up to which a log is equal to the chosen one.

    Two logs of one cluster id differ from the first batch on if voters with empty disks elected a
    leader; then a person must have named the one that goes on.

    Raises:
        RecoveryRefused: the logs have nothing in common.
    """
    if log is chosen:
        return log.end
    prefix = common_prefix(log.segments, chosen.segments)
    if prefix.is_unrelated:
        is_one_cluster = log.owner.cluster_id is not None
        is_one_cluster &= log.owner.cluster_id == chosen.owner.cluster_id
        if is_named and is_one_cluster:
            return 0
        raise RecoveryRefused(
            "other-log",
            f"{log.name} and {chosen.name} differ in their first batch: they belong to two clusters"
            + (", or of two histories of one" if is_one_cluster else ""),
            "give the logs of one cluster"
            + (", or name the one that goes on: --choose" if is_one_cluster else ""),
        )
    if prefix.left:
        return prefix.offset
    # Deleted segments were equal: their records are in a snapshot, and so were committed.
    return min(log.end, chosen.end, max(log.start, chosen.start))


def check_lost(
    voters: Collection[int],
    logs: Sequence[ComparedLog],
    new_voters: Sequence[Voter],
    topics: Collection[bytes],
) -> None:
    """Refuse to give up voters whose logs are given and whole, if they are most.

    Args:
        voters: the ids of the voters of the chosen log.
        logs: all logs, the chosen one first.
        new_voters: the voters after the recovery.
        topics: the ids of the topics of the chosen log that the disks of brokers have.

    Raises:
        RecoveryRefused: it is so.
        KraftopsError: a source can no longer be read.
    """
    if 2 * len({voter.node_id for voter in new_voters}.intersection(voters)) > len(voters):
        return  # they go on, at other addresses or in a dynamic quorum
    chosen = logs[0].log
    able = [compared.log for compared in logs if not compared.ahead]
    whole = [
        log
        for log in able
        if _can_vote(log, chosen, voters) and not _lacks_committed(log, chosen, topics)
    ]
    if 2 * len({log.owner.node_id or log.name for log in whole}) <= len(voters):
        return
    names = ", ".join(log.name for log in whole)
    text = f"the quorum is not lost: the logs of most voters are whole: {names}"
    if nameless := [log.name for log in whole if log.owner.node_id is None]:
        text += f"; {', '.join(nameless)} may be of voters, without a meta.properties that says so"
    raise RecoveryRefused(
        "quorum-alive",
        text,
        f"start most of the voters {', '.join(map(str, sorted(voters)))}; kafka-storage verify, "
        "with a -c for the server.properties of each, shows what keeps one from starting, and the "
        "command that mends it. Only if they must not start again: --force",
    )


def _can_vote(log: LogCopy, chosen: LogCopy, voters: Collection[int]) -> bool:
    """Tell whether a log is of a voter; without a meta.properties, it may be of any."""
    if log.is_empty or log.damage or log.owner.node_id not in {None, *voters}:
        return False
    directories = {voter.node_id: voter.directory_id for voter in chosen.quorum.voters or ()}
    expected = log.owner.node_id and directories.get(log.owner.node_id)
    return expected in (None, log.owner.directory_id)


def _lacks_committed(log: LogCopy, chosen: LogCopy, topics: Collection[bytes]) -> bool:
    """Tell whether a beginning of the chosen log lacks committed records, as `verify` does."""
    snapshot_end = chosen.snapshot.end_offset if chosen.snapshot else 0
    if log.end < snapshot_end or (chosen.time or 0) - (log.time or 0) > _LEADS_ALONE_MS:
        return True
    if log.end < chosen.end and topics and not load_node_log(log.folder).topics.keys() >= {*topics}:
        return True
    return has_lost_end(log)


def has_lost_end(log: LogCopy) -> bool:
    """Tell whether epochs, producer snapshots or quorum-state prove that a log was longer."""
    with suppress(OSError, SourceError):  # what cannot be read proves nothing
        return any(finding.is_severe for finding in lone_log_findings(log.folder))
    return False

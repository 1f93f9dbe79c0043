"""Plan of a recovery, made from files alone; nothing is written here.

The recipe is that of KAFKA-17973's relaxed voter changes: a server takes the newest VotersRecord of
its log, committed or not, and an only voter elects itself.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kraftops.findings.finding import Finding, worst_first
from kraftops.image.load.loading import load_node_log
from kraftops.image.state.image import MetadataImage
from kraftops.log.files import METADATA_PARTITION
from kraftops.recovery.file_steps import FileStates, FileStep, file_states, file_steps
from kraftops.recovery.findings import (
    UnseenBrokers,
    address_findings,
    quorum_findings,
    recovery_findings,
    unseen_brokers,
)
from kraftops.recovery.live_controllers import (
    AskControllers,
    ControllerAnswer,
    ask_controllers,
    live_findings,
)
from kraftops.recovery.log_copy import LogCopy
from kraftops.recovery.log_selection import (
    ComparedLog,
    check_lost,
    choose_log,
    compare_logs,
    has_lost_end,
    own_directory,
    read_logs,
)
from kraftops.recovery.metadata_records import PartitionPlan, plan_partitions
from kraftops.recovery.node_copies import LogSource, sources_of
from kraftops.recovery.partitions.disk import read_disks
from kraftops.recovery.partitions.losses import (
    NO_COPIES,
    SHOWN_BEFORE,
    LossTotal,
    PartitionLoss,
)
from kraftops.recovery.refusal import PACK, PACK_BROKER, RecoveryRefused
from kraftops.recovery.target_voters import (
    HostPort,
    check_own_voter,
    check_target_voters,
    is_recovered_for,
    missing_majority,
    second_recovery,
    target_record,
)
from kraftops.server.log_directory import LogDirectory
from kraftops.server.metadata_log.content import voters_of
from kraftops.server.voters import Voter
from kraftops.storage.bootstrap.records import (
    MetadataRecord,
    metadata_bytes,
    voters_batch_bytes,
)
from kraftops.storage.bootstrap.releases import KRAFT_VERSION, by_level
from kraftops.storage.config.server_config import ServerConfig

_LAST_EPOCH = 0x7FFFFFFE  # an epoch is an int32, and the first election needs one more
_UNSEEN_EPOCHS = 1_000_000  # of lost controllers: 11 days of an election a second


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryRequest:
    """Request of a recovery.

    Attributes:
        sources: the other log directories: metadata logs, partitions, or both.
        choice: the name of the log that goes on; None for the best.
        voters: `self`, or voters in the form of `--initial-controllers`; None with *host_changes*.
        host_changes: the new addresses of the voters by their old ones.
        own_name: the name of the log of this node in messages; None for its directory.
        allows_minority: whether several voters may go on without the logs of most; one always may.
        is_forced: whether voters are given up although most could lead with their logs.
        elects_newest: whether the brokers with the newest copies of partitions are elected.
        unseen_brokers: the brokers whose disks are not all at hand, as a person has accepted.
        ask: asks controllers whether one leads; None where none is to be asked.
    """

    sources: Sequence[LogSource] = ()
    choice: str | None = None
    voters: str | None = None
    host_changes: Mapping[HostPort, HostPort] = field(default_factory=dict)
    own_name: str | None = None
    allows_minority: bool = False
    is_forced: bool = False
    elects_newest: bool = False
    unseen_brokers: frozenset[int] = frozenset()
    ask: AskControllers | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryPlan:
    """Plan of a recovery.

    Attributes:
        config: the configuration of this node.
        directory: the metadata directory of this node.
        own: the log of this node.
        chosen: the log that goes on.
        is_named: whether it was named; else it is the best.
        logs: all logs, the chosen one first.
        old_voters: the voters of the chosen log, or None if the quorum is static.
        new_voters: the voters after the recovery.
        offset: the offset of the first new batch; None where nothing is added.
        epoch: the epoch of the new batches, or of the chosen log.
        steps: the steps that change the files of *own*.
        brokers: the ids of the brokers in the chosen log.
        partitions: what would be cut from brokers' disks, and the elections that keep the most.
        unseen: the registered brokers whose disks were not all given, and not accepted so.
        release: the name of its metadata.version, if it has one.
        findings: what it gives up, and what else is wrong, the worst first.
        minority: that the logs of most voters are missing; empty if they are not.
        was_recovered: whether the chosen log was recovered for these voters before.
        files: the states of the files of *own* when the plan was made.
        answers: the answers of controllers that run; None if none was asked.
    """

    config: ServerConfig
    directory: LogDirectory
    own: LogCopy
    chosen: LogCopy
    is_named: bool
    logs: tuple[ComparedLog, ...]
    old_voters: tuple[Voter, ...] | None
    new_voters: tuple[Voter, ...]
    offset: int | None
    epoch: int
    steps: tuple[FileStep, ...]
    brokers: tuple[int, ...]
    partitions: PartitionPlan
    unseen: UnseenBrokers
    release: str | None
    findings: tuple[Finding, ...]
    minority: str
    was_recovered: bool
    files: FileStates
    answers: tuple[ControllerAnswer, ...] | None

    @property
    def lost_ids(self) -> tuple[int, ...]:
        """The node ids of the voters that the recovery removes; their disks become void."""
        old_ids = {*self.chosen.voter_ids(self.config)}
        for compared in self.logs:
            if compared.is_rival(self.new_voters):
                old_ids |= compared.log.voter_ids(self.config)
        return tuple(sorted(old_ids - {voter.node_id for voter in self.new_voters}))

    @property
    def cluster_id(self) -> str:
        return (self.directory.meta and self.directory.meta.cluster_id) or ""

    @property
    def losses(self) -> Sequence[PartitionLoss]:
        """What would be cut from brokers' disks after it."""
        return self.partitions.losses

    @property
    def loss_total(self) -> LossTotal:
        """Their numbers, or why they are unknown."""
        if self.partitions.comparison.brokers:
            table = self.partitions.comparison
            return replace(table, metadata_log=self.chosen.name, losses=self.losses).loss_total
        return SHOWN_BEFORE if self.was_recovered else NO_COPIES

    @property
    def unseen_brokers(self) -> list[int]:
        return self.unseen.brokers

    def unseen_refusal(self, **answer: object) -> RecoveryRefused:
        """Return the refusal for brokers whose disks were not read, with the known *answer*."""
        ids = ",".join(map(str, self.unseen_brokers))
        text = f"{self.unseen.text}, and nothing was written"
        if not self.minority and not has_lost_end(self.chosen):
            text += (
                ". The given logs have all committed metadata, so after this recovery brokers cut "
                "no more than after a restart; but whether a disk is still as that expects is "
                "unknown"
            )
        hint = (
            f"give all its disks or archives with --from. Or accept that: --unseen-broker {ids}. "
            f"To pack: {PACK_BROKER}: {PACK}"
        )
        return RecoveryRefused("unseen-brokers", text, hint, **answer)


def plan_recovery(config: ServerConfig, request: RecoveryRequest, now: int) -> RecoveryPlan:
    """Plan a recovery; *now* is the time in ms since the epoch.

    Raises:
        RecoveryRefused: it would do harm, or makes no sense.
        UsageError: the voters are of a form that Kafka does not take.
        StorageError: a file cannot be read.
    """
    directory = own_directory(config)
    assert directory.meta
    assert directory.meta.directory_id
    files = file_states(os.path.join(directory.path, METADATA_PARTITION))
    logs = read_logs(directory, request.sources, request.own_name)
    own, chosen = logs[0], choose_log(logs, request.choice)
    image = load_node_log(chosen.folder)
    answers = ask_controllers(config, directory.meta.cluster_id or "", logs, image, request.ask)
    is_named = request.choice is not None
    compared = compare_logs(logs, chosen, image, is_named=is_named)
    quorum = chosen.quorum
    record = target_record(
        config, directory.meta.directory_id, quorum, request.voters, request.host_changes
    )
    new_voters = voters_of(record)
    was_recovered = is_recovered_for(chosen, new_voters, is_named=is_named)
    if was_recovered:
        check_own_voter(config, own, new_voters)
    else:
        check_target_voters(config, logs, quorum.voters or (), new_voters)
    # A log that was recovered has what a majority had.
    minority = "" if was_recovered else missing_majority(logs, chosen.voter_ids(config))
    if minority and len(new_voters) > 1 and not request.allows_minority:
        hint = "give them with --from; if they are lost, --voters self, or kafka-storage "
        raise RecoveryRefused("minority", minority, f"{hint}recover-plan")
    for log in () if is_named else compared:
        if log.is_rival(new_voters):
            raise second_recovery(log.log, chosen)
    disks = read_disks([*sources_of(config), *request.sources])
    if not (was_recovered or is_named or request.is_forced):
        on_disks = {topic_id for disk in disks for topic_id in disk.directory.topic_ids()}
        check_lost(chosen.voter_ids(config), compared, new_voters, on_disks & image.topics.keys())
    # The voters of a log that was recovered get it as it is: all must have the same one.
    is_shared = was_recovered and len(new_voters) > 1
    partitions = plan_partitions(
        image,
        compared,
        () if is_shared else disks,
        elects_newest=request.elects_newest,
    )
    has_voters = quorum.record is not None and quorum.record["voters"] == record["voters"]
    new_record = None if was_recovered or has_voters else record
    if new_record and quorum.kraft_version < 1:
        _check_release(config, image)
    batches, epoch = _batches(logs, chosen, new_record, partitions.records, now)
    unseen = unseen_brokers(image, compared, disks, partitions.replica_brokers)
    _check_unseen(request.unseen_brokers, unseen.registered, chosen.voter_ids(config))
    if was_recovered:  # who recovered the log has accounted for the brokers
        unseen = UnseenBrokers(unseen.registered)
    release = by_level(image.metadata_version[0]) if image.metadata_version else None
    findings = [
        *recovery_findings(image, compared, disks, partitions, unseen),
        *address_findings(config, new_voters),
        *live_findings(answers),
        *quorum_findings(config, compared, new_voters, minority),
    ]
    return RecoveryPlan(
        config=config,
        directory=directory,
        own=own,
        chosen=chosen,
        is_named=is_named,
        logs=compared,
        old_voters=quorum.voters,
        new_voters=new_voters,
        offset=chosen.end if batches else None,
        epoch=epoch,
        steps=file_steps(own, chosen, batches, sorted(files)),
        brokers=tuple(sorted(image.brokers)),
        partitions=partitions,
        unseen=unseen.without(request.unseen_brokers),
        release=release.name if release else None,
        # The log of a first voter that is a broker, too, is read twice for a plan of its cluster.
        findings=tuple(worst_first(dict.fromkeys(findings))),
        minority=minority,
        was_recovered=was_recovered,
        files=files,
        answers=answers,
    )


def _batches(
    logs: Sequence[LogCopy],
    chosen: LogCopy,
    voters: Mapping[str, Any] | None,
    records: Sequence[MetadataRecord],
    now: int,
) -> tuple[bytes, int]:
    """Return the batches to write after the chosen log, and their epoch; else the log's epoch.

    Args:
        logs: all logs.
        chosen: the log that goes on.
        voters: the VotersRecord to write; None for none.
        records: what comes after it.
        now: the time in ms since the epoch.

    Raises:
        RecoveryRefused: there is no higher epoch.
    """
    if not (voters or records):
        return b"", chosen.epoch
    epoch, end, batches = _next_epoch(logs), chosen.end, b""
    if voters:
        is_first = chosen.quorum.kraft_version < 1
        batches = voters_batch_bytes(voters, is_first=is_first, offset=end, epoch=epoch, now=now)
        end += 1 + is_first
    if records:
        batches += metadata_bytes(records, offset=end, epoch=epoch, now=now)
    return batches, epoch


def _check_unseen(
    accepted: frozenset[int], registered: frozenset[int], voters: frozenset[int]
) -> None:
    """Refuse an accepted broker that no log knows.

    Raises:
        RecoveryRefused: there is one.
    """
    if strangers := accepted - registered - voters:
        ids, others = (",".join(map(str, sorted(ids))) for ids in (strangers, registered))
        text = f"--unseen-broker {ids}: there is no such broker in the given logs"
        raise RecoveryRefused("not-found", text, f"registered brokers: {others or 'none'}")


def _next_epoch(logs: Sequence[LogCopy]) -> int:
    """Return an epoch after all known ones, and after those that lost controllers may have had.

    A replica takes two batches of one offset and epoch for equal, even where they differ, and never
    follows a leader of an epoch before its own.

    Raises:
        RecoveryRefused: there is none.
    """
    highest = max(log.highest_epoch for log in logs)
    if highest >= _LAST_EPOCH:
        raise RecoveryRefused("last-epoch", f"epoch {highest} is the highest possible one")
    return min(highest + _UNSEEN_EPOCHS, _LAST_EPOCH)


def _check_release(config: ServerConfig, image: MetadataImage) -> None:
    """Refuse a first VotersRecord where the server cannot read it.

    Raises:
        RecoveryRefused: the server has registered without it (KIP-919).
    """
    address = image.controllers.get(config.node_id)
    if address is None:
        return
    features: Any = image.read(address)[1]["features"]
    levels = {feature["name"]: feature["maxSupportedVersion"] for feature in features}
    if levels.get(KRAFT_VERSION, 0) < 1:
        raise RecoveryRefused(
            "old-release",
            f"controller {config.node_id} has registered without {KRAFT_VERSION} 1: it is older "
            "than Kafka 3.9, which began with dynamic quorums",
            "start a newer release on these directories first, or restore the voters of "
            "controller.quorum.voters",
        )

"""Findings of a recovery: what it gives up, and what else is to know before it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from kraftops.display import quoting
from kraftops.display.sizes import first_names, named
from kraftops.findings.finding import (
    Evidence,
    Finding,
    Place,
    Severity,
    Stake,
)
from kraftops.image.state.findings import OPEN_TRANSACTION
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.directories import NOT_GIVEN, OTHER_NAME, unread_findings
from kraftops.java.hosts import host_text
from kraftops.recovery.log_copy import LogCopy
from kraftops.recovery.log_selection import ComparedLog
from kraftops.recovery.metadata_records import PartitionPlan
from kraftops.recovery.missing_state import KINDS
from kraftops.recovery.partitions.disk import BrokerDisk, misplaced_partitions, unread_directories
from kraftops.recovery.partitions.losses import total_of
from kraftops.recovery.refusal import PACK, PACK_BROKER
from kraftops.server import quorum_state
from kraftops.server.voters import Voter
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.verify.rival_quorums import rival_finding

_LONG_FENCED_MS = 86_400_000  # a day: replicas of a broker that is away so long lead nothing


def recovery_findings(
    image: MetadataImage,
    logs: Sequence[ComparedLog],
    disks: Sequence[BrokerDisk],
    partitions: PartitionPlan,
    unseen: UnseenBrokers,
) -> Iterator[Finding]:
    """Yield the findings of a recovery but those of `address_findings`.

    Args:
        image: the state at the end of the chosen log.
        logs: all logs, the chosen one first.
        disks: the log directories of brokers.
        partitions: what is done to the partitions on them.
        unseen: the brokers whose disks were not read.

    Raises:
        KraftopsError: a directory, or a source of the image, can no longer be read.
    """
    chosen = logs[0].log
    yield from _cut_records(partitions)
    yield from partitions.comparison.findings
    before, after = partitions.producer_ids
    if after > before:
        yield Finding(
            "producer-ids-raised",
            Severity.NOTE,
            f"the next producer id is raised from {before} to {after}",
            consequence="ids that are in other logs or on disks are not handed out again",
        )
    for stray in misplaced_partitions(disks, image):
        if stray.code != OTHER_NAME:
            yield stray
    for finding in image.log_findings:
        if finding.code == OPEN_TRANSACTION:
            consequence = "the next leader aborts it, as it would have without a recovery"
            place = replace(_place(chosen), offset=finding.place.offset)
            yield replace(finding, severity=Severity.NOTE, place=place, consequence=consequence)
    for disk in disks:
        yield from disk.findings
    for compared in logs:
        if compared.ahead:
            yield _given_up(compared, chosen)
        yield from _log_findings(compared.log, chosen)
    yield from _unread_brokers(unseen, chosen)


def _cut_records(partitions: PartitionPlan) -> Iterator[Finding]:
    """Yield findings: records that would be cut, and leader epochs that would be used twice."""
    total = total_of(partitions.losses)
    meanings = {loss.copy.topic: loss.meaning for loss in partitions.losses if loss.meaning}
    cure = "give the disks of all brokers with --from"
    if partitions.can_elect:
        cure = "--elect-newest makes the brokers with the newest copies the leaders"
    first_brokers = [broker.broker for broker in partitions.first_brokers]
    may_lead = any(loss.copy.broker in loss.leaders for loss in partitions.losses)
    if partitions.can_elect and first_brokers and may_lead:
        # Measured on 4.3.1: a new controller fences all brokers, and the first eligible one leads.
        # With min.insync.replicas 1 that is the one fenced last, in whatever order they start.
        first = named("broker", first_brokers)
        # With ELR, one that stopped uncleanly is taken out of ISR and ELR as it registers.
        cure += f"; starting {first} first is enough only after a clean stop of it, with ELR and "
        cure += "min.insync.replicas above 1"
    if partitions.losses:
        yield Finding(
            "records-cut",
            Severity.LOSS,
            total.clause,
            cure=cure,
            consequence="; ".join(f"{topic}: {text}" for topic, text in meanings.items()),
            stake=Stake((total.acknowledged or 0) + (total.possible or 0), 0),
            is_possible=not total.acknowledged,
        )
    elif partitions.can_elect:
        names = first_names([election.copy.name for election in partitions.elections])
        yield Finding(
            "leader-epochs-behind",
            Severity.RISK,
            f"disks have later leader epochs than the chosen log: {names}",
            cure=cure,
            consequence=(
                "epochs would be used twice: replicas with different records of one epoch do "
                "not notice, and followers with a higher epoch get no records"
            ),
        )


def _given_up(compared: ComparedLog, chosen: LogCopy) -> Finding:
    log, ahead = compared.log, compared.ahead
    facts = [(other.name, f"epoch {other.epoch}, end {other.end}") for other in (chosen, log)]
    facts += [
        (log.name, f"{KINDS[kind]}: {first_names(names)}")
        for kind, names in compared.missing.items()
    ]
    return Finding(
        "records-given-up",
        # Controllers write records without content all the time (NoOpRecord, KIP-835).
        Severity.LOSS if compared.missing else Severity.NOTE,
        f"its offsets {ahead.start} to {ahead.stop - 1} would be lost",
        _place(log),
        cure=f"--choose {quoting.quote(log.name)} has this log go on instead",
        evidence=tuple(Evidence(*fact) for fact in facts),
        consequence="" if compared.missing else "no name is lost with them",
    )


def _log_findings(log: LogCopy, chosen: LogCopy) -> Iterator[Finding]:
    place = _place(log)
    if log.damage:
        text = "not chosen; the data after the damage is unknown"
        if log is chosen:
            text = "goes on from the batches before the damage"
        yield Finding(
            "damage",
            Severity.LOSS,
            f"it is damaged, and {text}",
            place,
            evidence=(Evidence(log.name, log.damage),),
            consequence="the data after the damage would be lost",
            is_possible=log is not chosen,
        )
    if log.tail and not log.tail.batches:
        text = f"its last {log.tail.rest} bytes are not a whole batch"
        cut = "a server cuts them off, and so does this"
        yield Finding("torn-tail", Severity.NOTE, text, place, consequence=cut)
    if log.has_bad_state:
        state_file = os.path.join(log.folder, quorum_state.FILE_NAME)
        reason = quorum_state.problem(state_file) or "its leaderEpoch is not valid"
        yield Finding(
            "bad-quorum-state",
            Severity.STOPS,
            f"the epoch in its {quorum_state.FILE_NAME} cannot be read",
            place,
            cure=f"remove {quorum_state.FILE_NAME}",
            commands=() if log.is_packed else (quoting.join(["rm", state_file]),),
            evidence=(Evidence(quorum_state.FILE_NAME, reason),),
            consequence=(
                "the server does not start; its epoch may be higher than all that are known"
            ),
        )
    if log.owner.cluster_id is None:
        text = "it has no meta.properties beside it that names its cluster"
        cure = "make sure that it is this one"
        yield Finding("unknown-cluster", Severity.RISK, text, place, cure)


def _place(log: LogCopy) -> Place:
    return Place(node=log.owner.node_id, file=log.name)


def address_findings(config: ServerConfig, voters: Sequence[Voter]) -> Iterator[Finding]:
    """Yield what is wrong with the address of this node as a voter after the recovery."""
    own = next(voter for voter in voters if voter.node_id == config.node_id)
    listener = config.controller_listener
    has_host = config.advertised_controllers[0].host is not None
    host = host_text(listener.host) if has_host else own.host
    place = Place(node=config.node_id, file=config.path)
    if (own.host, own.port) != (host, listener.port):
        text = f"this node will be the voter {own}, and listens at {host}:{listener.port}"
        cure = "the other nodes must reach it as that voter"
        yield Finding("other-listener", Severity.RISK, text, place, cure)
    elif own.host == listener.host and not has_host:
        text = f"this node will be the voter {own}, since its listener has no host"
        cure = "if there are other nodes, set advertised.listeners, or name it with --voters"
        yield Finding("no-host", Severity.RISK, text, place, cure)


def quorum_findings(
    config: ServerConfig, logs: Sequence[ComparedLog], new_voters: Sequence[Voter], minority: str
) -> Iterator[Finding]:
    """Yield the logs that were recovered to other voters, and that most were not given.

    *minority* says the latter, if it is so.
    """
    chosen = logs[0].log
    for compared in logs:
        if (mark := compared.log.recovered) and compared.is_rival(new_voters):
            place, voters = _place(compared.log), chosen.voters_text(config)
            yield rival_finding(place, mark, chosen.name, voters, compared.common_end)
    if minority:
        cure = "give the logs of the others, if their disks are left"
        yield Finding("voters-not-given", Severity.RISK, minority, cure=cure)


class UnseenBrokers(NamedTuple):
    """Brokers of whose disks nothing was given, and all that are registered.

    Apart are those that had been fenced for a day, those that only replicas name, and the ids of
    the log directories that were not given of brokers of which others were.
    """

    registered: frozenset[int]
    ids: frozenset[int] = frozenset()
    long_fenced: frozenset[int] = frozenset()
    unregistered: frozenset[int] = frozenset()
    unread_directories: Mapping[int, Collection[bytes]] = MappingProxyType({})

    @property
    def brokers(self) -> list[int]:
        """All without which a recovery is refused."""
        return sorted({*self.ids, *self.unread_directories})

    @property
    def text(self) -> str:
        """What of them has not been read."""
        brokers = [unread_text(self.ids)] if self.ids else []
        directories = (
            f"{finding.text} ({'; '.join(map(str, finding.evidence))})"
            for finding in unread_findings(self.unread_directories)
        )
        return ", and ".join([*brokers, *directories])

    def without(self, accepted: Collection[int]) -> UnseenBrokers:
        """Return those that are left when a person has accepted some."""
        unread = {
            broker: ids for broker, ids in self.unread_directories.items() if broker not in accepted
        }
        return self._replace(ids=self.ids.difference(accepted), unread_directories=unread)


def unseen_brokers(
    image: MetadataImage,
    logs: Sequence[ComparedLog],
    disks: Sequence[BrokerDisk],
    replica_brokers: frozenset[int],
) -> UnseenBrokers:
    """Return the brokers that a log names, and of whose disks nothing was given.

    Raises:
        KraftopsError: a source of an image can no longer be read.
    """
    images = [image, *(compared.image for compared in logs if compared.image)]
    read = {compared.log.owner.node_id for compared in logs} | {disk.node_id for disk in disks}
    registered = frozenset(broker for state in images for broker in state.brokers)
    unseen = registered - read
    long_fenced = {
        broker
        for broker in unseen
        if all(_is_long_fenced(state, broker) for state in images if broker in state.brokers)
    }
    return UnseenBrokers(
        registered=registered,
        ids=unseen - long_fenced,
        long_fenced=frozenset(long_fenced),
        unregistered=replica_brokers - registered - read,
        unread_directories=unread_directories(image, disks),
    )


def _is_long_fenced(image: MetadataImage, broker: int) -> bool:
    state, entry = image.broker(broker), image.brokers[broker]
    if not state or not state["fenced"]:
        return False
    changed = image.change(entry.newest.address).timestamp
    return image.provenance.timestamp - changed > _LONG_FENCED_MS


def unread_text(brokers: Collection[int]) -> str:
    """Return a sentence that names the brokers whose disks were not read."""
    disks = "disk of {} has" if len(brokers) == 1 else "disks of {} have"
    return f"the {disks.format(named('broker', sorted(brokers)))} not been read"


def _unread_brokers(unseen: UnseenBrokers, chosen: LogCopy) -> Iterator[Finding]:
    yield from unread_findings(unseen.unread_directories)
    if unseen.ids:
        brokers = ", ".join(map(str, sorted(unseen.ids)))
        yield Finding(
            NOT_GIVEN,
            Severity.RISK,
            unread_text(unseen.ids),
            cure=f"give their log directories with --from, or archives: {PACK_BROKER}",
            commands=(PACK,),
            evidence=(Evidence(chosen.name, f"registered brokers: {brokers}"),),
            consequence="records that only they have would be cut; one that has applied other "
            f"metadata from offset {chosen.end} on would crash",
        )
    for ids, what in (
        (unseen.long_fenced, "had been fenced for more than a day"),
        (unseen.unregistered, "have replicas, and are not registered,"),
    ):
        if ids:
            text = f"brokers that {what} were not given: {', '.join(map(str, sorted(ids)))}"
            yield Finding(NOT_GIVEN, Severity.NOTE, text)

"""Findings of a recovery: what it gives up, and what else is to know before it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kraftops.findings.finding import Evidence, Finding, Place, Severity, worst_first
from kraftops.image.state.findings import OPEN_TRANSACTION
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.assignments import misplaced_finding
from kraftops.image.verify.directories import (
    NO_STRAYS,
    SET_ASIDE,
    misplacement,
    owner_of,
)
from kraftops.java.hosts import host_text
from kraftops.log.files import METADATA_PARTITION
from kraftops.recovery.log_copy import LogCopy
from kraftops.recovery.missing_state import KINDS, ComparedLog
from kraftops.server import quorum_state
from kraftops.server.log_directory import read_log_directory
from kraftops.server.metadata_log.content import voters_of
from kraftops.server.metadata_log.recovery_mark import voter_identities
from kraftops.server.voters import Voter
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.verify.rival_quorums import rival_finding

_NAMES_PER_KIND = 20  # more would hide the next kind on one screen; JSON has all


def recovery_findings(
    config: ServerConfig,
    image: MetadataImage,
    logs: Sequence[ComparedLog],
    voters: Sequence[Voter],
    directories: Sequence[str],
) -> list[Finding]:
    """Return the findings of a recovery, the worst first.

    Args:
        config: the configuration of this node.
        image: the state at the end of the chosen log.
        logs: all logs, the chosen one first.
        voters: the voters after the recovery.
        directories: the log directories of brokers.

    Raises:
        KraftopsError: a directory, or a source of the image, cannot be read any more.
    """
    chosen = logs[0].log
    findings = [*_strays(image, directories), *_open_transactions(image, chosen)]
    for compared in logs:
        findings += _lost_records(compared, chosen)
        findings += _log_findings(compared.log, chosen)
        findings += _rival(compared, chosen)
    findings += _addresses(config, voters)
    findings += _unread_brokers(image, logs, chosen)
    return worst_first(findings)


def _strays(image: MetadataImage, directories: Sequence[str]) -> Iterator[Finding]:
    """Yield the partitions in log directories that their brokers would set aside."""
    for directory in directories:
        owner = owner_of(directory)
        for partition in read_log_directory(directory).partitions():
            misplaced = misplacement(image, owner, partition)
            if misplaced and misplaced.code not in (*NO_STRAYS, SET_ASIDE):
                yield misplaced_finding(owner.node_id, directory, partition, misplaced)


def _open_transactions(image: MetadataImage, chosen: LogCopy) -> Iterator[Finding]:
    consequence = "the next leader aborts it, as it would have without a recovery"
    for finding in image.log_findings:
        if finding.code == OPEN_TRANSACTION:
            note = replace(finding, severity=Severity.NOTE, consequence=consequence)
            yield replace(note, place=replace(_place(chosen), offset=finding.place.offset))


def _lost_records(compared: ComparedLog, chosen: LogCopy) -> Iterator[Finding]:
    log, ahead = compared.log, compared.ahead
    if not ahead:
        return
    evidence = [
        Evidence(each.name, f"epoch {each.epoch}, end {each.end}") for each in (chosen, log)
    ]
    for kind, names in compared.missing.items():
        evidence.append(Evidence(log.name, f"{KINDS[kind]}: {_some(names)}"))
    yield Finding(
        "records-given-up",
        # Controllers write records without content all the time (NoOpRecord, KIP-835).
        Severity.LOSS if compared.missing else Severity.NOTE,
        f"its offsets {ahead.start} to {ahead.stop - 1} would be lost",
        _place(log),
        f"--choose {shlex.quote(log.name)} has this log go on instead",
        evidence=tuple(evidence),
        consequence="" if compared.missing else "no name is lost with them",
    )


def _rival(compared: ComparedLog, chosen: LogCopy) -> Iterator[Finding]:
    """Yield that another log was recovered, to other voters than those of the chosen one."""
    log, mark = compared.log, compared.log.recovered
    voters = voters_of(chosen.quorum.voters or {"voters": []})
    is_rival = mark is not None and mark.offset >= compared.common_end
    if mark and is_rival and voter_identities(mark.voters) != voter_identities(voters):
        yield rival_finding(_place(log), mark, chosen.name, voters, compared.common_end)


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMES_PER_KIND
    return ", ".join(names[:_NAMES_PER_KIND]) + (f" and {more} more" if more > 0 else "")


def _log_findings(log: LogCopy, chosen: LogCopy) -> Iterator[Finding]:
    place = _place(log)
    if log.damage:
        text = "it is damaged, and not chosen; the data after the damage is unknown"
        if log is chosen:
            text = "it is damaged, and goes on from the batches before the damage"
        yield Finding(
            "damage",
            Severity.LOSS,
            text,
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
            f"remove {quorum_state.FILE_NAME}",
            () if log.is_unpacked else (shlex.join(["rm", state_file]),),
            (Evidence(quorum_state.FILE_NAME, reason),),
            "the server does not start; its epoch may be higher than all that are known",
        )
    if log.owner.cluster_id is None:
        text = "it has no meta.properties beside it that names its cluster"
        cure = "make sure that it is this one"
        yield Finding("unknown-cluster", Severity.RISK, text, place, cure)


def _place(log: LogCopy) -> Place:
    """Return a log by its name on the command line; the folder of an archive is temporary."""
    return Place(node=log.owner.node_id, file=log.name)


def _addresses(config: ServerConfig, voters: Sequence[Voter]) -> Iterator[Finding]:
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


def _unread_brokers(
    image: MetadataImage, logs: Sequence[ComparedLog], chosen: LogCopy
) -> Iterator[Finding]:
    unread = image.brokers.keys() - {compared.log.owner.node_id for compared in logs}
    if not unread:
        return
    brokers = ", ".join(map(str, sorted(unread)))
    yield Finding(
        "brokers-not-given",
        Severity.RISK,
        f"how far some brokers have read is unknown, since their logs were not given: {brokers}",
        cure=f"give their {METADATA_PARTITION} with --from; or move it away before they start, "
        "they fetch it anew",
        evidence=(Evidence(chosen.name, f"registered brokers: {brokers}"),),
        consequence=f"one that has applied other records from offset {chosen.end} on would crash",
    )

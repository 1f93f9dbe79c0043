"""What a start makes of the metadata log: whether the server takes it, and proof of a lost one.

The rules are those of Kafka's `KafkaRaftLog`, by `foretell_metadata_log`.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from kraftops.dump.check.start import refusal_finding
from kraftops.errors import SourceError
from kraftops.fileio.mounts import names_in
from kraftops.fileio.reading import read_small
from kraftops.findings.finding import (
    Cure,
    Evidence,
    Finding,
    Place,
    Severity,
    note_finding,
    stop_finding,
    unless_forbidden,
)
from kraftops.log.batch import HEADER, HEADER_SIZE
from kraftops.log.files import METADATA_PARTITION, FileKind, file_name
from kraftops.log.log_file import LogFile
from kraftops.server import quorum_state
from kraftops.server.loader.contract import DiskFolder
from kraftops.server.loader.metadata_log import MetadataLogOutcome, foretell_metadata_log
from kraftops.server.loader.text_files import LEADER_EPOCHS, epoch_entries
from kraftops.server.loader.thrown import LoadError
from kraftops.server.metadata_log.cures import FETCHES_END, fetches_anew
from kraftops.storage.logdirs.node import Node, recover_command, voter_ids

_VOTES_WITHOUT = "it votes without these records: with another such voter they are lost"
_RESTORE = Cure("restore the metadata directory from a copy")


def metadata_start_findings(node: Node) -> Iterator[Finding]:
    """Yield a finding if a server refuses its metadata log, or the log lacks what files prove."""
    folder = os.path.join(node.metadata.path, METADATA_PARTITION)
    if not os.path.isdir(folder):
        return
    try:
        outcome = foretell_metadata_log(DiskFolder(folder))
    except (OSError, SourceError) as error:
        if not node.content.damage:  # already reported there
            path = str(getattr(error, "path", None) or getattr(error, "filename", None) or folder)
            place = Place(directory=node.metadata_path, file=path)
            yield unless_forbidden(stop_finding("unreadable", str(error), place), path)
        return
    if outcome.refusal is None:
        yield from _lost_end(node, folder, outcome)
        return
    finding = refusal_finding(folder, outcome.refusal, "the metadata log")
    cure, commands = _RESTORE if node.is_only_voter else fetches_anew(node.metadata_path)
    yield replace(
        finding.moved(node=node.config.node_id, directory=node.metadata_path),
        cure=cure,
        commands=commands,
        consequence="the server does not start",
    )


def lone_log_findings(folder: str) -> Iterator[Finding]:
    """Yield what a start makes of a stopped metadata log whose node is not known.

    Raises:
        OSError, SourceError: a file cannot be read.
    """
    outcome = foretell_metadata_log(DiskFolder(folder))
    if outcome.refusal:
        yield refusal_finding(folder, outcome.refusal, "the metadata log")
        return
    for cut in outcome.log.cuts:
        place = Place(file=os.path.join(folder, cut.file), position=cut.position)
        text = f"a start ends the log at offset {cut.first_offset}: {cut.reason}"
        yield note_finding("torn-tail", text, place)
    if outcome.restarted_at:
        text = (
            f"the log ends at offset {outcome.log.end_offset}, before its newest snapshot, which "
            f"ends at {outcome.end_offset}: a start begins again from there"
        )
        yield note_finding("missing-end", text, Place(file=folder))
    yield from _lost_end(None, folder, outcome)


def lost_by_all(findings: Iterable[Finding], nodes: Sequence[Node]) -> Iterator[Finding]:
    """Yield findings; where all voters lack their ends, with the newest log as the cure."""
    findings = [*findings]
    lost = {finding.place.node for finding in findings if _fetches_end(finding)}
    voters = voter_ids(nodes) if lost else frozenset()
    if voters and lost.issuperset(voters):
        newest = max(nodes, key=lambda node: node.content.rank)
        cure = _going_on_from(newest, voters, nodes)
        findings = [
            replace(finding, cure=cure.text, commands=cure.commands)
            if _fetches_end(finding)
            else finding
            for finding in findings
        ]
    yield from findings


def _going_on_from(newest: Node, voters: Collection[int], nodes: Sequence[Node]) -> Cure:
    own = [node for node in nodes if node.config.node_id in voters]
    best = max(own, key=lambda node: node.content.rank)
    command = recover_command(best, nodes, "--voters", "self", "--dry-run")
    return Cure(
        "no voter has the rest of its log: restore a metadata directory from a copy, or go on from "
        f"the newest log that is named, {newest.metadata_path}, which ends at offset "
        f"{newest.content.end_offset or 0}; brokers have the log, too",
        (command,) if best.config.is_whole else (),
    )


def _fetches_end(finding: Finding) -> bool:
    return finding.code == "metadata-log-lost" and finding.cure == FETCHES_END.text


def _lost_end(node: Node | None, folder: str, outcome: MetadataLogOutcome) -> Iterator[Finding]:
    """Yield the finding that other files know of more records than the log will have."""
    end = outcome.end_offset or 0
    proofs = [proof for proof in _proofs(folder, is_empty=not end) if proof[0] > end]
    if not proofs:
        return
    evidence = [fact for _, fact in proofs]
    text = f"after a start the metadata log ends at offset {end}; other files show a longer one"
    if not end:
        text = "after a start the metadata log is empty; other files show that it was not"
    severity, cure, consequence = Severity.NOTE, Cure(""), ""
    torn_end = _torn_end(folder, outcome, end)
    # An epoch alone may be that of a batch that was never written. A producer snapshot is written
    # where a segment is complete or the log is closed (`UnifiedLog.roll`, `close`).
    if not end or any(
        offset > torn_end and fact.source.endswith(".snapshot") for offset, fact in proofs
    ):
        severity, cure, consequence = Severity.RISK, FETCHES_END, _VOTES_WITHOUT
        if node:
            severity, cure, consequence = _start_without_records(node, is_empty=not end)
    place = Place(file=folder)
    if node:
        place = Place(node=node.config.node_id, directory=node.metadata_path, file=folder)
    yield Finding(
        "metadata-log-lost",
        severity,
        text,
        place,
        *cure,
        evidence=tuple(evidence),
        consequence=consequence,
        # A voter that was stopped within its first election has an epoch, and no log yet.
        is_possible=all(fact.source == quorum_state.FILE_NAME for fact in evidence),
    )


def _torn_end(folder: str, outcome: MetadataLogOutcome, end: int) -> int:
    """Return the end with a last batch of which only the end is missing, as after a crash."""
    for cut in outcome.whole.cuts:
        with LogFile(os.path.join(folder, cut.file)) as file:
            head = file.read_at(cut.position, HEADER_SIZE)
        if len(head) == HEADER_SIZE and (fields := HEADER.unpack(head))[0] == end:
            return end + int(fields[6]) + 1
    return end


def _start_without_records(node: Node, *, is_empty: bool) -> tuple[Severity, Cure, str]:
    """Return severity, cure and consequence of a start without the end of the log, or all of it."""
    if node.is_controller and node.is_only_voter:
        # Text, not a command to paste: which broker has the log is for a person to say.
        recover = recover_command(node, (), "--from", "DIRECTORY", "--voters", "self")
        cure = Cure(
            "do not start it: restore the metadata directory from a copy, or recover it from the "
            f"log of a broker: {recover}"
        )
        consequence = "this voter alone goes on without these records"
        if is_empty:
            consequence = (
                "a quorum of this voter alone starts over, and brokers set their partitions aside"
            )
        return Severity.LOSS, cure, consequence
    if node.is_controller:
        return Severity.RISK, FETCHES_END, _VOTES_WITHOUT
    return Severity.NOTE, FETCHES_END, ""


def _proofs(folder: str, *, is_empty: bool) -> Iterator[tuple[int, Evidence]]:
    """Yield the ends of the log that files beside it prove, with the facts.

    A quorum-state has no offset: of an empty log alone its epoch is a proof.
    """
    for name in sorted(names_in(folder)):
        file = file_name(os.path.join(folder, name))
        if file is None or file.renamed or not name[:20].isdecimal():
            continue
        if file.kind is FileKind.PRODUCER_SNAPSHOT:
            yield file.base_offset, Evidence(name, "a producer snapshot at this offset")
    for epoch, offset in _epochs(os.path.join(folder, LEADER_EPOCHS)):
        # A leader writes its epoch before the record that begins it, and may be stopped between
        # (`KafkaRaftClient.onBecomeLeader`): an epoch at the end of a log proves no record.
        least_end = offset + 1 if is_empty else offset
        yield least_end, Evidence(LEADER_EPOCHS, f"epoch {epoch} began at offset {offset}")
    quorum_epoch = quorum_state.leader_epoch(os.path.join(folder, quorum_state.FILE_NAME))
    if is_empty and quorum_epoch:
        yield 1, Evidence(quorum_state.FILE_NAME, f"the quorum was at epoch {quorum_epoch}")


def _epochs(path: str) -> list[tuple[int, int]]:
    try:
        return [(entry.epoch, entry.start_offset) for entry in epoch_entries(read_small(path))]
    except (OSError, LoadError):
        return []

"""What a start makes of the metadata log: whether the server takes it, and proof of a lost one.

The rules are those of Kafka's `KafkaRaftLog`, by `foretell_metadata_log`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from kraftops.errors import SourceError
from kraftops.fileio.reading import read_small
from kraftops.findings.finding import Cure, Evidence, Finding, Place, Severity, stop_finding
from kraftops.log.files import METADATA_PARTITION, FileKind, file_name
from kraftops.server import quorum_state
from kraftops.server.loader.contract import DiskFolder
from kraftops.server.loader.metadata_log import MetadataLogOutcome, foretell_metadata_log
from kraftops.server.loader.text_files import LEADER_EPOCHS, epoch_entries
from kraftops.server.loader.thrown import LoadError
from kraftops.storage.logdirs.node import Node

_RESTORE = Cure("restore the metadata directory from a copy")


def metadata_start_findings(node: Node) -> Iterator[Finding]:
    """Yield that a server refuses its metadata log, or that the log lacks what files prove."""
    folder = os.path.join(node.metadata.path, METADATA_PARTITION)
    if not os.path.isdir(folder):
        return
    try:
        outcome = foretell_metadata_log(DiskFolder(folder))
    except (OSError, SourceError) as error:
        problem = f"cannot read it: {error}"
        cure = "give the permission to read it"
        yield stop_finding(
            "unreadable", problem, Place(directory=node.metadata_path, file=folder), cure
        )
        return
    if outcome.refusal:
        refusal = outcome.refusal
        yield Finding(
            "start-refused",
            Severity.STOPS,
            f"a start refuses the metadata log: {refusal.reason}",
            Place(
                node=node.config.node_id,
                directory=node.metadata_path,
                file=os.path.join(folder, refusal.file) if refusal.file else folder,
                position=refusal.position,
            ),
            *(_RESTORE if node.is_only_voter else _fetched_anew()),
            consequence="the server does not start",
        )
        return
    yield from _lost_end(node, folder, outcome)


def _fetched_anew() -> Cure:
    return Cure(f"remove {METADATA_PARTITION}: the server fetches it from the other controllers")


def _lost_end(node: Node, folder: str, outcome: MetadataLogOutcome) -> Iterator[Finding]:
    """Yield the finding that other files know of more records than the log will have."""
    end = outcome.end_offset or 0
    evidence = [fact for offset, fact in _proofs(folder, is_empty=not end) if offset > end]
    if not evidence:
        return
    text = (
        f"the metadata log starts with an end at offset {end}, and other files prove a longer one"
    )
    severity, cure, consequence = Severity.NOTE, "", ""
    if not end:  # else a torn end, as after a crash; other damage is a finding of its own
        text = "the metadata log starts empty, and other files prove that it was not"
        severity, cure, consequence = _start_without_log(node)
    yield Finding(
        "metadata-log-lost",
        severity,
        text,
        Place(node=node.config.node_id, directory=node.metadata_path, file=folder),
        cure,
        evidence=tuple(evidence),
        consequence=consequence,
        # A voter that was stopped within its first election has an epoch, and no log yet.
        is_possible=all(fact.source == quorum_state.FILE_NAME for fact in evidence),
    )


def _start_without_log(node: Node) -> tuple[Severity, str, str]:
    """Return what it means that a node starts with an empty log, the cure and the consequence."""
    if node.is_controller and node.is_only_voter:
        cure = (
            "do not start it: restore the metadata directory from a copy, or recover it from the "
            "log of a broker: kafka-storage recover --from LOG --voters self"
        )
        consequence = (
            "a quorum of this voter alone begins anew, and brokers set their partitions aside"
        )
        return Severity.LOSS, cure, consequence
    cure = "start the other controllers first: this one fetches the log from their leader"
    if node.is_controller:
        consequence = "it votes without these records: with another such voter they are lost"
        return Severity.RISK, cure, consequence
    return Severity.NOTE, cure, ""


def _proofs(folder: str, *, is_empty: bool) -> Iterator[tuple[int, Evidence]]:
    """Yield the ends of the log that files beside it prove, with the facts.

    A quorum-state has no offset: of an empty log alone its epoch is a proof.
    """
    for name in sorted(os.listdir(folder)):
        file = file_name(os.path.join(folder, name))
        if file is None or file.renamed or not name[:20].isdecimal():
            continue
        if file.kind is FileKind.PRODUCER_SNAPSHOT:
            yield file.base_offset, Evidence(name, "a producer snapshot at this offset")
    for epoch, offset in _epochs(os.path.join(folder, LEADER_EPOCHS)):
        # The leader of an epoch begins it with a record at its offset.
        yield offset + 1, Evidence(LEADER_EPOCHS, f"epoch {epoch} began at offset {offset}")
    quorum_epoch = quorum_state.leader_epoch(os.path.join(folder, quorum_state.FILE_NAME))
    if is_empty and quorum_epoch:
        yield 1, Evidence(quorum_state.FILE_NAME, f"the quorum was at epoch {quorum_epoch}")


def _epochs(path: str) -> list[tuple[int, int]]:
    try:
        return [(entry.epoch, entry.start_offset) for entry in epoch_entries(read_small(path))]
    except (OSError, LoadError):
        return []

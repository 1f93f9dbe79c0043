"""Checks for two quorums of one cluster: histories that part, of which one was recovered.

Epochs alone do not tell it: two recoveries, and the leaders after them, can count the same epochs.
So the batches are compared, where voters or beginnings of epochs differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftops.errors import KraftopsError
from kraftops.findings.finding import Evidence, Finding, Place, Severity
from kraftops.server.metadata_log.batch_comparison import SoundBatches, common_prefix
from kraftops.server.metadata_log.recovery_mark import (
    RecoveryMark,
    RecoveryMarks,
    voter_identities,
)
from kraftops.server.voters import Voter
from kraftops.storage.logdirs.node import Node
from kraftops.storage.verify.quorum import shown_voters


def rival_findings(nodes: Sequence[Node]) -> Iterator[Finding]:
    """Yield the nodes whose log goes on from another history than the newest one of the cluster."""
    used = [node for node in nodes if node.log.is_used]
    newest = max(used, key=lambda node: node.content.rank, default=None)
    for node in used:
        if newest is None or node is newest or node.cluster_id != newest.cluster_id:
            continue
        if not (_other_voters(node, newest) or _other_epochs(node, newest)):
            continue
        try:
            yield from _parting(node, newest)
        except KraftopsError:
            continue  # other checks say why a log cannot be read


def rival_finding(
    place: Place, mark: RecoveryMark, other: str, voters: Sequence[Voter], start: int
) -> Finding:
    """Return the finding of two histories.

    Args:
        place: the log that was recovered.
        mark: its recovery.
        other: the name of the other log.
        voters: the voters of the other log.
        start: the offset from which on they differ.
    """
    return Finding(
        "rival-quorums",
        Severity.LOSS,
        f"it and {other} are two histories of one cluster from offset {start} on: it was recovered "
        f"at offset {mark.offset} to the voters {shown_voters(mark.voters)}, and the other has "
        f"{shown_voters(voters)}",
        place,
        "start only one of them: kafka-storage recover --dry-run lists what each lacks. Then wipe "
        "the metadata logs that follow the other one, and let those nodes join",
        evidence=(Evidence(place.path, f"epoch {mark.epoch} begins with voters, not a leader"),),
        consequence="both can lead, each with the brokers that find it first; what one of the two "
        "has written since is lost",
    )


def _other_voters(node: Node, other: Node) -> bool:
    return voter_identities(node.voters) != voter_identities(other.voters)


def _other_epochs(node: Node, other: Node) -> bool:
    """Tell whether an epoch begins at two offsets; where a log begins, its epoch is older."""
    starts, others = (dict(each.content.epoch_starts[1:]) for each in (node, other))
    return any(others.get(epoch, offset) != offset for epoch, offset in starts.items())


def _parting(node: Node, newest: Node) -> Iterator[Finding]:
    start = common_prefix(node.log.segments, newest.log.segments).offset
    if start >= min(node.content.end_offset or 0, newest.content.end_offset or 0):
        return
    # Without a recovery, an end that parts was never committed, or `two-histories` has it.
    for log, other in ((node, newest), (newest, node)):
        mark = _mark(log)
        if mark and mark.offset >= start:
            place = Place(node=log.config.node_id, directory=log.metadata_path)
            yield rival_finding(place, mark, other.metadata_path, other.voters, start)
            return


def _mark(node: Node) -> RecoveryMark | None:
    marks = RecoveryMarks(node.log.latest_snapshot)
    for _ in SoundBatches(node.log.segments).marks(marks.observe):
        pass
    return marks.newest

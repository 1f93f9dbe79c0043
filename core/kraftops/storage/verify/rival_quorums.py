"""Checks for two quorums of one cluster: histories that diverge, of which one was recovered.

Epochs alone do not tell it: two recoveries, and the leaders after them, can count the same epochs.
So the batches are compared, where voters or beginnings of epochs differ.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress

from kraftops.errors import KraftopsError
from kraftops.findings.finding import Evidence, Finding, Place, Severity
from kraftops.server.metadata_log.batch_comparison import SoundBatches, common_prefix
from kraftops.server.metadata_log.recovery_mark import (
    RecoveryMark,
    RecoveryMarks,
    voter_identities,
)
from kraftops.server.voters import voters_text
from kraftops.storage.logdirs.node import Node


def rival_findings(nodes: Sequence[Node]) -> Iterator[Finding]:
    """Yield the nodes whose log goes on from another history than the newest one of the cluster.

    Also the old voters of a quorum that was recovered to others, if they are enough to lead: until
    they write, their logs are beginnings of the recovered one.
    """
    used = [node for node in nodes if node.log.is_used]
    newest = max(used, key=lambda node: node.content.rank, default=None)
    before: defaultdict[frozenset[_VoterKey], list[Node]] = defaultdict(list)
    for node in used:
        if newest is None or node is newest or node.cluster_id != newest.cluster_id:
            continue
        if not (_other_voters(node, newest) or _other_epochs(node, newest)):
            continue
        with suppress(KraftopsError):  # other checks say why a log cannot be read
            start = common_prefix(node.log.segments, newest.log.segments).offset
            if start < min(node.content.end_offset or 0, newest.content.end_offset or 0):
                yield from _parting(node, newest, start)
            elif node.is_controller and _voter_key(node) in _voter_keys(node):
                before[_voter_keys(node)].append(node)
    for keys, voters in before.items():
        if newest and 2 * len(voters) > len(keys):
            with suppress(KraftopsError):
                yield from _old_quorum(voters, newest)


def rival_finding(
    place: Place, mark: RecoveryMark, other: str, other_voters: str, start: int
) -> Finding:
    """Return the finding of two histories.

    Args:
        place: the log that was recovered.
        mark: its recovery.
        other: the name of the other log.
        other_voters: the voters of the other log, as text.
        start: the offset from which on they differ.
    """
    return Finding(
        "rival-quorums",
        Severity.LOSS,
        f"it and {other} are two histories of one cluster from offset {start} on: it was recovered "
        f"at offset {mark.offset} to the voters {voters_text(mark.voters)}, and the other has "
        f"{other_voters}",
        place,
        cure="start only one of them: kafka-storage recover --dry-run lists what each lacks. "
        "Then wipe the metadata logs that follow the other one, and let those nodes join",
        evidence=(Evidence(place.path, f"epoch {mark.epoch} begins with voters, not a leader"),),
        consequence="both can lead, each with the brokers that find it first; what one of the two "
        "has written since is lost",
    )


def _other_voters(node: Node, other: Node) -> bool:
    return voter_identities(node.voters) != voter_identities(other.voters)


def _other_epochs(node: Node, other: Node) -> bool:
    """Tell whether an epoch begins at two offsets; where a log begins, its epoch is older."""
    starts, others = (dict(compared.content.epoch_starts[1:]) for compared in (node, other))
    return any(others.get(epoch, offset) != offset for epoch, offset in starts.items())


_VoterKey = tuple[int, bytes]


def _voter_keys(node: Node) -> frozenset[_VoterKey]:
    """Return the voters by which a node elects; those of a static quorum have no directory id."""
    if node.voters:
        return voter_identities(node.voters)
    return frozenset((node_id, b"") for node_id in _static_voters(node))


def _static_voters(node: Node) -> frozenset[int]:
    """Return the ids of the voters of a static quorum, also if the configuration has none now."""
    elected_by = frozenset[int]() if node.config.voters else _marks(node).electors
    return elected_by or node.static_voters


def _voter_key(node: Node) -> _VoterKey:
    directory_id = node.metadata.meta.directory_id if node.metadata.meta else None
    return node.config.node_id, (directory_id or b"") if node.voters else b""


def _old_quorum(voters: Sequence[Node], newest: Node) -> Iterator[Finding]:
    """Yield a finding if enough old voters to lead know nothing of a recovery to others."""
    mark, end = _marks(newest).newest, max(node.content.end_offset or 0 for node in voters)
    if mark and mark.offset >= end:
        place = Place(node=newest.config.node_id, directory=newest.metadata_path)
        names = " and ".join(node.metadata_path for node in voters)
        yield rival_finding(place, mark, names, _voters_text(voters[0]), end)


def _parting(node: Node, newest: Node, start: int) -> Iterator[Finding]:
    # Without a recovery, an end that parts was never committed, or `two-histories` has it.
    for log, other in ((node, newest), (newest, node)):
        mark = _marks(log).newest
        if mark and mark.offset >= start:
            place = Place(node=log.config.node_id, directory=log.metadata_path)
            yield rival_finding(place, mark, other.metadata_path, _voters_text(other), start)
            return


def _voters_text(node: Node) -> str:
    return voters_text(node.voters, () if node.voters else _static_voters(node))


def _marks(node: Node) -> RecoveryMarks:
    marks = RecoveryMarks(node.log.latest_snapshot)
    for _ in SoundBatches(node.log.segments).marks(marks.observe):
        pass
    return marks

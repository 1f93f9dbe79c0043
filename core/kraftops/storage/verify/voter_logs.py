"""Checks of the voters' logs against each other: elections that would lose records, lost quorums.

The rules are those of KIP-595 and KIP-853: a majority of voters elects, and a voter grants its vote
to a log that is not below its own by epoch and end. Each committed record was once in the logs of a
majority.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from kraftops.display.sizes import many, named
from kraftops.errors import KraftopsError
from kraftops.findings.finding import Cure, Finding, Place, Severity, note_finding, stop_finding
from kraftops.log.batch import Batch, Header
from kraftops.memory import LEAST, Meter
from kraftops.records.meaning import Decoded
from kraftops.server.metadata_log.files import WholeBatches, metadata_records
from kraftops.storage.logdirs.node import Node, recover_command
from kraftops.storage.logdirs.proposals import format_cure

_TOPIC = 2  # the type of a TopicRecord
_FETCH_TIMEOUT = "controller.quorum.fetch.timeout.ms"
_USUAL_MS = 2000
"""Its default, for a node whose configuration is unknown."""
_PATIENCE = 10
"""Fetch timeouts, within which every leader without a majority has resigned; 20 s by default."""


def voter_log_findings(nodes: Sequence[Node]) -> Iterator[Finding]:
    """Yield the elections that would lose records, and the loss of the majority."""
    if quorum := quorum_of(nodes):
        yield from quorum.lost()
        yield from quorum.lower_logs()
        yield from quorum.diverged()
        yield from quorum.static_rivals()


def quorum_of(nodes: Sequence[Node]) -> Quorum | None:
    """Return the quorum of the newest log; None without a log, or without known voters."""
    used = [node for node in nodes if node.log.is_used]
    if not used:
        return None
    newest = max(used, key=lambda node: node.content.rank)
    same = [node for node in nodes if node.cluster_id in (None, newest.cluster_id)]
    quorum = Quorum(newest, same)
    return quorum if quorum.voters else None


@dataclass(frozen=True)
class Quorum:
    """The quorum of the node with the newest log, and the nodes of its cluster that are given."""

    newest: Node
    nodes: Sequence[Node]

    @cached_property
    def voters(self) -> Mapping[int, bytes | None]:
        """The directory ids of the voters by node ids; None in a static quorum."""
        if self.newest.voters:
            return {voter.node_id: voter.directory_id for voter in self.newest.voters}
        static = (node.config.voters for node in self.nodes if node.config.voters)
        return dict.fromkeys(next(static, {}))

    @property
    def majority(self) -> int:
        return len(self.voters) // 2 + 1

    @cached_property
    def able(self) -> list[Node]:
        """The given voters that can vote, with their log or an empty one."""
        return [node for node in self.nodes if self._can_vote(node)]

    def _can_vote(self, node: Node) -> bool:
        meta, node_id = node.metadata.meta, node.config.node_id
        if node_id not in self.voters or not node.is_controller or meta is None:
            return False
        return self.voters[node_id] in (None, meta.directory_id)

    def _depends(self, node: Node) -> bool:
        """Tell whether a node needs others to lead; a recovered one has only itself as voter."""
        return len(self.voters) == 1 or not (node.voters and node.is_only_voter)

    @cached_property
    def behind(self) -> dict[int, str]:
        """The able voters that lack committed records of a higher log, with the evidence, by id."""
        evidence_by_id = {}
        for node in filter(self._depends, self.able):
            higher = [other for other in self.nodes if other.content.rank > node.content.rank]
            evidence = next(filter(None, (self._lacking(node, other) for other in higher)), None)
            if not node.log.is_used:
                evidence = evidence or "it is empty"
            if evidence:
                evidence_by_id[node.config.node_id] = evidence
        return evidence_by_id

    @property
    def sound(self) -> list[int]:
        """The given voters whose logs have all committed records that are known."""
        used = [node.config.node_id for node in self.able if node.log.is_used]
        return [node_id for node_id in used if node_id not in self.behind]

    def _lacking(self, node: Node, other: Node) -> str | None:
        """Return the evidence of committed records of another node that a log lacks, if any."""
        shared = _shared_end(node, other)
        committed = self._committed_end(other)
        return committed.evidence if shared < committed.end else None

    def _committed_end(self, node: Node) -> Committed:
        """Return how far a log was committed, read from the first offset that another lacks."""
        number = id(node)
        if number not in self._ends:
            shared = (_shared_end(other, node) for other in self.able if other is not node)
            start = min(shared, default=node.content.end_offset or 0)
            self._ends[number] = committed_end(node, start, self._topics)
        return self._ends[number]

    @cached_property
    def _ends(self) -> dict[int, Committed]:
        return {}

    @cached_property
    def _topics(self) -> set[bytes]:
        return _topics_on_disk(self.nodes)

    def lost(self) -> Iterator[Finding]:
        """Yield the finding that too few voters can vote."""
        able = {node.config.node_id for node in self.able}
        given = {node.config.node_id for node in self.nodes} & self.voters.keys()
        # With its log, a voter needs no more than its meta.properties, which [not-formatted] tells.
        # So does one whose log is in another of its directories, which [stray-metadata-log] tells.
        nameless = {
            node.config.node_id
            for node in self.nodes
            if (node.log.is_used and node.metadata.meta is None) or node.logs_elsewhere
        }
        lost = sorted(given - able - nameless)
        if lost and len(self.voters) - len(lost) < self.majority:
            problem = (
                f"the quorum is lost: {named('voter', lost)} of {_listed(self.voters)} do not have "
                f"the directories that {self.newest.metadata_path} knows"
            )
            yield stop_finding("quorum-lost", problem, Place(), *self._cure())

    def lower_logs(self) -> Iterator[Finding]:
        """Yield the voters with logs below the newest one."""
        wins = len(self.behind) >= self.majority
        for node in self.able:
            evidence = self.behind.get(node.config.node_id)
            # The same id may be that of another node's log, too, which alone is lower.
            if evidence is None or node.content.rank == self.newest.content.rank:
                continue
            end, last = node.content.end_offset or 0, self._end
            has = f"ends at offset {end}" if node.log.is_used else "is empty"
            problem = f"its metadata log {has}, {self.newest.metadata_path} ends at offset {last}"
            if wins:
                lost = last - _shared_end(node, self.newest)
                problem += (
                    f": with the voters {_listed(self.behind)} it could win an election, and the "
                    f"records of {many(lost, 'offset')} would be lost"
                )
                if node.log.is_used:
                    problem += f" ({evidence})"
                text, commands = self._cure()
                cure = f"do not start it with this log; {text}"
                place = node.metadata.place
                yield Finding("rival-history", Severity.LOSS, problem, place, cure, commands)
            else:
                cure = "start the other voters first, and this one when they have a leader"
                yield note_finding("behind", problem, node.metadata.place, cure)
        if not wins:
            yield from self._shorter()

    def diverged(self) -> Iterator[Finding]:
        """Yield the logs whose committed records another history with a higher epoch has not."""
        for node in self.nodes:
            shared = _shared_end(node, self.newest)
            committed = self._committed_end(node)
            if node is self.newest or committed.end <= shared:
                continue
            yield Finding(
                "two-histories",
                Severity.LOSS,
                f"its metadata log and {self.newest.metadata_path} are two histories from "
                f"offset {shared} on: the other has the higher epoch, and committed records of "
                f"this one to offset {committed.end} would be lost ({committed.evidence})",
                node.metadata.place,
                cure="start none of them before it is known which is wanted: kafka-storage recover "
                "--dry-run lists what each lacks",
            )

    def static_rivals(self) -> Iterator[Finding]:
        """Yield empty logs that elect by controller.quorum.voters; the newest names its voters."""
        empty = [node for node in self.nodes if node.metadata.meta and node.is_controller]
        empty = [node for node in empty if not node.log.is_used and not node.voters]
        for node in empty if self.newest.voters else ():
            static = node.config.voters
            rivals = [other.config.node_id for other in empty if other.config.voters == static]
            if static and 2 * len(rivals) > len(static):
                yield Finding(
                    "rival-history",
                    Severity.LOSS,
                    f"its metadata log is empty: by controller.quorum.voters, the voters "
                    f"{_listed(rivals)} could elect a leader without the records of "
                    f"{self.newest.metadata_path}, whose voters are {_listed(self.voters)}",
                    node.metadata.place,
                    cure="do not start it; set controller.quorum.bootstrap.servers instead of "
                    f"controller.quorum.voters in {node.config.path}, then format it again with -N",
                )

    @property
    def _end(self) -> int:
        return self.newest.content.end_offset or 0

    def _shorter(self) -> Iterator[Finding]:
        """Yield the note that most voters end before the newest log, as after a kill."""
        rank = self.newest.content.rank
        shorter = [node for node in self.able if node.content.rank < rank and self._depends(node)]
        if len(shorter) < self.majority:
            return
        end = max((node.content.end_offset or 0 for node in shorter), default=0)
        ids = sorted(node.config.node_id for node in shorter)
        yield note_finding(
            "ends-differ",
            f"the voters {_listed(ids)} could go on without the end of "
            f"{self.newest.metadata_path}: from offset {min(end, self._end)} to {self._end}",
            Place(),
            "nothing is lost if these records were never committed; else start that node first"
            if self.newest.is_controller
            else "nothing is lost if these records were never committed",
        )

    def _cure(self) -> Cure:
        """Return the commands by which the newest log goes on."""
        best = max(
            (node for node in self.nodes if node.is_controller and node.log.is_used),
            key=lambda node: (node in self.able, node.content.rank),
            default=None,
        )
        if best is not None and best.metadata.meta is not None:
            text = "go on from the newest log, then let the others join"
            return Cure(text, (self._recover(best),))
        controller = next((node for node in self.nodes if node.is_controller), None)
        if controller is None:
            return Cure("go on from this log: kafka-storage recover in a new controller")
        cluster_id = next(filter(None, (node.cluster_id for node in self.nodes)), None)
        path, text = controller.config.path, "go on from the newest log"
        cure = format_cure(text, path, cluster_id, "-N", "-g")
        return cure._replace(commands=(*cure.commands, self._recover(controller)))

    def _recover(self, node: Node) -> str:
        return recover_command(node, self.nodes, "--voters", "self", "--dry-run")


def _shared_end(node: Node, other: Node) -> int:
    """Return the offset up to which two logs can be equal, by the rules of a fetching replica."""
    low, high = sorted((node.content, other.content), key=lambda content: content.rank)
    return min(low.end_offset or 0, high.end_of_epoch(low.epoch))


def _listed(ids: Iterable[int]) -> str:
    return ", ".join(map(str, ids))


class Committed(NamedTuple):
    """The offset after the last record of a log that is known to be committed, and the evidence."""

    end: int = 0
    evidence: str = ""


def committed_end(node: Node, start: int, topics: Collection[bytes]) -> Committed:
    """Return how far the metadata log of a node was committed.

    Args:
        node: the node.
        start: the offset from which on the log is read for evidence.
        topics: the ids of the topics with partitions on the disks of brokers.
    """
    committed = Committed()
    if snapshot := node.log.latest_snapshot:
        committed = Committed(snapshot.end_offset, "a snapshot has them")
    if start >= (node.content.end_offset or 0):
        return committed
    try:
        return max(
            committed, _end_in_batches(node, start, topics), key=lambda candidate: candidate.end
        )
    except KraftopsError:
        return committed  # other checks say why it cannot be read


def _topics_on_disk(nodes: Sequence[Node]) -> set[bytes]:
    """Return the ids of the topics with partitions on the disks of brokers."""
    return {
        topic_id
        for node in nodes
        if node.is_broker
        for directory in node.data_directories
        for topic_id in directory.topic_ids()
    }


def _end_in_batches(node: Node, start: int, topics: Collection[bytes]) -> Committed:
    limit = _PATIENCE * int(str(node.config.values.get(_FETCH_TIMEOUT, _USUAL_MS)))
    committed = Committed()
    unproven: deque[tuple[int, int]] = deque()  # times and ends of the batches of one leader
    epoch, meter = -1, LEAST.meter()
    for header, batch in _batches(node, start, meter):
        if header.leader_epoch != epoch:
            epoch = header.leader_epoch
            unproven.clear()
        end = header.last_offset + 1
        unproven.append((header.max_timestamp, end))
        while unproven[0][0] + limit <= header.max_timestamp:
            text = f"their leader went on for more than {limit / 1000:g} s"
            committed = max(committed, Committed(unproven.popleft()[1], text))
        if _has_topic(header, batch, topics, meter):
            committed = Committed(end, "a broker has partitions of a topic that they create")
    return committed


def _batches(node: Node, start: int, meter: Meter) -> Iterator[tuple[Header, Batch]]:
    """Yield the batches of a log from an offset on."""
    segments = node.log.segments
    first = sum(segment.base_offset <= start for segment in segments) - 1
    for segment in segments[max(first, 0) :]:
        for header, batch in WholeBatches(segment.path, meter):
            if header.last_offset >= start:
                yield header, batch


def _has_topic(header: Header, batch: Batch, topics: Collection[bytes], meter: Meter) -> bool:
    from kraftops.records import metadata

    if header.is_control or not topics:
        return False
    for record in metadata_records(batch, meter):
        if record.value and record.value[1:2] == bytes([_TOPIC]):
            decoded = metadata.decode(record.value)
            if isinstance(decoded, Decoded):
                data: Any = decoded.data
                if data["topicId"] in topics:
                    return True
    return False

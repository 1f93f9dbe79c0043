"""What a start makes of a partition that is checked: the loader's answer, and what it removes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kraftops.display.sizes import many
from kraftops.dump.check.findings import Loss, PartitionCheck, lost_text
from kraftops.dump.check.log_directory import LOG_START, RECOVERY_POINT, LogDirectory
from kraftops.dump.check.log_walk import LogSpan, Recovery
from kraftops.dump.check.spans import uncovered
from kraftops.dump.check.topics import TopicSettings
from kraftops.findings.finding import Evidence, Finding, Place, Severity
from kraftops.log.files import METADATA_TOPIC
from kraftops.server.loader.contract import (
    NEWEST_RELEASE,
    Consequence,
    LoadOutcome,
    LoadRequest,
)
from kraftops.server.loader.partition import foretell_partition
from kraftops.server.partition_files import PartitionFiles

START_REFUSED = "start-refused"
_NAMES = 5  # more would hide the rest of the line

_CONSEQUENCES: Mapping[Consequence, str] = {
    Consequence.DIRECTORY_OFFLINE: "the log directory goes offline with all its partitions",
    Consequence.BROKER_DIES: "the broker does not start",
}


@dataclass(frozen=True, slots=True)
class Start:
    """The outcomes that are possible, by what is not known of the stop and of tiering.

    *outcomes* is empty for what no server loads.
    """

    path: str
    is_known: bool
    outcomes: tuple[LoadOutcome, ...] = ()

    @property
    def starts(self) -> bool | None:
        """Whether the loader takes the partition; None if that is unknown."""
        answers = {outcome.starts for outcome in self.outcomes}
        return answers.pop() if len(answers) == 1 else None

    @property
    def outcome(self) -> LoadOutcome | None:
        """The outcome, if it does not depend on what is unknown."""
        first, *others = self.outcomes or (None,)
        return None if any(_differs(first, other) for other in others) else first

    @property
    def consequence(self) -> str | None:
        """What the loading means for the server."""
        outcome = self.outcome
        return None if outcome is None else outcome.consequence.value

    def recovery(self, *, is_stopped: bool) -> Recovery:
        """Return what a start does to the segments."""
        if not self.outcomes:
            return Recovery(is_known=True, is_stopped=True)
        outcome = self.outcome
        if outcome is None or not outcome.starts:
            return Recovery(is_known=self.is_known, is_stopped=is_stopped)
        cuts = {os.path.join(self.path, cut.file): cut.position for cut in outcome.cuts}
        cuts |= {
            os.path.join(self.path, _log_name(segment.base_offset)): 0
            for segment in outcome.deleted_segments
        }
        return Recovery(outcome.recovered_segments, self.is_known, is_stopped, cuts)

    def removed(self, spans: Mapping[str, LogSpan]) -> Iterator[tuple[Finding, list[Loss]]]:
        """Yield what a start removes of the whole batches, by their spans in each log."""
        outcome = self.outcome
        if outcome is None or not outcome.starts:
            return
        assert outcome.local_start_offset is not None
        assert outcome.end_offset is not None
        removed: list[tuple[int, int, int]] = []
        for cut in outcome.cuts:
            span = spans.get(os.path.join(self.path, cut.file))
            if span and span.end > cut.first_offset:
                removed.append((cut.first_offset, span.end - 1, cut.size))
        for segment in outcome.deleted_segments:
            span = spans.get(os.path.join(self.path, _log_name(segment.base_offset)))
            if span and span.end > span.first:
                removed.append((span.first, span.end - 1, segment.size))
        kept = [(outcome.local_start_offset, outcome.end_offset - 1)]
        losses: list[Loss] = []
        for first, last, size in sorted(removed):
            covered = [*kept, *((loss.first, loss.last) for loss in losses)]
            gaps = list(uncovered((first, last), covered))
            losses += (Loss(*gap, 0 if index else size) for index, gap in enumerate(gaps))
        if losses:
            yield self._removal(outcome, losses), losses

    def _removal(self, outcome: LoadOutcome, losses: list[Loss]) -> Finding:
        first, last = losses[0].first, losses[-1].last
        evidence = [
            Evidence(cut.file, f"{cut.reason}, at position {cut.position}") for cut in outcome.cuts
        ]
        evidence += [
            Evidence(_log_name(segment.base_offset), "a start deletes it")
            for segment in outcome.deleted_segments
        ]
        log_start = outcome.log_start_offset or 0
        if log_start > last:
            evidence.append(Evidence(LOG_START, f"the log starts at offset {log_start}"))
        place = Place(file=self.path)
        if outcome.cuts:
            cut = outcome.cuts[0]
            place = Place(file=os.path.join(self.path, cut.file), position=cut.position)
        return Finding(
            "start-cuts-log",
            Severity.LOSS,
            f"a start ends the log at offset {outcome.end_offset}: {lost_text(first, last)}",
            place,
            "copy the directory before the server starts: dump-log still reads these records; "
            "another replica may have them",
            evidence=tuple(evidence),
        )

    def refusals(self) -> Iterator[Finding]:
        """Yield the finding that the loader does not take the partition."""
        refusals = [outcome.refusal for outcome in self.outcomes if outcome.refusal]
        if not refusals:
            return
        refusal, is_certain = refusals[0], len(refusals) == len(self.outcomes)
        outcome = next(outcome for outcome in self.outcomes if outcome.refusal)
        finding = Finding(
            START_REFUSED,
            Severity.STOPS,
            f"a start refuses this partition: {refusal.reason}",
            Place(
                file=os.path.join(self.path, refusal.file) if refusal.file else self.path,
                position=refusal.position,
            ),
            "move the partition's directory away: the broker fetches it again from the other "
            "replicas, if there are any in sync",
            consequence=_CONSEQUENCES[outcome.consequence],
        )
        if not is_certain:
            finding = replace(
                finding, severity=Severity.RISK, text=f"after another stop, {finding.text}"
            )
        yield finding


def foretold(
    files: PartitionFiles,
    directory: LogDirectory,
    settings: TopicSettings,
    release: str = NEWEST_RELEASE,
) -> Start:
    """Return what a start with a release of Kafka makes of a partition.

    Raises:
        SourceError: a file cannot be read.
    """
    if files.is_tiered or files.is_alone or files.is_bare or files.folder is None:
        return Start(files.path, is_known=False)
    stops = [directory.is_clean] if directory.is_known else [False, True]
    if files.is_metadata:
        stops = [False]  # `KafkaRaftLog` opens its log as after an unclean stop
    tierings = [False, True] if settings.is_tiered is None else [settings.is_tiered]
    name = os.path.basename(os.path.abspath(files.path))
    log_start = directory.offset(LOG_START, files.topic, files.partition) or 0
    recovery_point = directory.offset(RECOVERY_POINT, files.topic, files.partition) or 0
    interval = settings.index_interval_bytes
    outcomes = [
        foretell_partition(
            files.folder,
            LoadRequest(
                name,
                log_start,
                recovery_point,
                was_clean,
                is_tiered,
                index_interval_bytes=interval,
                release=release,
            ),
        )
        for was_clean in stops
        for is_tiered in tierings
    ]
    return Start(files.path, directory.is_known or files.is_metadata, tuple(outcomes))


def _differs(outcome: LoadOutcome | None, other: LoadOutcome | None) -> bool:
    assert outcome
    assert other
    return (
        outcome.refusal != other.refusal
        or outcome.end_offset != other.end_offset
        or outcome.local_start_offset != other.local_start_offset
        or outcome.cuts != other.cuts
        or outcome.deleted_segments != other.deleted_segments
    )


def _log_name(base_offset: int) -> str:
    return f"{base_offset:020}.log"


def absorbed(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings; risks of a file for which a start is refused become its evidence."""
    listed = list(findings)
    refusals = [finding for finding in listed if finding.code == START_REFUSED]
    for refusal in refusals:
        causes = [
            finding
            for finding in listed
            if finding.severity is Severity.RISK and finding.place.file == refusal.place.file
        ]
        facts = (Evidence(finding.code, finding.text) for finding in causes)
        whole = replace(refusal, evidence=(*refusal.evidence, *facts))
        listed = [
            whole if finding is refusal else finding for finding in listed if finding not in causes
        ]
    return listed


class PartitionLoad(NamedTuple):
    """What the loading of a partition, in its log directory, means for the server."""

    path: str
    directory: str
    consequence: Consequence


def loads_of(
    checks: Iterable[PartitionCheck], directories: Mapping[str, LogDirectory]
) -> Iterator[PartitionLoad]:
    """Yield the loads of partitions that were checked, where they are known."""
    for check in checks:
        directory = directories.get(check.path)
        if directory is not None and check.outcome is not None:
            consequence = Consequence(check.outcome)
            if check.topic == METADATA_TOPIC and check.starts is False:
                consequence = Consequence.BROKER_DIES  # `KafkaRaftManager` loads its log
            yield PartitionLoad(check.path, directory.path, consequence)


def server_findings(
    loads: Iterable[PartitionLoad],
    metadata_directories: Container[str],
    node_ids: Mapping[str, int],
) -> Iterator[Finding]:
    """Yield what partitions that are refused mean for their servers, by log directory.

    Args:
        loads: the loads of all partitions.
        metadata_directories: the log directories without which a server ends.
        node_ids: the ids of the nodes, by log directory, as far as they are known.
    """
    refused: dict[tuple[str, bool], list[str]] = {}
    partitions: Counter[str] = Counter()
    for load in loads:
        partitions[load.directory] += 1
        if load.consequence is not Consequence.LOADS:
            goes_offline = load.consequence is Consequence.DIRECTORY_OFFLINE
            # `ReplicaManager.handleLogDirFailure` ends a server whose metadata directory fails.
            ends = not goes_offline or load.directory in metadata_directories
            refused.setdefault((load.directory, ends), []).append(os.path.basename(load.path))
    for (directory, ends), names in refused.items():
        node_id = node_ids.get(directory)
        server = "the server" if node_id is None else f"node {node_id}"
        text = f"{server} will not start: it cannot load {_listed(names)}"
        if not ends:
            text = (
                f"{server} will start without this log directory: it cannot load {_listed(names)}, "
                f"and {many(partitions[directory], 'partition')} in it go offline"
            )
        yield Finding(
            "server-stops" if ends else "directory-goes-offline",
            Severity.STOPS,
            text,
            Place(node=node_id, directory=directory),
            "see what is found about them",
            count=len(names),
        )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(names[:_NAMES]) + more

"""What a start makes of a partition that is checked: the loader's answer, and what it removes."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kraftops.display import quoting
from kraftops.display.sizes import NAMES_IN_LINE, first_names, many
from kraftops.dump.check.findings import Loss, losses_in, lost_text, stake_of
from kraftops.dump.check.log_walk import LogSpan, Recovery
from kraftops.dump.check.topics import TopicSettings
from kraftops.fileio.reading import is_forbidden
from kraftops.findings.aside import aside_cure
from kraftops.findings.catalogue import with_cure
from kraftops.findings.finding import (
    Cure,
    Evidence,
    Finding,
    Place,
    Severity,
    stop_finding,
    unless_forbidden,
)
from kraftops.log.files import METADATA_TOPIC
from kraftops.server.loader import load_plan
from kraftops.server.loader.contract import (
    NEWEST_RELEASE,
    Consequence,
    LoadOutcome,
    LoadRequest,
    Refusal,
)
from kraftops.server.loader.metadata_log import foretell_metadata_log
from kraftops.server.loader.partition import foretell_partition
from kraftops.server.loader.text_files import LEADER_EPOCHS
from kraftops.server.log_directory import Duplicate, LogDirectory, identity_of
from kraftops.server.metadata_log.cures import cure_of_unknown_voters
from kraftops.server.partition_data import partition_data_of
from kraftops.server.partition_files import PartitionFiles

START_REFUSED = "start-refused"

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
    def load(self) -> load_plan.PartitionLoad | None:
        """What the loading means for the log directory; None if that is unknown."""
        if self.outcome is None:
            return None
        return load_plan.PartitionLoad.of(os.path.basename(self.path), self.outcome)

    def recovery(self, *, is_stopped: bool) -> Recovery:
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

    def removed(
        self, spans: Mapping[str, LogSpan], end: int, log_start: int
    ) -> Iterator[tuple[Finding, list[Loss]]]:
        """Yield what a start removes of the whole batches, by their spans in each log.

        *end* is that of the whole batches; after a clean stop a start may look for it with an index
        that leads elsewhere (`LogSegment.readNextOffset`), and find an earlier one. Nothing before
        *log_start* can be lost.
        """
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
        if outcome.end_offset < end:
            removed.append((outcome.end_offset, end - 1, 0))
        kept = [(0, log_start - 1), (outcome.local_start_offset, outcome.end_offset - 1)]
        losses: list[Loss] = []
        for first, last, size in sorted(removed):
            covered = [*kept, *(loss.span for loss in losses)]
            losses += losses_in((first, last), covered, size)
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
        if not evidence:
            index = _log_name(outcome.segments[-1]).replace(".log", ".index")
            evidence.append(Evidence(index, "its last entry leads beyond the log"))
        log_start = outcome.log_start_offset or 0
        if log_start > last:
            evidence.append(Evidence(load_plan.LOG_START, f"the log starts at offset {log_start}"))
        place = Place(file=self.path)
        if outcome.cuts:
            cut = outcome.cuts[0]
            place = Place(file=os.path.join(self.path, cut.file), position=cut.position)
        return Finding(
            "start-cuts-log",
            Severity.LOSS,
            f"a start ends the log at offset {outcome.end_offset}: {lost_text(first, last)}",
            place,
            cure="copy the directory before the server starts: dump-log still reads these records; "
            "another replica may have them",
            evidence=tuple(evidence),
            stake=stake_of(losses),
        )

    def refusals(self) -> Iterator[Finding]:
        """Yield a finding for what Kafka's loader throws at the partition, if it does."""
        refusals = [outcome.refusal for outcome in self.outcomes if outcome.refusal]
        if not refusals:
            return
        finding = refusal_finding(self.path, refusals[0], "this partition")
        if len(refusals) < len(self.outcomes):
            finding = replace(
                finding, severity=Severity.RISK, text=f"after another stop, {finding.text}"
            )
        yield replace(finding, consequence=_CONSEQUENCES[refusals[0].consequence])


def refusal_finding(folder: str, refusal: Refusal, what: str) -> Finding:
    """Return a finding: a start refuses a partition or the metadata log because of a file in it."""
    file = os.path.join(folder, refusal.file) if refusal.file else folder
    place = Place(file=file, position=refusal.position)
    return stop_finding(START_REFUSED, f"a start refuses {what}: {refusal.reason}", place)


def foretold(
    files: PartitionFiles,
    directory: LogDirectory,
    settings: TopicSettings,
    release: str = NEWEST_RELEASE,
    *,
    was_clean: bool | None = None,
) -> Start:
    """Return what a start with a release of Kafka makes of a partition.

    *was_clean* is as the log directory says, if it is not given.

    Raises:
        SourceError: a file cannot be read.
    """
    if files.is_tiered or files.is_alone or files.is_bare or files.folder is None:
        return Start(files.path, is_known=False)
    if files.is_metadata:
        outcome = foretell_metadata_log(files.folder, release)
        return Start(files.path, is_known=True, outcomes=(outcome.whole,))
    stops = [directory.plan.was_clean] if directory.has_checkpoints else [False, True]
    if was_clean is not None:
        stops = [was_clean]
    tierings = [False, True] if settings.is_tiered is None else [settings.is_tiered]
    name = os.path.basename(os.path.abspath(files.path))
    log_start = directory.offset(load_plan.LOG_START, files.topic, files.partition) or 0
    recovery_point = directory.offset(load_plan.RECOVERY_POINT, files.topic, files.partition) or 0
    interval = settings.index_interval_bytes
    outcomes = [
        foretell_partition(
            files.folder,
            LoadRequest(
                name=name,
                log_start_checkpoint=log_start,
                recovery_point=recovery_point,
                was_clean=stop,
                is_tiered=is_tiered,
                index_interval_bytes=interval,
                release=release,
            ),
        )
        for stop in stops
        for is_tiered in tierings
    ]
    return Start(files.path, directory.has_checkpoints, tuple(outcomes))


def recovering_cure(
    files: PartitionFiles, directory: LogDirectory, settings: TopicSettings, end: int
) -> Cure | None:
    """Return how a start keeps more than up to *end*, where it does not recover after a clean stop.

    Then it finds the end of a log by an index, and ends it before a torn batch by a whole segment.
    """
    if not directory.plan.was_clean or directory.holder:
        return None
    recovered = foretold(files, directory, settings, was_clean=False).outcome
    if recovered is None or (recovered.end_offset or 0) <= end:
        return None
    return Cure(
        "remove the clean shutdown marker, so that the start recovers the log: it then ends at"
        f" offset {recovered.end_offset}",
        (f"rm {quoting.quote_path(os.path.join(directory.path, load_plan.CLEAN_SHUTDOWN))}",),
    )


def expected_start(
    directory: LogDirectory, topic: str | None, partition: int | None, first_epoch: int | None
) -> tuple[int, str] | None:
    """Return where a log that is not tiered should start, and the file that says so; None: unknown.

    Retention and DeleteRecords cut the epochs with the segments, and the checkpoint has a start
    inside of a segment (`UnifiedLog.maybeIncrementLogStartOffset`). After a kill the checkpoint is
    up to a minute old.
    """
    if load_plan.LOG_START not in directory.plan.offsets:
        return None
    log_start = directory.offset(load_plan.LOG_START, topic, partition)
    is_certain = log_start is not None and directory.plan.was_clean
    if not is_certain and (first_epoch is None or first_epoch >= (log_start or 0)):
        return None if first_epoch is None else (first_epoch, LEADER_EPOCHS)
    return None if log_start is None else (log_start, load_plan.LOG_START)


def placed(
    finding: Finding, path: str, topic: str | None, partition: int | None, directory: LogDirectory
) -> Finding:
    """Return a finding with a partition, where that is in a log directory, and its cure."""
    if not directory.meta:
        return with_cure(finding.moved(topic=topic, partition=partition), path)
    finding = finding.moved(
        topic=topic, partition=partition, node=directory.node_id, directory=directory.path
    )
    if topic == METADATA_TOPIC and (cure := cure_of_unknown_voters(finding, directory.path)):
        return replace(finding, cure=cure.text, commands=cure.commands)
    return with_cure(finding, path)


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
        facts = (Evidence(cause.place.path, f"{cause.text} [{cause.code}]") for cause in causes)
        whole = replace(refusal, evidence=(*refusal.evidence, *facts))
        listed = [
            whole if finding is refusal else finding for finding in listed if finding not in causes
        ]
    return listed


class DirectoryLoads(NamedTuple):
    """A log directory and what the loading of its partitions means, as far as it is known."""

    directory: LogDirectory
    loads: Sequence[load_plan.PartitionLoad]

    @property
    def failures(self) -> list[str]:
        """Names of the partitions and checkpoints that cannot be loaded."""
        damaged = [
            checkpoint.name
            for checkpoint in self.directory.plan.damaged
            if checkpoint.consequence is not Consequence.LOADS
        ]
        refused = (load for load in self.loads if load.consequence is not Consequence.LOADS)
        return [*damaged, *(load.name for load in refused)]

    @property
    def consequences(self) -> frozenset[Consequence]:
        """What is possible; a server that cannot do without this directory ends with it.

        `ReplicaManager.handleLogDirFailure` ends a server whose metadata directory fails.
        """
        # A check of partitions ignores what else lies in a directory.
        plan = replace(self.directory.plan, refusal=None)
        consequences = load_plan.possible_consequences(plan, self.loads)
        if self.directory.is_metadata and consequences != {Consequence.LOADS}:
            return frozenset({Consequence.BROKER_DIES})
        return consequences


def server_findings(
    directories: Sequence[DirectoryLoads], twice: Iterable[Duplicate], *, is_whole_server: bool
) -> Iterator[Finding]:
    """Yield what partitions and checkpoints that cannot be loaded mean for their servers.

    Args:
        directories: log directories of one server or several.
        twice: the partitions that one of these servers has twice.
        is_whole_server: whether these are all log directories of one server, which needs one.
    """
    names_twice: dict[str, list[str]] = defaultdict(list)
    for directory, (path, topic, number, _), first in twice:
        names_twice[directory.path].append(os.path.basename(path))
        cure = Cure("move one of them away, with the broker stopped: keep that with the higher end")
        if identity_of(path) == identity_of(first.path):
            link = path if os.path.islink(path) else first.path
            command = f"rm {quoting.quote_path(link)}"
            cure = Cure("remove the symbolic link: its data stays in the other place", (command,))
        elif (data := partition_data_of(path)) == partition_data_of(first.path):
            text = f"both have {data}: with the broker stopped, move this one away"
            cure = aside_cure(text, directory.path, os.path.basename(path))
        yield stop_finding(
            "partition-twice",
            f"it is the same partition as {first.path}: the broker ends",
            Place(
                node=directory.node_id,
                directory=directory.path,
                topic=topic,
                partition=number,
                file=path,
            ),
            *cure,
        )
    offline = {
        loads.directory.path
        for loads in directories
        if Consequence.DIRECTORY_OFFLINE in loads.consequences
    }
    paths = {loads.directory.path for loads in directories}
    is_last = is_whole_server and load_plan.ends_server(offline, paths, "")
    for directory, loads in directories:
        refused = (
            load_plan.PartitionLoad(name, Consequence.BROKER_DIES)
            for name in names_twice[directory.path]
        )
        failed = DirectoryLoads(directory, [*loads, *refused])
        consequences = failed.consequences
        if consequences == {Consequence.LOADS}:
            continue
        ends = is_last or Consequence.DIRECTORY_OFFLINE not in consequences
        server = "the server" if directory.node_id is None else f"node {directory.node_id}"
        names = first_names(failed.failures, NAMES_IN_LINE)
        text = f"{server} will not start: it cannot load {names}"
        if not ends:
            text = (
                f"{server} will start without this log directory: it cannot load {names}, "
                f"and {many(len(loads), 'partition')} in it {'goes' if len(loads) == 1 else 'go'} "
                "offline"
            )
        if not ends and Consequence.BROKER_DIES in consequences:
            # `LocalLog.read` throws in a directory that has failed, see `possible_consequences`.
            text += "; or it will not start, if that fails before an open transaction is read"
        yield Finding(
            "server-stops" if ends else "directory-goes-offline",
            Severity.STOPS,
            text,
            Place(node=directory.node_id, directory=directory.path),
            cure="remove the cause of each [start-refused] and [bad-checkpoint] of this directory",
            is_possible=all(
                is_forbidden(os.path.join(directory.path, name)) for name in failed.failures
            ),
        )


def damaged_checkpoint(checkpoint: load_plan.DamagedCheckpoint, directory: str) -> Finding:
    """Return the finding about a checkpoint of a log directory, which a start takes as empty."""
    is_note = checkpoint.consequence is Consequence.LOADS
    path = os.path.join(directory, checkpoint.name)
    finding = Finding(
        "bad-checkpoint",
        Severity.NOTE if is_note else Severity.STOPS,
        f"a start cannot read it: {checkpoint.reason}",
        Place(directory=directory, file=path),
        cure="remove it: a server works out its content again",
    )
    return unless_forbidden(with_cure(finding, path), path)

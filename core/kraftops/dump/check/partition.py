"""Check of a partition: its log, compared with all files that speak of it."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from kraftops.dump.check.epochs import EpochCheck
from kraftops.dump.check.findings import (
    Findings,
    Loss,
    PartitionCheck,
    Span,
    losses_in,
    lost_text,
    offsets_text,
    stake_of,
    uncovered,
)
from kraftops.dump.check.log_walk import Compaction, LogWalk, OffsetGap
from kraftops.dump.check.records import Reading, note_records
from kraftops.dump.check.start import (
    Start,
    absorbed,
    expected_start,
    foretold,
    placed,
    recovering_cure,
)
from kraftops.dump.check.tier import Surroundings, TierCheck
from kraftops.dump.small_files import content_of
from kraftops.dump.sources.partition_directory import is_whole, no_log
from kraftops.dump.tiers.remote_metadata import RemotePartition
from kraftops.errors import SourceError
from kraftops.fileio.mounts import status_of
from kraftops.findings.catalogue import with_cure
from kraftops.findings.finding import (
    Cure,
    Evidence,
    Finding,
    Place,
    Severity,
    note_finding,
    worst,
)
from kraftops.log.files import file_name
from kraftops.log.held_files import LARGEST_OF_CHECK
from kraftops.memory import ALONE, Turn
from kraftops.records.internal_topics import decoder_for_topic
from kraftops.server.loader.load_plan import CLEANER, HIGH_WATERMARK, LOG_START, RECOVERY_POINT
from kraftops.server.loader.metadata_log import METADATA_TOPIC_ID
from kraftops.server.log_directory import LogDirectory
from kraftops.server.partition_files import (
    TOPIC_ID,
    PartitionFiles,
    deleted_segments,
    partition_files,
    topic_id_of,
)
from kraftops.uuids import from_text, to_text

_LOOKS = 3  # at a partition that a server changes meanwhile
_MOST_LOOKS = 10  # where each look misses a file that the server has just deleted
_RECENT_SECONDS = 60  # Kafka deletes a renamed file after file.delete.delay.ms, a minute
_PAUSE_SECONDS = 0.2  # a server makes, renames and deletes the files of a segment one by one
_COMPARE_FIRST = (
    "copy both directories, and move neither before kafka-storage compare has shown other copies of"
    " it and of {}: if they are exchanged, exchange them again"
)
_DELETED = ".log.deleted"
_COMPACTED = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


def check_partition(
    path: str, directory: LogDirectory, surroundings: Surroundings, turn: Turn = ALONE
) -> PartitionCheck:
    """Check the partition in the directory *path* of a log directory, or of a tier.

    *surroundings* has what is known beside the directories of a tier, *turn* is that of this
    process.

    What a server changes while it is read may look damaged: a finding about a partition that was
    changed just now must be found again.
    """
    look = _look(path, directory, surroundings, turn)
    looks = 1
    while look.is_doubtful and looks < (_MOST_LOOKS if look.check.unreadable else _LOOKS):
        looks += 1
        time.sleep(_PAUSE_SECONDS)
        again = _look(path, directory, surroundings, turn, is_again=True)
        look = again._replace(check=_confirmed(look.check, again.check))
    return look.check


def check_absent_tier(
    path: str, remote: RemotePartition, surroundings: Surroundings
) -> PartitionCheck:
    """Return the check of a partition with remote segments whose directory *path* is missing."""
    findings = Findings()
    files = PartitionFiles.missing(path, remote.topic, remote.partition)
    check = TierCheck(files, surroundings, findings, remote)
    check.run({})
    losses = tuple(findings.losses)
    return PartitionCheck(
        path,
        remote.topic,
        remote.partition,
        losses=losses,
        findings=tuple(with_cure(finding, path) for finding in findings.all()),
    )


def _confirmed(first: PartitionCheck, second: PartitionCheck) -> PartitionCheck:
    """Return the second look, with the findings that the first one had too."""
    causes = {(finding.code, finding.place.path) for finding in first.findings}
    kept = tuple(
        finding for finding in second.findings if (finding.code, finding.place.path) in causes
    )
    losses = second.losses if worst(kept) is Severity.LOSS else ()
    return replace(second, findings=kept, losses=losses)


class _Look(NamedTuple):
    """What a look at a partition sees; *files* is None where the directory cannot be read."""

    check: PartitionCheck
    files: PartitionFiles | None = None

    @property
    def is_doubtful(self) -> bool:
        """Whether a server that changes the files may have made it look damaged."""
        codes = {finding.code for finding in self.check.findings} - {"zero-tail"}
        if not (self.check.unreadable or codes):
            return False
        since = time.time() - _RECENT_SECONDS
        if self.files is not None:
            return self.files.changed_since(since)
        with suppress(OSError):  # a server has deleted it
            return status_of(self.check.path).modified >= since
        return False


def _look(
    path: str,
    directory: LogDirectory,
    surroundings: Surroundings,
    turn: Turn,
    *,
    is_again: bool = False,
) -> _Look:
    try:
        files = partition_files(path, LARGEST_OF_CHECK)
    except SourceError as error:
        return _Look(PartitionCheck(path, None, None, unreadable=error.message))
    if not files.segments and any(name.endswith(".log") for name in files.names):
        reason = no_log(path, files.names).message
        check = PartitionCheck(path, files.topic, files.partition, unreadable=reason)
        return _Look(check, files)
    try:
        if is_again:
            # After the files, which are named there before they are made.
            surroundings.read_metadata()
        check = _PartitionLook(files, directory, surroundings, turn).check()
    except SourceError as error:
        check = PartitionCheck(path, files.topic, files.partition, unreadable=error.message)
    return _Look(check, files)


class _KnownEnd(NamedTuple):
    """An end offset that a file knows of; a stale one may be of an earlier partition."""

    path: str
    offset: int
    is_stale: bool = False


class _PartitionLook:
    """One look at a partition."""

    def __init__(
        self,
        files: PartitionFiles,
        directory: LogDirectory,
        surroundings: Surroundings,
        turn: Turn,
    ) -> None:
        self._findings = Findings()
        self._surroundings = surroundings
        self._tier = TierCheck(files, surroundings, self._findings) if files.is_tiered else None
        self._files = self._tier.live_files() if self._tier else files
        decoder = None if files.topic is None else decoder_for_topic(files.topic)
        self._reading = Reading(decoder, surroundings.budget, turn)
        self._directory = directory
        self._offsets = directory.offsets_of(files.topic, files.partition)
        self._settings = surroundings.topics.settings(
            files.topic, is_tiered=directory.is_topic_tiered(files.topic)
        )
        self._is_stopped = directory.plan.was_clean and not files.is_metadata

    def check(self) -> PartitionCheck:
        """Return the outcome.

        Raises:
            SourceError: a segment cannot be read.
        """
        files = self._files
        # A server that runs, or was killed, writes the log start a minute later.
        log_start = (self._offset(LOG_START) or 0) if self._is_stopped else None
        start = foretold(files, self._directory, self._settings)
        outcome = start.outcomes[0] if start.outcomes else None
        entries = outcome.epochs_read if outcome else None
        epochs = EpochCheck(files, self._findings, log_start=log_start, entries=entries)
        if files.is_bare or files.is_tiered:
            epochs.ignore()
        walk = self._walk(start, epochs)
        self._check_leftovers()
        topic_id = outcome.topic_id if outcome else None
        first = files.segments[0].base_offset if files.segments else None
        end = walk.next_offset if files.segments else None
        if first is not None and end is not None:
            self._check_end(walk, epochs, end)
            self._check_start(epochs, first)
            self._check_checkpoints(epochs, first, end)
            self._check_topic_id(topic_id, (first, end - 1))
            self._check_producers(walk)
        elif not (files.is_tiered or files.is_archived) and self._directory.has_segments:
            self._check_end(walk, epochs, self._lost_start(epochs))
        logs = [segment.log for segment in files.segments]
        note_records(walk.notes, self._findings)
        # A loader that fails earlier does not read it.
        identity = topic_id or (topic_id_of(files.path) if files.has_topic_id else None)
        if (certain := start.outcome) and certain.starts:
            first, end = certain.local_start_offset, certain.end_offset
        return PartitionCheck(
            path=files.path,
            topic=files.topic,
            partition=files.partition,
            segments=len(files.segments),
            bytes=sum(files.size_of(path) for path in logs),
            start=first,
            end=end,
            losses=tuple(self._findings.losses),
            findings=tuple(
                absorbed(_cured(map(self._placed, self._findings.all()), self._cures(start)))
            ),
            starts=start.starts,
            load=start.load,
            topic_id=to_text(identity) if identity else None,
        )

    def _cures(self, start: Start) -> dict[str, Cure]:
        """Return cures that keep records which would be lost, by the codes of findings."""
        cures: dict[str, Cure] = {}
        if not self._findings.losses or self._files.folder is None:
            return cures
        spans = [loss.span for loss in self._findings.losses]
        if beside := deleted_segments(self._files, spans):
            cures |= dict.fromkeys(("missing-start", "missing-end", "missing-offsets"), beside)
        end = start.outcome.end_offset if start.outcome else None
        if end is not None and (
            cure := recovering_cure(self._files, self._directory, self._settings, end)
        ):
            cures |= dict.fromkeys(("start-cuts-log", "missing-end"), cure)
        return cures

    def _placed(self, finding: Finding) -> Finding:
        files = self._files
        return placed(finding, files.path, files.topic, files.partition, self._directory)

    def _walk(self, start: Start, epochs: EpochCheck) -> LogWalk:
        """Walk over the log, and note what a start, or a tier, makes of it."""
        log_start = self._log_start(epochs)
        recovery = start.recovery(is_stopped=self._is_stopped)._replace(log_start=log_start)
        walk = LogWalk(epochs, recovery, self._compaction(), self._reading)
        walk.run()
        if walk.unexplained and not self._files.is_tiered:
            self._findings.put(_unexplained(walk.unexplained))
        end = walk.next_offset if self._is_stopped else 0
        for removal, losses in start.removed(walk.spans, end, log_start):
            self._findings.put(removal, losses)
        for refusal in start.refusals():
            self._findings.put(refusal)
        if self._tier:
            self._tier.run(walk.ends)
        return walk

    def _check_leftovers(self) -> None:
        """Look for files that a start removes or renames, and for damaged snapshots."""
        files, findings = self._files, self._findings
        for path in () if files.is_tiered else files.orphans:
            findings.add("no-log", path, "its log is missing; a start removes it", Severity.NOTE)
        for path in files.swaps:
            reason = "it replaces the segments of its offsets; a start completes it"
            findings.add("unfinished-swap", path, reason, Severity.NOTE)
        for checkpoint in files.metadata_snapshots:
            if not is_whole(checkpoint):
                reason = "it is damaged, or its end is missing"
                findings.add("bad-snapshot", checkpoint.path, reason)

    def _log_start(self, epochs: EpochCheck) -> int:
        """Return the log start: readers get nothing before it, and it never goes back."""
        log_start = self._offset(LOG_START)
        if log_start is None or self._is_stale(LOG_START):
            return 0
        ends = [self._offset(RECOVERY_POINT), self._offset(HIGH_WATERMARK)]
        # It is not beyond the high watermark (`UnifiedLog.maybeIncrementLogStartOffset`).
        is_wrong = log_start > max((end for end in ends if end is not None), default=log_start)
        return epochs.first_offset or 0 if is_wrong else log_start

    def _offset(self, checkpoint: str) -> int | None:
        return self._offsets.get(checkpoint)

    @property
    def _remote(self) -> RemotePartition | None:
        return self._surroundings.remote_of(self._files.topic, self._files.partition)

    def _compaction(self) -> Compaction:
        topic = self._files.topic or ""
        if topic in _COMPACTED or self._offset(CLEANER) is not None:
            return Compaction(is_done=True)
        policy = self._settings.cleanup_policy
        is_done = None if policy is None else "compact" in policy
        return Compaction(is_done, is_ours=CLEANER not in self._directory.plan.offsets)

    def _lose(
        self,
        code: str,
        span: Span,
        reason: str,
        evidence: Evidence,
        *,
        doubtful_cure: str | None = None,
    ) -> None:
        """Report offsets that are lost; with the cure for a doubtful loss only perhaps.

        Where that is empty, the cure is that of the code.
        """
        losses = [Loss(*span)]
        finding = Finding(
            code,
            Severity.LOSS,
            f"{reason}: {lost_text(*span)}",
            Place(file=evidence.source),
            cure=doubtful_cure or "",
            evidence=(evidence,),
            stake=stake_of(losses),
            is_possible=doubtful_cure is not None,
        )
        self._findings.put(finding, losses)

    def _check_end(self, walk: LogWalk, epochs: EpochCheck, end: int) -> None:
        """Look for offsets after the end in other files."""
        covered = max([end, *(loss.last + 1 for loss in self._findings.losses)])
        spans: list[Span] = []
        if not self._files.segments and (remote := self._remote):
            spans = [segment.span for segment in remote.live]
        for known_end in self._known_ends(walk, epochs, covered):
            end_offset = known_end.offset
            has = f"the log ends before {covered}" if self._files.segments else "no segment is left"
            is_inside = os.path.dirname(known_end.path) == self._files.path
            whose = "" if is_inside else f" of {self._files.topic}-{self._files.partition}"
            reason = f"it knows of offset {end_offset - 1}{whose}, and {has}"
            if known_end.is_stale:
                reason += "; it is older than the partition, which may have been deleted before"
            cure = "" if known_end.is_stale else None
            if twin := self._partition_with_end(os.path.basename(known_end.path), covered):
                reason += f", as {twin} should: their directories may be exchanged; if not"
                cure = _COMPARE_FIRST.format(twin)
            evidence = Evidence(known_end.path, f"{end_offset}")
            for span in uncovered((covered, end_offset - 1), spans):
                self._lose("missing-end", span, reason, evidence, doubtful_cure=cure)
            covered = max(covered, end_offset)

    def _partition_with_end(self, checkpoint: str, end: int) -> str | None:
        """Return another partition of the topic that has this end by a checkpoint; None if none.

        Checkpoints are by name: of two directories that were exchanged they tell each other's end.
        """
        ends = self._directory.plan.offsets.get(checkpoint, {}) if end else {}
        topic, own = self._files.topic, self._files.partition
        others = (
            number for (name, number), offset in ends.items() if (name, offset) == (topic, end)
        )
        return next((f"{topic}-{number}" for number in others if number != own), None)

    def _lost_start(self, epochs: EpochCheck) -> int:
        """Return the first offset of a log without segments, as far as other files tell."""
        files, log_start = self._files, self._offset(LOG_START)
        if files.is_metadata:
            return max((file.snapshot_id[0] for file in files.metadata_snapshots), default=0)
        start = max(log_start or 0, epochs.first_offset or 0)
        if log_start is None or self._settings.is_tiered is False:
            return start
        beside = {file.base_offset for path in files.orphans if (file := file_name(path))}
        return max(start, min(beside | files.producer_snapshots.keys(), default=0))

    def _known_ends(self, walk: LogWalk, epochs: EpochCheck, end: int) -> Iterator[_KnownEnd]:
        """Yield ends beyond *end* that other files mention, the certain ones first."""
        for offset, path in walk.snapshots_after_end:
            yield _KnownEnd(path, offset)
        yield _KnownEnd(epochs.path, epochs.end(0))
        checkpoints = [
            _KnownEnd(os.path.join(self._directory.path, name), end_offset, self._is_stale(name))
            for name in (RECOVERY_POINT, HIGH_WATERMARK)
            if (end_offset := self._offset(name)) is not None and end_offset > end
        ]
        # A running broker rewrites its checkpoints in a moment.
        yield from (
            known_end
            for known_end in sorted(checkpoints, key=lambda known_end: known_end.is_stale)
            if not (known_end.is_stale and self._directory.holder)
        )

    def _is_stale(self, checkpoint: str) -> bool:
        """Tell whether a checkpoint is older than the partition, by the times of the files.

        It may then be of a partition of this name that was deleted, or the times are those of a
        copy.
        """
        if self._directory.plan.was_clean:
            return False
        try:
            created = status_of(os.path.join(self._files.path, TOPIC_ID)).modified
            written = status_of(os.path.join(self._directory.path, checkpoint)).modified
        except OSError:
            return False
        return written < created

    def _check_start(self, epochs: EpochCheck, start: int) -> None:
        """Look for offsets before the first segment in other files."""
        directory = self._directory
        if self._files.is_metadata:
            ends = [file.snapshot_id[0] for file in self._files.metadata_snapshots]
            newest_end = max(ends, default=0)
            if start > newest_end:
                reason = "the offsets after the newest snapshot"
                evidence = Evidence(self._files.path, f"its newest snapshot ends at {newest_end}")
                self._lose("missing-start", (newest_end, start - 1), reason, evidence)
            return
        remote = self._remote
        if remote and remote.live and not self._files.is_tiered:
            self._check_after_remote(remote, start)
            return
        # A broker that stops writes the starts of all logs that are tiered.
        is_written = self._offset(LOG_START) is not None or not self._is_stopped
        is_tiered = self._settings.is_tiered if is_written else False
        files = self._files
        expected = expected_start(directory, files.topic, files.partition, epochs.first_offset)
        if is_tiered or expected is None or expected[0] >= start:
            return
        first, source = expected
        evidence = Evidence(os.path.join(directory.path, LOG_START), f"{first}")
        if source != LOG_START:
            evidence = Evidence(epochs.path, f"the first epoch begins at {first}")
        self._lose_start((first, start - 1), evidence, is_certain=is_tiered is False)

    def _lose_start(self, span: Span, evidence: Evidence, *, is_certain: bool) -> None:
        """Report offsets before the first segment: they are lost, unless a tier has them."""
        reason = f"the first segment begins at {span[1] + 1}"
        if deleted := [name for name in self._files.names if name.endswith(_DELETED)]:
            reason += f", and the next start deletes {min(deleted)}"
        if is_certain:
            self._lose("missing-start", span, reason, evidence)
            return
        reason += (
            f": if the topic is tiered, the tier has {offsets_text(*span)}; if it is not, they are "
            "lost"
        )
        place = Place(file=evidence.source)
        self._findings.put(_unless_known("missing-start", reason, place, evidence=(evidence,)))

    def _check_after_remote(self, remote: RemotePartition, start: int) -> None:
        """Look for offsets between the remote segments, or the log start, and the local log."""
        spans = [segment.span for segment in remote.live]
        first = self._offset(LOG_START) if self._is_stopped else None
        if first is None:
            first = 1 + max(end for _, end in spans)
        evidence = Evidence(self._files.path, f"the local log starts at {start}")
        for span in uncovered((first, start - 1), spans):
            reason = "neither a remote segment nor the local log has them"
            self._lose("remote-gap", span, reason, evidence)

    def _check_checkpoints(self, epochs: EpochCheck, start: int, end: int) -> None:
        """Compare the checkpoints of the log directory with the log."""
        log_start, first_epoch = self._offset(LOG_START), epochs.first_offset
        if log_start is not None and first_epoch is not None and first_epoch < log_start:
            reason = f"the log starts at {log_start}, and the first epoch at {first_epoch}"
            self._differ(LOG_START, reason, Severity.RISK)
        cleaned = self._offset(CLEANER)
        if cleaned is not None and not 0 <= cleaned <= end:
            reason = f"it is cleaned up to {cleaned}, and the log ends at {end}"
            self._differ(CLEANER, reason, Severity.NOTE)
        if not self._is_stopped:
            return
        point, high = self._offset(RECOVERY_POINT), self._offset(HIGH_WATERMARK)
        if RECOVERY_POINT in self._directory.plan.offsets and (point is None or point < end):
            reason = f"{_stated('recovery point', point)}, and the log ends at {end}"
            self._differ(RECOVERY_POINT, reason, Severity.NOTE)
        least = start if log_start is None else log_start
        if HIGH_WATERMARK in self._directory.plan.offsets and (high is None or high < least):
            reason = f"{_stated('high watermark', high)}, and the log starts at {least}"
            self._differ(HIGH_WATERMARK, reason, Severity.NOTE)

    def _differ(self, checkpoint: str, reason: str, severity: Severity) -> None:
        path = os.path.join(self._directory.path, checkpoint)
        name = os.path.basename(self._files.path)
        self._findings.add("checkpoint-differs", path, f"{name}: {reason}", severity)

    def _check_topic_id(self, topic_id: bytes | None, span: Span) -> None:
        """Look at the partition.metadata; *topic_id* is what the loader has read in it.

        *span* are the offsets of the local log.
        """
        files, path = self._files, os.path.join(self._files.path, TOPIC_ID)
        if not files.has_topic_id:
            if span[0] > span[1] or not files.has_epochs:
                return
            if files.is_metadata:  # its id never changes (`UnifiedLog.initializeTopicId`)
                reason = "it is missing; a start writes it"
                self._findings.add("no-topic-id", path, reason, Severity.NOTE)
            else:
                reason = "it is missing: a broker takes the log for a stray, and moves it away"
                covered = [loss.span for loss in self._findings.losses]
                size = sum(files.size_of(segment.log) for segment in files.segments)
                size -= sum(loss.bytes for loss in self._findings.losses)
                self._findings.lose("no-topic-id", path, reason, losses_in(span, covered, size))
            return
        with files.open(path) as file:
            is_usual = topic_id and file.read_at(0, file.size).rstrip() == _metadata_file(topic_id)
            content = {} if is_usual else content_of(file)
        if "damage" in content:
            # `PartitionMetadataReadBuffer` splits lines at their colons, and takes any words.
            effect = "a broker stops" if topic_id is None else "a broker still reads the id"
            severity = Severity.RISK if topic_id is None else Severity.NOTE
            self._findings.add("bad-topic-id", path, f"{content['damage']}; {effect}", severity)
            return
        topic_id = topic_id or from_text(content["data"]["topicId"])
        if files.is_metadata and topic_id != METADATA_TOPIC_ID:
            reason = f"the topic id {to_text(topic_id)}, which is not the metadata log's"
            self._findings.add("topic-id-differs", path, reason)

    def _check_producers(self, walk: LogWalk) -> None:
        if self._is_stopped and walk.producers.last and not self._files.producer_snapshots:
            reason = "no producer snapshot is left, and a start after a clean stop makes empty ones"
            self._findings.add("no-producers", self._files.path, reason)


def _stated(name: str, offset: int | None) -> str:
    return f"there is no {name}" if offset is None else f"the {name} is {offset}"


def _metadata_file(topic_id: bytes) -> bytes:
    return f"version: 0\ntopic_id: {to_text(topic_id)}".encode()


def _cured(findings: Iterable[Finding], cures: Mapping[str, Cure]) -> Iterator[Finding]:
    """Give findings about lost records the cure that keeps these records."""
    for finding in findings:
        cure = cures.get(finding.code) if finding.severity is Severity.LOSS else None
        if cure is None:
            yield finding
            continue
        # A recovery cuts off what is torn: the copy is made before.
        first = "copy the directory, and " if finding.commands else ""
        commands = (*finding.commands, *cure.commands)
        yield replace(finding, cure=f"{first}{cure.text}", commands=commands)


def _unexplained(gaps: list[OffsetGap]) -> Finding:
    """Return a possible loss for gaps that a cleaner may have made."""
    first = gaps[0]
    reason = (
        f"nothing has {offsets_text(first.first, first.last)}, before it: if the topic is "
        "compacted, that is as it should be; if it is not, they are lost"
    )
    place = Place(file=first.path, position=first.position or None)
    return replace(_unless_known("missing-offsets", reason, place), count=len(gaps))


def _unless_known(
    code: str, text: str, place: Place, evidence: tuple[Evidence, ...] = ()
) -> Finding:
    """Return a possible loss: only the settings of the topic tell whether it is one."""
    cure = "check it together with the __cluster_metadata-0 of this cluster, which decides it"
    finding = note_finding(code, text, place, cure)
    return replace(finding, evidence=evidence, is_possible=True)

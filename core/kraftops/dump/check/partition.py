"""Check of a partition: its log, compared with all files that speak of it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace

from kraftops.dump.check.epochs import EpochCheck
from kraftops.dump.check.findings import Findings, Loss, PartitionCheck, lost_text
from kraftops.dump.check.log_directory import (
    CLEANER,
    HIGH_WATERMARK,
    LOG_START,
    RECOVERY_POINT,
    LogDirectory,
)
from kraftops.dump.check.log_walk import Compaction, LogWalk, Recovery
from kraftops.dump.check.partition_files import (
    TOPIC_ID,
    PartitionFiles,
    changed_since,
    partition_files,
    size_of,
)
from kraftops.dump.check.records import record_findings
from kraftops.dump.check.tier import Span, Surroundings, TierCheck, uncovered
from kraftops.dump.small_files import small_file
from kraftops.dump.sources.partition_directory import is_whole, no_log
from kraftops.dump.tiers.remote_metadata import RemotePartition
from kraftops.errors import SourceError
from kraftops.findings.finding import Severity, worst
from kraftops.log.files import file_name
from kraftops.records.internal_topics import decoder_for_topic

_LOOKS = 3  # at a partition that a server changes meanwhile
_RECENT_SECONDS = 60
_PAUSE_SECONDS = 0.2  # a server makes, renames and deletes the files of a segment one by one
_METADATA_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
_COMPACTED = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


def check_partition(
    path: str, directory: LogDirectory, around: Surroundings | None = None
) -> PartitionCheck:
    """Check the partition in the directory *path* of a log directory, or of a tier.

    *around* has what is known beside the directories of a tier.

    What a server changes while it is read may look damaged: a finding about a partition that was
    changed just now must be found again.
    """
    found = _look(path, directory, around)
    for _ in range(_LOOKS - 1):
        is_doubtful = found.unreadable or any(one.code != "zero-tail" for one in found.findings)
        if not (is_doubtful and changed_since(path, time.time() - _RECENT_SECONDS)):
            break
        time.sleep(_PAUSE_SECONDS)
        found = _confirmed(found, _look(path, directory, around, is_again=True))
    return found


def check_absent_tier(path: str, remote: RemotePartition, around: Surroundings) -> PartitionCheck:
    """Return the check of a partition with remote segments whose directory *path* is missing."""
    findings = Findings()
    files = PartitionFiles.missing(path, remote.topic, remote.partition)
    check = TierCheck(files, around, findings, remote)
    check.run({})
    return PartitionCheck(
        path, remote.topic, remote.partition, losses=tuple(check.losses), findings=findings.all()
    )


def _confirmed(first: PartitionCheck, second: PartitionCheck) -> PartitionCheck:
    """Return the second look, with the findings that the first one had too."""
    known = {(finding.code, finding.place.path) for finding in first.findings}
    kept = tuple(one for one in second.findings if (one.code, one.place.path) in known)
    losses = second.losses if worst(kept) is Severity.LOSS else ()
    return replace(second, findings=kept, losses=losses)


def _look(
    path: str, directory: LogDirectory, around: Surroundings | None, *, is_again: bool = False
) -> PartitionCheck:
    try:
        files = partition_files(path)
    except SourceError as error:
        return PartitionCheck(path, None, None, unreadable=error.message)
    if not files.segments and any(name.endswith(".log") for name in files.names):
        reason = no_log(path, files.names).message
        return PartitionCheck(path, files.topic, files.partition, unreadable=reason)
    try:
        if around and is_again:
            around.read_metadata()  # after the files, which are named there before they are made
        return _PartitionLook(files, directory, around or Surroundings(())).check()
    except SourceError as error:
        return PartitionCheck(path, files.topic, files.partition, unreadable=error.message)


class _PartitionLook:
    """One look at a partition."""

    def __init__(
        self, files: PartitionFiles, directory: LogDirectory, around: Surroundings
    ) -> None:
        self._findings = Findings()
        self._around = around
        self._tier = TierCheck(files, around, self._findings) if files.is_tiered else None
        self._files = self._tier.live_files() if self._tier else files
        self._directory = directory
        self._losses: list[Loss] = []
        self._is_stopped = directory.is_clean and not files.is_metadata

    def check(self) -> PartitionCheck:
        """Return the outcome.

        Raises:
            SourceError: a segment cannot be read.
        """
        files, findings = self._files, self._findings
        # A server that runs, or was killed, writes the log start a minute later.
        log_start = (self._offset(LOG_START) or 0) if self._is_stopped else None
        epochs = EpochCheck(files.path, findings, exists=files.has_epochs, log_start=log_start)
        if files.is_bare or files.is_tiered:
            epochs.ignore()
        walk = LogWalk(files, self._recovery(), epochs, findings, self._compaction())
        walk.run()
        self._losses = walk.losses
        if self._tier:
            self._tier.run(walk.ends)
            self._losses += self._tier.losses
        start = files.segments[0].base_offset if files.segments else None
        end = walk.next_offset if files.segments else None
        for path in () if files.is_tiered else files.orphans:
            findings.add("no-log", path, "its log is missing; a start removes it", Severity.NOTE)
        for path in files.swaps:
            reason = "it replaces the segments of its offsets; a start completes it"
            findings.add("unfinished-swap", path, reason, Severity.NOTE)
        if start is not None and end is not None:
            self._check_end(walk, epochs, end)
            self._check_start(epochs, start)
            self._check_checkpoints(epochs, start, end)
            self._check_topic_id(has_batches=end > start)
            self._check_producers(walk)
        elif not (files.is_tiered or files.is_archived):
            self._check_end(walk, epochs, self._lost_start(epochs))
        for checkpoint in files.checkpoints:
            if not is_whole(checkpoint):
                reason = "it is damaged, or its end is missing"
                findings.add("bad-snapshot", checkpoint.path, reason, Severity.RISK)
        logs = [segment.log for segment in files.segments]
        decoder = None if files.topic is None else decoder_for_topic(files.topic)
        for finding in record_findings(logs, decoder, findings.all()):
            findings.add(*finding)
        return PartitionCheck(
            files.path,
            files.topic,
            files.partition,
            len(files.segments),
            sum(size_of(path) for path in logs),
            start,
            end,
            tuple(self._losses),
            findings.all(),
        )

    def _offset(self, checkpoint: str) -> int | None:
        return self._directory.offset(checkpoint, self._files.topic, self._files.partition)

    @property
    def _remote(self) -> RemotePartition | None:
        return self._around.remote_of(self._files.topic, self._files.partition)

    @property
    def _may_be_tiered(self) -> bool:
        return self._directory.is_tiered or self._files.topic in self._around.tiered_topics

    def _compaction(self) -> Compaction:
        """Return what is known of compaction."""
        topic = self._files.topic or ""
        if topic in _COMPACTED or self._offset(CLEANER) is not None:
            return Compaction(is_done=True)
        policy = self._around.cleanup_policies.get(topic)
        is_done = None if policy is None else "compact" in policy
        return Compaction(is_done, is_ours=CLEANER not in self._directory.offsets)

    def _recovery(self) -> Recovery:
        """Return what a start does to the segments."""
        if self._files.is_metadata:
            return Recovery(lambda _: True, is_known=True, is_stopped=False)
        if self._files.is_tiered:  # no server writes it again, or mends it
            return Recovery(lambda _: False, is_known=True, is_stopped=True)
        directory = self._directory
        if not directory.is_known:
            return Recovery(lambda _: False, is_known=False, is_stopped=False)
        if directory.is_clean:
            return Recovery(lambda _: False, is_known=True, is_stopped=True)
        point = self._offset(RECOVERY_POINT) or 0
        bases = [segment.base_offset for segment in self._files.segments]
        first = max((base for base in bases if base <= point), default=0)
        return Recovery(lambda base: base >= first, is_known=True, is_stopped=False)

    def _lose(self, code: str, path: str, first: int, last: int, reason: str) -> None:
        self._losses.append(Loss(first, last))
        self._findings.add(code, path, f"{reason}: {lost_text(first, last)}", Severity.LOSS)

    def _check_end(self, walk: LogWalk, epochs: EpochCheck, end: int) -> None:
        """Look for offsets behind the end in other files."""
        covered = max([end, *(loss.last + 1 for loss in walk.losses)])
        spans: list[Span] = []
        if not self._files.segments and (remote := self._remote):
            spans = [(segment.start, segment.end) for segment in remote.live]
        for path, known in self._known_ends(walk, epochs):
            has = f"the log ends before {covered}" if self._files.segments else "no segment is left"
            reason = f"it knows of offset {known - 1}, and {has}"
            for first, last in uncovered((covered, known - 1), spans):
                self._lose("missing-end", path, first, last, reason)
            covered = max(covered, known)

    def _lost_start(self, epochs: EpochCheck) -> int:
        """Return the first offset of a log without segments, as far as other files tell."""
        files, log_start = self._files, self._offset(LOG_START)
        if files.is_metadata:
            return max((file.snapshot_id[0] for file in files.checkpoints), default=0)
        start = max(log_start or 0, epochs.first_offset or 0)
        if log_start is None or not self._may_be_tiered:
            return start
        beside = {one.base_offset for path in files.orphans if (one := file_name(path))}
        return max(start, min(beside | files.snapshots.keys(), default=0))

    def _known_ends(self, walk: LogWalk, epochs: EpochCheck) -> Iterator[tuple[str, int]]:
        for name in (RECOVERY_POINT, HIGH_WATERMARK):
            known = self._offset(name)
            if known is not None and self._is_current(name):
                yield os.path.join(self._directory.path, name), known
        for known, path in walk.snapshots_behind:
            yield path, known
        yield epochs.path, epochs.end(0)

    def _is_current(self, checkpoint: str) -> bool:
        """Tell whether a checkpoint is not older than the partition, which was deleted before."""
        if self._directory.is_clean:
            return True
        try:
            made = os.stat(os.path.join(self._files.path, TOPIC_ID)).st_mtime_ns
        except OSError:
            return True
        return self._directory.written[checkpoint] >= made

    def _check_start(self, epochs: EpochCheck, start: int) -> None:
        """Look for offsets before the first segment in other files."""
        directory = self._directory
        if self._files.is_metadata:
            ends = [file.snapshot_id[0] for file in self._files.checkpoints]
            known = max(ends, default=0)
            if start > known:
                reason = "the offsets after the newest snapshot"
                self._lose("missing-start", self._files.path, known, start - 1, reason)
            return
        remote = self._remote
        if remote and remote.live and not self._files.is_tiered:
            self._check_behind_remote(remote, start)
            return
        if LOG_START not in directory.offsets:
            return
        log_start, first_epoch = self._offset(LOG_START), epochs.first_offset
        # A broker that stops writes the starts of all logs that are tiered.
        is_written = log_start is not None or not self._is_stopped
        if is_written and self._may_be_tiered:
            return
        if log_start is not None and log_start < start and self._is_stopped:
            path = os.path.join(directory.path, LOG_START)
            reason = (
                f"the log starts at {log_start}, its first segment at {start}, and no file speaks "
                "of a tier"
            )
            self._lose("missing-start", path, log_start, start - 1, reason)
        elif first_epoch is not None and first_epoch < start and log_start is None:
            reason = f"it begins at {first_epoch}, and the first segment at {start}"
            self._lose("missing-start", epochs.path, first_epoch, start - 1, reason)

    def _check_behind_remote(self, remote: RemotePartition, start: int) -> None:
        """Look for offsets between the remote segments, or the log start, and the local log."""
        spans = [(segment.start, segment.end) for segment in remote.live]
        first = self._offset(LOG_START) if self._is_stopped else None
        if first is None:
            first = 1 + max(end for _, end in spans)
        for one, other in uncovered((first, start - 1), spans):
            reason = "neither a remote segment has them, nor the local log"
            self._lose("remote-gap", self._files.path, one, other, reason)

    def _check_checkpoints(self, epochs: EpochCheck, start: int, end: int) -> None:
        """Compare the checkpoints of the log directory with the log."""
        log_start, first_epoch = self._offset(LOG_START), epochs.first_offset
        if log_start is not None and log_start > end:
            reason = f"the log starts at {log_start} and ends at {end}: a start deletes all of it"
            self._losses.append(Loss(start, end - 1, sum(map(size_of, self._logs()))))
            self._differ(LOG_START, reason, Severity.LOSS)
        elif log_start is not None and first_epoch is not None and first_epoch < log_start:
            reason = f"the log starts at {log_start}, and the first epoch at {first_epoch}"
            self._differ(LOG_START, reason, Severity.RISK)
        cleaned = self._offset(CLEANER)
        if cleaned is not None and not 0 <= cleaned <= end:
            reason = f"it is cleaned up to {cleaned}, and the log ends at {end}"
            self._differ(CLEANER, reason, Severity.NOTE)
        if not self._is_stopped:
            return
        point, high = self._offset(RECOVERY_POINT), self._offset(HIGH_WATERMARK)
        if RECOVERY_POINT in self._directory.offsets and (point is None or point < end):
            reason = f"the recovery point is {point}, and the log ends at {end}"
            self._differ(RECOVERY_POINT, reason, Severity.NOTE)
        least = start if log_start is None else log_start
        if HIGH_WATERMARK in self._directory.offsets and (high is None or high < least):
            reason = f"the high watermark is {high}, and the log starts at {least}"
            self._differ(HIGH_WATERMARK, reason, Severity.NOTE)

    def _logs(self) -> list[str]:
        return [segment.log for segment in self._files.segments]

    def _differ(self, checkpoint: str, reason: str, severity: Severity) -> None:
        path = os.path.join(self._directory.path, checkpoint)
        name = os.path.basename(self._files.path)
        self._findings.add("checkpoint-differs", path, f"{name}: {reason}", severity)

    def _check_topic_id(self, *, has_batches: bool) -> None:
        files, path = self._files, os.path.join(self._files.path, TOPIC_ID)
        if not files.has_topic_id:
            if has_batches and files.has_epochs:
                reason = "it is missing: a broker takes the log for a stray, and moves it away"
                self._findings.add("no-topic-id", path, reason, Severity.RISK)
            return
        found = small_file(path)
        assert found is not None
        if "damage" in found:
            reason = f"{found['damage']}; a broker stops"
            self._findings.add("bad-topic-id", path, reason, Severity.RISK)
        elif files.is_metadata and found["data"]["topicId"] != _METADATA_TOPIC_ID:
            reason = f"the topic id {found['data']['topicId']}, which is not the metadata log's"
            self._findings.add("topic-id-differs", path, reason, Severity.RISK)

    def _check_producers(self, walk: LogWalk) -> None:
        if self._is_stopped and walk.producers.last and not self._files.snapshots:
            reason = "no producer snapshot is left, and a start after a clean stop makes empty ones"
            self._findings.add("no-producers", self._files.path, reason, Severity.RISK)

"""Checks of tiered partitions: beside the remote log metadata, and beside the local logs."""

import os
from collections.abc import Iterable
from dataclasses import replace

from kraftops.display.sizes import many
from kraftops.dump.check.findings import (
    Findings,
    Loss,
    PartitionCheck,
    Span,
    lost_text,
    offsets_text,
    uncovered,
)
from kraftops.dump.check.topics import UNKNOWN_TOPICS
from kraftops.dump.sources.parts import size_of
from kraftops.dump.tiers.remote_metadata import (
    RemoteMetadata,
    RemotePartition,
    RemoteSegment,
    RemoteState,
    read_remote_metadata,
)
from kraftops.fileio.mounts import exists
from kraftops.findings.finding import Severity
from kraftops.log.files import FileKind, tiered_name, tiered_topic_id
from kraftops.memory import Budget
from kraftops.server.partition_files import PartitionFiles

_LOG, _TXN_INDEX = FileKind.LOG.value, FileKind.TXN_INDEX.value


class Surroundings:
    """What other logs say of a partition: metadata, remote log metadata, local logs of a tier."""

    def __init__(self, metadata_paths: Iterable[str], budget: Budget) -> None:
        """Begin with the logs of `__remote_log_metadata` that are given."""
        self.budget = budget
        self._paths = list(metadata_paths)
        self.locals: list[PartitionCheck] = []
        """The checks of local logs, with their offsets."""
        self.topics = UNKNOWN_TOPICS
        self.metadata = RemoteMetadata({})

    def read_metadata(self) -> None:
        """Read the metadata, again if it was read before.

        Raises:
            SourceError: it cannot be read.
        """
        if self._paths:
            self.metadata = read_remote_metadata(self._paths, self.budget)

    def remote_of(self, topic: str | None, partition: int | None) -> RemotePartition | None:
        """Return the remote segments of a partition that exists; None if they are unknown."""
        partitions = (
            remote
            for remote in self.metadata.partitions.values()
            if (remote.topic, remote.partition) == (topic, partition) and not remote.is_deleted
        )
        return next(partitions, None)

    def locals_of(
        self, topic: str | None, partition: int | None, topic_id: str
    ) -> list[tuple[str, Span]]:
        return [
            (check.path, (check.start, check.end - 1))
            for check in self.locals
            if check.start is not None
            and check.end is not None
            and (check.topic, check.partition) == (topic, partition)
            and topic_id in ("", check.topic_id or topic_id)
        ]


class TierCheck:
    """Check of the directory of a tiered partition."""

    def __init__(
        self,
        files: PartitionFiles,
        surroundings: Surroundings,
        findings: Findings,
        remote: RemotePartition | None = None,
    ) -> None:
        """Look at the files in the directory, and at what is known of them.

        *remote* is looked up by the names of the directory and the files, unless it is given.
        """
        self._folder, self._files, self._findings = files.path, files, findings
        self._surroundings = surroundings
        self._objects = _objects(files.names, files.path)
        metadata, topic_id = surroundings.metadata, tiered_topic_id(files.path)
        if remote is None and topic_id is not None and files.partition is not None:
            remote = metadata.partitions.get((topic_id, files.partition))
        self.remote = remote or metadata.of_segments(self._objects)
        self._topic_id = self.remote.topic_id if self.remote else topic_id or ""

    def live_files(self) -> PartitionFiles:
        """Return the files with only the segments that readers are sent to."""
        if self.remote is None:
            return self._files
        live = {segment.log_name for segment in self.remote.live}
        kept = (files for files in self._files.segments if os.path.basename(files.log) in live)
        return replace(self._files, segments=tuple(kept), is_joined=True)

    def run(self, ends: dict[str, int]) -> None:
        """Compare both sides; *ends* are the ends of the sound logs, exclusive, by their paths."""
        if self.remote is not None:
            self._compare(self.remote, ends)
            self._check_leftovers(self.remote)
        self._incomplete()
        self._gaps(ends)

    def _local_spans(self) -> list[Span]:
        topic, partition = self._place
        return [span for _, span in self._surroundings.locals_of(topic, partition, self._topic_id)]

    @property
    def _place(self) -> tuple[str | None, int | None]:
        if self.remote is not None:
            return self.remote.topic, self.remote.partition
        return self._files.topic, self._files.partition

    def _compare(self, remote: RemotePartition, ends: dict[str, int]) -> None:
        """Look for the logs of all segments that readers are sent to."""
        live = remote.live
        missing = [segment for segment in live if self._log_path(segment) is None]
        there = [segment for segment in live if segment not in missing]
        spans = [segment.span for segment in there] + self._local_spans()
        for segment in missing:
            path = os.path.join(self._folder, segment.log_name)
            reason = f"the log of {offsets_text(*segment.span)} is missing"
            self._lose("remote-missing", path, reason, segment.span, spans)
        for segment in there:
            path = self._log_path(segment) or ""
            size, end = size_of(path), ends.get(path)
            if size != segment.size:
                reason = f"it has {many(size, 'byte')}, and the remote log metadata {segment.size}"
            elif end is not None and end != segment.end + 1:
                reason = f"it ends at offset {end - 1}, and by the metadata at {segment.end}"
            else:
                continue
            others = [other.span for other in there if other != segment]
            others += self._local_spans()
            lost = (segment.start if end is None else end, segment.end)
            if end is None:  # the damage is already reported
                self._findings.add("remote-differs", path, reason)
            else:
                self._lose("remote-differs", path, reason, lost, others)

    def _log_path(self, segment: RemoteSegment) -> str | None:
        objects = self._objects.get(segment.segment_id)
        if objects and _LOG in objects:
            return objects[_LOG]
        path = os.path.join(self._folder, segment.log_name)  # copied meanwhile
        return path if size_of(path) else None

    def _lose(self, code: str, path: str, reason: str, span: Span, others: Iterable[Span]) -> None:
        """Report offsets that are lost, as far as nothing else has them."""
        losses = [Loss(*lost) for lost in uncovered(span, others)]
        if not losses:
            reason += "; their records are found elsewhere"
            self._findings.add(code, path, reason)
            return
        losses_text = ", ".join(lost_text(*loss.span) for loss in losses)
        self._findings.lose(code, path, f"{reason}; {losses_text}", losses)

    def _check_leftovers(self, remote: RemotePartition) -> None:
        """Look for files that no reader is sent to."""
        for segment_id, objects in self._objects.items():
            path = _any_path(objects)
            segment = remote.segments.get(segment_id)
            if segment_id in remote.cut or not (segment or exists(path)):
                continue
            if segment is None:
                reason = "the remote log metadata does not name it"
                self._findings.add("remote-unknown", path, reason)
            elif remote.is_deleted or segment.state == RemoteState.DELETE_FINISHED:
                if exists(path):
                    reason = "it was deleted, by the remote log metadata"
                    self._findings.add("remote-left", path, reason)
            elif not segment.is_live and _is_replaced(segment, remote):
                reason = "its copy was not finished, and was made again"
                self._findings.add("remote-left", path, reason, Severity.NOTE)

    def _incomplete(self) -> None:
        """Look for segments that lack files which others have beside their logs."""
        all_kinds = {kind for objects in self._objects.values() for kind in objects}
        kinds = all_kinds - {_LOG, _TXN_INDEX}
        live = None if self.remote is None else {segment.segment_id for segment in self.remote.live}
        for segment_id, objects in self._objects.items():
            if _LOG not in objects or not (live is None or segment_id in live):
                continue
            stem = objects[_LOG].removesuffix(_LOG)
            for kind in sorted(kinds - objects.keys()):
                if not exists(stem + kind):
                    reason = f"its {kind} is missing: a broker cannot read it"
                    path = objects[_LOG]
                    self._findings.add("remote-incomplete", path, reason)
        if live is None:
            for objects in self._objects.values():
                if _LOG not in objects and exists(_any_path(objects)):
                    reason = "the log of its segment is missing"
                    self._findings.add("remote-incomplete", _any_path(objects), reason)

    def _gaps(self, ends: dict[str, int]) -> None:
        """Look for offsets between segments, and between them and the local logs."""
        if self.remote is not None:
            spans = [segment.span for segment in self.remote.live]
        else:
            tiered = (tiered_name(path) for path in ends)
            spans = [
                (segment.base_offset, end - 1)
                for segment, end in zip(tiered, ends.values(), strict=True)
                if segment is not None
            ]
        if not spans:
            return
        first, last = min(spans)[0], max(end for _, end in spans)
        locals_ = self._local_spans()
        if self.remote is not None:
            for start, end in uncovered((first, last), [*spans, *locals_]):
                self._gap(self._folder, start, end, "no remote segment has them")
            return
        topic, partition = self._place  # the walk has compared the segments
        for path, (local_start, _) in self._surroundings.locals_of(
            topic, partition, self._topic_id
        ):
            for start, end in uncovered((last + 1, local_start - 1), locals_):
                reason = f"the remote log ends at {last}, and the local one starts at {local_start}"
                self._gap(path, start, end, reason)

    def _gap(self, path: str, first: int, last: int, reason: str) -> None:
        reason = f"{reason}: {lost_text(first, last)}"
        self._findings.lose("remote-gap", path, reason, [Loss(first, last)])


def _objects(names: Iterable[str], folder: str) -> dict[str, dict[str, str]]:
    """Group the files of tiered segments: path by kind, by segment id."""
    objects: dict[str, dict[str, str]] = {}
    for name in names:
        parsed = tiered_name(name)
        if parsed is not None:
            objects.setdefault(parsed.segment_id, {})[parsed.kind] = os.path.join(folder, name)
    return objects


def _any_path(objects: dict[str, str]) -> str:
    """Return the path of the log of a segment, or of another of its files."""
    return objects.get(_LOG) or next(iter(objects.values()))


def _is_replaced(segment: RemoteSegment, remote: RemotePartition) -> bool:
    """Tell whether later segments cover the offsets of a segment, which was copied again."""
    spans = [other.span for other in remote.live if other.event_time >= segment.event_time]
    return not list(uncovered(segment.span, spans))

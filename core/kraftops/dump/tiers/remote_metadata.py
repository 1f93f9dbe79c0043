"""The remote segments that `__remote_log_metadata` names, with their states (KIP-405).

The states are those of Kafka's `RemoteLogSegmentState` and `RemotePartitionDeleteState`.
"""

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.dump.sources.names import expand
from kraftops.log.ranges import ByteRange
from kraftops.memory import Budget
from kraftops.query.query import Query
from kraftops.records.internal_topics import REMOTE_TOPIC, decoder_for_topic

_DECODER = decoder_for_topic(REMOTE_TOPIC)
_PARTITION_DELETED = 2  # `RemotePartitionDeleteState.DELETE_PARTITION_FINISHED`


class RemoteState(IntEnum):
    """State of a remote segment."""

    COPY_STARTED = 0
    COPY_FINISHED = 1
    DELETE_STARTED = 2
    DELETE_FINISHED = 3


@dataclass(frozen=True, slots=True)
class RemoteSegment:
    """A remote segment; *end* is its last offset, *size* the bytes of its log.

    *epochs* are pairs of a leader epoch and its first offset, *event_time* is in ms.
    """

    segment_id: str
    start: int
    end: int
    size: int
    state: int
    epochs: tuple[tuple[int, int], ...]
    event_time: int

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last offset."""
        return self.start, self.end

    @property
    def is_live(self) -> bool:
        """Whether readers are sent to it."""
        return self.state == RemoteState.COPY_FINISHED

    @property
    def log_name(self) -> str:
        return f"{self.start:020}-{self.segment_id}.log"

    def epoch_at(self, offset: int) -> int:
        """Return the leader epoch of an offset in it; -1 if that is unknown."""
        index = bisect_right([start for _, start in self.epochs], offset) - 1
        return self.epochs[index][0] if index >= 0 else -1


@dataclass(slots=True)
class RemotePartition:
    """The remote segments of a partition, by their ids.

    *cut* are ids of segments with updates only: the log begins after their first record.
    """

    topic: str
    topic_id: str
    partition: int
    segments: dict[str, RemoteSegment] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    is_deleted: bool = False

    @property
    def live(self) -> list[RemoteSegment]:
        """The segments that readers are sent to, by offset."""
        live = (segment for segment in self.segments.values() if segment.is_live)
        return sorted(live, key=lambda segment: (segment.start, segment.end))

    def holding(self, offset: int) -> RemoteSegment | None:
        """Return the segment that holds an offset; of several copies, the newest leader's."""
        holders = [segment for segment in self.live if segment.start <= offset <= segment.end]
        return max(holders, key=lambda part: (part.epoch_at(offset), part.event_time), default=None)


@dataclass(frozen=True, slots=True)
class RemoteMetadata:
    """Partitions with remote segments, by topic id and partition.

    *damage* are the files that could not be read completely, each with its first reason.
    """

    partitions: Mapping[tuple[str, int], RemotePartition]
    damage: tuple[tuple[str, str], ...] = ()

    def of_segments(self, segment_ids: Iterable[str]) -> RemotePartition | None:
        ids = set(segment_ids)
        return next(
            (
                partition
                for partition in self.partitions.values()
                if not ids.isdisjoint(partition.segments) or not ids.isdisjoint(partition.cut)
            ),
            None,
        )


def read_remote_metadata(paths: Iterable[str], budget: Budget) -> RemoteMetadata:
    """Return what logs of `__remote_log_metadata` say.

    Args:
        paths: files, directories of partitions, or log directories with them among others.
        budget: what each file may cost.

    Raises:
        SourceError: a directory or file cannot be read.
        UsageError: a directory holds no log.
    """
    partitions: dict[tuple[str, int], RemotePartition] = {}
    damage: list[tuple[str, str]] = []
    for source in expand(paths, from_start=True):
        if source.topic not in (None, REMOTE_TOPIC):
            continue
        report = Report()
        for kind, value in _values(source.path, budget, report):
            _RULES[kind](partitions, value)
        if report.has_damage:
            reason = report.take_lines()[0].removeprefix(f"{source.path}: ")
            damage.append((source.path, reason))
    return RemoteMetadata(partitions, tuple(damage))


def _values(path: str, budget: Budget, report: Report) -> Iterator[tuple[str, dict[str, Any]]]:
    query = Query(decoder=_DECODER, budget=budget, skip_invalid=True)
    for row in part_rows(ByteRange(path), query, report):
        if row.type in _RULES and row.value and not row.error:
            yield row.type, json.loads(row.value)


def _partition(
    partitions: dict[tuple[str, int], RemotePartition], entry: Mapping[str, Any]
) -> RemotePartition:
    key = entry["id"], entry["partition"]
    return partitions.setdefault(key, RemotePartition(entry["name"], *key))


def _add(partitions: dict[tuple[str, int], RemotePartition], value: dict[str, Any]) -> None:
    entry = value["remoteLogSegmentId"]
    partition = _partition(partitions, entry["topicIdPartition"])
    epochs = ((epoch["leaderEpoch"], epoch["offset"]) for epoch in value["segmentLeaderEpochs"])
    partition.segments[entry["id"]] = RemoteSegment(
        segment_id=entry["id"],
        start=value["startOffset"],
        end=value["endOffset"],
        size=value["segmentSizeInBytes"],
        state=value["remoteLogSegmentState"],
        epochs=tuple(sorted(epochs, key=lambda epoch_and_start: epoch_and_start[1])),
        event_time=value["eventTimestampMs"],
    )


def _update(partitions: dict[tuple[str, int], RemotePartition], value: dict[str, Any]) -> None:
    entry = value["remoteLogSegmentId"]
    partition = _partition(partitions, entry["topicIdPartition"])
    segment = partition.segments.get(entry["id"])
    if segment is None:
        partition.cut.add(entry["id"])
        return
    partition.segments[entry["id"]] = replace(
        segment, state=value["remoteLogSegmentState"], event_time=value["eventTimestampMs"]
    )


def _delete(partitions: dict[tuple[str, int], RemotePartition], value: dict[str, Any]) -> None:
    partition = _partition(partitions, value["topicIdPartition"])
    partition.is_deleted |= value["remotePartitionDeleteState"] == _PARTITION_DELETED


_RULES = {
    "REMOTE_LOG_SEGMENT_METADATA_RECORD": _add,
    "REMOTE_LOG_SEGMENT_METADATA_UPDATE_RECORD": _update,
    "REMOTE_PARTITION_DELETE_METADATA_RECORD": _delete,
}

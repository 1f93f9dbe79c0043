"""What a start of a broker makes of its partitions: Kafka's loader, asked for each of them.

It reads what Kafka reads. After an unclean stop that is whole segments; a check of all partitions
says more, and takes longer.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from kraftops.display.sizes import many, size_text
from kraftops.dump.check.findings import lost_text
from kraftops.dump.check.start import (
    DirectoryLoads,
    Start,
    damaged_checkpoint,
    foretold,
    server_findings,
)
from kraftops.dump.check.topics import TopicSettings
from kraftops.dump.sources.parts import size_of
from kraftops.errors import SourceError
from kraftops.findings.finding import Evidence, Finding, Place, Severity
from kraftops.image.state.image import MetadataImage
from kraftops.server.loader.load_plan import HIGH_WATERMARK, RECOVERY_POINT, PartitionLoad
from kraftops.server.log_directory import LogDirectory, duplicates
from kraftops.server.partition_files import PartitionFiles, partition_files
from kraftops.storage.logdirs.node import Node

_RECOVERED_BYTES = 256 << 20
"""Bytes of unflushed segments that are read for a node: a second or two of work. Kafka itself reads
all of them, which takes minutes on a broker with thousands of partitions."""
_TOPIC = 2
"""`ConfigResource.Type.TOPIC`."""


@dataclass(slots=True)
class _Budget:
    """Bytes that may still be read, and the partitions that were too large."""

    left_bytes: int
    skipped: int = 0
    skipped_bytes: int = 0

    def takes(self, size: int) -> bool:
        """Tell whether so many bytes may be read, and take them."""
        if size > self.left_bytes:
            self.skipped += 1
            self.skipped_bytes += size
            return False
        self.left_bytes -= size
        return True


def loading_findings(
    node: Node, image: MetadataImage | None, release: str, most_bytes: int = _RECOVERED_BYTES
) -> Iterator[Finding]:
    """Yield what keeps a broker, or one of its log directories, from loading its partitions.

    Args:
        node: a broker.
        image: the metadata; None if there is none that is whole.
        release: of Kafka, whose loader is asked.
        most_bytes: of unflushed segments to read.

    Raises:
        KraftopsError: a file, or a source of the image, cannot be read any more.
    """
    budget = _Budget(most_bytes)
    directories: list[DirectoryLoads] = []
    for directory in node.data_directories:
        for checkpoint in directory.plan.damaged:
            yield damaged_checkpoint(checkpoint, directory.java_path)
        loads: list[PartitionLoad] = []
        for name in directory.plan.folders:
            path = os.path.join(directory.path, name)
            start = _start(path, directory, image, release, budget)
            if start is None:
                continue
            yield from start.refusals()
            yield from _lost_end(start, directory, name)
            loads += [PartitionLoad.of(name, outcome) for outcome in start.outcomes[:1]]
        directories.append(DirectoryLoads(directory, loads, node.config.node_id))
    twice = duplicates(node.data_directories)
    yield from server_findings(directories, twice, is_whole_server=True)
    if budget.skipped:
        yield Finding(
            "not-foretold",
            Severity.NOTE,
            f"a start recovers {many(budget.skipped, 'partition')} from "
            f"{size_text(budget.skipped_bytes)} of unflushed segments, which are not read here",
            Place(node=node.config.node_id, file=node.config.path),
            "check the log directories to be sure",
            tuple(
                f"kafka-dump-log --check {shlex.quote(directory.java_path)}"
                for directory in node.data_directories
            ),
        )


def _start(
    path: str,
    directory: LogDirectory,
    image: MetadataImage | None,
    release: str,
    budget: _Budget,
) -> Start | None:
    """Return what a start makes of a partition; None if that takes too long to foretell."""
    try:
        files = partition_files(path)
        if not directory.plan.was_clean and not budget.takes(_unflushed_bytes(files, directory)):
            return None
        return foretold(files, directory, _settings(files.topic, directory, image), release)
    except SourceError:
        return None  # a server has deleted it, or the checks of files tell why


def _unflushed_bytes(files: PartitionFiles, directory: LogDirectory) -> int:
    """Return the bytes of the segments that a start after an unclean stop reads."""
    point = directory.offset(RECOVERY_POINT, files.topic, files.partition) or 0
    bases = [segment.base_offset for segment in files.segments]
    first = max((base for base in bases if base <= point), default=0)
    return sum(size_of(segment.log) for segment in files.segments if segment.base_offset >= first)


def _settings(
    topic: str | None, directory: LogDirectory, image: MetadataImage | None
) -> TopicSettings:
    if image is None or topic is None:
        return TopicSettings(is_tiered=directory.is_topic_tiered(topic))
    address = image.configs.get((_TOPIC, topic), {}).get("remote.storage.enable")
    return TopicSettings(is_tiered=address is not None and _is_true(image, address))


def _is_true(image: MetadataImage, address: int) -> bool:
    return bool(image.read(address)[1].get("value") == "true")


def _lost_end(start: Start, directory: LogDirectory, name: str) -> Iterator[Finding]:
    """Yield the committed records that a start finds no more, by the high watermark."""
    outcome = start.outcome
    topic, _, number = name.rpartition("-")
    high = directory.offset(HIGH_WATERMARK, topic, int(number)) if number.isdecimal() else None
    if outcome is None or outcome.end_offset is None or high is None:
        return
    if directory.is_in_use or high <= outcome.end_offset:
        return
    span = outcome.end_offset, high - 1
    yield Finding(
        "missing-end",
        Severity.LOSS,
        f"a start ends the log at offset {outcome.end_offset}, and its high watermark was {high}: "
        f"{lost_text(*span)} here",
        Place(directory=directory.path, topic=topic, partition=int(number), file=start.path),
        "copy the directory first; the other replicas may have them",
        (f"kafka-dump-log --check {shlex.quote(start.path)}",),
        evidence=(Evidence(HIGH_WATERMARK, str(high)),),
    )

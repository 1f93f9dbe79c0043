"""The files of a log directory that speak of its partitions: offsets and the clean shutdown.

A broker keeps four checkpoints of offsets in each log directory (Kafka's `LogManager`,
`ReplicaManager`, `LogCleanerManager`), and leaves a marker when it has stopped as it should.
"""

from __future__ import annotations

import os
from collections.abc import Container
from dataclasses import dataclass, field

from kraftops.dump.check.findings import Findings
from kraftops.dump.small_files import small_file
from kraftops.dump.tiers.remote_metadata import REMOTE_TOPIC
from kraftops.errors import SourceError
from kraftops.findings.finding import Finding, Severity
from kraftops.log.files import PARTITION_NAME
from kraftops.server.locks import lock_holder

RECOVERY_POINT = "recovery-point-offset-checkpoint"
LOG_START = "log-start-offset-checkpoint"
HIGH_WATERMARK = "replication-offset-checkpoint"
CLEANER = "cleaner-offset-checkpoint"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
_CHECKPOINTS = (RECOVERY_POINT, LOG_START, HIGH_WATERMARK, CLEANER)
_REMOTE_CACHE = "remote-log-index-cache"

Offsets = dict[tuple[str, int], int]
"""Offsets by topic and partition."""


@dataclass(frozen=True, slots=True)
class LogDirectory:
    """What a log directory says about its partitions.

    Attributes:
        path: of the directory.
        is_known: whether it has any checkpoint of a broker; a copied partition lies anywhere.
        is_clean: whether the broker has stopped cleanly, so that a start recovers no segment.
        is_tiered: whether any file tells that the broker keeps segments elsewhere too.
        offsets: by the name of the checkpoint; a damaged one is left out.
        written: the time of each checkpoint, in ns.
        is_in_use: whether a server holds its lock.
        node_id: of its meta.properties.
    """

    path: str
    is_known: bool = False
    is_clean: bool = False
    is_tiered: bool = False
    offsets: dict[str, Offsets] = field(default_factory=dict)
    written: dict[str, int] = field(default_factory=dict)
    is_in_use: bool = False
    node_id: int | None = None
    findings: tuple[Finding, ...] = ()

    def is_topic_tiered(self, topic: str | None) -> bool | None:
        """Tell whether a topic is tiered; None where only some topic of the broker is.

        The start of a log that is not tiered is written only where it is beyond its first segment,
        and so never as 0 (Kafka's `LogManager.checkpointLogStartOffsetsInDir`).
        """
        starts = self.offsets.get(LOG_START, {})
        if any(offset == 0 for (name, _), offset in starts.items() if name == topic):
            return True
        return None if self.is_tiered else False

    def offset(self, checkpoint: str, topic: str | None, partition: int | None) -> int | None:
        """Return the offset of a partition in a checkpoint; None if it has none."""
        if topic is None or partition is None:
            return None
        return self.offsets.get(checkpoint, {}).get((topic, partition))


def read_log_directory(path: str, *, shown: str | None = None) -> LogDirectory:
    """Return what the files of a log directory say, and what is wrong with them.

    Messages name it by the path *shown*.
    """
    findings = Findings()
    offsets: dict[str, Offsets] = {}
    written: dict[str, int] = {}
    names = _names(path)
    found = [name for name in _CHECKPOINTS if name in names]
    for name in _CHECKPOINTS:
        file = os.path.join(path if shown is None else shown, name)
        if name not in found:
            if found and "meta.properties" in names:
                findings.add("no-checkpoint", file, "it is missing", Severity.NOTE)
            continue
        read = _read(file, findings)
        if read is not None:
            offsets[name] = read
            written[name] = os.stat(file).st_mtime_ns
    return LogDirectory(
        path if shown is None else shown,
        is_known=bool(found),
        is_clean=CLEAN_SHUTDOWN in names
        and _is_marker(os.path.join(path, CLEAN_SHUTDOWN), findings),
        is_tiered=_is_tiered(names, offsets),
        offsets=offsets,
        written=written,
        is_in_use=_is_in_use(path),
        node_id=_node_id(path),
        findings=findings.all(),
    )


def missing_partitions(directory: LogDirectory) -> dict[tuple[str, int], str]:
    """Return the partitions that have no directory, with the checkpoint that names them.

    A broker that deletes or moves a partition renames its directory, and writes the checkpoints
    anew before that is gone (Kafka's `LogManager.asyncDelete`); so they are read once more.
    """
    again = read_log_directory(directory.path)
    matches = map(PARTITION_NAME.fullmatch, _names(directory.path))
    there = {(match[1], int(match[2])) for match in matches if match}
    found: dict[tuple[str, int], str] = {}
    for checkpoint in (RECOVERY_POINT, LOG_START, HIGH_WATERMARK):
        rows = directory.offsets.get(checkpoint, {}).keys() & again.offsets.get(checkpoint, {})
        for place in sorted(rows - there):
            found.setdefault(place, checkpoint)
    return found


def missing_findings(
    directory: LogDirectory, missing: dict[tuple[str, int], str], topics: Container[str]
) -> tuple[Finding, ...]:
    """Return the findings about missing partitions; those of *topics* were not deleted."""
    findings = Findings()
    for (topic, partition), checkpoint in missing.items():
        end = directory.offset(HIGH_WATERMARK, topic, partition)
        known = "" if end is None else f"; its high watermark was {end}"
        is_live = topic in topics
        reason = f"{topic}-{partition} has no directory{known}, and " + (
            "the metadata log has the topic"
            if is_live
            else "no metadata log here tells whether it was deleted"
        )
        severity = Severity.LOSS if is_live else Severity.NOTE
        place = os.path.join(directory.path, checkpoint)
        findings.add("missing-partition", place, reason, severity)
    return findings.all()


def _is_in_use(path: str) -> bool:
    try:
        return lock_holder(path) is not None
    except OSError:
        return False


def _node_id(path: str) -> int | None:
    try:
        meta = small_file(os.path.join(path, "meta.properties"))
    except SourceError:
        return None
    assert meta is not None
    text = str(meta["data"].get("node.id", ""))
    return int(text) if text.isdecimal() else None


def _is_tiered(names: frozenset[str], offsets: dict[str, Offsets]) -> bool:
    """Tell whether a broker has a tier; copies often lack the cache, which may be empty."""
    if _REMOTE_CACHE in names or 0 in offsets.get(LOG_START, {}).values():
        return True
    topics = {topic for one in offsets.values() for topic, _ in one}
    return REMOTE_TOPIC in topics or any(
        name.startswith(f"{REMOTE_TOPIC}-") and name.removeprefix(f"{REMOTE_TOPIC}-").isdecimal()
        for name in names
    )


def _names(path: str) -> frozenset[str]:
    try:
        return frozenset(os.listdir(path))
    except OSError:
        return frozenset()


def _is_marker(path: str, findings: Findings) -> bool:
    """Return True, and report a marker that does not give the epoch of the broker."""
    try:
        found = small_file(path)
    except SourceError:
        return False
    assert found is not None
    if "damage" in found:
        reason = f"{found['damage']}; a start only looks whether it exists"
        findings.add("bad-checkpoint", path, reason, Severity.NOTE)
    return True


def _read(path: str, findings: Findings) -> Offsets | None:
    try:
        found = small_file(path)
    except SourceError as error:
        findings.add("bad-checkpoint", path, error.message, Severity.RISK)
        return None
    assert found is not None
    if "damage" in found:
        reason = f"{found['damage']}; a broker gives up the directory"
        findings.add("bad-checkpoint", path, reason, Severity.RISK)
        return None
    offsets: Offsets = {}
    for entry in found["data"]["entries"]:
        offsets[entry["topic"], entry["partition"]] = entry["offset"]
        if entry["offset"] < 0:
            reason = f"the offset {entry['offset']} of {entry['topic']}-{entry['partition']}"
            findings.add("bad-checkpoint", path, reason, Severity.RISK)
    return offsets

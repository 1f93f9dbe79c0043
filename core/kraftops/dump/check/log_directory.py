"""Findings about log directories: their checkpoints and markers, and partitions that are gone."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator

from kraftops.dump.check.findings import Findings
from kraftops.dump.check.start import damaged_checkpoint
from kraftops.dump.small_files import small_file
from kraftops.errors import SourceError
from kraftops.findings.finding import Finding, Place, Severity
from kraftops.server.loader.load_plan import (
    CHECKPOINTS,
    CLEAN_SHUTDOWN,
    HIGH_WATERMARK,
    LOG_START,
    RECOVERY_POINT,
)
from kraftops.server.log_directory import LogDirectory, read_log_directory


def log_directory_findings(directory: LogDirectory) -> Iterator[Finding]:
    """Yield what is wrong with the files that a broker writes beside its partitions."""
    plan = directory.plan
    damaged = {damage.name: damage for damage in plan.damaged}
    for name in CHECKPOINTS:
        path = os.path.join(directory.path, name)
        if name in damaged:
            yield damaged_checkpoint(damaged[name], directory.path)
        elif name not in plan.offsets and directory.has_checkpoints and directory.meta:
            yield Finding("no-checkpoint", Severity.NOTE, "it is missing", Place(file=path))
        negative = [entry for entry in plan.offsets.get(name, {}).items() if entry[1] < 0]
        for (topic, partition), offset in negative[:1]:
            reason = f"the offset {offset} of {topic}-{partition}"
            place = Place(file=path)
            yield Finding("bad-checkpoint", Severity.NOTE, reason, place, count=len(negative))
    if plan.was_clean:
        yield from _marker_findings(os.path.join(directory.path, CLEAN_SHUTDOWN))


def _marker_findings(path: str) -> Iterator[Finding]:
    """Yield that a marker does not give the epoch of the broker."""
    try:
        marker = small_file(path)
    except SourceError:
        return
    if marker and "damage" in marker:
        reason = f"{marker['damage']}; a start only looks whether it exists"
        yield Finding("bad-checkpoint", Severity.NOTE, reason, Place(file=path))


def missing_findings(directory: LogDirectory, topics: Container[str]) -> tuple[Finding, ...]:
    """Return the findings about partitions of checkpoints that have no directory.

    Those of *topics* were not deleted. A broker that deletes or moves a partition renames its
    directory, and writes the checkpoints anew before that is gone (Kafka's
    `LogManager.asyncDelete`); so they are read once more.
    """
    missing = _missing(directory)
    again = _missing(read_log_directory(directory.path)) if missing else {}
    findings = Findings()
    for topic, partition in (key for key in missing if key in again):
        end = directory.offset(HIGH_WATERMARK, topic, partition)
        high_watermark = "" if end is None else f"; its high watermark was {end}"
        is_live = topic in topics
        reason = f"{topic}-{partition} has no directory{high_watermark}, and " + (
            "the metadata log has the topic"
            if is_live
            else "no metadata log here tells whether it was deleted"
        )
        severity = Severity.LOSS if is_live else Severity.NOTE
        path = os.path.join(directory.path, missing[topic, partition])
        findings.add("missing-partition", path, reason, severity)
    return findings.all()


def _missing(directory: LogDirectory) -> dict[tuple[str, int], str]:
    """Return the partitions that have no directory, with the checkpoint that names them."""
    plan = directory.plan
    present = {(folder.topic, folder.partition) for folder in plan.folders.values()}
    checkpoints: dict[tuple[str, int], str] = {}
    for checkpoint in (RECOVERY_POINT, LOG_START, HIGH_WATERMARK):
        for partition in sorted(plan.offsets.get(checkpoint, {}).keys() - present):
            checkpoints.setdefault(partition, checkpoint)
    return checkpoints

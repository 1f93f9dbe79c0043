"""Findings about log directories: their checkpoints and markers, and partitions that are gone."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kraftops.dump.check.findings import Loss, PartitionCheck, stake_of
from kraftops.dump.check.start import damaged_checkpoint
from kraftops.dump.check.topics import Topics
from kraftops.dump.small_files import small_file
from kraftops.errors import SourceError
from kraftops.fileio.mounts import exists
from kraftops.findings.catalogue import with_cure
from kraftops.findings.finding import Evidence, Finding, Place, Severity, stop_finding
from kraftops.server.loader import load_plan
from kraftops.server.log_directory import LogDirectory, read_log_directory
from kraftops.server.nearby import log_directories_in


def log_directory_findings(directory: LogDirectory) -> Iterator[Finding]:
    """Yield what is wrong with the files that a broker writes beside its partitions."""
    plan = directory.plan
    damaged = {damage.name: damage for damage in plan.damaged}
    for name in load_plan.CHECKPOINTS:
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
    if not directory.has_segments and directory.partition_count:
        reason = "no partition has a segment: they were left out of a copy, or all are lost"
        place = Place(directory=directory.path)
        yield Finding("no-segments", Severity.NOTE, reason, place, is_possible=True)
    if plan.was_clean:
        yield from _marker_findings(os.path.join(directory.path, load_plan.CLEAN_SHUTDOWN))


def misnamed_findings(directory: LogDirectory) -> Iterator[Finding]:
    """Yield what has no place in a log directory by its name (`LogManager.loadLogs`)."""
    if directory.meta is None:  # a copy of partitions, or a tier
        return
    folder = directory.folder
    for name in sorted(folder.directories - {load_plan.REMOTE_INDEXES}):
        if load_plan.parse_folder_name(name) is None:
            problem = "it is not the directory of a partition: a broker stops"
            cure = "move it, or use a directory below the mount point"
            finding = _misnamed("unknown-directory", problem, directory, name, cure)
            inside = _log_directories_below(os.path.join(directory.path, name))
            yield _with_log_directories(finding, inside) if inside else finding
    for name in filter(load_plan.parse_folder_name, sorted(folder.files)):
        problem = "a file where a partition's directory belongs"
        yield _misnamed("file-for-partition", problem, directory, name, "move it away")


def _log_directories_below(path: str) -> list[LogDirectory]:
    directories = map(read_log_directory, log_directories_in(path))
    return [inside for inside in directories if exists(inside.meta_path)]


def _with_log_directories(finding: Finding, directories: Sequence[LogDirectory]) -> Finding:
    """Say of a misnamed directory that log directories are in it: those must not be moved away."""
    owners = [
        inside.java_path
        if inside.node_id is None
        else f"{inside.java_path} of node {inside.node_id}"
        for inside in directories
    ]
    return replace(
        finding,
        text=f"{finding.text}; it has the log directory {' and '.join(owners)}",
        cure="leave what is in it: with its server stopped, give each log directory a path of its"
        " own, none inside of another one, and name that in log.dirs",
        commands=(),
    )


def _misnamed(code: str, problem: str, directory: LogDirectory, name: str, cure: str) -> Finding:
    path = os.path.join(directory.java_path, name)
    place = Place(directory=directory.java_path, file=path)
    return with_cure(stop_finding(code, problem, place, cure), path)


def _marker_findings(path: str) -> Iterator[Finding]:
    """Yield a finding if the clean shutdown marker has no valid broker epoch (KIP-966)."""
    try:
        marker = small_file(path)
    except SourceError:
        return
    if marker and "damage" in marker:
        reason = f"{marker['damage']}; a start only checks whether it exists"
        yield Finding("bad-checkpoint", Severity.NOTE, reason, Place(file=path))


def missing_partitions(
    directory: LogDirectory, others: Iterable[LogDirectory], topics: Topics
) -> tuple[list[PartitionCheck], list[Finding]]:
    """Return the partitions of checkpoints that have no directory, and those that may be deleted.

    A partition in another directory of the same server was moved. A broker that deletes or moves
    one renames its directory, and rewrites the checkpoints before that is gone (Kafka's
    `LogManager.asyncDelete`); so they are read once more.
    """
    missing = directory.missing()
    again = read_log_directory(directory.path).missing() if missing else {}
    elsewhere = {
        partition for other in filter(directory.is_beside, others) for partition in other.present
    }
    lost: list[PartitionCheck] = []
    unknown: list[Finding] = []
    for (topic, partition), checkpoint in missing.items():
        if (topic, partition) in elsewhere or (topic, partition) not in again:
            continue
        path = os.path.join(directory.path, f"{topic}-{partition}")
        end = directory.offset(load_plan.HIGH_WATERMARK, topic, partition)
        start = directory.offset(load_plan.LOG_START, topic, partition) or 0
        evidence = () if end is None else (Evidence(load_plan.HIGH_WATERMARK, f"{end}"),)
        reason = "it is missing" if end is None else f"it is missing, its high watermark was {end}"
        is_live = topic in topics.names
        losses = (Loss(start, end - 1),) if end is not None and end > start else ()
        finding = Finding(
            "missing-partition",
            Severity.LOSS if is_live else Severity.NOTE,
            f"{reason}; the metadata log has the topic"
            if is_live
            else f"{reason}; the metadata log does not have the topic"
            if topics.is_known
            else f"{reason}; no metadata log here tells whether it was deleted",
            Place(
                node=directory.node_id,
                directory=directory.path,
                topic=topic,
                partition=partition,
                file=path,
            ),
            cure="put its directory back, or restore it from a copy",
            evidence=(Evidence(checkpoint, "names it"), *evidence),
            stake=stake_of(losses) if losses else None,
            is_possible=not topics.is_known,
        )
        if not is_live:
            unknown.append(finding)
            continue
        lost.append(PartitionCheck(path, topic, partition, losses=losses, findings=(finding,)))
    return lost, unknown

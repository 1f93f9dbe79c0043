"""Directories of partitions that are missing, under other names in the same log directories."""

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from kraftops.display import quoting
from kraftops.engine.metadata_state import PartitionKey
from kraftops.fileio.mounts import is_file
from kraftops.findings.aside import aside_command, given_to_owner
from kraftops.findings.finding import Evidence, Finding
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.directories import NO_TOPIC_ID, OTHER_BROKER, OTHER_DIRECTORY
from kraftops.server.loader.load_plan import FolderKind, parse_folder_name
from kraftops.server.log_directory import LogDirectory
from kraftops.server.partition_files import topic_id_of

MISSING_PARTITION = "missing-partition"
_FILE = "file-for-partition"
PUT_BACK = "put its directory back, or restore it from a copy"
"""The cure of a partition that is missing, and of which no other broker is in sync."""
_FATES = {
    FolderKind.DELETED: "which the next start deletes",
    FolderKind.STRAY: "which a start leaves there",
    FolderKind.CURRENT: "under which no broker looks for it",
    None: "at which a start stops",
}
"""What a start makes of a directory by the kind of its name, None of another name."""


def renamed_directories(
    directories: Iterable[LogDirectory], image: MetadataImage, missing: Collection[PartitionKey]
) -> dict[PartitionKey, str]:
    """Return the paths of directories that have the topic id of a partition that is missing.

    The number is in their name; or the topic lacks just one partition here, which proves nothing.
    """
    paths: dict[PartitionKey, str] = {}
    for directory in directories if missing else ():
        for name in sorted(directory.folder.directories):
            path = os.path.join(directory.path, name)
            topic_id, folder = topic_id_of(path), parse_folder_name(name)
            numbers = [number for missing_id, number in missing if missing_id == topic_id]
            if topic_id is None or not numbers or (folder and folder.kind is FolderKind.FUTURE):
                continue
            number = _number_in(name, image.topics[topic_id].name)
            is_other = number is not None and image.partition(topic_id, number)
            if number not in numbers and len(numbers) == 1 and not is_other:
                number = numbers[0]
            if number in numbers:
                paths.setdefault((topic_id, number), path)
    return paths


def _number_in(name: str, topic: str) -> int | None:
    """Return the partition number in a directory's name, whatever a copy appended to it."""
    match = re.match(rf"{re.escape(topic)}-(\d+)(?!\d)", name, re.IGNORECASE)
    return int(match[1]) if match else None


def with_directory(finding: Finding, path: str | None) -> Finding:
    """Add where the directory of a missing partition is, under another name."""
    if path is None or not finding.is_severe:
        return finding
    (directory, old), name = os.path.split(path), finding.place.partition_name
    folder = parse_folder_name(old)
    place = os.path.join(directory, name)
    fate = _FATES[folder.kind if folder else None]
    if _number_in(old, finding.place.topic or "") != finding.place.partition:
        # The topic id is that of all partitions of the topic.
        return replace(
            finding,
            text=f"{finding.text}; {old} has the id of its topic, and may be it",
            cure=f"{finding.cure}; see by its records whether {old} is this partition, and only "
            f"then give it its name {name} again",
            evidence=(Evidence(path, "it has the id of the topic"),),
        )
    return replace(
        finding,
        text=f"{finding.text}; its records are in {old}, {fate}",
        cure=f"give {old} its name {name} again",
        commands=(
            *([aside_command(directory, name)] if is_file(place) else ()),
            f"mv {quoting.quote_path(path)} {quoting.quote_path(place)}",
        ),
        evidence=(Evidence(path, "it has the id of the topic"),),
    )


def _with_strays(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings; of a partition that is missing, and on another broker, one with both.

    Where others are in sync, they have what that broker has, and perhaps more.
    """
    strays = {
        finding.place.partition_name: finding
        for finding in findings
        if finding.code == OTHER_BROKER
    }
    missing = {
        finding: stray
        for finding in findings
        if finding.code == MISSING_PARTITION and finding.cure == PUT_BACK and not finding.commands
        if finding.place.directory and (stray := strays.get(finding.place.partition_name))
    }
    return [
        _moved_back(finding, missing[finding]) if finding in missing else finding
        for finding in findings
        if finding not in missing.values()
    ]


def _moved_back(missing: Finding, stray: Finding) -> Finding:
    broker, path = stray.place.node, stray.place.path
    place, own = quoting.quote_path(missing.place.path), missing.place.directory or ""
    return replace(
        missing,
        text=f"{missing.text}; its records are on broker {broker}, which sets them aside",
        cure=f"while both brokers are stopped, move it back from broker {broker}",
        commands=(f"mv {quoting.quote_path(path)} {place}{given_to_owner(place, own, path)}",),
        evidence=(Evidence(path, stray.text),),
    )


def without_contradictions(findings: Sequence[Finding]) -> list[Finding]:
    """Drop cures that contradict others: of directories that are put back or moved away."""
    findings = _with_strays(findings)
    missing = [finding for finding in findings if finding.code == MISSING_PARTITION]
    cures: Mapping[str, Finding] = {
        finding.evidence[0].source: finding
        for finding in missing
        if finding.commands and finding.evidence
    }
    in_place = {finding.place.path: finding for finding in missing if finding.is_severe}
    twice = {finding.place.path for finding in findings if finding.code == "partition-twice"}
    twice |= {
        fact.source
        for finding in findings
        if finding.code == NO_TOPIC_ID  # with its command, which moves the other away
        for fact in finding.evidence
    }
    return [
        replace(finding, cure=f"{cure.cure}, as [{MISSING_PARTITION}] says", commands=())
        if (cure := (in_place if finding.code == _FILE else cures).get(finding.place.path))
        and finding is not cure
        else finding
        for finding in findings
        if finding.code != OTHER_DIRECTORY or finding.place.path not in twice
    ]

"""Refusal to give a node the directories of other brokers: their partitions would be lost."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kraftops.answers.fields import json_of
from kraftops.errors import KraftopsError, RefusedError
from kraftops.findings.answer import FINDING
from kraftops.findings.finding import Finding, Place, Severity
from kraftops.image.load.loading import load
from kraftops.image.state.findings import LATE_START
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.assignments import lost_text
from kraftops.image.verify.directories import (
    OTHER_BROKER,
    DirectoryOwner,
    misplacement,
)
from kraftops.log.files import METADATA_PARTITION
from kraftops.server.log_directory import read_log_directory
from kraftops.server.partition_data import partition_data_of
from kraftops.storage.format.rewrite import Rewrite


class LossRefused(RefusedError):
    """Partitions would be lost; a person must decide."""

    def __init__(self, code: str, message: str, hint: str, findings: Sequence[Finding]) -> None:
        lost = [json_of(FINDING, finding) for finding in findings]
        super().__init__(message, hint, code=code, changed=False, lost=lost)


class Takeover(NamedTuple):
    """Partitions that a node takes from other brokers, and directories that cannot be checked."""

    lost: Sequence[Finding] = ()
    unchecked: Sequence[str] = ()


def takeover_by(rewrites: Sequence[Rewrite], metadata: Sequence[str]) -> Takeover:
    """Return the partitions that a change of node ids takes from other brokers.

    Args:
        rewrites: the rewrites; those that keep the node id are passed over.
        metadata: more directories with a metadata log; the newest of all logs counts.

    Raises:
        KraftopsError: a directory of *metadata* has no metadata log, or a file cannot be read.
    """
    changed = {
        rewrite.directory.path: rewrite.meta.node_id
        for rewrite in rewrites
        if rewrite.directory.meta and rewrite.directory.meta.node_id != rewrite.meta.node_id
    }
    if not changed:
        return Takeover()
    image = newest_whole([*map(load, metadata), *_found(each.directory.path for each in rewrites)])
    if image is None:
        directories = map(read_log_directory, changed)
        return Takeover(
            unchecked=[directory.path for directory in directories if any(directory.partitions())]
        )
    return Takeover(
        [
            finding
            for path, node_id in changed.items()
            if node_id is not None
            for finding in partitions_of_others(image, path, node_id)
        ]
    )


def partitions_of_others(image: MetadataImage, path: str, node_id: int) -> Iterator[Finding]:
    """Yield the partitions in a log directory that the metadata has on other brokers only.

    Raises:
        KraftopsError: the directory, or a source of the image, cannot be read.
    """
    for partition in read_log_directory(path).partitions():
        found = misplacement(image, DirectoryOwner(node_id, None), partition)
        if found and found.code == OTHER_BROKER:
            yield Finding(
                OTHER_BROKER,
                Severity.LOSS,
                found.reason,
                Place(
                    directory=path,
                    topic=partition.topic,
                    partition=partition.number,
                    file=partition.path,
                ),
                "move it to a replica, or copy it",
                stake=partition_data_of(partition.path),
            )


def refusal(findings: Sequence[Finding]) -> LossRefused:
    """Return the refusal that names the partitions that would be lost."""
    (directory, *more) = dict.fromkeys(finding.place.directory for finding in findings)
    where = directory if not more else f"{directory} and {len(more)} more"
    return LossRefused(
        OTHER_BROKER,
        f"the metadata has partitions in {where} on other brokers: a broker with the new id sets "
        f"them aside: {lost_text(findings)}",
        "give the directory to the broker that it belongs to, or copy the partitions; --force "
        "gives them up",
        findings,
    )


def _found(paths: Iterable[str]) -> Iterator[MetadataImage]:
    """Yield the metadata in log directories, as far as there is any that can be read."""
    for path in paths:
        if os.path.isdir(os.path.join(path, METADATA_PARTITION)):
            try:
                yield load(path)
            except KraftopsError:
                continue


def newest_whole(images: Sequence[MetadataImage]) -> MetadataImage | None:
    """Return the newest of images that do not begin late; None if there is none."""
    whole = [
        image
        for image in images
        if all(finding.code != LATE_START for finding in image.log_findings)
    ]
    return max(whole, key=lambda image: (image.provenance.epoch, image.offset), default=None)

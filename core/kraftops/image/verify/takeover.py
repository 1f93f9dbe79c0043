"""Refusal to give a node the directories of other brokers: their partitions would be lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kraftops.answers.fields import json_of
from kraftops.errors import RefusedError
from kraftops.findings.answer import FINDING
from kraftops.findings.finding import Finding
from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.assignments import image_in, is_whole, lost_text, partition_loss
from kraftops.image.verify.directories import OTHER_BROKER, DirectoryOwner, misplacement
from kraftops.server.log_directory import read_log_directory
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
    own = (image_in(rewrite.directory.path) for rewrite in rewrites)
    image = newest_whole([*map(load, metadata), *filter(None, own)])
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
        misplaced = misplacement(image, DirectoryOwner(node_id, None), partition)
        if misplaced and misplaced.code == OTHER_BROKER:
            cure = "move it to a replica, or copy it"
            yield partition_loss(OTHER_BROKER, misplaced.reason, path, partition, cure)


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


def newest_whole(images: Sequence[MetadataImage]) -> MetadataImage | None:
    """Return the newest of images that do not begin late; None if there is none."""
    whole = filter(is_whole, images)
    return max(whole, key=lambda image: (image.provenance.epoch, image.offset), default=None)

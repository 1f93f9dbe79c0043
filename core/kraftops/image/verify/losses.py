"""Losses by a format or a rewrite: partitions of other brokers, and empty voters beside others.

A format sees the directories of its node, and the logs that are named. It cannot see whether a
controller with no other directory was one before, nor whether other controllers have their logs.
"""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kraftops.answers.fields import json_of
from kraftops.display.sizes import NAMES_IN_LINE, first_names
from kraftops.errors import RefusedError, SourceError, UsageError
from kraftops.fileio.mounts import is_directory
from kraftops.findings.answer import FINDING
from kraftops.findings.finding import Finding
from kraftops.image.load.loading import load_node_log
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.assignments import image_in, image_of, is_whole, lost_text
from kraftops.image.verify.directories import (
    OTHER_BROKER,
    DirectoryOwner,
    misplacement,
    partition_loss,
)
from kraftops.log.files import METADATA_PARTITION
from kraftops.server.formatted import has_metadata_log
from kraftops.server.log_directory import read_log_directory
from kraftops.server.metadata_log.log import read_partition
from kraftops.storage.format.plan import FormatPlan, Target
from kraftops.storage.format.rewrite import Rewrite
from kraftops.storage.logdirs.node import read_node

EMPTY_VOTER, METADATA_LOST = "empty-voter", "metadata-lost"
_JOIN = (
    "let this node join with --no-initial-controllers, and once it runs, "
    "kafka-cluster controllers add; --force starts over without them"
)


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
    image = newest_whole([*map(load_node_log, metadata), *filter(None, own)])
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


class _Log(NamedTuple):
    """A metadata log that a server has written, its name, and the node that it is of, if known."""

    name: str
    node_id: int | None
    image: MetadataImage


def format_losses(plan: FormatPlan, metadata: Sequence[str]) -> Iterator[LossRefused]:
    """Yield the losses that servers would bring after a format, as refusals.

    Args:
        plan: the format.
        metadata: directories of other nodes of this cluster, with a metadata log.

    Raises:
        SourceError: a directory of *metadata* has no metadata log, or a file cannot be read.
        UsageError: one is of another cluster.
    """
    if not plan.targets:
        return
    data = [directory.path for directory in plan.directories if not directory.is_metadata]
    names = [*metadata, *filter(has_metadata_log, data)]
    logs = [log for name in names if (log := _log_in(name, plan.cluster_id))]
    own = image_of(read_node(plan.config))
    image = newest_whole([*(log.image for log in logs), *([own] if own else [])])
    if image and "broker" in plan.config.roles:
        paths = [target.directory.path for target in plan.targets]
        paths = [path for path in paths if is_directory(path)]
        findings = [
            finding
            for path in paths
            for finding in partitions_of_others(image, path, plan.config.node_id)
        ]
        if findings:
            yield refusal(findings)
    target = next((target for target in plan.targets if target.directory.is_metadata), None)
    if target and "controller" in plan.config.roles and not has_metadata_log(target.directory.path):
        yield from _voter_losses(plan, target, logs)


def _log_in(name: str, cluster_id: str) -> _Log | None:
    """Return the log in a directory; None if no server has written to it."""
    inside = os.path.join(name, METADATA_PARTITION)
    folder = inside if is_directory(inside) else name
    try:
        log = read_partition(folder)
    except OSError as error:
        raise SourceError.of(name, error) from None
    meta = read_log_directory(os.path.dirname(os.path.abspath(folder))).meta
    if meta and meta.cluster_id not in (None, cluster_id):
        raise UsageError(
            f"{name} is of the cluster {meta.cluster_id}, not of {cluster_id}",
            "name the logs of this cluster",
            code="other-cluster",
        )
    if not (log.is_used or log.snapshots or log.segments):
        raise SourceError(f"{name} holds no metadata log", "name a directory that does")
    return (
        _Log(name, meta.node_id if meta else None, load_node_log(folder)) if log.is_used else None
    )


def _voter_losses(plan: FormatPlan, target: Target, logs: Sequence[_Log]) -> Iterator[LossRefused]:
    """Yield what is lost if a controller votes without a log."""
    own, static = plan.config.node_id, plan.config.voters
    newest = max(logs, key=lambda log: (log.image.provenance.epoch, log.image.offset), default=None)
    path = target.directory.path
    if any(voter.node_id == own for voter in plan.voters or ()):
        if newest:
            message = f"{path} would be an empty voter, and {newest.name} has {_content(newest)}"
            yield LossRefused(EMPTY_VOTER, message, _JOIN, ())
        elif findings := list(_partitions(plan)):
            folder = findings[0].place.directory
            message = (
                f"{folder} holds partitions, but the metadata directory {path} is empty: a new "
                f"quorum sets them aside: {lost_text(findings)}"
            )
            hint = f"restore the metadata; or {_JOIN}"
            yield LossRefused(METADATA_LOST, message, hint, findings)
    elif own in static and newest:
        nodes_with_log = {log.node_id for log in logs} & (static.keys() - {own})
        if len(nodes_with_log) <= len(static) // 2:
            others = ", ".join(map(str, sorted(static.keys() - nodes_with_log - {own})))
            message = (
                f"{path} would be an empty voter: if the voters {others} are empty too, they elect "
                f"a leader without what {newest.name} has: {_content(newest)}"
            )
            hint = (
                "give the logs of most voters with --metadata; --force trusts that they are there"
            )
            yield LossRefused(EMPTY_VOTER, message, hint, ())


def _content(log: _Log) -> str:
    image = log.image
    names = [topic.name for topic in image.topics.values()]
    count = sum(len(image.fold.numbers(topic_id)) for topic_id in image.topics)
    topics_text = first_names(names, NAMES_IN_LINE)
    return f"metadata to offset {image.offset}: topics {topics_text or 'none'}; partitions {count}"


def _partitions(plan: FormatPlan) -> Iterator[Finding]:
    """Yield a loss for each partition in a node's directories, whose metadata would be gone."""
    for path in (directory.path for directory in plan.directories if is_directory(directory.path)):
        for partition in read_log_directory(path).partitions():
            text, cure = "its metadata is lost", "restore the metadata"
            yield partition_loss(METADATA_LOST, text, path, partition, cure)

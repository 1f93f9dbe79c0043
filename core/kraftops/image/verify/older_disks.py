"""Disks of a broker that are older than its last run: restored from a backup, or a former copy."""

from __future__ import annotations

from collections.abc import Iterator

from kraftops.display.sizes import many
from kraftops.findings.finding import Evidence, Finding, Severity
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.assignments import replicas_on
from kraftops.storage.logdirs.node import Node

_MOST_NAMES = 5


def older_disks(node: Node, image: MetadataImage) -> Iterator[Finding]:
    """Yield that the disks of a broker lack what they had when it ran last.

    The controller unfences a broker that has fetched its own registration
    (`BrokerHeartbeatManager`, 4.3.1), whose offset is the broker's epoch: a registration that was
    changed later was on its disk.

    Raises:
        KraftopsError: a source of the image cannot be read any more.
    """
    node_id, end = node.config.node_id, node.content.end_offset or 0
    registration = image.brokers.get(node_id)
    if not node.log.is_used or registration is None:
        return
    has_run = len(registration.addresses) > 1
    if not has_run or end > registration.epoch:
        return
    names, alone = [], []
    for (topic_id, number), partition in replicas_on(node_id, image):
        name = f"{image.topics[topic_id].name}-{number}"
        names.append(name)
        if list(partition.replicas) == [node_id]:
            alone.append(name)
    text = (
        f"it is of an older time, as of a backup: its metadata log ends at offset {end}, and broker"
        f" {node_id} has run after offset {registration.epoch}"
    )
    if alone:
        more = f" and {len(alone) - _MOST_NAMES} more" if len(alone) > _MOST_NAMES else ""
        text += (
            f"; what came later is lost of {', '.join(alone[:_MOST_NAMES])}{more}, which no other"
            " broker has"
        )
    yield Finding(
        "older-disks",
        Severity.LOSS,
        text,
        node.metadata.place,
        "put its newer disks back, if they are anywhere; else kafka-storage compare tells what to"
        " start or to copy first: with these it may lead, and cut the others",
        evidence=(Evidence("metadata", f"{many(len(names), 'partition')} have a replica here"),),
    )

"""Disks of a broker that are older than its last run: restored from a backup, or a former copy."""

from collections.abc import Iterator

from kraftops.display.sizes import NAMES_IN_LINE, first_names, many
from kraftops.findings.finding import Evidence, Finding, Severity
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.assignments import replicas_on
from kraftops.storage.logdirs.node import Node


def older_disks(node: Node, image: MetadataImage) -> Iterator[Finding]:
    """Yield a finding if the disks of a broker lack what they had when it last ran.

    The controller unfences a broker that has fetched its own registration
    (`BrokerHeartbeatManager`, 4.3.1), whose offset is the broker's epoch: a registration that was
    changed later was on its disk.

    Raises:
        KraftopsError: a source of the image can no longer be read.
    """
    node_id, end = node.config.node_id, node.content.end_offset or 0
    registration = image.brokers.get(node_id)
    if not node.log.is_used or registration is None:
        return
    has_run = len(registration.addresses) > 1
    if not has_run or end > registration.epoch:
        return
    states = dict(replicas_on(node_id, image))
    alone = [
        f"{image.topics[topic_id].name}-{number}"
        for (topic_id, number), state in states.items()
        if state.has_one_replica
    ]
    text = (
        "it is older than its broker's last run, as from a backup: its metadata log ends at offset"
        f" {end}, and broker {node_id} has run after offset {registration.epoch}"
    )
    if alone:
        names = first_names(alone, NAMES_IN_LINE)
        text += f"; what came later is lost of {names}, of which the metadata has no other replica"
    yield Finding(
        "older-disks",
        Severity.LOSS,
        text,
        node.metadata.place,
        cure="put its newer disks back, if they still exist; otherwise kafka-storage compare tells "
        "what to start or copy first: if this broker leads, the others truncate to its old logs",
        evidence=(Evidence("metadata", f"{many(len(states), 'partition')} have a replica here"),),
    )

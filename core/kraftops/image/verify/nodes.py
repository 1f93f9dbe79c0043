"""All checks of nodes before their start: each alone, disks against metadata, nodes together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kraftops.findings.finding import Finding
from kraftops.image.verify.assignments import (
    assignment_findings,
    newest_images,
    without_wrong_rewrites,
)
from kraftops.image.verify.loading import loading_findings
from kraftops.image.verify.targets import assumed_release, release_findings
from kraftops.storage.logdirs.node import Node
from kraftops.storage.verify.binding import binding_findings, read_host
from kraftops.storage.verify.cluster import verify_cluster
from kraftops.storage.verify.names import name_findings
from kraftops.storage.verify.release import AssumedRelease, Target
from kraftops.storage.verify.start import verify_node


class Verified(NamedTuple):
    """The findings about nodes, and the release that each of them was checked against."""

    findings: list[Finding]
    releases: list[AssumedRelease]


def verify_nodes(
    nodes: Sequence[Node],
    cluster_id: str | None = None,
    *,
    resolves: bool = False,
    is_here: bool = False,
    target: Target | None = None,
) -> Verified:
    """Return what keeps nodes of one cluster from starting with all their data, and notes.

    Args:
        nodes: the nodes.
        cluster_id: the expected cluster id.
        resolves: whether host names are looked up.
        is_here: whether the nodes are to run on this host.
        target: the release that is to run them; None for the one that has.

    Raises:
        KraftopsError: a file cannot be read any more.
    """
    findings = [finding for node in nodes for finding in verify_node(node, cluster_id)]
    if len(nodes) > 1:
        findings += verify_cluster(nodes)
    images = newest_images(nodes)
    assumed_releases = []
    for node in nodes:
        image = images.get(node.cluster_id)
        assumed = assumed_release(node, image, target)
        if image and node.is_broker:
            findings += assignment_findings(node, image)
        if node.is_broker:
            findings += loading_findings(node, image, assumed.newest.release.name)
        findings += release_findings(node, assumed)
        assumed_releases.append(assumed)
    if is_here:
        host = read_host()
        findings += (finding for node in nodes for finding in binding_findings(node, host))
    if resolves:
        findings += name_findings(nodes)
    return Verified(without_wrong_rewrites(findings), assumed_releases)

"""All checks of nodes before their start: each alone, disks against metadata, nodes together.

A node is checked against the release that is named or installed, or else the one that has run it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kraftops.findings.finding import Finding, Severity
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.assignments import (
    assignment_findings,
    format_evidence,
    image_for,
    newest_images,
)
from kraftops.image.verify.beside import without_contradictions
from kraftops.image.verify.identity import read_identities
from kraftops.image.verify.loading import loading_findings
from kraftops.image.verify.older_disks import older_disks
from kraftops.storage.logdirs.node import Node
from kraftops.storage.releases.table import Release, release_of, releases
from kraftops.storage.verify.binding import binding_findings, read_host
from kraftops.storage.verify.cluster import verify_cluster
from kraftops.storage.verify.metadata_start import lost_by_all
from kraftops.storage.verify.names import name_findings
from kraftops.storage.verify.release import (
    AssumedRelease,
    ReleaseSource,
    Target,
    supports,
    target_findings,
)
from kraftops.storage.verify.start import verify_node, with_cluster_ids


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
        KraftopsError: a file can no longer be read.
    """
    whole = [node for node in nodes if node.config.is_whole]
    images = newest_images(nodes)
    identities = read_identities(nodes, images)
    evidence = format_evidence(nodes, images)
    findings = [
        finding
        for node, own_id in with_cluster_ids(whole)
        for finding in identities.without_effects(
            node, verify_node(node, cluster_id or own_id, evidence)
        )
    ]
    findings = [*lost_by_all(findings, nodes), *identities.findings]
    if target:
        # What is asked is a later start, before which the server is stopped anyway.
        findings = [
            replace(finding, severity=Severity.NOTE) if finding.code == "running" else finding
            for finding in findings
        ]
    if len(sound := identities.unexplained(whole)) > 1:
        findings += verify_cluster(sound)
    assumed_releases = []
    for node in nodes:
        image = image_for(node, images, nodes)
        assumed = assumed_release(node, image, target)
        if node.is_broker and identities.is_sound(node):
            if image:
                findings += older_disks(node, image)
                findings += assignment_findings(node, image, nodes)
            findings += loading_findings(node, image, assumed.newest.release.name)
        if node in whole:
            findings += release_findings(node, assumed)
        assumed_releases.append(assumed)
    if is_here:
        host = read_host()
        findings += (finding for node in whole for finding in binding_findings(node, host))
    if resolves:
        findings += name_findings(whole)
    return Verified(without_contradictions(findings), assumed_releases)


def assumed_release(
    node: Node, image: MetadataImage | None, target: Target | None
) -> AssumedRelease:
    """Return the release to check a node against: *target*, else the one that registered the node.

    Where no registration tells, it is the oldest and the newest that support the node's features.

    Raises:
        KraftopsError: a source of the image cannot be read.
    """
    if target:
        source = ReleaseSource.INSTALLATION if target.installation else ReleaseSource.OPTION
        return AssumedRelease(target, target.release, source)
    if release := registered_release(node, image):
        return AssumedRelease(Target(release), release, ReleaseSource.REGISTRATION)
    possible = [rel for rel in releases() if supports(node, rel)] or [releases()[-1]]
    is_told = len(possible) < len(releases())
    source = ReleaseSource.FEATURES if is_told else ReleaseSource.UNKNOWN
    return AssumedRelease(Target(possible[-1]), possible[0], source)


def release_findings(node: Node, assumed: AssumedRelease) -> Iterator[Finding]:
    """Yield what keeps a node from starting with a release, and notes.

    What stops only the oldest or only the newest of the possible releases is a note.

    Raises:
        SourceError: a jar of the installation cannot be read.
    """
    newest, oldest = assumed.newest.release, assumed.oldest
    by_newest = list(target_findings(node, assumed.newest))
    if newest == oldest:
        yield from by_newest
        return
    by_oldest = [finding for finding in target_findings(node, Target(oldest)) if finding.is_severe]
    for finding in by_newest:
        is_of_both = _is_in(finding, by_oldest) or not finding.is_severe
        yield finding if is_of_both else _only(finding, newest, oldest)
    for finding in by_oldest:
        if not _is_in(finding, by_newest):
            yield _only(finding, oldest, newest)


def _is_in(finding: Finding, others: Iterable[Finding]) -> bool:
    return any(
        (finding.place.path, finding.code) == (other.place.path, other.code) for other in others
    )


def _only(finding: Finding, release: Release, other: Release) -> Finding:
    """Return a finding of one of two possible releases as a note."""
    return replace(
        finding,
        severity=Severity.NOTE,
        text=f"with Kafka {release.name}, but not {other.name}: {finding.text}",
        cure=f"{finding.cure}; --release-version says which release it is",
    )


def registered_release(node: Node, image: MetadataImage | None) -> Release | None:
    """Return the release that a node registered with; None if it did not, or it is unknown."""
    if image is None:
        return None
    registration: Mapping[str, object] | None = None
    if broker := image.brokers.get(node.config.node_id):
        registration = image.broker_state(broker)
    elif address := image.controllers.get(node.config.node_id):
        registration = image.read(address)[1]
    features = registration["features"] if registration else ()
    assert isinstance(features, list | tuple)
    return release_of(
        {
            feature["name"]: (feature["minSupportedVersion"], feature["maxSupportedVersion"])
            for feature in features
        }
    )

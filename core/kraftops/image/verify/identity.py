"""Whose a log directory is: exchanged disks, and meta.properties of other nodes, by evidence.

Partitions belong to the broker to which the metadata assigns them, whatever meta.properties says.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from kraftops.display.sizes import named
from kraftops.engine.metadata_state import PartitionState
from kraftops.findings.finding import Finding, Place, stop_finding
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.assignments import replicas_on
from kraftops.log.files import METADATA_PARTITION
from kraftops.server import quorum_state
from kraftops.server.loader.load_plan import HIGH_WATERMARK, FolderKind
from kraftops.server.log_directory import LogDirectory
from kraftops.storage.logdirs.inspector import OTHER_NODE_ID
from kraftops.storage.logdirs.node import Node, directory_owners
from kraftops.storage.logdirs.proposals import meta_lines, write_command
from kraftops.uuids import is_reserved

_OF_IDENTITY = frozenset({OTHER_NODE_ID, "registered-elsewhere", "other-directory-id"})


class Mistake(NamedTuple):
    """A directory under a wrong identity, of the node that has it.

    *claimed* is the node of its meta.properties, *owner* that of its content, None if unknown.
    With *is_exchanged* that node has a mistake too.
    """

    node: Node
    directory: LogDirectory
    claimed: int
    owner: int | None
    is_exchanged: bool = False

    @property
    def is_of_file(self) -> bool:
        """Whether meta.properties alone is of another node."""
        return self.owner not in (None, self.claimed)

    @property
    def is_explained(self) -> bool:
        """Whether it is known what is wrong."""
        return self.is_exchanged or self.is_of_file


@dataclass(frozen=True)
class Identities:
    """Nodes with directories of others, and what their mistakes are where evidence decides.

    Findings that only follow from a wrong identity are left out.
    """

    mistakes: Sequence[Mistake] = ()
    findings: Sequence[Finding] = ()

    def is_sound(self, node: Node) -> bool:
        """Tell whether none of a node's directories is another's."""
        return all(mistake.node is not node for mistake in self.mistakes)

    def unexplained(self, nodes: Sequence[Node]) -> list[Node]:
        """Return the nodes about whose identity the findings say nothing."""
        explained = [mistake.node for mistake in self.mistakes if mistake.is_explained]
        return [node for node in nodes if all(node is not other for other in explained)]

    def without_effects(self, node: Node, findings: Iterator[Finding]) -> Iterator[Finding]:
        """Leave out findings about a node that its mistaken directories explain."""
        is_explained = not self.unexplained([node])
        for finding in findings:
            if not (is_explained and finding.code in _OF_IDENTITY):
                yield finding


def read_identities(
    nodes: Sequence[Node], images: Mapping[str | None, MetadataImage]
) -> Identities:
    """Return the nodes that have directories of others, and findings where evidence decides.

    Raises:
        KraftopsError: a source of an image can no longer be read.
    """
    owners = directory_owners(nodes)
    mistakes = [*_other_ids(nodes, images, owners), *_exchanged_content(nodes, images)]
    mistakes = [_with_other_half(mistake, mistakes) for mistake in mistakes]
    findings = [*_exchanged_disks(mistakes), *_exchanged_files(mistakes, images)]
    return Identities(mistakes, findings)


def _other_ids(
    nodes: Sequence[Node],
    images: Mapping[str | None, MetadataImage],
    owners: Mapping[bytes, int],
) -> Iterator[Mistake]:
    """Yield the directories whose ids are of other nodes; not those of a wrong node.id alone."""
    for node in nodes:
        own = node.config.node_id
        for directory in node.directories:
            meta = directory.meta
            registered = owners.get(meta.directory_id or b"") if meta else own
            claimed = registered if directory.node_id in (None, own) else directory.node_id
            if claimed not in (None, own) and registered != own:
                owner = _owner(directory, images.get(node.cluster_id), own, claimed)
                yield Mistake(node, directory, claimed, owner)


def _exchanged_content(
    nodes: Sequence[Node], images: Mapping[str | None, MetadataImage]
) -> Iterator[Mistake]:
    """Yield directories whose ids are right, but whose content is another broker's."""
    brokers = [
        _content_of(node, images[node.cluster_id])
        for node in nodes
        if node.is_broker and node.cluster_id in images
    ]
    for pair in combinations(brokers, 2):
        if not _is_content_exchanged(*pair):
            continue
        for (node, *_), (owner, *_) in (pair, reversed(pair)):
            for directory in node.data_directories:
                if directory.node_id == node.config.node_id:
                    yield Mistake(node, directory, directory.node_id, owner.config.node_id)


class _Content(NamedTuple):
    """The partitions of a broker: by the metadata, by its directories, and by its checkpoints."""

    node: Node
    assigned: set[tuple[str, int]]
    present: set[tuple[str, int]]
    noted: set[tuple[str, int]]


def _content_of(node: Node, image: MetadataImage) -> _Content:
    present, noted = set[tuple[str, int]](), set[tuple[str, int]]()
    for directory in node.data_directories:
        present |= _partitions(directory)
        noted |= directory.plan.offsets.get(HIGH_WATERMARK, {}).keys()
    return _Content(node, set(_assigned(image, node.config.node_id)), present, noted)


def _is_content_exchanged(first: _Content, second: _Content) -> bool:
    """Tell whether each of two brokers has what the metadata has on the other alone.

    Where only one has something alone, a checkpoint proves it: that of a directory is exchanged
    with it, and does not know a partition that was moved in by hand.
    """
    own, other = first.assigned - second.assigned, second.assigned - first.assigned
    if first.node.cluster_id != second.node.cluster_id:
        return False
    if own & first.present or other & second.present:
        return False
    if own and other:
        return bool(other & first.present and own & second.present)
    proof = other & first.present & first.noted - second.noted
    return bool(proof or own & second.present & second.noted - first.noted)


def _with_other_half(mistake: Mistake, others: Sequence[Mistake]) -> Mistake:
    """Return a mistake with its owner by the other half of an exchange, if that is known."""
    for other in others:
        if other.node.config.node_id == mistake.claimed:
            own = mistake.node.config.node_id
            implied: dict[int | None, int] = {other.claimed: mistake.claimed, mistake.claimed: own}
            owner = implied.get(other.owner) if mistake.owner is None else mistake.owner
            return mistake._replace(owner=owner, is_exchanged=True)
    return mistake


def _owner(
    directory: LogDirectory, image: MetadataImage | None, own: int, other: int
) -> int | None:
    """Return which of two nodes the content is of; None if it may be of both."""
    if image:
        present = _partitions(directory)
        of_own, of_other = _assigned(image, own).keys(), _assigned(image, other).keys()
        is_own, is_other = present & (of_own - of_other), present & (of_other - of_own)
        if bool(is_own) != bool(is_other):
            return own if is_own else other
    path = os.path.join(directory.path, METADATA_PARTITION, quorum_state.FILE_NAME)
    elected = quorum_state.elected(path)
    return None if elected is None else {own: other, other: own}.get(elected)


def _partitions(directory: LogDirectory) -> set[tuple[str, int]]:
    folders = directory.plan.folders.values()
    return {
        (folder.topic, folder.partition) for folder in folders if folder.kind is FolderKind.CURRENT
    }


def _assigned(image: MetadataImage, node_id: int) -> dict[tuple[str, int], PartitionState]:
    return {
        (image.topics[topic_id].name, number): state
        for (topic_id, number), state in replicas_on(node_id, image)
    }


def _exchanged_disks(mistakes: Sequence[Mistake]) -> Iterator[Finding]:
    """Yield one finding if nodes have each other's disks."""
    exchanged = [mistake for mistake in mistakes if mistake.is_exchanged and not mistake.is_of_file]
    if exchanged:
        sides = [
            f"{mistake.directory.java_path} is that of node {mistake.claimed}"
            for mistake in exchanged
        ]
        configs = " and ".join(dict.fromkeys(mistake.node.config.path for mistake in exchanged))
        cure = f"exchange log.dirs in {configs}, or the mounts"
        if any(mistake.owner is None for mistake in exchanged):
            cure += "; if only the meta.properties were exchanged, exchange these"
        nodes = named("node", sorted({mistake.node.config.node_id for mistake in exchanged}))
        problem = f"the disks of {nodes} are exchanged: {', '.join(sides)}"
        yield stop_finding(OTHER_NODE_ID, problem, Place(), f"{cure}; rewrite nothing")


def _exchanged_files(
    mistakes: Sequence[Mistake], images: Mapping[str | None, MetadataImage]
) -> Iterator[Finding]:
    """Yield the directories of which only meta.properties is of another node."""
    for mistake in mistakes:
        node, directory, claimed, owner, _ = mistake
        if owner is None or not mistake.is_of_file:
            continue
        image = images.get(node.cluster_id)
        ids = (_assigned_ids(directory, owner, image) if image else None) or {
            other.directory.meta.directory_id
            for other in mistakes
            if other.directory.meta and other.directory.node_id == owner
        }
        yield _other_file(directory, claimed, owner, ids)


def copied_file(directory: LogDirectory, image: MetadataImage | None) -> Finding | None:
    """Return a finding if a directory's content proves its meta.properties a copy of another's.

    It has what the metadata has on one broker, and that is not the one of the file.
    """
    present, claimed = _partitions(directory), directory.node_id
    if image is None or claimed is None:
        return None
    owners = [node_id for node_id in image.brokers if _assigned(image, node_id).keys() == present]
    if len(owners) != 1 or claimed in owners:
        return None
    return _other_file(directory, claimed, owners[0], _assigned_ids(directory, owners[0], image))


def _other_file(
    directory: LogDirectory, claimed: int | None, owner: int, ids: set[bytes | None]
) -> Finding:
    cluster_id = directory.meta.cluster_id if directory.meta else None
    lines = meta_lines(owner, cluster_id, ids.pop() if len(ids) == 1 else None)
    return stop_finding(
        OTHER_NODE_ID,
        f"its meta.properties is that of node {claimed}, its content that of node {owner}",
        directory.place,
        "do not change the configuration or move the directory: write the right file",
        (write_command(directory.meta_path, lines),),
    )


def _assigned_ids(directory: LogDirectory, owner: int, image: MetadataImage) -> set[bytes | None]:
    """Return the ids of the directories to which the metadata assigns the partitions."""
    present = _partitions(directory)
    ids = {
        state.directories[state.replicas.index(owner)]
        for partition, state in _assigned(image, owner).items()
        if partition in present
    }
    return {identity for identity in ids if not is_reserved(identity)}

"""Ids of data directories that lost their meta.properties, from the node's own metadata log."""

from collections.abc import Sequence

from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.assignments import image_of, replicas_on
from kraftops.image.verify.directories import (
    OTHER_DIRECTORY,
    SET_ASIDE,
    DirectoryOwner,
    misplacement,
)
from kraftops.server.log_directory import LogDirectory
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.format.plan import directories_to_mend
from kraftops.storage.logdirs.node import read_node
from kraftops.uuids import is_reserved


def known_directory_ids(config: ServerConfig) -> dict[str, bytes]:
    """Return the ids that the metadata still knows of directories to mend, by their paths.

    An id is known if the registration of the broker has exactly one that no other directory has,
    and the directory has all partitions that are assigned to it, and no others.

    Raises:
        KraftopsError: a directory, or the metadata log, can no longer be read.
    """
    node = read_node(config)
    image = image_of(node)
    if image is None:
        return {}
    directory_ids = {}
    for directory in directories_to_mend(node.directories):
        directory_id = _unaccounted_id(image, config.node_id, node.directories)
        owner = DirectoryOwner(config.node_id, directory_id)
        if directory_id and _has_all(image, owner, directory):
            directory_ids[directory.path] = directory_id
    return directory_ids


def _unaccounted_id(
    image: MetadataImage, node_id: int, directories: Sequence[LogDirectory]
) -> bytes | None:
    """Return the only registered id that no directory has; None if there are none or several."""
    broker = image.broker(node_id)
    present = {directory.meta.directory_id for directory in directories if directory.meta}
    unaccounted = set(broker["logDirs"] if broker else ()) - present
    is_certain = len(unaccounted) == 1 and not any(map(is_reserved, unaccounted))
    return unaccounted.pop() if is_certain else None


def _has_all(image: MetadataImage, owner: DirectoryOwner, directory: LogDirectory) -> bool:
    """Tell whether a directory has exactly the partitions that the metadata assigns to its id."""
    present = set()
    for partition in directory.partitions():
        misplaced = misplacement(image, owner, partition)
        is_moving = partition.is_renamed and misplaced and misplaced.code == OTHER_DIRECTORY
        if misplaced and misplaced.code != SET_ASIDE and not is_moving:
            return False
        if not partition.is_renamed:
            present.add((partition.topic_id, partition.number))
    node_id, directory_id = owner
    assigned = {
        key
        for key, state in replicas_on(node_id, image)
        if state.directories[state.replicas.index(node_id)] == directory_id
    }
    return bool(assigned) and assigned <= present

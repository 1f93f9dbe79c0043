"""Trees of images from given records, and their nodes by paths."""

from typing import Any

from kraftops.image.load.loader import Loader
from kraftops.image.replay.replay import Replay
from kraftops.image.state.image import MetadataImage
from kraftops.tree.node import Directory, Leaf, Node, descend
from tests.helpers.logs.random_logs import (
    MetadataRecord,
    log_batches,
    log_bytes,
    new_record,
    uuid,
)
from tests.helpers.logs.segments import batches_of

T = uuid(1)


def image_of(*records: MetadataRecord) -> MetadataImage:
    """Return the image of a batch."""
    return image_in(log_bytes(log_batches(records)))


def image_in(raw: bytes) -> MetadataImage:
    """Return the image of a log in memory."""
    image = MetadataImage()
    loader = Loader(Replay(image))
    assert loader.add(batches_of(raw), image.store.add_source("memory", None), "memory")
    return image


def node_at(root: Directory, path: str) -> Node | None:
    """Return the node at a path."""
    return descend(root, path.split("/")[1:])


def names(root: Directory, path: str) -> list[str]:
    found = node_at(root, path)
    assert isinstance(found, Directory)
    return found.sorted_names()


def data(root: Directory, path: str) -> Any:
    found = node_at(root, path)
    assert isinstance(found, Leaf), path
    return found.data


def partition(number: int, **changes: Any) -> MetadataRecord:
    fields: dict[str, Any] = {"replicas": [1, 2], "isr": [1, 2], "leader": 1}
    return new_record("PartitionRecord", partitionId=number, topicId=T, **fields | changes)


TOPIC = new_record("TopicRecord", topicId=T, name="orders")


def config(kind: int, name: str, key: str, value: str) -> MetadataRecord:
    return new_record("ConfigRecord", resourceType=kind, resourceName=name, name=key, value=value)

"""The directories of topics and their partitions: by id, by name, and by condition."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from kraftops.engine.metadata_state import NewestRecord, PartitionCondition
from kraftops.image.state.image import LastChange, MetadataImage
from kraftops.tree import leaves
from kraftops.tree.names import integer_of, uuid_of
from kraftops.tree.node import Directory, Leaf, Node, TopicsBelow, fixed
from kraftops.tree.view import View
from kraftops.uuids import to_text

Image = MetadataImage


def topics_by_id(view: View) -> Node:
    """Return the directory of topics by their ids."""
    image = view.image
    fold = image.fold

    def get(name: str) -> Node | None:
        topic_id = uuid_of(name)
        return None if topic_id is None or fold.topic(topic_id) is None else _topic(image, topic_id)

    def ids() -> dict[str, bytes]:
        return {to_text(topic_id): topic_id for topic_id in fold.topic_ids()}

    return Directory(
        lambda: map(to_text, fold.topic_ids()),
        get,
        newest=lambda: _newest_address(image, None),
        last_change=lambda: last_change_below(image, None),
        topics=TopicsBelow(image, ids),
    )


def topics_by_name(view: View) -> Node:
    """Return the directory of topics by their names."""
    image = view.image

    def get(name: str) -> Node | None:
        topic_id = image.fold.topic_id(name)
        return None if topic_id is None else _topic(image, topic_id)

    return Directory(
        lambda: image.topic_ids, get, topics=TopicsBelow(image, lambda: image.topic_ids)
    )


def _topic(image: Image, topic_id: bytes) -> Directory:
    fold = image.fold

    def names() -> Iterator[str]:
        yield from map(str, fold.numbers(topic_id))
        yield from _TOPIC_LEAVES

    def get(name: str) -> Node | None:
        if name in _TOPIC_LEAVES:
            return Leaf(_TOPIC_LEAVES[name], image, (topic_id,))
        number = integer_of(name)
        if number is None or fold.newest(topic_id, number) is None:
            return None
        return Leaf(leaves.PARTITION, image, (topic_id, number))

    def kafka_texts() -> dict[str, str]:
        found = {str(number): text for number, text in leaves.partition_texts(image, topic_id)}
        return found | {
            name: kind.kafka_text(image, (topic_id,)) for name, kind in _TOPIC_LEAVES.items()
        }

    return Directory(
        names,
        get,
        is_known_flat=True,
        kafka_texts=kafka_texts,
        newest=lambda: _newest_address(image, topic_id),
        last_change=lambda: last_change_below(image, topic_id),
    )


_TOPIC_LEAVES = {"id": leaves.TOPIC_ID, "name": leaves.TOPIC_NAME}


def _newest_address(image: Image, topic_id: bytes | None) -> tuple[Image, int] | None:
    newest = image.fold.newest_below(topic_id, None)
    return None if newest is None else (image, newest.address)


def last_change_below(image: Image, topic_id: bytes | None) -> LastChange | None:
    """Return the newest change of a topic and its partitions, or of all topics."""

    def newest_in(other: Image) -> NewestRecord | None:
        return image.fold.newest_below(topic_id, None if other is image else other.fold)

    return image.last_change(newest_in)


_CONDITIONS = {
    "leaderless": PartitionCondition.LEADERLESS,
    "reassigning": PartitionCondition.REASSIGNING,
    "underReplicated": PartitionCondition.UNDER_REPLICATED,
    "withElr": PartitionCondition.WITH_ELR,
}


def topics_by_state(view: View) -> Node:
    """Return directories of the partitions in a condition that needs attention, by topic."""
    return fixed(
        {name: _partitions_with(view.image, condition) for name, condition in _CONDITIONS.items()}
    )


def _partitions_with(image: Image, condition: PartitionCondition) -> Directory:
    """Return a directory of the partitions with a condition, by topic."""

    @cache
    def found() -> dict[str, tuple[bytes, list[int]]]:
        names = {topic_id: name for name, topic_id in image.topic_ids.items()}
        return {
            names[topic_id]: (topic_id, numbers)
            for topic_id, numbers in image.fold.partitions_with(condition).items()
            if topic_id in names  # another topic may have taken its name
        }

    def get(name: str) -> Node | None:
        if name not in found():
            return None
        topic_id, numbers = found()[name]
        return fixed(
            {str(number): Leaf(leaves.PARTITION, image, (topic_id, number)) for number in numbers},
            is_known_flat=True,
        )

    return Directory(found, get)

"""The directories of topics and their partitions: by id, by name, and by condition."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from kraftops.engine.metadata_state import NewestRecord, PartitionCondition, ReplicaRole
from kraftops.image.state.image import LastChange, MetadataImage
from kraftops.image.state.min_isr import NamedMinIsr
from kraftops.java.text import sorted_strings
from kraftops.tree import leaves, node
from kraftops.tree.names import UUIDS, integer_of, uuid_of
from kraftops.tree.view import View
from kraftops.uuids import to_text

Image = MetadataImage
ByTopic = Mapping[bytes, list[int]]
"""Numbers of partitions by the ids of topics."""


def topics_by_id(view: View) -> node.Node:
    image = view.image
    fold = image.fold

    def get(name: str) -> node.Node | None:
        topic_id = uuid_of(name)
        return None if topic_id is None or fold.topic(topic_id) is None else _topic(image, topic_id)

    def ids() -> dict[str, bytes]:
        return {to_text(topic_id): topic_id for topic_id in fold.topic_ids()}

    return node.Directory(
        lambda: map(to_text, fold.topic_ids()),
        get,
        newest=lambda: _newest_address(image, None),
        last_change=lambda: last_change_below(image, None),
        topics=node.TopicsBelow(image, ids),
        leaf_names=lambda: _leaf_names(image, ids()),
    )


def topics_by_name(view: View) -> node.Node:
    image = view.image

    def get(name: str) -> node.Node | None:
        topic_id = image.fold.topic_id(name)
        return None if topic_id is None else _topic(image, topic_id)

    def beginning(text: str, most: int) -> list[str]:
        return node.some_of(node.beginning_with(text, image.sorted_topics), most)

    return node.Directory(
        lambda: image.topic_ids,
        get,
        topics=node.TopicsBelow(image, lambda: image.topic_ids),
        leaf_names=lambda: _leaf_names(image, image.topic_ids),
        beginning=beginning,
    )


def _topic(image: Image, topic_id: bytes) -> node.Directory:
    fold = image.fold

    def names() -> Iterator[str]:
        yield from map(str, fold.numbers(topic_id))
        yield from _TOPIC_LEAVES

    def get(name: str) -> node.Node | None:
        if name in _TOPIC_LEAVES:
            return node.Leaf(_TOPIC_LEAVES[name], image, (topic_id,))
        number = integer_of(name)
        if number is None or fold.newest(topic_id, number) is None:
            return None
        return node.Leaf(leaves.PARTITION, image, (topic_id, number))

    def kafka_texts() -> dict[str, str]:
        texts = {str(number): text for number, text in leaves.partition_texts(image, topic_id)}
        return texts | {
            name: kind.kafka_text(image, (topic_id,)) for name, kind in _TOPIC_LEAVES.items()
        }

    def json_texts() -> Iterator[tuple[str, str]]:
        for number, state in fold.partitions(topic_id):
            yield str(number), leaves.partition_json(topic_id, number, state)
        topic = fold.topic(topic_id)
        yield "id", node.json_text(UUIDS[topic_id])
        yield "name", node.json_text(topic.name if topic else None)

    def about() -> node.About:
        numbers = fold.numbers(topic_id)
        replicas = {len(state.replicas) for _, state in fold.partitions(topic_id)}
        return {"partitions": len(numbers), "replication": sorted(replicas)}

    return node.Directory(
        names,
        get,
        is_known_flat=True,
        is_ordered=True,
        about=about,
        kafka_texts=kafka_texts,
        json_texts=json_texts,
        newest=lambda: _newest_address(image, topic_id),
        last_change=lambda: last_change_below(image, topic_id),
    )


def _leaf_names(image: Image, ids: Mapping[str, bytes]) -> Iterator[tuple[str, Sequence[str]]]:
    numbers = image.fold.numbers
    for name in sorted_strings(ids):
        yield name, _names_below(tuple(numbers(ids[name])))


@lru_cache(maxsize=1024)
def _names_below(numbers: tuple[int, ...]) -> Sequence[str]:
    """Return the names in a topic in Java's order; most topics have the same."""
    return sorted([*map(str, numbers), *_TOPIC_LEAVES])


_TOPIC_LEAVES = {"id": leaves.TOPIC_ID, "name": leaves.TOPIC_NAME}


def _newest_address(image: Image, topic_id: bytes | None) -> tuple[Image, int] | None:
    newest = image.fold.newest_below(topic_id, None)
    return None if newest is None else (image, newest.address)


def last_change_below(image: Image, topic_id: bytes | None) -> LastChange | None:
    def newest_in(other: Image) -> NewestRecord | None:
        return image.fold.newest_below(topic_id, None if other is image else other.fold)

    return image.last_change(newest_in)


def _finder(condition: PartitionCondition) -> Callable[[Image], ByTopic]:
    return lambda image: image.fold.partitions_with(condition)


def _offline(image: Image) -> ByTopic:
    """Return the partitions whose leader is not an active broker (`--unavailable-partitions`)."""
    active = {
        number
        for number, broker in image.brokers.items()
        if not image.broker_state(broker, whole=False)["fenced"]
    }
    return image.fold.with_role(ReplicaRole.OTHER_LEADER, active)


def _under_min_isr(image: Image) -> ByTopic:
    return image.fold.under_min_isr(*NamedMinIsr(image).by_id(image))


def _unpreferred(image: Image) -> ByTopic:
    return image.fold.with_role(ReplicaRole.UNPREFERRED_LEADER, frozenset())


_OF_THE_CLUSTER = ("offline", "underMinIsr")
"""States by brokers or configurations: a part of a log, as Spark reads it, lacks these."""

_STATES: Mapping[str, Callable[[Image], ByTopic]] = {
    "leaderless": _finder(PartitionCondition.LEADERLESS),
    "offline": _offline,
    "reassigning": _finder(PartitionCondition.REASSIGNING),
    "underMinIsr": _under_min_isr,
    "underReplicated": _finder(PartitionCondition.UNDER_REPLICATED),
    "withElr": _finder(PartitionCondition.WITH_ELR),
    "withoutPreferredLeader": _unpreferred,
}


def topics_by_state(view: View) -> node.Node:
    """Return directories of the partitions in a condition that needs attention, by topic."""
    return node.fixed(
        {
            name: _partitions_of(view.image, find, is_view=name in _OF_THE_CLUSTER)
            for name, find in _STATES.items()
        }
    )


def _partitions_of(
    image: Image, find: Callable[[Image], ByTopic], *, is_view: bool
) -> node.Directory:
    """Return a directory of some partitions, by topic; they are looked for when it is read."""

    @cache
    def matches() -> dict[str, tuple[bytes, list[int]]]:
        names = {topic_id: name for name, topic_id in image.topic_ids.items()}
        return {
            names[topic_id]: (topic_id, numbers)
            for topic_id, numbers in find(image).items()
            if topic_id in names  # another topic may have taken its name
        }

    def get(name: str) -> node.Node | None:
        if name not in matches():
            return None
        topic_id, numbers = matches()[name]
        children = {
            str(number): node.Leaf(leaves.PARTITION, image, (topic_id, number))
            for number in numbers
        }
        return replace(node.fixed(children, is_known_flat=True), is_ordered=True)

    return node.Directory(matches, get, is_view=is_view)

"""The numbers of in-sync replicas that partitions need, by the configurations of an image."""

from __future__ import annotations

from typing import NamedTuple

from kraftops.engine.metadata_state import TOPIC_RESOURCE, Resource
from kraftops.engine.timeline_contract import BROKER_RESOURCE, DEFAULT_MIN_ISR, MIN_ISR
from kraftops.image.state.image import MetadataImage


class MinIsr(NamedTuple):
    """The values of `min.insync.replicas`: of the topics that have one, by id, and of others.

    Values in the files of the brokers are unknown.
    """

    by_topic: dict[bytes, int]
    usual: int


class NamedMinIsr:
    """The values of `min.insync.replicas` by topic name, which follow the changes of a log."""

    def __init__(self, image: MetadataImage) -> None:
        """Begin with those of an image.

        Raises:
            KraftopsError: a source cannot be read any more.
        """
        self._by_topic: dict[str, int] = {}
        self._usual = DEFAULT_MIN_ISR
        for resource, keys in image.configs.items():
            self.put(image, resource, keys.get(MIN_ISR))

    def put(self, image: MetadataImage, resource: Resource, address: int | None) -> None:
        """Take the newest record of a resource's value, None if it has none; errors as above."""
        value = None if address is None else _value_at(image, address)
        kind, name = resource
        if resource == (BROKER_RESOURCE, ""):
            self._usual = DEFAULT_MIN_ISR if value is None else value
        elif kind == TOPIC_RESOURCE and value is not None:
            self._by_topic[name] = value
        elif kind == TOPIC_RESOURCE:
            self._by_topic.pop(name, None)

    def of(self, topic: str) -> int:
        """Return the number of replicas of a topic that must be in sync."""
        return self._by_topic.get(topic, self._usual)


def min_isr(image: MetadataImage) -> MinIsr:
    """Return the numbers of replicas that must be in sync.

    Raises:
        KraftopsError: a source cannot be read any more.
    """
    by_topic = {}
    usual = DEFAULT_MIN_ISR
    for (kind, name), keys in image.configs.items():
        if MIN_ISR not in keys or (kind, name) == (TOPIC_RESOURCE, ""):
            continue
        topic_id = image.fold.topic_id(name) if kind == TOPIC_RESOURCE else None
        if topic_id is None and (kind, name) != (BROKER_RESOURCE, ""):
            continue
        value = _value_at(image, keys[MIN_ISR])
        if value is None:
            continue
        if topic_id is None:
            usual = value
        else:
            by_topic[topic_id] = value
    return MinIsr(by_topic, usual)


def _value_at(image: MetadataImage, address: int) -> int | None:
    value = image.read(address)[1]["value"] or ""
    is_number = value.isascii() and value.isdecimal() and len(value) < 10
    return int(value) if is_number else None

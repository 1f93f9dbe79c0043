"""What the image of a cluster's metadata says of its brokers, as `kafka-cluster` asks for it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from kraftops.image.image import MetadataImage
    from kraftops.schema.read import Data


def brokers_of(image: MetadataImage) -> dict[int, Data]:
    """Return the registrations by broker, with the changes that came after them."""
    return {
        broker: image.broker_state(each.addresses) for broker, each in sorted(image.brokers.items())
    }


def fenced_of(image: MetadataImage) -> dict[int, bool]:
    """Return the brokers, and whether they are fenced."""
    return {broker: bool(state["fenced"]) for broker, state in brokers_of(image).items()}


def replicas_of(image: MetadataImage) -> dict[int, Counter[str]]:
    """Return how many replicas of which topics brokers hold; those without any are left out."""
    from kraftops.image.plain import plain_partitions, replicas_and_isr

    held: dict[int, Counter[str]] = {}
    for topic in image.topics.values():
        counts: Counter[int] = Counter()
        for number, plain in plain_partitions(image, topic):
            if plain is not None:
                counts.update(replicas_and_isr(plain[0])[0])
            elif (state := image.partition(topic, number)) is not None:
                counts.update(cast("list[int]", state["replicas"]))
        for broker, count in counts.items():
            held.setdefault(broker, Counter())[topic.name] += count
    return held

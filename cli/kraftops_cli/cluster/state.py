"""What the image of a cluster's metadata says of its brokers, as `kafka-cluster` asks for it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraftops.image.state.broker import BrokerState
    from kraftops.image.state.image import MetadataImage


def brokers_of(image: MetadataImage) -> dict[int, BrokerState]:
    """Return the registrations by broker, with the changes that came after them."""
    return {broker: image.broker_state(each) for broker, each in sorted(image.brokers.items())}


def fenced_of(image: MetadataImage) -> dict[int, bool]:
    """Return the brokers, and whether they are fenced."""
    return {broker: state["fenced"] for broker, state in brokers_of(image).items()}


def replicas_of(image: MetadataImage) -> dict[int, Counter[str]]:
    """Return how many replicas of which topics brokers hold; those without any are left out."""
    held: dict[int, Counter[str]] = {}
    for broker, counts in image.fold.replica_counts().items():
        held[broker] = Counter()
        for topic_id, count in counts.items():
            held[broker][image.topics[topic_id].name] += count
    return held

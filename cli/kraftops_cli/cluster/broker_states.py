"""Brokers and their replicas in the image of a cluster's metadata."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraftops.image.state.broker import BrokerState
    from kraftops.image.state.image import MetadataImage


def broker_states(image: MetadataImage) -> dict[int, BrokerState]:
    """Return the registrations by broker id, with the changes after them."""
    return {broker: image.broker_state(each) for broker, each in sorted(image.brokers.items())}


def fenced_by_id(image: MetadataImage) -> dict[int, bool]:
    """Return by broker id whether the broker is fenced."""
    return {broker: state["fenced"] for broker, state in broker_states(image).items()}


def replica_counts(image: MetadataImage) -> dict[int, Counter[str]]:
    """Return the replica count by topic of each broker that has replicas."""
    counts: dict[int, Counter[str]] = {}
    for broker, by_id in image.fold.replica_counts().items():
        counts[broker] = Counter()
        for topic_id, count in by_id.items():
            counts[broker][image.topics[topic_id].name] += count
    return counts

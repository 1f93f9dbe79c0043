"""Brokers and their replicas in the image of a cluster's metadata."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from kraftops.engine.metadata_state import BrokerEntry, BrokerLoad
from kraftops.image.state.broker import BrokerState
from kraftops.image.state.changes import Provenance
from kraftops.image.state.image import MetadataImage
from kraftops_cli.cluster.health import (
    Health,
    NodeFacts,
    broker_facts,
    health_of_image,
    min_isr_addresses,
)

_STYLES = {
    "active": "good",
    "unfenced": "good",
    "fenced": "bad",
    "registered-fenced": "bad",
    "in-controlled-shutdown": "warning",
}
"""Styles of the terminal's theme."""


def broker_states(image: MetadataImage) -> dict[int, BrokerState]:
    """Return the registrations by broker id, with the changes after them."""
    return {
        broker: image.broker_state(registration)
        for broker, registration in sorted(image.brokers.items())
    }


def replica_counts(image: MetadataImage) -> dict[int, Counter[str]]:
    """Return the replica count by topic of each broker that has replicas."""
    counts: dict[int, Counter[str]] = {}
    for broker, by_id in image.fold.replica_counts().items():
        counts[broker] = Counter()
        for topic_id, count in by_id.items():
            counts[broker][image.topics[topic_id].name] += count
    return counts


class _Registered(NamedTuple):
    entry: BrokerEntry
    state: BrokerState
    facts: NodeFacts


class KeptState:
    """What was read of an image that changes: what has not changed is not read again."""

    def __init__(self) -> None:
        self._image: MetadataImage | None = None
        self._read_at: Provenance | None = None
        self._brokers: dict[int, _Registered] = {}
        self._partitions: object = None  # what the loads were counted of
        self._loads: dict[int, BrokerLoad] = {}
        self._counted: object = None  # what the health was counted of
        self._health: Health | None = None

    def states(self, image: MetadataImage) -> dict[int, BrokerState]:
        """Return the registrations as `broker_states`.

        Raises:
            KraftopsError: a source cannot be read any more.
        """
        return {broker: registered.state for broker, registered in self._current(image).items()}

    def facts(self, image: MetadataImage) -> dict[int, NodeFacts]:
        """Return what brokers registered, by id; errors as above."""
        return {broker: registered.facts for broker, registered in self._current(image).items()}

    def loads(self, image: MetadataImage) -> dict[int, BrokerLoad]:
        """Return the load of each broker that has replicas; errors as above."""
        self._begin(image)
        partitions = _partitions_of(image)
        if partitions != self._partitions:
            self._partitions, self._loads = partitions, image.fold.broker_loads()
        return self._loads

    def health(self, image: MetadataImage) -> Health:
        """Return the health of the partitions; errors as above."""
        self._begin(image)
        counted = _partitions_of(image), min_isr_addresses(image)
        if self._health is None or counted != self._counted:
            self._counted, self._health = counted, health_of_image(image)
        return self._health

    def _begin(self, image: MetadataImage) -> None:
        """Forget another image: addresses are those of one."""
        if image is not self._image:
            self._image, self._read_at, self._brokers = image, None, {}
            self._partitions = self._counted = None

    def _current(self, image: MetadataImage) -> dict[int, _Registered]:
        self._begin(image)
        if self._read_at == image.provenance:
            return self._brokers
        earlier, self._brokers = self._brokers, {}
        for broker, entry in sorted(image.brokers.items()):
            registered = earlier.get(broker)
            if registered is None or registered.entry != entry:
                state = image.broker_state(entry)
                registered = _Registered(entry, state, broker_facts(image, entry, state))
            self._brokers[broker] = registered
        self._read_at = image.provenance
        return self._brokers


def _partitions_of(image: MetadataImage) -> object:
    """Return values that change whenever a partition does."""
    fold = image.fold
    return fold.newest_below(None, None), fold.partition_count(), fold.topic_count()


def state_style(state: str) -> str:
    """Return the style of a state; none for one that says nothing."""
    return _STYLES.get(state, "")

"""Brokers and their replicas in the image of a cluster's metadata."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from kraftops.display.columns import Styled
from kraftops.engine.metadata_state import BrokerEntry, BrokerLoad
from kraftops.image.state.broker import BrokerState
from kraftops.image.state.image import MetadataImage
from kraftops_cli.cluster.health import (
    Health,
    NodeFacts,
    broker_facts,
    health_of_image,
    min_isr_addresses,
)

T = TypeVar("T")

_STYLES = {
    "active": "good",
    "unfenced": "good",
    "fenced": "bad",
    "registered-fenced": "bad",
    "in-controlled-shutdown": "warning",
}
"""Styles of the terminal's theme."""


def replica_counts(image: MetadataImage) -> dict[int, Counter[str]]:
    counts: dict[int, Counter[str]] = {}
    for broker, by_id in image.fold.replica_counts().items():
        counts[broker] = Counter()
        for topic_id, count in by_id.items():
            counts[broker][image.topics[topic_id].name] += count
    return counts


class KeptState:
    """What was read of an image that changes: what has not changed is not read again.

    Its methods raise KraftopsError if a source can no longer be read.
    """

    def __init__(self) -> None:
        self._image: MetadataImage | None = None
        self._kept: dict[object, tuple[object, Any]] = {}  # with what it was read of, by name

    def states(self, image: MetadataImage) -> dict[int, BrokerState]:
        return {broker: state for broker, (state, _) in self._registered(image).items()}

    def facts(self, image: MetadataImage) -> dict[int, NodeFacts]:
        return {broker: facts for broker, (_, facts) in self._registered(image).items()}

    def loads(self, image: MetadataImage) -> dict[int, BrokerLoad]:
        return self._once(image, "loads", _partitions_of(image), image.fold.broker_loads)

    def health(self, image: MetadataImage) -> Health:
        counted = _partitions_of(image), min_isr_addresses(image)
        return self._once(image, "health", counted, lambda: health_of_image(image))

    def _registered(self, image: MetadataImage) -> dict[int, tuple[BrokerState, NodeFacts]]:
        return {
            broker: self._once(image, broker, entry, partial(_read, image, entry))
            for broker, entry in sorted(image.brokers.items())
        }

    def _once(self, image: MetadataImage, name: object, source: object, read: Callable[[], T]) -> T:
        """Read something if its source has changed; addresses are those of one image."""
        if image is not self._image:
            self._image, self._kept = image, {}
        if name not in self._kept or self._kept[name][0] != source:
            self._kept[name] = source, read()
        kept: T = self._kept[name][1]
        return kept


def _read(image: MetadataImage, entry: BrokerEntry) -> tuple[BrokerState, NodeFacts]:
    state = image.broker_state(entry)
    return state, broker_facts(image, entry, state)


def _partitions_of(image: MetadataImage) -> object:
    """Return a fingerprint that changes whenever a partition does."""
    fold = image.fold
    return fold.newest_below(None, None), fold.partition_count(), fold.topic_count()


def state_cell(state: str) -> Styled:
    return Styled(state, _STYLES.get(state, ""))

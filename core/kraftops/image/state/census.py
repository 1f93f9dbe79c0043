"""How many of what there is in an image, and what of it is in need of a look."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from kraftops.engine.metadata_state import PartitionCondition
from kraftops.image.state.broker import standing
from kraftops.image.state.image import MetadataImage


class Census(NamedTuple):
    """Counts; brokers are by what they may do, see `kraftops.image.state.broker.standing`."""

    brokers: dict[str, int]
    controllers: int
    topics: int
    partitions: int
    under_replicated: int
    leaderless: int


def census(image: MetadataImage) -> Census:
    """Count what is in an image.

    Raises:
        KraftopsError: a source cannot be read any more.
    """
    fold = image.fold
    states = (image.broker_state(broker, whole=False) for broker in image.brokers.values())
    return Census(
        dict(Counter(map(standing, states))),
        len(image.controllers),
        fold.topic_count(),
        fold.partition_count(),
        fold.count_with(PartitionCondition.UNDER_REPLICATED),
        fold.count_with(PartitionCondition.LEADERLESS),
    )

"""Health counts of an image: brokers by status, topics, partitions and their troubles."""

from collections import Counter
from typing import NamedTuple

from kraftops.engine.metadata_state import PartitionCondition
from kraftops.image.state.broker import broker_status
from kraftops.image.state.image import MetadataImage


class HealthCounts(NamedTuple):
    """Counts; *brokers* has them by `kraftops.image.state.broker.broker_status`."""

    brokers: dict[str, int]
    controllers: int
    topics: int
    partitions: int
    under_replicated: int
    leaderless: int


def health_counts(image: MetadataImage) -> HealthCounts:
    """Count the entries of an image.

    Raises:
        KraftopsError: a source can no longer be read.
    """
    fold = image.fold
    states = (image.broker_state(broker, whole=False) for broker in image.brokers.values())
    return HealthCounts(
        brokers=dict(Counter(map(broker_status, states))),
        controllers=len(image.controllers),
        topics=fold.topic_count(),
        partitions=fold.partition_count(),
        under_replicated=fold.count_with(PartitionCondition.UNDER_REPLICATED),
        leaderless=fold.count_with(PartitionCondition.LEADERLESS),
    )

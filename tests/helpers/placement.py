"""Placements of replicas for tests."""

from collections.abc import Mapping, Sequence

from kraftops.placement.placement import BrokerPlace, Placement, Replicas, TopicPartition


def placement(
    racks: Mapping[int, str | None], partitions: Sequence[tuple[int, ...]], topic: str = "t"
) -> Placement:
    """Return brokers with their racks, and the partitions of a topic, all replicas in sync."""
    brokers = {
        broker: BrokerPlace(rack, is_fenced=False, takes_replicas=True)
        for broker, rack in racks.items()
    }
    return Placement(
        brokers,
        {
            TopicPartition(topic, number): Replicas(replicas, replicas, replicas[0])
            for number, replicas in enumerate(partitions)
        },
    )

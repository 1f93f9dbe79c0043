"""Min ISR of topics: their own, else the brokers' default, else what the user says."""

from __future__ import annotations

from collections.abc import Mapping

from kraftops.java.numbers import parse_integer
from kraftops.placement.placement import Placement
from kraftops.placement.safety import ASSUMED_MIN_ISR, MinIsr
from kraftops.reassign.access import ClusterAccess

MIN_ISR = "min.insync.replicas"


def min_isr_of_topics(
    access: ClusterAccess, placement: Placement, default: int | None
) -> dict[str, MinIsr]:
    """Return the min ISR by topic.

    A broker tells it with its own default. The metadata log has no defaults of server.properties:
    without brokers, *default* stands for them, and without that, Kafka's own.

    Raises:
        WireError: nobody answers.
        AnswerError: it is not permitted.
    """
    return min_isr_by(access.topic_values(placement, MIN_ISR), placement, default)


def min_isr_by(
    values: Mapping[str, str], placement: Placement, default: int | None
) -> dict[str, MinIsr]:
    """Return the min ISR by topic, from the texts that are set."""
    fallback = MinIsr(default) if default else MinIsr(ASSUMED_MIN_ISR, is_assumed=True)
    topics = {partition.topic for partition in placement.partitions}
    numbers = {topic: parse_integer(values.get(topic, ""), 32) for topic in topics}
    return {
        topic: fallback if value is None or value < 0 else MinIsr(value)
        for topic, value in numbers.items()
    }

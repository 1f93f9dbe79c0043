"""Min ISR of topics: their own, else the brokers' default, else what the user says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kraftops.engine.timeline_contract import MIN_ISR
from kraftops.image.state.image import MetadataImage
from kraftops.java.numbers import parse_integer
from kraftops.placement.placement import Placement
from kraftops.placement.safety import ASSUMED_MIN_ISR, MinIsr
from kraftops.reassign.access import ClusterAccess, topic_values_in


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
    values = access.topic_values(placement, MIN_ISR)
    return min_isr_by(values, placement.topics, default)


def logged_min_isr(
    image: MetadataImage, topics: Iterable[str], default: int | None = None
) -> dict[str, MinIsr]:
    """Return the min ISR of topics by a metadata log; *default* as above.

    Raises:
        KraftopsError: a source cannot be read any more.
    """
    return min_isr_by(topic_values_in(image, topics, MIN_ISR), topics, default)


def min_isr_by(
    values: Mapping[str, str], topics: Iterable[str], default: int | None = None
) -> dict[str, MinIsr]:
    """Return the min ISR of topics, from the texts that are set."""
    fallback = MinIsr(default) if default else MinIsr(ASSUMED_MIN_ISR, is_assumed=True)
    numbers = {topic: parse_integer(values.get(topic, ""), 32) for topic in topics}
    return {
        topic: fallback if value is None or value < 0 else MinIsr(value)
        for topic, value in numbers.items()
    }

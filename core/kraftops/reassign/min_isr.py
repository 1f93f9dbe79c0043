"""Min ISR of topics: their own, else the brokers' default, else what the user says."""

from collections.abc import Iterable, Mapping

from kraftops.engine.timeline_contract import MIN_ISR
from kraftops.image.state.image import MetadataImage
from kraftops.java.numbers import parse_integer
from kraftops.placement.placement import Placement
from kraftops.placement.safety import ASSUMED_MIN_ISR, MinIsr
from kraftops.reassign.access import ClusterAccess
from kraftops.wire.admin.configs import DEFAULTS, ResourceType


def min_isr_of_topics(
    access: ClusterAccess, placement: Placement, default: int | None
) -> dict[str, MinIsr]:
    """Ask for the min ISR of topics; where it is not set, a default counts.

    A broker tells it with its own default. The metadata log has no defaults of server.properties:
    without brokers, *default* stands for them, and without that, Kafka's own.

    Raises:
        WireError: no server answers.
        AnswerError: it is not permitted.
    """
    if access.brokers is None:
        return logged_min_isr(access.image(), placement.topics, default)
    configs = access.topic_configs(placement, (MIN_ISR,))
    texts = {
        topic: values[MIN_ISR].value or "" for topic, values in configs.items() if MIN_ISR in values
    }
    return min_isr_by(texts, placement.topics, default)


def logged_min_isr(
    image: MetadataImage, topics: Iterable[str], default: int | None = None
) -> dict[str, MinIsr]:
    """Read the min ISR of topics from a metadata log; *default* as above.

    The log has the default of the whole cluster, if there is one.

    Raises:
        KraftopsError: a source can no longer be read.
    """
    of_cluster = image.configs.get((ResourceType.BROKER, DEFAULTS), {}).get(MIN_ISR)
    texts = {}
    for topic in topics:
        address = image.configs.get((ResourceType.TOPIC, topic), {}).get(MIN_ISR, of_cluster)
        if address is not None:
            texts[topic] = str(image.read(address)[1]["value"])
    return min_isr_by(texts, topics, default)


def min_isr_by(
    values: Mapping[str, str], topics: Iterable[str], default: int | None = None
) -> dict[str, MinIsr]:
    """Parse texts by topic; one that is missing or not a number has the default."""
    fallback = MinIsr(default) if default else MinIsr(ASSUMED_MIN_ISR, is_assumed=True)
    numbers = {topic: parse_integer(values.get(topic, ""), 32) for topic in topics}
    return {
        topic: fallback if value is None or value < 0 else MinIsr(value)
        for topic, value in numbers.items()
    }

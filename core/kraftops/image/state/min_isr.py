"""The numbers of in-sync replicas that partitions need, by the configurations of an image."""

from kraftops.engine.metadata_state import TOPIC_RESOURCE, Resource
from kraftops.engine.timeline_contract import BROKER_RESOURCE, DEFAULT_MIN_ISR, MIN_ISR
from kraftops.image.state.image import MetadataImage


class NamedMinIsr:
    """The values of `min.insync.replicas` by topic name, which follow the changes of a log.

    Those in the files of the brokers are unknown.
    """

    def __init__(self, image: MetadataImage) -> None:
        """Begin with those of an image.

        Raises:
            KraftopsError: a source can no longer be read.
        """
        self._by_topic: dict[str, int] = {}
        self._usual = DEFAULT_MIN_ISR
        for resource, keys in image.configs.items():
            self.put(image, resource, keys.get(MIN_ISR))

    def put(self, image: MetadataImage, resource: Resource, address: int | None) -> None:
        """Take the newest record of a resource's value, None if it has none; errors as above."""
        value = None if address is None else _value_at(image, address)
        kind, name = resource
        if resource == (BROKER_RESOURCE, ""):
            self._usual = DEFAULT_MIN_ISR if value is None else value
        elif kind == TOPIC_RESOURCE and value is not None:
            self._by_topic[name] = value
        elif kind == TOPIC_RESOURCE:
            self._by_topic.pop(name, None)

    def of(self, topic: str) -> int:
        """Return a topic's min.insync.replicas."""
        return self._by_topic.get(topic, self._usual)

    def by_id(self, image: MetadataImage) -> tuple[dict[bytes, int], int]:
        """Return min.insync.replicas by the ids of topics that set it, and that of all others."""
        by_id = {
            topic_id: value
            for name, value in self._by_topic.items()
            if (topic_id := image.fold.topic_id(name)) is not None
        }
        return by_id, self._usual


def _value_at(image: MetadataImage, address: int) -> int | None:
    value = image.read(address)[1]["value"] or ""
    is_number = value.isascii() and value.isdecimal() and len(value) < 10
    return int(value) if is_number else None

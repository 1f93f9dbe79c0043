"""The `min.insync.replicas` of topics, as far as a metadata log tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from kraftops.engine.metadata_state import TOPIC_RESOURCE
from kraftops.engine.timeline_contract import MIN_ISR
from kraftops.image.state.image import MetadataImage
from kraftops.placement.safety import ASSUMED_MIN_ISR, MinIsr

if TYPE_CHECKING:
    from kraftops.records.metadata_types import ConfigRecord

_BROKER_RESOURCE = 4


class MinIsrs(NamedTuple):
    """The values of topics by name, and the *usual* one of all others."""

    by_topic: Mapping[str, MinIsr]
    usual: MinIsr

    def of(self, topic: str) -> MinIsr:
        return self.by_topic.get(topic, self.usual)


def min_isrs_of(image: MetadataImage) -> MinIsrs:
    """Return the values of an image: of topics, else of the whole cluster, else Kafka's default.

    Files of brokers may have others, which no log has.

    Raises:
        KraftopsError: a source cannot be read any more.
    """
    by_topic = {}
    usual = MinIsr(ASSUMED_MIN_ISR, is_assumed=True)
    for (kind, name), keys in image.configs.items():
        address = keys.get(MIN_ISR)
        if address is None:
            continue
        value = _value(image, address)
        if value is None:
            continue
        if kind == TOPIC_RESOURCE:
            by_topic[name] = MinIsr(value)
        elif kind == _BROKER_RESOURCE and not name:
            usual = MinIsr(value)
    return MinIsrs(by_topic, usual)


def _value(image: MetadataImage, address: int) -> int | None:
    record: ConfigRecord = image.read(address)[1]
    text = record["value"] or ""
    return int(text) if text.isdecimal() and len(text) < 10 else None

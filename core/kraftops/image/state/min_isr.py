"""The numbers of in-sync replicas that partitions need, by the configurations of an image."""

from __future__ import annotations

from typing import NamedTuple

from kraftops.engine.metadata_state import TOPIC_RESOURCE
from kraftops.engine.timeline_contract import BROKER_RESOURCE, DEFAULT_MIN_ISR, MIN_ISR
from kraftops.image.state.image import MetadataImage


class MinIsr(NamedTuple):
    """The values of `min.insync.replicas`: of the topics that have one, by id, and of others.

    Values in the files of the brokers are unknown.
    """

    by_topic: dict[bytes, int]
    usual: int


def min_isr(image: MetadataImage) -> MinIsr:
    """Return the numbers of replicas that must be in sync.

    Raises:
        KraftopsError: a source cannot be read any more.
    """
    by_topic = {}
    usual = DEFAULT_MIN_ISR
    for (kind, name), keys in image.configs.items():
        if MIN_ISR not in keys or (kind, name) == (TOPIC_RESOURCE, ""):
            continue
        topic_id = image.fold.topic_id(name) if kind == TOPIC_RESOURCE else None
        if topic_id is None and (kind, name) != (BROKER_RESOURCE, ""):
            continue
        value = image.read(keys[MIN_ISR])[1]["value"] or ""
        if not (value.isascii() and value.isdecimal() and len(value) < 10):
            continue
        if topic_id is None:
            usual = int(value)
        else:
            by_topic[topic_id] = int(value)
    return MinIsr(by_topic, usual)

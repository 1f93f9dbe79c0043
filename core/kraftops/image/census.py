"""How many of what there is in an image, and what of it is in need of a look."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, cast

from kraftops.image.broker import standing
from kraftops.image.image import MetadataImage
from kraftops.image.needy import needy_partitions
from kraftops.image.plain import is_leaderless, is_under_replicated


class Census(NamedTuple):
    """Counts; brokers are by what they may do, see `kraftops.image.broker.standing`."""

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
    states = (image.broker_state(broker.addresses) for broker in image.brokers.values())
    brokers = Counter(standing(state) for state in states)
    under_replicated = leaderless = 0
    for topic, number, plain in needy_partitions(image):
        if plain is not None:
            under_replicated += is_under_replicated(plain)
            leaderless += is_leaderless(plain)
            continue
        state = image.partition_state(image.partition_addresses(topic, number))
        isr, replicas = cast("list[int]", state["isr"]), cast("list[int]", state["replicas"])
        under_replicated += len(isr) < len(replicas)
        leaderless += cast("int", state["leader"]) < 0
    return Census(
        dict(brokers),
        len(image.controllers),
        len(image.topics),
        sum(map(len, image.topics.values())),
        under_replicated,
        leaderless,
    )

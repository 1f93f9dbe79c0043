"""What the cluster keeps of nodes whose restart has begun: their processes and leaders before it.

It is in keys beside the mark of the operation, for the same reason: Kafka tells no value of a key
that it does not know. A long one is cut into several.
"""

import json
import re
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import NamedTuple

from kraftops.placement.placement import TopicPartition
from kraftops.reassign.marks import MARK_VALUE
from kraftops.wire.admin.configs import ConfigChange, Operation

_KEY = re.compile(r"kraftops\.restarting\.([0-9]{1,10})\.([0-9]{1,4})\.([A-Za-z0-9_=-]+)")
_LONGEST = 16_000
"""Characters of a key: a string of Kafka's protocol has at most 32,767 bytes."""


class Begun(NamedTuple):
    """The incarnations of a node before its restart, and the partitions that it was to lead."""

    incarnations: frozenset[str]
    leads: tuple[TopicPartition, ...]


def begun_in(keys: Iterable[str]) -> dict[int, Begun]:
    """Join the chunks of each node's mark, which one configuration key could not hold."""
    chunks: dict[int, dict[int, str]] = defaultdict(dict)
    for key in keys:
        if match := _KEY.fullmatch(key):
            chunks[int(match[1])][int(match[2])] = match[3]
    return {
        node: _parsed("".join(chunks[node][n] for n in sorted(chunks[node]))) for node in chunks
    }


def begin_changes(node: int, begun: Begun) -> list[ConfigChange]:
    topics: dict[str, list[int]] = defaultdict(list)
    for topic, number in begun.leads:
        topics[topic].append(number)
    content = json.dumps([sorted(begun.incarnations), topics], separators=(",", ":"))
    text = urlsafe_b64encode(zlib.compress(content.encode())).decode()
    return [
        ConfigChange(
            f"kraftops.restarting.{node}.{number}.{text[start : start + _LONGEST]}",
            Operation.SET,
            MARK_VALUE,
        )
        for number, start in enumerate(range(0, len(text), _LONGEST))
    ]


def end_changes(nodes: Collection[int], keys: Iterable[str]) -> list[ConfigChange]:
    return [
        ConfigChange(key, Operation.DELETE)
        for key in keys
        if (match := _KEY.fullmatch(key)) and int(match[1]) in nodes
    ]


def _parsed(text: str) -> Begun:
    incarnations, topics = json.loads(zlib.decompress(urlsafe_b64decode(text)))
    leads = (TopicPartition(topic, n) for topic, numbers in topics.items() for n in numbers)
    return Begun(frozenset(incarnations), tuple(leads))

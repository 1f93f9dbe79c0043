"""The kinds of topics with a decoder each: names, topics and options of Kafka, as plain data.

Importing this module loads no decoder and no message table.
"""

from __future__ import annotations

from typing import NamedTuple

METADATA = "metadata"
USER = "user"
DEFAULT_CLASS = "org.apache.kafka.tools.api.StringDecoder"
"""Kafka's decoder class for keys and values of users, where none is named."""


class Kind(NamedTuple):
    """A kind of internal topic: the decoder's name, the topic, and Kafka's option.

    The decoder is `DECODER` in the module of its name in `kraftops.records.decoders`.
    """

    name: str
    topic: str
    flag: str

    @property
    def parameter(self) -> str:
        """The name of the option as a parameter."""
        return self.flag.removeprefix("--").replace("-", "_")


KINDS = (
    Kind("offsets", "__consumer_offsets", "--offsets-decoder"),
    Kind("transaction", "__transaction_state", "--transaction-log-decoder"),
    Kind(METADATA, "__cluster_metadata", "--cluster-metadata-decoder"),
    Kind("remote", "__remote_log_metadata", "--remote-log-metadata-decoder"),
    Kind("share", "__share_group_state", "--share-group-state-decoder"),
)
"""Of several options that are given, the first in this order counts, as in `DumpLogSegments`."""


def decoder_names() -> tuple[str, ...]:
    """Return the names of all decoders."""
    return (*(kind.name for kind in KINDS), USER)


def name_for_topic(topic: str) -> str:
    """Return the name of the decoder of a topic's records."""
    return next((kind.name for kind in KINDS if kind.topic == topic), USER)

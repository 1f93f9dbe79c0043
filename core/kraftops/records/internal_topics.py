"""Kafka's internal topics, with the decoder and the option of each, as plain data.

Importing this module loads no decoder and no message table.
"""

from typing import NamedTuple

METADATA = "metadata"
USER = "user"
REMOTE_TOPIC = "__remote_log_metadata"
DEFAULT_CLASS = "org.apache.kafka.tools.api.StringDecoder"
"""Kafka's decoder class for keys and values of users, where none is named."""


class InternalTopic(NamedTuple):
    """An internal topic: its decoder, its name, and the option of `kafka-dump-log`.

    The decoder is `DECODER` in the module *decoder* of `kraftops.records.decoders`.
    """

    decoder: str
    name: str
    option: str

    @property
    def parameter(self) -> str:
        """The name of the option as a parameter."""
        return self.option.removeprefix("--").replace("-", "_")


INTERNAL_TOPICS = (
    InternalTopic("offsets", "__consumer_offsets", "--offsets-decoder"),
    InternalTopic("transaction", "__transaction_state", "--transaction-log-decoder"),
    InternalTopic(METADATA, "__cluster_metadata", "--cluster-metadata-decoder"),
    InternalTopic("remote", REMOTE_TOPIC, "--remote-log-metadata-decoder"),
    InternalTopic("share", "__share_group_state", "--share-group-state-decoder"),
)
"""In the order of `DumpLogSegments`, where the first of several options counts."""


def decoder_names() -> tuple[str, ...]:
    return (*(topic.decoder for topic in INTERNAL_TOPICS), USER)


def decoder_for_topic(name: str) -> str:
    return next((topic.decoder for topic in INTERNAL_TOPICS if topic.name == name), USER)

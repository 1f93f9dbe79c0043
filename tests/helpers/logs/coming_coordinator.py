"""A coordinator that no Kafka has yet: its messages, its decoder, and a program that knows it.

Run it as kafka-dump-log: python -m tests.helpers.logs.coming_coordinator ARGUMENTS…
"""

import sys

from kraftops.records import internal_topics
from kraftops.records.decoders import keyed
from kraftops.schema.message import Message, parse
from kraftops.schema.tables import messages

TABLE = parse(
    """
QueueDepthKey 0 0 none
  queue string

QueueDepthValue 0 0-1 1+
  depth int64
  owner string 1+
"""
)

DECODER = keyed.KeyedDecoder("queue", "queue")
TOPIC = internal_topics.InternalTopic("queue", "__queue_state", "--queue-decoder")


def with_ours(table: str) -> dict[str, Message]:
    """Return the messages of a table, as if Kafka had ours."""
    return TABLE if table == "queue" else messages(table)


if __name__ == "__main__":
    sys.modules["kraftops.records.decoders.queue"] = sys.modules[__name__]
    keyed.messages = with_ours
    internal_topics.INTERNAL_TOPICS = (*internal_topics.INTERNAL_TOPICS, TOPIC)
    from kraftops_cli.main import kafka_dump_log

    kafka_dump_log()

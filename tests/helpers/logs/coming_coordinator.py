"""A coordinator that no Kafka has yet: its messages, its decoder, and a program that knows it.

Run it as kafka-dump-log: python -m tests.helpers.logs.coming_coordinator ARGUMENTS…
"""

import sys

from kraftops.records import internal_topics
from kraftops.records.decoders.keyed import KeyedDecoder
from kraftops.schema.message import parse

MESSAGES = parse(
    """
QueueDepthKey 0 0 none
  queue string

QueueDepthValue 0 0-1 1+
  depth int64
  owner string 1+
"""
)

NAME = "tests.helpers.logs.coming_coordinator"  # also where it is run as a program
DECODER = KeyedDecoder("queue", NAME)
TOPIC = internal_topics.InternalTopic("queue", "__queue_state", "--queue-decoder")

if __name__ == "__main__":
    sys.modules["kraftops.records.decoders.queue"] = sys.modules[__name__]
    internal_topics.INTERNAL_TOPICS = (*internal_topics.INTERNAL_TOPICS, TOPIC)
    from kraftops_cli.main import kafka_dump_log

    kafka_dump_log()

"""The fields by which answers name a partition."""

from kraftops.answers.fields import number, text
from kraftops.display.columns import folded

PARTITION_FIELDS = (
    text(
        "topic",
        "topic",
        get="partition.topic",
        column=folded("PARTITION"),
        cell=lambda thing: str(thing.partition),
    ),
    number("partition", "number of the partition", get="partition.number"),
)
"""Those of a thing with a `TopicPartition`; in a table they are one column."""

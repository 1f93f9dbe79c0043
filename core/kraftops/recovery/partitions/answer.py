"""What `kafka-storage compare` answers, and the table of losses in every answer that has one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from kraftops.answers.fields import Answer, boolean, number, numbers, part, parts, text, texts, time
from kraftops.display.columns import Column, folded
from kraftops.display.columns import number as number_column
from kraftops.recovery.partitions.comparison import Comparison
from kraftops.recovery.partitions.losses import PartitionLoss, total_of


@dataclass(frozen=True, slots=True)
class DiskComparison:
    """A comparison, and what a start with the newest given metadata log would cut.

    *metadata_log* is the name of that log; None where none was given.
    """

    comparison: Comparison
    metadata_log: str | None
    losses: Sequence[PartitionLoss]


LOSS = (
    text("topic", "topic", get=attrgetter("copy.topic")),
    number("partition", "partition", get=attrgetter("copy.number")),
    text("name", "topic and partition", column=folded("PARTITION"), get=attrgetter("copy.name")),
    number(
        "broker",
        "broker whose copy would be cut",
        column=number_column("BROKER"),
        get=attrgetter("copy.broker"),
    ),
    text("place", "directory or archive of the copy", get=attrgetter("copy.place")),
    number(
        "firstOffset",
        "first offset",
        column=number_column("FROM"),
        get=attrgetter("offsets.start"),
    ),
    number(
        "endOffset",
        "offset after the last",
        column=number_column("END"),
        get=attrgetter("offsets.stop"),
    ),
    number(
        "records",
        "number of offsets",
        numeral="amount",
        column=number_column("RECORDS"),
        get=lambda loss: len(loss.offsets),
    ),
    number(
        "acknowledged",
        "those below a high watermark that a broker noted; the others are possibly acknowledged",
        numeral="amount",
        column=number_column("ACKNOWLEDGED"),
        get=attrgetter("acknowledged"),
    ),
    time(
        "lastTimestamp",
        "of the newest record of the copy",
        may_be_null=True,
        column=Column("NEWEST RECORD", 3),
        get=attrgetter("copy.time"),
    ),
    number(
        "leader",
        "broker that has them cut by leading",
        column=number_column("LEADER", 1),
        get=attrgetter("leader"),
    ),
    numbers("leaders", "all brokers that may lead", get=attrgetter("leaders")),
    numbers("alsoOn", "other brokers that have all of them", get=attrgetter("also_on")),
    boolean(
        "isCertain",
        "whether no other broker can lead, and the ends of both copies were read",
        get=attrgetter("is_certain"),
    ),
    text(
        "meaning",
        "what it means, of an internal topic",
        may_be_null=True,
        column=folded("MEANING", 2),
        get=attrgetter("meaning"),
    ),
)
TOTAL = (
    number("acknowledged", "acknowledged records", get=attrgetter("acknowledged")),
    number("possible", "possibly acknowledged records", get=attrgetter("possible")),
    texts("partitions", "names of their partitions", get=attrgetter("partitions")),
)
LOSSES = parts("losses", "records that would be cut", LOSS, get=attrgetter("losses"))
LOSS_TOTAL = part(
    "lossTotal",
    "their numbers, an offset that several brokers have counted once",
    (*TOTAL, text("text", "the same in a sentence", get=str)),
    get=lambda answered: total_of(answered.losses),
)
COPY = (
    text("topic", "topic", get=attrgetter("copy.topic")),
    number("partition", "partition", get=attrgetter("copy.number")),
    text("name", "topic and partition", column=folded("PARTITION"), get=attrgetter("copy.name")),
    number("broker", "broker", column=number_column("BROKER"), get=attrgetter("copy.broker")),
    text("place", "directory or archive", get=attrgetter("copy.place")),
    number(
        "epoch",
        "latest leader epoch; -1 without one",
        column=number_column("EPOCH"),
        get=attrgetter("copy.epoch"),
    ),
    number("startOffset", "first offset", get=attrgetter("copy.start")),
    number(
        "endOffset",
        "offset after the last record",
        column=number_column("END"),
        get=attrgetter("copy.end"),
    ),
    boolean(
        "isEndExact",
        "whether the end is known; else it is the lowest possible",
        get=attrgetter("copy.is_end_exact"),
    ),
    number(
        "highWatermark",
        "high watermark that the broker noted last",
        may_be_null=True,
        column=number_column("HIGH WATERMARK", 2),
        get=attrgetter("copy.high_watermark"),
    ),
    time(
        "lastTimestamp",
        "of the newest record",
        may_be_null=True,
        column=Column("NEWEST RECORD", 3),
        get=attrgetter("copy.time"),
    ),
    boolean("isNewest", "whether none is newer", get=attrgetter("is_newest")),
    number("newestOn", "broker of the newest copy", get=attrgetter("newest.broker")),
    number(
        "equalUpTo",
        "offset where it and the newest copy part",
        column=number_column("EQUAL UP TO"),
        get=attrgetter("equal_up_to"),
    ),
    number(
        "lacking",
        "offsets of the newest copy that it lacks",
        column=number_column("LACKS", 1),
        get=attrgetter("lacking"),
    ),
    number(
        "own",
        "offsets that the newest copy lacks: cut once that leads",
        column=number_column("OWN", 1),
        get=attrgetter("own"),
    ),
)
BROKER = (
    number("broker", "broker", column=number_column("BROKER"), get=attrgetter("broker")),
    number(
        "copies",
        "its copies of partitions",
        column=number_column("COPIES"),
        get=attrgetter("copies"),
    ),
    number(
        "newestAlone",
        "partitions whose newest copy it alone has",
        column=number_column("NEWEST ALONE"),
        get=attrgetter("newest_alone"),
    ),
    number(
        "lostIfGone",
        "acknowledged records that are lost if it is gone for good",
        column=number_column("ACKNOWLEDGED LOST IF GONE"),
        get=attrgetter("gone.acknowledged"),
    ),
    number(
        "possiblyLostIfGone",
        "possibly acknowledged ones",
        column=number_column("POSSIBLY", 1),
        get=attrgetter("gone.possible"),
    ),
    texts(
        "partitionsLostIfGone",
        "names of their partitions",
        get=attrgetter("gone.partitions"),
    ),
)
COMPARE = Answer(
    (
        parts(
            "brokers",
            "brokers, in the order in which they should start",
            BROKER,
            get=attrgetter("comparison.brokers"),
        ),
        parts("copies", "copies of all partitions", COPY, get=attrgetter("comparison.copies")),
        text(
            "metadataLog",
            "newest metadata log that was given",
            may_be_null=True,
            get=attrgetter("metadata_log"),
        ),
        LOSSES,
        LOSS_TOTAL,
    ),
    "Losses are those of a start with that metadata log.",
)

"""What `kafka-storage compare` answers, and the table of losses in every answer that has one."""

from __future__ import annotations

from typing import TypedDict, Unpack

from kraftops.answers.fields import (
    Answer,
    Field,
    Numeral,
    boolean,
    number,
    numbers,
    part,
    parts,
    text,
    texts,
    time,
)
from kraftops.display.columns import Column, folded
from kraftops.display.columns import number as number_column
from kraftops.findings.answer import FINDINGS


class Counted(TypedDict, total=False):
    """What a field of a number can have beside a column."""

    numeral: Numeral
    may_be_null: bool


def counted(
    name: str, meaning: str, path: str, title: str, priority: int = 0, **more: Unpack[Counted]
) -> Field:
    """Return the field of a number at a path of attributes, with a column of this title."""
    return number(name, meaning, get=path, column=number_column(title, priority), **more)


PARTITION = text("name", "topic and partition", column=folded("PARTITION"), get="copy.name")
_COPY_NAME = (
    text("topic", "topic", get="copy.topic"),
    number("partition", "partition", get="copy.number"),
    PARTITION,
    counted("broker", "broker of the copy", "copy.broker", "BROKER"),
    text("place", "directory or archive of the copy", get="copy.place"),
)
_NEWEST_RECORD = time(
    "lastTimestamp",
    "of the newest record of the copy",
    may_be_null=True,
    column=Column("NEWEST RECORD", 3),
    get="copy.time",
)
LOSS = (
    *_COPY_NAME,
    counted("firstOffset", "first offset", "offsets.start", "FROM"),
    counted("endOffset", "offset after the last", "offsets.stop", "END"),
    number(
        "records",
        "number of offsets",
        numeral="amount",
        column=number_column("RECORDS"),
        get=lambda loss: len(loss.offsets),
    ),
    counted(
        "acknowledged",
        "those below a high watermark that a broker noted, others are possibly acknowledged; null: "
        "no broker noted one",
        "acknowledged",
        "ACKNOWLEDGED",
        numeral="amount",
        may_be_null=True,
    ),
    _NEWEST_RECORD,
    counted("leader", "broker that has them cut by leading", "leader", "LEADER", 1),
    numbers("leaders", "all brokers that may lead"),
    numbers(
        "alsoOn",
        "other brokers that have all of them",
        column=folded("ALSO ON", 1),
        cell=lambda loss: ",".join(map(str, loss.also_on)) or None,
    ),
    boolean("isCertain", "whether no other broker can lead, and the ends of both copies were read"),
    boolean(
        "isAtLeast",
        "whether there may be more: the end of the copy is unknown",
        get=lambda loss: not loss.copy.is_end_exact,
    ),
    text(
        "meaning",
        "what it means, of an internal topic",
        may_be_null=True,
        column=folded("MEANING", 2),
    ),
)
LOSSES = parts("losses", "records that would be cut", LOSS, get="losses")
LOSS_TOTAL = part(
    "lossTotal",
    "their numbers, an offset that several brokers have counted once",
    (
        number("acknowledged", "acknowledged records; null: unknown", may_be_null=True),
        number("possible", "possibly acknowledged records; null: unknown", may_be_null=True),
        boolean("isAtLeast", "whether there may be more: the end of a copy is unknown"),
        texts("partitions", "names of their partitions"),
        text("text", "the same in a sentence", get=str),
    ),
    get="loss_total",
)
COPY = (
    *_COPY_NAME,
    counted("epoch", "latest leader epoch; -1 without one", "copy.epoch", "EPOCH"),
    number("startOffset", "first offset", get="copy.start"),
    counted("endOffset", "offset after the last record", "copy.end", "END"),
    boolean(
        "isEndExact",
        "whether the end is known; else it is the lowest possible",
        get="copy.is_end_exact",
    ),
    counted(
        "highWatermark",
        "high watermark that the broker noted last",
        "copy.high_watermark",
        "HIGH WATERMARK",
        2,
        may_be_null=True,
    ),
    _NEWEST_RECORD,
    boolean("isNewest", "whether none is newer"),
    number("newestOn", "broker of the newest copy", get="newest.broker"),
    counted("equalUpTo", "offset where it and the newest copy part", "equal_up_to", "EQUAL UP TO"),
    counted("lacking", "offsets of the newest copy that it lacks", "lacking", "LACKS", 1),
    counted("own", "offsets that the newest copy lacks: cut once that leads", "own", "OWN", 1),
)
BROKER = (
    counted("broker", "broker", "broker", "BROKER"),
    counted("copies", "its copies of partitions", "copies", "COPIES"),
    counted(
        "newestAlone",
        "partitions whose newest copy it alone has",
        "newest_alone",
        "NEWEST ALONE",
    ),
    counted(
        "lostIfGone",
        "acknowledged records that are lost if it is gone for good; null: no broker noted how many",
        "gone.acknowledged",
        "ACKNOWLEDGED LOST IF GONE",
        may_be_null=True,
    ),
    counted("possiblyLostIfGone", "possibly acknowledged ones", "gone.possible", "POSSIBLY", 1),
    texts("partitionsLostIfGone", "names of their partitions", get="gone.partitions"),
)
COPIES = (
    parts("brokers", "brokers, in the order in which they should start", BROKER),
    parts("copies", "copies of all partitions", COPY),
)
COMPARE = Answer(
    (
        *COPIES,
        text("metadataLog", "newest metadata log that was given", may_be_null=True),
        LOSSES,
        LOSS_TOTAL,
        FINDINGS,
    ),
    "Losses are those of a start with that metadata log.",
)

"""What `kafka-dump-log --summary` answers about a log, read from what was counted.

Tables for people are made from the JSON: the cell of a field is made of a JSON object.
"""

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter, itemgetter
from os.path import basename, dirname
from typing import Any, Unpack

from kraftops.answers import fields
from kraftops.answers.fields import Answer, Field, Missing, More, boolean, number, part, parts, text
from kraftops.display.columns import folded
from kraftops.display.columns import number as number_column
from kraftops.display.sizes import size_text
from kraftops.display.times import iso_time
from kraftops.dump.summary.groups import Groups
from kraftops.dump.summary.tops import MOST_TOP
from kraftops.dump.summary.transactional_ids import TransactionalIds
from kraftops.engine.count_contract import LONGEST_KEY
from kraftops.log.codecs import CODECS
from kraftops.records.meaning import BASE64


def _amount(name: str, help_text: str, **more: Unpack[More]) -> Field:
    return number(name, help_text, numeral="amount", **more)


def _moment(
    name: str, help_text: str, read: Callable[[Any], Any], **more: Unpack[More]
) -> tuple[Field, Field]:
    """Declare a time as two fields: `nameMs`, and *name* as text, which has the column."""
    more["get"] = lambda thing: iso_time(read(thing))
    more["cell"] = lambda row: row[name] or row[f"{name}Ms"]
    iso = text(f"{name}?", "the same in ISO 8601; null without a year of four digits", **more)
    return fields.time(f"{name}Ms?", help_text, get=read), iso


def _second(path: str) -> Callable[[Any], Any]:
    """Make a reader of an attribute of the second of a pair, whose first is a file or key."""
    read = attrgetter(path)
    return lambda pair: read(pair[1])


def _position(pair: Any) -> int | None:
    return None if pair[1].position < 0 else pair[1].position


def _largest(title: str, *its_fields: Field) -> tuple[Field, ...]:
    """Declare the fields of (file, largest record or batch) pairs; the file's column is *title*."""
    column = folded(title)
    return (
        text("file", "its file", get=_FIRST, column=column, cell=lambda top: basename(top["file"])),
        number("position?", "of its batch", get=_position),
        *its_fields,
    )


def _of_kind(kind: type) -> Callable[[Any], object]:
    """Make a reader of a summary's details; None where they are of another kind."""
    return lambda summary: summary.details if isinstance(summary.details, kind) else Missing


def _key_text(key: Mapping[str, Any]) -> str:
    kind = f" ({key['keyEncoding']})" if key["keyEncoding"] else ""
    rest = f"… of {size_text(key['keySize'])}" if key["keySize"] > LONGEST_KEY else ""
    return f"{key['key']}{rest}{kind}"


def _itself(summary: object) -> object:
    return summary


def _rows(items: Iterable[tuple[Any, Iterable[Any]]]) -> list[tuple[Any, ...]]:
    return [(key, *counts) for key, counts in items]


_FIRST, _SECOND, _THIRD, _FOURTH = map(itemgetter, range(4))
_EXACT = boolean("exact", "whether nothing is left out or rounded", get="is_exact")
_WHOLE = boolean("exact", "false where some are left out", get="is_whole")
_AMOUNT = (number("count", "their number"), number("bytes", "uncompressed", get="size"))
DISTRIBUTION = (
    _amount("min?", "the least", column="MIN"),
    _amount("p50?", "the median", get=lambda counts: counts.quantile(0.5), column="MEDIAN"),
    _amount("p99?", "the 99th percentile", get=lambda counts: counts.quantile(0.99), column="P99"),
    _amount("max?", "the highest", column="MAX"),
    _EXACT,
)
_DURATION = (
    number("min?", "the shortest"),
    number("median?", "the median", get=lambda counts: counts.quantile(0.5)),
    number("max?", "the longest"),
    _EXACT,
)
_FILES = (
    number("count", "their number", get=lambda summary: len(summary.files)),
    number("bytes", "bytes read", get=lambda summary: sum(summary.files.values())),
    fields.texts("paths", "their paths", get="files"),
)
_BATCHES = (
    number("count", "their number", get="batches.count"),
    number("bytes", "as stored", get="batches.size"),
    number("control", "control batches", get="control_batches"),
    number("transactional", "batches in transactions", get="transactional_batches"),
    fields.levels("byMagic", "by magic", get=lambda s: dict(sorted(s.magics.items()))),
    part("sizes", "bytes of a batch", DISTRIBUTION),
    part("records", "records of a batch", DISTRIBUTION, get="records_per_batch"),
)
RECORD_TYPE = (
    text("type", "record type", get=_FIRST, column=folded("TYPE")),
    _amount("version?", "null of tombstones", get=_SECOND, column="VERSION"),
    _amount("count", "records", get=_THIRD, column="RECORDS"),
    fields.size("bytes", "uncompressed", get=_FOURTH, column="SIZE"),
)
CONTROL_TYPE = (
    text("type", "type of control records", get=_FIRST, column="CONTROL"),
    _amount("count", "records", get=_second("count"), column="RECORDS"),
    number("bytes", "uncompressed", get=_second("size")),
)
_GAP = (
    number("after", "the last offset before it", get=_FIRST),
    number("next", "the first offset after it", get=_SECOND),
)
_GAPS = (
    number("count", "their number", get="gap_count"),
    number("missing", "offsets in all of them"),
    parts("first", "the first ones", _GAP, get="gaps"),
)
_OFFSETS = (
    number("first?", "first offset", get="offsets.first"),
    number("last?", "last offset", get="offsets.last"),
    part("gaps?", "null with a filter or a limit", _GAPS, get="offsets.steps"),
    number("backward?", "batches that go back, likewise", get="offsets.steps.backward"),
    number("removed?", "offsets missing in batches, likewise", get="offsets.steps.removed"),
    number("end?", "offset after the last batch of the log, whatever is chosen", get="end_offset"),
)
_HISTOGRAM = (
    number("widthMs", "width of a bucket", get="width"),
    fields.time("startMs?", "start of the first bucket", get="start"),
    fields.numbers("counts", "records by bucket", get=lambda histogram: histogram.buckets()),
)
_TIMES = (
    *_moment("first", "the least", attrgetter("first_time")),
    *_moment("last", "the highest", attrgetter("last_time")),
    part("histogram", "records over time", _HISTOGRAM, get="history"),
)
EPOCH = (
    _amount("epoch", "leader epoch", get=_FIRST, column="EPOCH"),
    _amount("firstOffset", "its first offset", get=_SECOND, column="FIRST OFFSET"),
    _amount("batches", "its batches", get=_THIRD, column="BATCHES"),
    _amount("records", "its records", get=_FOURTH, column="RECORDS"),
)
CODEC = (
    text("codec", "compression", get=lambda codec: CODECS[codec[0]], column="CODEC"),
    _amount("batches", "its batches", get=_SECOND, column="BATCHES"),
    fields.size("compressedBytes", "as stored", get=_THIRD, column="COMPRESSED"),
    fields.size("uncompressedBytes", "uncompressed", get=_FOURTH, column="UNCOMPRESSED"),
    number(
        "ratio?",
        "uncompressed by stored bytes",
        numeral="decimal",
        get=lambda codec: round(codec[3] / codec[2], 3) if codec[2] else None,
        column="RATIO",
        cell=lambda codec: "-" if codec["ratio"] is None else f"{codec['ratio']:.2f}",
    ),
)
SITE = (
    text("file", "file", get="path", cell=lambda site: basename(site["file"])),
    _amount("position", "byte in the file", column="POSITION"),
    _amount("bytes", "number of bytes", get="size", column="BYTES"),
    text("reason", "reason", column=folded("REASON")),
)
_SITES = (
    number("count", "their number"),
    number("bytes", "their bytes", get="size"),
    parts("first", "the first ones", SITE),
)
OPEN_TRANSACTION = (
    text(
        "transactionalId?",
        "by __transaction_state",
        column=folded("OPEN TRANSACTION"),
        cell=lambda txn: txn["transactionalId"] or f"producer {txn['producerId']}",
    ),
    _amount("producerId", "its producer", column=("PRODUCER", 1)),
    _amount("producerEpoch", "epoch of the producer", column=("EPOCH", 2)),
    _amount("firstOffset?", "null in __transaction_state", column="FIRST OFFSET"),
    *_moment("since", "its begin", attrgetter("since"), column="SINCE"),
)
OPEN = parts("open?", "null where markers may be left out", OPEN_TRANSACTION)
_TRANSACTIONS = (
    number("committed", "ended by a commit"),
    number("aborted", "ended by an abort"),
    OPEN,
    part("durationMs", "from its beginning to its marker", _DURATION, get="known_durations"),
)
PRODUCER = (
    _amount("producerId", "its id", get=_FIRST, column="PRODUCER"),
    _amount("producerEpoch", "its last epoch", get=_second("epoch"), column="EPOCH"),
    _amount("batches", "transactional batches", get=_second("batches"), column="BATCHES"),
    _amount("records", "records in them", get=_second("records"), column="RECORDS"),
    _amount("committed", "committed transactions", get=_second("committed"), column="COMMITTED"),
    _amount("aborted", "aborted transactions", get=_second("aborted"), column="ABORTED"),
    boolean("open?", "whether one is open; null where markers may be left out", get=_THIRD),
)
_PRODUCERS = (
    number("transactional", "with transactions", get=lambda counts: counts.producers.estimate()),
    number("idempotent", "without any", get=lambda counts: counts.idempotent.estimate()),
    _WHOLE,
    parts("producers", "those with transactions", PRODUCER, get="producers_in_order"),
)
LARGEST_RECORD = _largest(
    "LARGEST RECORDS",
    _amount("offset", "its offset", get=_second("offset"), column="OFFSET"),
    _amount("bytes", "its size", get=_second("size"), column="BYTES"),
    _amount("keySize?", "null without a key", get=_second("key_size"), column=("KEY", 3)),
    _amount("valueSize?", "null of tombstones", get=_second("value_size"), column=("VALUE", 4)),
    text("type", "record type", get=_second("label.type"), column=folded("TYPE", 1)),
    number("version?", "null of tombstones", get=_second("label.version")),
    *_moment("timestamp", "its time", _second("timestamp"), column=("TIME", 2)),
)
LARGEST_BATCH = _largest(
    "LARGEST BATCHES",
    _amount("baseOffset", "its first offset", get=_second("base_offset"), column="OFFSET"),
    _amount("bytes", "as stored", get=_second("size"), column="BYTES"),
    _amount("records", "its records", get=_second("records"), column="RECORDS"),
    text("codec", "its compression", get=_second("codec"), column=("CODEC", 2)),
    _amount("producerId?", "its producer", get=_second("producer_id"), column=("PRODUCER", 1)),
)
_LARGEST = (
    parts("records", "records", LARGEST_RECORD),
    parts("batches", "batches", LARGEST_BATCH),
)
KEY = (
    text("key", "the key, or its beginning", column=folded("HOTTEST KEYS"), cell=_key_text),
    text("keyEncoding?", "how the key is written", values=[BASE64]),
    number("keySize", "bytes of the whole key"),
    _amount("records", "its records", column="RECORDS"),
)
_KEYS = (
    number("records", "records with a key", get="keys.total"),
    number("keyless", "records without"),
    number("error", "what a count may lack, and an unlisted key exceed the last", get="keys.error"),
    parts("top", "the most frequent first", KEY, get=lambda tops: tops.top_keys()),
)
LARGE_PRODUCER = (
    number("producerId", "its id", get=_FIRST, column=folded("LARGEST PRODUCERS")),
    _amount("bytes", "its bytes", get=_SECOND, column="BYTES UNCOMPRESSED"),
)
_LARGEST_PRODUCERS = (
    number("bytes", "bytes of records of all, uncompressed", get="total"),
    number("error", "bytes are too low by at most this many"),
    parts("top", "the largest first", LARGE_PRODUCER, get=lambda tops: tops.largest(MOST_TOP)),
)
COMMITTED = (
    text("topic", "its topic"),
    number("partition", "its partition"),
    _amount("offset", "committed offset", column="OFFSET"),
    number("leaderEpoch?", "epoch of the record before it"),
    *_moment("committed", "time of the commit", attrgetter("committed"), column=("COMMITTED", 1)),
    _amount("endOffset?", "of the log that is given beside", column="END"),
    text(
        "endFile?",
        "the last file of that copy of the log; its leader may have more",
        column=folded("END BY THE COPY", 2),
        cell=lambda offset: offset["endFile"] and dirname(offset["endFile"]),
    ),
    _amount("lag?", "records to the end", column="LAG"),
)
GROUP = (
    text("group", "its id", column=folded("GROUP")),
    text("kind", "its kind; simple without members", column=("KIND", 3)),
    text("state", "as of its newest records", column="STATE"),
    number("epoch?", "epoch, or generation of a classic group"),
    _amount("members", "members", column=("MEMBERS", 1)),
    text("protocolType?", "of a classic group"),
    parts(
        "offsets",
        "committed offsets",
        COMMITTED,
        column=number_column("OFFSETS", 2),
        cell=lambda group: len(group["offsets"]),
    ),
)
_GROUPS = (
    number("count", "their number", get=lambda groups: sum(1 for _ in groups.live())),
    _WHOLE,
    number("pendingOffsets", "offsets in open transactions", get="pending_count"),
    parts("groups", "groups by id", GROUP, get=lambda groups: groups.rows()),
)
_TOPIC = text("topic", "topic", get=_FIRST)
_PARTITIONS = (_TOPIC, fields.numbers("partitions", "partitions of it", get=_SECOND))
TRANSACTIONAL_ID = (
    text("transactionalId", "its name", get=_FIRST, column=folded("TRANSACTIONAL ID")),
    text("state", "its last state", get=_second("state"), column="STATE"),
    _amount("producerId", "its producer", get=_second("producer_id"), column="PRODUCER"),
    _amount("producerEpoch", "its epoch", get=_second("producer_epoch"), column=("EPOCH", 2)),
    number("timeoutMs", "timeout of transactions", get=_second("timeout")),
    _amount("partitionCount", "in all", get=_second("partition_count"), column=("PARTITIONS", 1)),
    parts("partitions", "the first ones", _PARTITIONS, get=_second("topics")),
    *_moment("updated", "last update", _second("updated"), column=("UPDATED", 3)),
    *_moment("started", "beginning of the last transaction", _second("begin")),
)
_IDS = (
    number("count", "their number", get=lambda counts: len(counts.live())),
    boolean("exact", "false where some are left out", get="ids.is_whole"),
    parts("transactionalIds", "ids by name", TRANSACTIONAL_ID, get=lambda counts: counts.live()),
)
SUMMARY = (
    text("decoder", "decoder of the records", get="scope.decoder.name"),
    number("segments", "its segments"),
    part("files", "the files read", _FILES, get=_itself),
    part("batches", "batches with a correct checksum", _BATCHES, get=_itself),
    part("records", "their records", _AMOUNT),
    parts("types", "data records by type", RECORD_TYPE, get="types_in_order"),
    parts("control", "control records", CONTROL_TYPE, get=lambda s: sorted(s.control.items())),
    part("offsets", "offsets of the records", _OFFSETS, get=_itself),
    part("times", "timestamps of the records", _TIMES, get=_itself),
    parts("leaderEpochs", "leader epochs", EPOCH, get=lambda s: _rows(s.epochs.in_order())),
    parts("codecs", "codecs", CODEC, get=lambda s: _rows(sorted(s.codecs.items()))),
    number("paddingBytes", "zeros at the end", get="padding"),
    number("tornBytes", "of an unfinished batch at the end, which is damage too", get="torn"),
    part("damage", "bytes that are not a readable batch", _SITES),
    part("undecodable", "records that the decoder cannot read", _SITES),
    part("transactions", "transactions", _TRANSACTIONS, get="log_transactions"),
    part("producers", "producers with ids", _PRODUCERS, get="transactions"),
    part("largest", "largest records and batches", _LARGEST, get="tops"),
    part("keys", "most frequent keys", _KEYS, get="tops"),
    part("largestProducers", "producers of most bytes", _LARGEST_PRODUCERS, get="tops.producers"),
    *fields.in_some_forms(
        part("groups", "of __consumer_offsets", _GROUPS, get=_of_kind(Groups)),
        part("transactionalIds", "of __transaction_state", _IDS, get=_of_kind(TransactionalIds)),
    ),
)
_OF_LOG = text("topic?", "by the directory of the log; null where that says none")
_LOG = (_OF_LOG, number("partition?", "likewise"), *SUMMARY)
LOGS = Answer((parts("logs", "the logs", _LOG),))

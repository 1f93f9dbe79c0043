"""`kafka-dump-log` and Kafka's own tool print the same for files by our writers."""

import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from kraftops.log import batch as v2
from kraftops.log import legacy
from kraftops.log.batch import (
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    Batch,
    Record,
)
from kraftops.log.indexes import AbortedTxn, OffsetEntry, TimeEntry
from kraftops.log.log_file import LogFile
from kraftops.log.producers import ProducerState
from kraftops.memory import USUAL
from tests.helpers.kafka.cases.examples import Pair, controls, framed, keyed, members, segment
from tests.helpers.kafka.tools.dump_tool import KafkaDump, difference
from tests.helpers.logs.written import (
    batch_bytes,
    message_bytes,
    offset_index_bytes,
    producers_bytes,
    time_index_bytes,
    txn_index_bytes,
    wrapper_bytes,
)
from tests.helpers.tools.console import run_here
from tests.helpers.tools.corpus import DUMPS

pytestmark = pytest.mark.kafka

SEGMENT = "00000000000000000000.log"
FLAGS = {
    "metadata": "--cluster-metadata-decoder",
    "remote": "--remote-log-metadata-decoder",
    "group": "--offsets-decoder",
    "transaction": "--transaction-log-decoder",
    "share": "--share-group-state-decoder",
    "control": "--deep-iteration",
    "consumer": "--offsets-decoder",
}


@pytest.fixture
def assert_same(kafka_dump: KafkaDump, tmp_path: Path) -> Callable[..., bytes]:
    """A function of files and options that runs both tools on the first file."""

    def check(files: dict[str, bytes], *options: str) -> bytes:
        for name, data in files.items():
            (tmp_path / name).write_bytes(data)
        args = ("--files", str(tmp_path / next(iter(files))), *options)
        ours = run_here(*args)  # first: Kafka's tool writes to indexes
        kafka = kafka_dump(*args)
        assert not kafka.threw, kafka.err
        assert difference(kafka, ours) is None
        return kafka.out

    return check


# Every version of every message


@pytest.mark.parametrize("skip", [pytest.param(False, id="all"), pytest.param(True, id="skip")])
@pytest.mark.parametrize("name", FLAGS)
def test_messages_of_every_version_print_the_same(
    assert_same: Callable[..., bytes], name: str, skip: bool
) -> None:
    sources: dict[str, Callable[[], Iterator[list[Pair]]]] = {
        "metadata": partial(framed, "metadata"),
        "remote": partial(framed, "remote"),
        "consumer": members,
        "control": controls,
    }
    batches = list(sources.get(name, partial(keyed, name))())
    data = segment(batches, CONTROL if name == "control" else 0)
    options = ["--skip-record-metadata"] if skip else []

    out = assert_same({SEGMENT: data}, FLAGS[name], *options)

    assert out.count(b"baseOffset: ") == len(batches)
    if name != "remote":  # whose classes refuse much of what their messages can hold
        assert b"skipping." not in out


# Segments of real brokers, written again


REAL = (
    (f"meta/{SEGMENT}", "--cluster-metadata-decoder"),
    ("meta/00000000000000000391-0000000001.checkpoint", "--cluster-metadata-decoder"),
    (f"v3.3.2/meta/{SEGMENT}", "--cluster-metadata-decoder"),
    ("boot/bootstrap.checkpoint", "--cluster-metadata-decoder"),
    (f"craft/meta-all/{SEGMENT}", "--cluster-metadata-decoder"),
    (f"craft/rlmm/{SEGMENT}", "--remote-log-metadata-decoder"),
    (f"craft/control/{SEGMENT}", "--deep-iteration"),
    (f"consumer_offsets/{SEGMENT}", "--offsets-decoder"),
    (f"transaction_state/{SEGMENT}", "--transaction-log-decoder"),
    (f"share_group_state/{SEGMENT}", "--share-group-state-decoder"),
    (f"user/none/{SEGMENT}", "--print-data-log"),
    (f"user/zstd/{SEGMENT}", "--print-data-log"),
    (f"user/lat/{SEGMENT}", "--print-data-log"),
    (f"user/compact/{SEGMENT}", "--print-data-log"),
    ("user/txn/00000000000000000018.log", "--print-data-log"),
    (f"craft/v2-odd/{SEGMENT}", "--print-data-log"),
)


def batches_of(path: str) -> list[Batch]:
    """Return the batches of a file of the corpus."""
    with LogFile(str(DUMPS / "in" / path)) as log:
        return list(log.batches())


def rewritten(batch: Batch, codec: int) -> bytes:
    """Return a batch of magic 2 with the same records and another codec."""
    header = batch.header
    if not header.record_count:
        return batch.data  # only compaction makes these
    return batch_bytes(
        v2.records(batch),
        attributes=header.attributes & ~v2.CODEC_MASK | codec,
        leader_epoch=header.leader_epoch,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
    )


@pytest.mark.parametrize(("path", "flag"), [pytest.param(*row, id=row[0]) for row in REAL])
def test_rewritten_segments_print_the_same(
    assert_same: Callable[..., bytes], path: str, flag: str
) -> None:
    batches = batches_of(path)

    for codec in range(5):
        data = b"".join(rewritten(batch, codec) for batch in batches)
        out = assert_same({Path(path).name: data}, flag)
        assert out.count(b"isvalid: true") == len(batches)


def test_every_attribute_prints_the_same(assert_same: Callable[..., bytes]) -> None:
    headers = ((b"h", b"v"), (b"", None), ("ключ,".encode(), b""))
    records = [
        Record(5, 1_700_000_000_000, b"key", b"value", headers),
        Record(6, 1_700_000_000_900, None, b""),
        Record(9, -1, b"", None, headers[:1]),
    ]
    marker = Record(5, 7, b"\0\0\0\1", b"\0\0\0\0\0\3")
    bits = (LOG_APPEND_TIME, TRANSACTIONAL, DELETE_HORIZON)
    batches = []
    for codec, *chosen in product(range(5), *((0, bit) for bit in bits)):
        attributes = codec | sum(chosen)
        batches.append(batch_bytes(records, attributes=attributes))
        batches.append(batch_bytes([marker], attributes=attributes | CONTROL, producer_id=3))
    batches += [batch_bytes(records, attributes=1 << bit) for bit in range(7, 15)]
    batches.append(batch_bytes(records, attributes=-0x8000))

    out = assert_same({SEGMENT: b"".join(batches)}, "--print-data-log")

    assert out.count(b"isvalid: true") == len(batches)


def test_producers_and_sequences_print_the_same(assert_same: Callable[..., bytes]) -> None:
    records = [Record(7 + at, 0, None, b"v") for at in range(3)]
    edges = product((-1, 0, 1 << 62), (-1, 0, 0x7FFF), (-1, 0, 0x7FFFFFFE, 0x7FFFFFFF))
    batches = [
        batch_bytes(
            records,
            attributes=TRANSACTIONAL,
            leader_epoch=0x7FFFFFFF,
            producer_id=number,
            producer_epoch=epoch,
            base_sequence=sequence,
        )
        for number, epoch, sequence in edges
    ]

    assert_same({SEGMENT: b"".join(batches)}, "--print-data-log")


@pytest.mark.parametrize("attributes", [0, LOG_APPEND_TIME])
def test_keys_that_look_like_parts_of_longer_times_print_the_same(
    assert_same: Callable[..., bytes], attributes: int
) -> None:
    """Records of one length, but a time of two bytes and no key, then one byte and a key."""
    start = 1_700_000_000_000
    batches = [
        [Record(offset, start + 100 * offset, None, b"hello") for offset in range(9)],
        [Record(9, start, None, b""), Record(10, start + 1, b"\1", b"hello")],
    ]
    data = b"".join(batch_bytes(records, attributes=attributes) for records in batches)

    out = assert_same({SEGMENT: data}, "--print-data-log")

    assert b"keySize: 1 valueSize: 5 sequence: -1 headerKeys: [] key: \1 payload: hello\n" in out


@pytest.mark.parametrize("magic", [0, 1])
def test_legacy_messages_print_the_same(assert_same: Callable[..., bytes], magic: int) -> None:
    records = [
        Record(3, 1_700_000_000_000, b"key", b"value"),
        Record(4, 1_700_000_000_009, None, b""),
        Record(7, -1, b"", None),
        Record(8, 0, b"k", b"x" * 70_000),
    ]
    messages = [
        message_bytes(record, magic, attributes)
        for record, attributes in product(records, (0, LOG_APPEND_TIME) if magic else (0,))
    ]
    wrappers = [wrapper_bytes(records, magic, codec) for codec in (1, 2, 3)]

    out = assert_same({SEGMENT: b"".join(messages + wrappers)}, "--print-data-log")

    assert out.count(b"isvalid: true") == len(messages + wrappers)
    assert b"isValid: false" not in out


@pytest.mark.parametrize("name", ["magic0", "magic1", "magic1-lat", "magic-mixed"])
def test_rewritten_legacy_segments_print_the_same(
    assert_same: Callable[..., bytes], name: str
) -> None:
    batches = [batch for batch in batches_of(f"craft/{name}/{SEGMENT}") if batch.is_legacy]

    for codec in range(4):
        out = []
        for batch in batches:
            messages = list(legacy.records(batch, USUAL.meter()))
            records, magic = [message.record for message in messages], messages[0].magic
            if codec:
                out.append(wrapper_bytes(records, magic, codec))
            else:
                out += [message_bytes(record, magic) for record in records]
        assert_same({SEGMENT: b"".join(out)}, "--print-data-log")


# What lies next to segments


INDEXED = [
    pytest.param(path, id=path)
    for path in (
        f"meta/{SEGMENT}",
        f"user/none/{SEGMENT}",
        f"user/gzip/{SEGMENT}",
        f"user/compact/{SEGMENT}",
        "user/txn/00000000000000000060.log",
        "v3.9.1/none/00000000000000000031.log",
    )
]
NEXT_TO_LOG: tuple[list[str], ...] = ([], ["--verify-index-only"], ["--index-sanity-check"])


@pytest.mark.parametrize("path", INDEXED)
def test_kafka_finds_no_fault_in_our_indexes(assert_same: Callable[..., bytes], path: str) -> None:
    batches = batches_of(path)
    stem = Path(path).stem
    offsets = [OffsetEntry(batch.header.last_offset, batch.position) for batch in batches]
    times: list[TimeEntry] = []
    for batch in batches:
        latest = max((record.timestamp for record in v2.records(batch)), default=-1)
        if latest > (times[-1].timestamp if times else -1):
            times.append(TimeEntry(latest, batch.header.last_offset))
    log = {f"{stem}.log": (DUMPS / "in" / path).read_bytes()}
    index = {f"{stem}.index": offset_index_bytes(offsets, int(stem))}
    time_index = {f"{stem}.timeindex": time_index_bytes(times, int(stem))}

    for options in NEXT_TO_LOG:
        index_text = assert_same({**index, **log}, *options)
        time_text = assert_same({**time_index, **index, **log}, *options)

        if not options:
            assert index_text.count(b"offset: ") == len(offsets)
            assert time_text.count(b"timestamp: ") == len(times)


def test_aborted_transactions_print_the_same(assert_same: Callable[..., bytes]) -> None:
    edges = (-(1 << 63), -1, 0, 7, (1 << 63) - 1)
    entries = [AbortedTxn(0, *numbers) for numbers in product(edges, repeat=4)]

    out = assert_same({"00000000000000000007.txnindex": txn_index_bytes(entries)})

    assert out.count(b"version: 0") == len(entries)


def test_producer_snapshots_print_the_same(assert_same: Callable[..., bytes]) -> None:
    rng = random.Random(7)

    def number(bits: int) -> int:
        low, high = -(1 << bits - 1), (1 << bits - 1) - 1
        return rng.choice([low, -1, 0, 1, high, rng.randint(low, high)])

    producers = [ProducerState(*map(number, (64, 16, 32, 64, 32, 64, 32, 64))) for _ in range(300)]

    out = assert_same({"00000000000000000007.snapshot": producers_bytes(producers)})

    assert out.count(b"producerId: ") == len(producers)

"""Bytes of objects that a stream fetches: those of its new records, by workers alone."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kraftops.log.batch import Record
from kraftops.log.indexes import OffsetEntry
from kraftops.spark.stream.marks import UNREAD, Mark, marks_from_json, marks_to_json
from tests.helpers.logs.written import batch_bytes, offset_index_bytes
from tests.helpers.spark.counting_store import CountingStore, counting_store
from tests.helpers.spark.streams import Stream

pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

RECORDS = 10


def batches(base: int, count: int, value: bytes = bytes(3500)) -> list[bytes]:
    """Return batches of ten records from an offset on."""
    return [
        batch_bytes([Record(offset, 1, None, value) for offset in range(start, start + RECORDS)])
        for start in range(base, base + count * RECORDS, RECORDS)
    ]


def index_of(base: int, written: list[bytes]) -> bytes:
    entries, position = [], 0
    for number, batch in enumerate(written):
        if number:
            last = base + (number + 1) * RECORDS - 1
            entries.append(OffsetEntry(last, position))
        position += len(batch)
    return offset_index_bytes(entries, base)


@pytest.fixture
def objects() -> dict[str, bytes]:
    return {}


@pytest.fixture
def store(objects: Mapping[str, bytes], monkeypatch: pytest.MonkeyPatch) -> Iterator[CountingStore]:
    with counting_store(objects) as counted:
        for name, value in {
            "AWS_ENDPOINT_URL": counted.url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():
            monkeypatch.setenv(name, value)
        yield counted


def stream_of(store: CountingStore, **options: str) -> Stream:
    uri = f"s3://streamed-{store.url[-5:]}/logs"  # pyarrow keeps the client of a bucket
    return Stream(uri, {"decoder": "user", **options})


def key(partition: int, base: int, suffix: str = ".log") -> str:
    return f"logs/orders-{partition}/{base:020}{suffix}"


def test_a_trigger_fetches_the_new_segments_once(
    store: CountingStore, objects: dict[str, bytes]
) -> None:
    stream = stream_of(store)
    for base in range(0, 600, 200):
        new = {key(partition, base): b"".join(batches(base, 20)) for partition in range(4)}
        objects |= new
        store.requests.clear()
        store.fetched.clear()
        reader = stream.reader()
        if stream.offset is None:
            stream.offset = reader.initialOffset()
        store.requests.clear()
        end = reader.latestOffset(stream.offset, reader.getDefaultReadLimit())
        partitions = reader.partitions(stream.offset, end)
        assert not store.fetched, "the driver reads no object"
        listings = [request for request in store.requests if "replication-" not in request]
        assert sum("list-type" in request for request in listings) == 1
        rows = sum(batch.num_rows for part in partitions for batch in reader.read(part))
        assert rows == 800
        assert store.fetched.total() <= 1.1 * sum(map(len, new.values()))
        stream.offset = end


def test_a_stream_of_a_topic_fetches_only_its_objects(
    store: CountingStore, objects: dict[str, bytes]
) -> None:
    wanted = b"".join(batches(0, 20))
    objects[key(0, 0)] = objects[key(1, 0)] = wanted
    objects["logs/bills-0/00000000000000000000.log"] = wanted
    stream = stream_of(store, topics="bills")

    assert len(stream.step()) == 200
    assert store.fetched.total() <= 1.1 * len(wanted)


def test_a_segment_is_admitted_in_parts_by_its_index(
    store: CountingStore, objects: dict[str, bytes]
) -> None:
    written = batches(0, 300)
    objects[key(0, 0)] = b"".join(written)
    objects[key(0, 0, ".index")] = index_of(0, written)
    stream = stream_of(store, maxBytesPerTrigger="2000000")

    triggers = []
    while rows := stream.step():
        triggers.append(len(rows))

    assert [row["offset"] for row in stream.rows] == [*range(3000)]
    assert max(triggers) * 3500 <= 2_000_000
    assert len(triggers) == 6
    index_bytes = len(objects[key(0, 0, ".index")]) * (2 + len(triggers))
    assert store.fetched.total() <= 1.1 * len(objects[key(0, 0)]) + index_bytes


def test_a_segment_without_an_index_is_one_trigger(
    store: CountingStore, objects: dict[str, bytes]
) -> None:
    for base in (0, 200, 400):
        objects[key(0, base)] = b"".join(batches(base, 20))
    stream = stream_of(store, maxBytesPerTrigger="1000")

    assert [len(stream.step()) for _ in range(4)] == [200, 200, 200, 0]
    assert store.fetched.total() <= 1.1 * sum(map(len, objects.values()))


@pytest.mark.parametrize("torn_bytes", [0, 1, 70, 20_000])
def test_an_object_that_was_put_amid_a_batch_gives_each_record_once(
    store: CountingStore, objects: dict[str, bytes], torn_bytes: int
) -> None:
    """The value of a record looks like batches of the segment."""
    inner = b"".join(batches(5000, 1, b"inner")) * 100
    written = [*batches(0, 3), *batches(30, 2, inner), *batches(50, 3)]
    stream = stream_of(store)
    content = b""

    for batch in written:
        content += batch
        objects[key(0, 0)] = content[: len(content) - torn_bytes]
        stream.step()
    objects[key(0, 0)] = content
    stream.step()

    assert [row["offset"] for row in stream.rows] == [*range(80)]
    assert {row["kind"] for row in stream.rows} == {"user"}


def test_an_object_that_ended_where_a_value_has_a_batch_gives_each_record_once(
    store: CountingStore, objects: dict[str, bytes]
) -> None:
    inner = b"".join(batches(5000, 1, b"inner"))
    (outer,) = batches(10, 1, inner)
    content = batches(0, 1)[0] + outer
    stream = stream_of(store)
    objects[key(0, 0)] = content[: content.index(inner)]
    stream.step()
    objects[key(0, 0)] = content

    stream.step()

    assert [row["offset"] for row in stream.rows] == [*range(20)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: {key(0, 0): content[:100]}, "it has 100 bytes, and"),
        (lambda content: {key(0, 9999): content}, "deleted"),
    ],
)
def test_an_object_that_has_become_shorter_or_is_gone_is_a_loss(
    store: CountingStore, objects: dict[str, bytes], change: Any, message: str
) -> None:
    content = b"".join(batches(0, 3))
    objects[key(0, 0)] = content
    stream = stream_of(store)
    stream.step()
    objects.clear()
    objects.update(change(content))

    with pytest.raises(Exception, match=message):
        stream.step()


def test_offsets_of_many_logs_are_small(tmp_path: Path) -> None:
    files = {
        f"{tmp_path}/disk-{number % 4}/topic{number % 97}-{number // 97}": Mark(
            12_345_678 + number * 7919, number % 13
        )
        for number in range(10_000)
    }
    objects = {
        f"s3://bucket/logs/topic{number % 97}-{number // 97}": Mark(
            12_345_678 + number * 7919, size=1_000_000 + number * 7919
        )
        for number in range(10_000)
    }
    for marks in (files, objects):
        text = json.dumps(marks_to_json(marks))
        assert marks_from_json(json.loads(text)) == marks
        assert len(text) <= 200_000


def test_offsets_of_logs_of_any_name_are_read_back() -> None:
    marks = {
        "orders-0": Mark(5, 1),
        "/a/__cluster_metadata-0": Mark(7, 2, snapshot=UNREAD),
        "/a/copy": Mark(3),
        "/a/copy-007": Mark(4),
        "/a/logs-1": Mark(0),
        "/a/logs-3": Mark(9, 0, 17),
    }

    assert marks_from_json(json.loads(json.dumps(marks_to_json(marks)))) == marks


def test_offsets_of_release_0_2_are_read() -> None:
    fields = {"position": 70, "epoch": 3, "batch": 1, "crc": 5}
    earlier = {
        "/a/orders-0": {"file": f"{0:020}.log", "offset": 7, **fields},
        "/a/__cluster_metadata-0": {"file": f"{9:020}-{3:010}.checkpoint", "offset": 9, **fields},
    }

    assert marks_from_json(earlier) == {
        "/a/orders-0": Mark(7, 3),
        "/a/__cluster_metadata-0": Mark(9, 3, snapshot="read"),
    }

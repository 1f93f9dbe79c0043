"""Bytes and requests of a table of objects: only those that the question needs, and once."""

from collections import Counter
from collections.abc import Iterator, Mapping

import pytest

from kraftops.log import batch_search
from kraftops.log.batch import Record
from kraftops.log.indexes import OffsetEntry
from kraftops.spark.datasource import KraftopsDataSource
from tests.helpers.logs.written import batch_bytes, offset_index_bytes
from tests.helpers.spark.counting_store import CountingStore, counting_store

pytest.importorskip("pyarrow")

BATCHES, BATCH_RECORDS = 300, 10


def segment() -> tuple[bytes, bytes]:
    """Return a segment of 300 batches of ten records, 10.5 MB, and its index."""
    content, entries = bytearray(), []
    for base in range(0, BATCHES * BATCH_RECORDS, BATCH_RECORDS):
        last = base + BATCH_RECORDS - 1
        if base:
            entries.append(OffsetEntry(last, len(content)))
        records = [Record(offset, 1, None, bytes(3500)) for offset in range(base, last + 1)]
        content += batch_bytes(records)
    return bytes(content), offset_index_bytes(entries, 0)


SEGMENT, INDEX = segment()


def objects() -> Mapping[str, bytes]:
    by_key = {}
    for number in range(20):
        folder = f"archive/topic{number}-0"
        by_key[f"{folder}/{0:020}.log"] = SEGMENT
        by_key[f"{folder}/{0:020}.index"] = INDEX
    return by_key


SMALL_SEGMENT = batch_bytes([Record(offset, 1, None, bytes(3500)) for offset in range(10)])
SMALL_OBJECTS = {
    f"archive/topic{topic}-{partition}/{0:020}.log": SMALL_SEGMENT
    for topic in range(50)
    for partition in range(20)
}


@pytest.fixture
def store(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[CountingStore]:
    with counting_store(getattr(request, "param", None) or objects()) as counted:
        for name, value in {
            "AWS_ENDPOINT_URL": counted.url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():
            monkeypatch.setenv(name, value)
        yield counted


def offsets(store: CountingStore, path: str = "archive", **options: str) -> list[int]:
    """Return the offsets of a table, as a driver and its workers read them."""
    uri = f"s3://fetched-{store.url[-5:]}/{path}"  # pyarrow keeps the client of a bucket
    source = KraftopsDataSource({"path": uri, "decoder": "user", "tries": "4", **options})
    reader = source.reader(source.schema())
    return [
        offset
        for partition in reader.partitions()
        for batch in reader.read(partition)
        for offset in batch.column("offset").to_pylist()
    ]


def listings(store: CountingStore) -> int:
    return sum("list-type" in request for request in store.requests)


@pytest.mark.parametrize(
    "options", [{"topics": "topic7"}, {"where": "topic = 'topic7' and partition = 0"}]
)
def test_only_the_objects_of_a_topic_are_fetched(
    store: CountingStore, options: dict[str, str]
) -> None:
    assert len(offsets(store, **options)) == BATCHES * BATCH_RECORDS
    assert store.fetched.keys() == {f"archive/topic7-0/{0:020}.log"}
    assert store.fetched.total() <= 1.02 * len(SEGMENT)
    assert listings(store) == 1


def test_nothing_is_opened_where_no_topic_matches(store: CountingStore) -> None:
    assert offsets(store, topics="nosuch") == []
    assert listings(store) == len(store.requests) == 1


@pytest.mark.parametrize("store", [SMALL_OBJECTS], indirect=True, ids=["1000-objects"])
@pytest.mark.parametrize(
    ("options", "count"), [({"topics": "topic7"}, 20), ({"topics": "nosuch"}, 0), ({}, 1000)]
)
def test_each_of_1000_objects_of_50_topics_is_asked_for_once_or_not_at_all(
    store: CountingStore, options: dict[str, str], count: int
) -> None:
    assert len(offsets(store, **options)) == 10 * count

    assert listings(store) == 1
    assert len(store.fetched) == count
    assert store.fetched.total() <= 1.02 * count * len(SMALL_SEGMENT)
    by_object = Counter(request for request in store.requests if ".log" in request)
    assert {*by_object.values()} <= {1}  # a HEAD and a GET
    assert len(by_object) <= 2 * count


def test_an_object_is_cut_by_its_index_and_fetched_once(store: CountingStore) -> None:
    path = "archive/topic1-0"

    assert offsets(store, path, splitBytes="4000000") == [*range(BATCHES * BATCH_RECORDS)]

    gets = [request for request in store.requests if "GET" in request and ".log" in request]
    assert store.fetched.total() <= 1.02 * (len(SEGMENT) + len(INDEX))
    assert 3 <= len(gets) <= 2 * 3  # with the headers at the cuts


def outer() -> tuple[bytes, bytes]:
    """Return a segment whose values are segments with offsets in its own range, and its index."""
    inner = b"".join(batch_bytes([Record(offset, 1, None, b"inner")]) for offset in range(25, 35))
    content, entries = bytearray(), []
    for offset in range(40):
        if offset and not offset % 4:
            entries.append(OffsetEntry(offset, len(content)))
        value = inner * (1 + offset % 3) if offset % 2 else b"outer"
        content += batch_bytes([Record(offset, 1, None, value)])
    return bytes(content), offset_index_bytes(entries, 0)


@pytest.mark.parametrize("has_index", [True, False])
def test_a_value_that_is_a_segment_fools_no_split(
    monkeypatch: pytest.MonkeyPatch, *, has_index: bool
) -> None:
    """Rows are the same at every split size."""
    monkeypatch.setattr(batch_search, "LARGEST", 2500)
    monkeypatch.setattr(batch_search, "_WINDOWS", 0)
    content, index = outer()
    objects = {f"archive/orders-0/{0:020}.log": content}
    if has_index:
        objects[f"archive/orders-0/{0:020}.index"] = index
    with counting_store(objects) as store:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "test")
        monkeypatch.setenv("AWS_ENDPOINT_URL", store.url)
        counts = set()
        for size in (1, 70, 500, 1000, 3000, 7000, 20_000, len(content), 1 << 30):
            uri = f"s3://outer-{store.url[-5:]}/archive"
            source = KraftopsDataSource({"path": uri, "decoder": "user", "splitBytes": str(size)})
            reader = source.reader(source.schema())
            partitions = reader.partitions()
            rows = [r for p in partitions for b in reader.read(p) for r in b.to_pylist()]
            counts.add(len(partitions))
            assert [row["offset"] for row in rows] == [*range(40)]
            assert {row["kind"] for row in rows} == {"user"}
    assert max(counts) > 5

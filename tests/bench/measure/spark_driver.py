"""What the driver of a table or stream does: CPU of a trigger, and bytes that a store sends."""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from kraftops.log.batch import Record, batch_bytes
from kraftops.spark.datasource import KraftopsDataSource
from tests.bench.measure.spark_results import Row
from tests.helpers.spark.counting_store import CountingStore, counting_store
from tests.helpers.spark.streams import GrowingLog, Stream

LOGS, TRIGGERS = 10_000, 4
LARGE_BATCHES = 600  # of half a megabyte, more than two splits without an index take
MEGABYTE = 1_000_000
SEGMENT = batch_bytes([Record(offset, 1, None, bytes(3500)) for offset in range(10)])
OBJECTS = {
    f"archive/topic{topic}-{partition}/{0:020}.log": SEGMENT
    for topic in range(50)
    for partition in range(20)
}


def trigger_cpu(directory: Path) -> Row:
    """Measure the driver of a stream of logs that have all grown since the last trigger."""
    logs = [GrowingLog(directory / f"topic{number % 97}-{number // 97}") for number in range(LOGS)]
    source = KraftopsDataSource({"path": str(directory), "decoder": "user"})
    reader: Any = source.streamReader(source.schema())
    start = reader.initialOffset()
    seconds = []
    for _ in range(TRIGGERS):
        for log in logs:
            log.append(1, bytes(200))
        begun = time.process_time()
        end = json.loads(json.dumps(reader.latestOffset(start, reader.getDefaultReadLimit())))
        reader.partitions(start, end)
        seconds.append(time.process_time() - begun)
        start = end
    cpu = min(seconds[1:])  # the first one knows no log yet
    name = f"driver of a stream, {LOGS:,} logs that have all grown: CPU of a trigger"
    return Row(name, "≤ 1 s", f"{cpu:.2f} s", "", f"{cpu:.2f} s", cpu)


@contextmanager
def _store(objects: Mapping[str, bytes]) -> Iterator[CountingStore]:
    """Serve objects, and have this process find them."""
    with counting_store(objects) as store:
        keys = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "bench")
        with mock.patch.dict(os.environ, {**keys, "AWS_ENDPOINT_URL": store.url}):
            yield store


def _read(store: CountingStore, **options: str) -> None:
    uri = f"s3://bench-{store.url[-5:]}/archive"  # pyarrow keeps the client of a bucket
    source = KraftopsDataSource({"path": uri, "decoder": "user", **options})
    reader: Any = source.reader(source.schema())
    for partition in reader.partitions():
        for _ in reader.read(partition):
            pass


def _large_segment() -> bytes:
    records = (Record(offset, 1, None, os.urandom(1 << 19)) for offset in range(LARGE_BATCHES))
    return b"".join(batch_bytes([record]) for record in records)


def triggers_bytes() -> Row:
    """Count what a store sends for a stream that four new segments of 0.97 MB meet a trigger."""
    new = batch_bytes([Record(offset, 1, None, os.urandom(97_000)) for offset in range(10)])
    objects: dict[str, bytes] = {}
    with _store(objects) as store:
        begun = time.monotonic()
        stream = Stream(f"s3://bench-{store.url[-5:]}/archive", {"decoder": "user"})
        for trigger in range(TRIGGERS):
            objects |= {f"archive/t-{number}/{10 * trigger:020}.log": new for number in range(4)}
            stream.step()
        wall = time.monotonic() - begun
    return _bytes_row(f"{TRIGGERS} triggers of a stream, each with 4 new segments", 1.1, store,
                      sum(map(len, objects.values())), wall)  # fmt: skip


def _bytes_row(name: str, most: float, store: CountingStore, needed: int, wall: float) -> Row:
    ours = store.fetched.total()
    ratio = ours / needed
    sizes = f"{ours / MEGABYTE:.2f} MB", f"{needed / MEGABYTE:.2f} MB"
    achieved = f"{ratio:.3f}, {len(store.requests):,} requests, {wall:.1f} s"
    return Row(f"{name}; their size: bytes", f"≤ {most}", *sizes, achieved, ratio / most)


def fetched_bytes() -> list[Row]:
    """Count what a store sends for a topic, for all objects, and for a large one."""
    rows = []
    large = {f"archive/large-0/{0:020}.log": _large_segment()}
    for name, objects, prefix, options in (
        ("one of 50 topics in 1,000 objects", OBJECTS, "archive/topic7-", {"topics": "topic7"}),
        ("1,000 objects, all", OBJECTS, "archive/", {}),
        ("an object of 300 MB without an index", large, "archive/", {"cores": "2"}),
    ):
        with _store(objects) as store:
            begun = time.monotonic()
            _read(store, **options)
            wall = time.monotonic() - begun
        needed = sum(len(data) for key, data in objects.items() if key.startswith(prefix))
        rows.append(_bytes_row(name, 1.02, store, needed, wall))
    return [*rows, triggers_bytes()]

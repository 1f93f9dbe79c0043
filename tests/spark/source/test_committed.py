"""Rows of committed transactions, compared with what a reader of all rows works out."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kraftops.errors import UsageError
from kraftops.log.heads import heads
from kraftops.log.log_file import LogFile
from kraftops.spark.datasource import KraftopsDataSource
from tests.helpers.logs.log_directories import REAL
from tests.helpers.logs.segments import IN
from tests.helpers.spark.streams import Stream
from tests.helpers.tools.console import run_here

pytest.importorskip("pyarrow")

TXN = IN / "user/txn"


def committed_offsets(directory: Path) -> list[int]:
    """Return the offsets that a consumer gets, by the rows of a dump."""
    text = run_here("--format", "json", "--print-data-log", str(directory)).text
    rows: list[Mapping[str, Any]] = [json.loads(line) for line in text.splitlines()]
    offsets_by_producer: dict[int, list[int]] = {}
    aborted: set[int] = set()
    for row in rows:
        if row["control"]:
            ended = offsets_by_producer.pop(row["producerId"], [])
            aborted |= {*ended} if row["type"] == "ABORT" else set()
        elif row["transactional"]:
            offsets_by_producer.setdefault(row["producerId"], []).append(row["offset"])
    stable = min((offsets[0] for offsets in offsets_by_producer.values()), default=1 << 63)
    return [
        row["offset"]
        for row in rows
        if not row["control"] and row["offset"] not in aborted and row["offset"] < stable
    ]


def table_offsets(path: Path, level: str = "isolationLevel", **options: str) -> list[int]:
    fixed = {"path": str(path), "columns": "offset", "tries": "4", level: "read_committed"}
    source = KraftopsDataSource({**fixed, **options})
    reader = source.reader(source.schema())
    return [
        offset
        for partition in reader.partitions()
        for batch in reader.read(partition)
        for offset in batch.column("offset").to_pylist()
    ]


def without(directory: Path, *suffixes: str) -> None:
    for path in [*directory.iterdir()]:
        if path.suffix in suffixes:
            path.unlink()


@pytest.fixture(params=[TXN, REAL / "running/txn-0"], ids=["open at the end", "all ended"])
def directory(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A partition with transactions of three producers, in four and five segments."""
    return Path(shutil.copytree(request.param, tmp_path / "txn-0"))


@pytest.mark.parametrize("size", ["1", "300", "100000"])
def test_rows_are_those_of_a_consumer_at_every_split_size(directory: Path, size: str) -> None:
    expected = committed_offsets(directory)

    assert len(expected) > 20
    assert expected == table_offsets(directory, splitBytes=size)


@pytest.mark.parametrize(
    "suffixes",
    [(".snapshot",), (".index", ".txnindex"), (".index", ".timeindex", ".txnindex", ".snapshot")],
    ids=" ".join,
)
def test_markers_tell_where_a_copy_lacks_indexes(
    directory: Path, suffixes: tuple[str, ...]
) -> None:
    expected = committed_offsets(directory)
    without(directory, *suffixes)

    assert expected == table_offsets(directory)


def test_a_filter_leaves_out_no_marker(directory: Path) -> None:
    """The marker of an aborted transaction may be in a segment that the filter rules out."""
    expected = [offset for offset in committed_offsets(directory) if offset < 20]

    assert expected == table_offsets(directory, offsets="..19")


def test_the_option_of_the_kafka_source_is_understood(directory: Path) -> None:

    assert committed_offsets(directory) == table_offsets(directory, "kafka.isolation.level")


def test_damage_stays_a_row(directory: Path) -> None:
    segment = min(directory.glob("*.log"))
    segment.write_bytes(segment.read_bytes()[:-1])

    assert None in table_offsets(directory)


def committed_stream(directory: Path, target: Path, step: int) -> list[int]:
    """Return the offsets of a stream of a log that grows by *step* batches a trigger."""
    stream = Stream(str(target), {"decoder": "user", "kafka.isolation.level": "read_committed"})
    target.mkdir(parents=True)
    offsets = []
    for segment in sorted(directory.glob("*.log")):
        with LogFile(str(segment)) as log:
            ends = [head.end for head in heads(log, 0, log.size)]
        content = segment.read_bytes()
        for end in [*ends[step - 1 :: step], len(content)]:
            (target / segment.name).write_bytes(content[:end])
            offsets += stream.offsets()
        for sidecar in directory.glob(f"{segment.stem}.*"):
            shutil.copy(sidecar, target)
    return offsets


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_a_stream_has_the_rows_of_a_consumer_whatever_a_trigger_has(
    directory: Path, tmp_path: Path, step: int
) -> None:
    """Of transactions over triggers and segments, rows wait for the marker."""
    expected = committed_offsets(directory)

    assert expected == committed_stream(directory, tmp_path / "stream/txn-0", step)


def test_a_stream_waits_for_markers_below_the_high_watermark(tmp_path: Path) -> None:
    directory = Path(shutil.copytree(REAL / "running/txn-0", tmp_path / "disk/txn-0"))
    checkpoint = directory.parent / "replication-offset-checkpoint"
    stream = Stream(str(directory.parent), {"isolationLevel": "read_committed"})
    last = max(path for path in directory.glob("*.log"))
    with LogFile(str(last)) as log:
        offsets = [head.last_offset for head in heads(log, 0, log.size)]

    found: list[int] = []
    for watermark in (*offsets, offsets[-1] + 1):
        checkpoint.write_text(f"0\n1\ntxn 0 {watermark}\n")
        rows = stream.offsets()
        assert all(offset < watermark for offset in rows)
        found += rows

    assert found == committed_offsets(directory)


def test_a_running_quorum_has_no_isolation_level() -> None:
    options = {"controllers": "127.0.0.1:1", "isolationLevel": "read_committed"}

    with pytest.raises(UsageError, match="does not apply to the metadata log"):
        Stream(None, options).reader()

"""Rows of committed transactions, compared with what a reader of all rows works out."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kraftops.errors import UsageError
from kraftops.spark.datasource import KraftopsDataSource
from tests.helpers.logs.log_directories import REAL
from tests.helpers.logs.segments import IN
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


def test_a_stream_refuses_it() -> None:
    source = KraftopsDataSource({"path": str(TXN), "isolationLevel": "read_committed"})

    with pytest.raises(UsageError, match="isolationLevel is an option of tables"):
        source.streamReader(source.schema())

"""Columns that only a table has: bytes beside JSON, brokers, states of transactions, files."""

import json
import shutil
from base64 import b64decode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kraftops.log.batch import Record
from kraftops.spark.source.table_columns import TABLE_COLUMNS
from tests.helpers.logs.log_directories import REAL
from tests.helpers.logs.segments import IN
from tests.helpers.logs.written import batch_bytes
from tests.helpers.spark.streams import Stream, table
from tests.helpers.tools.console import run_here

pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

LOGS = {
    "__cluster_metadata-0": IN / "meta/00000000000000000000.log",
    "__consumer_offsets-0": IN / "consumer_offsets/00000000000000000000.log",
    "orders-0": IN / "user/none/00000000000000000000.log",
}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A log directory with logs of three decoders, and a record that none of them can read."""
    for name, segment in LOGS.items():
        (tmp_path / name).mkdir()
        shutil.copy(segment, tmp_path / name)
    unreadable = batch_bytes([Record(0, 1, b"\0\1", b"\xff\xff\xff\xff\x0f")])
    (tmp_path / "__consumer_offsets-1").mkdir()
    (tmp_path / "__consumer_offsets-1" / f"{0:020}.log").write_bytes(unreadable)
    return tmp_path


def printed(directory: Path) -> list[dict[str, Any]]:
    """Return rows as the command prints them."""
    text = run_here("--format", "json", str(directory)).text
    return [json.loads(line) for line in text.splitlines()]


def bytes_and_json(row: Mapping[str, Any], name: str) -> tuple[bytes | None, Any]:
    """Return the bytes and the JSON that a table has of a printed row."""
    content, is_base64 = row[name], row[f"{name}Encoding"] == "base64"
    if content is None:
        return None, None
    if row["kind"] != "user" and not is_base64:
        return None, content
    return b64decode(content) if is_base64 else content.encode(), None


def test_keys_and_values_have_one_type_whatever_lies_beside_them(directory: Path) -> None:
    rows = table(str(directory))

    assert [*rows[0]] == [*TABLE_COLUMNS]
    expected = printed(directory)
    assert {row["kind"] for row in expected} >= {"metadata", "offsets", "user", "control"}
    assert any(row["kind"] != "user" and row["valueEncoding"] for row in expected)
    for row, other in zip(rows, expected, strict=True):
        for name in ("key", "value"):
            text = row[f"{name}Json"]
            parsed = None if text is None else json.loads(text)
            assert (row[name], parsed) == bytes_and_json(other, name)


@pytest.mark.parametrize("name", LOGS)
def test_one_log_has_the_columns_of_all(directory: Path, name: str) -> None:
    path = str(directory / name)

    rows = table(path)

    assert rows == [row for row in table(str(directory)) if row["file"].startswith(path)]


def test_a_record_type_is_a_struct_beside_its_json(directory: Path) -> None:
    options = {"record": "PARTITION_RECORD", "columns": "value,valueJson"}

    rows = table(str(directory), **options)

    assert len(rows) > 3
    for row in rows:
        assert json.loads(row["valueJson"])["isr"] == row["value"]["isr"]


def test_each_replica_names_its_broker(tmp_path: Path) -> None:
    for number in (101, 102):
        shutil.copytree(REAL / "running/txn-0", tmp_path / str(number) / "txn-0")
        properties = f"version=1\ncluster.id=c\nnode.id={number}\n"
        (tmp_path / str(number) / "meta.properties").write_text(properties)
    paths = str(tmp_path / "*")

    rows = table(paths, replicas="all")

    assert {(row["broker"], Path(row["file"]).parts[-3]) for row in rows} == {
        (101, "101"),
        (102, "102"),
    }
    assert "broker" not in table(paths)[0]
    assert {row["broker"] for row in table(paths, columns="broker")} == {101}
    assert {row["broker"] for row in table(str(IN / "user/none"), columns="broker")} == {None}


@pytest.mark.parametrize("is_stream", [False, True])
def test_metadata_has_the_file_of_each_row(directory: Path, *, is_stream: bool) -> None:
    path = str(directory / "orders-0")
    options = {"metadata": "true", "decoder": "user"}
    rows = Stream(path, options).step() if is_stream else table(path, **options)

    assert [*rows[0]] == [*TABLE_COLUMNS, "metadata"]
    for row in rows:
        file = row["metadata"]
        status = Path(file["file_path"]).stat()
        assert (file["file_path"], file["file_size"]) == (row["file"], status.st_size)
        modified = datetime.fromtimestamp(status.st_mtime, UTC)
        assert abs(file["file_modification_time"] - modified) < timedelta(milliseconds=1)


def states(directory: Path) -> dict[int, str | None]:
    """Return the state of the transaction of each record, by the markers in the log."""
    by_offset: dict[int, str | None] = {}
    offsets_by_producer: dict[int, list[int]] = {}
    for row in printed(directory):
        by_offset[row["offset"]] = None
        if row["control"]:
            state = "aborted" if row["type"] == "ABORT" else "committed"
            by_offset |= dict.fromkeys(offsets_by_producer.pop(row["producerId"], []), state)
        elif row["transactional"]:
            offsets_by_producer.setdefault(row["producerId"], []).append(row["offset"])
    for offsets in offsets_by_producer.values():
        by_offset |= dict.fromkeys(offsets, "open")
    return by_offset


@pytest.mark.parametrize("split_bytes", ["1", "100000"])
@pytest.mark.parametrize("source", [IN / "user/txn", REAL / "running/txn-0"])
def test_the_state_of_a_transaction_is_that_of_its_marker(
    tmp_path: Path, source: Path, split_bytes: str
) -> None:
    directory = Path(shutil.copytree(source, tmp_path / "txn-0"))
    options = {"transactionState": "true", "decoder": "user", "splitBytes": split_bytes}

    rows = table(str(directory), **options)

    expected = states(directory)
    assert {"committed", "aborted", None} <= {*expected.values()}
    assert {row["offset"]: row["transactionState"] for row in rows} == expected


def test_a_stream_has_no_state_of_transactions(directory: Path) -> None:
    with pytest.raises(Exception, match="a stream has rows before their markers"):
        Stream(str(directory), {"transactionState": "true"}).reader()

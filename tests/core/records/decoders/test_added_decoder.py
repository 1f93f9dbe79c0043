"""A coordinator of a coming Kafka is a table, a module and a row; the dump then reads its topic."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kraftops.log.batch import Record
from tests.helpers.logs.written import batch_bytes

ROOT = Path(__file__).parents[4]
KEY = b"\0\0\0\6orders"
VERSION_0 = b"\0\0" + (9).to_bytes(8)
VERSION_1 = b"\0\1" + (12).to_bytes(8) + b"\3me" + b"\0"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """The directory of a partition of the coordinator's topic."""
    folder = tmp_path / "__queue_state-3"
    folder.mkdir()
    records = [
        Record(0, 1_000, KEY, VERSION_0),
        Record(1, 2_000, KEY, VERSION_1),
        Record(2, 3_000, KEY, None),
        Record(3, 4_000, b"\0\7", VERSION_0),
    ]
    (folder / "00000000000000000000.log").write_bytes(batch_bytes(records))
    return folder


def run(engine: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.helpers.logs.coming_coordinator", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | {"KRAFTOPS_ENGINE": engine},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture(params=["native", "reference"])
def engine(request: pytest.FixtureRequest) -> str:
    """Both engines, as far as they are there."""
    from kraftops.engine.choice import why_not_native

    if request.param == "native" and why_not_native():
        pytest.skip("there is no native engine")
    return str(request.param)


def test_flag_shows_keys_and_values_as_text(directory: Path, engine: str) -> None:
    done = run(engine, "--queue-decoder", "--files", directory / "00000000000000000000.log")

    assert done.returncode == 0, done.stderr
    payloads = [line.partition(" key: ")[2] for line in done.stdout.splitlines()]
    key = '{"type":"0","data":{"queue":"orders"}}'
    assert [one for one in payloads if one] == [
        f'{key} payload: {{"version":"0","data":{{"depth":9}}}}',
        f'{key} payload: {{"version":"1","data":{{"depth":12,"owner":"me"}}}}',
        f"{key} payload: <DELETE>",
        "Unknown record type 7 at offset 3, skipping.",
    ]


def test_directory_of_the_topic_chooses_the_decoder(directory: Path, engine: str) -> None:
    done = run(engine, "--format", "json", directory)

    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["kind"], row["type"], row["version"]) for row in rows] == [
        ("queue", "QUEUE_DEPTH", 0),
        ("queue", "QUEUE_DEPTH", 1),
        ("queue", "QUEUE_DEPTH", None),
        ("queue", "UNKNOWN(7)", 0),
    ]
    assert rows[1]["value"] == {"depth": 12, "owner": "me"}


def test_type_of_the_decoder_is_a_filter(directory: Path, engine: str) -> None:
    done = run(engine, "--queue-decoder", "--type", "queuedepth", "--format", "csv", directory)

    assert len(done.stdout.splitlines()) == 1 + 3


def test_summary_counts_by_its_types(directory: Path, engine: str) -> None:
    done = run(engine, "--summary", "--format", "json", directory)

    (summary,) = json.loads(done.stdout)["logs"]
    assert summary["decoder"] == "queue"
    assert {(one["type"], one["version"]): one["count"] for one in summary["types"]} == {
        ("QUEUE_DEPTH", 0): 1,
        ("QUEUE_DEPTH", 1): 1,
        ("QUEUE_DEPTH", None): 1,
        ("UNKNOWN(7)", 0): 1,
    }


def test_rows_are_written_as_parquet(directory: Path, tmp_path: Path, engine: str) -> None:
    import pyarrow.parquet as pq

    file = tmp_path / "rows.parquet"
    done = run(engine, "--format", "parquet", "--output", file, directory)

    assert done.returncode == 0, done.stderr
    rows = pq.read_table(file).to_pylist()
    assert [row["type"] for row in rows] == ["QUEUE_DEPTH"] * 3 + ["UNKNOWN(7)"]
    assert json.loads(rows[0]["key"]) == {"queue": "orders"}


@pytest.mark.parametrize(("key", "count"), [("orders", 3), ("other", 0)])
def test_text_in_the_key_is_a_filter(directory: Path, engine: str, key: str, count: int) -> None:
    done = run(engine, "--key", key, "--format", "json", directory)

    assert len(done.stdout.splitlines()) == count


def test_option_is_refused_beside_controllers() -> None:
    done = run("", "--queue-decoder", "--controllers", "localhost:1")

    assert done.returncode == 1
    assert "--controllers and --queue-decoder do not go together" in done.stderr


def test_help_names_its_flag() -> None:
    done = run("", "--help")

    assert "--queue-decoder" in done.stdout
    assert "Decode __queue_state." in done.stdout

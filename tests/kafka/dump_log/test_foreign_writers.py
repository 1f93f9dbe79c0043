"""Files that foreign clients had a real broker write: the same text, no findings, equal counts.

`KRAFTOPS_KAFKA_RELEASES` has the releases of the broker, separated by commas. The text is compared
with that of Kafka 4.3.1 for all of them. The tools of earlier releases print user records and
indexes alike, but other texts of coordinators' records (before 4.1), of leader changes (before
4.1) and of remote segments (3.9; 3.7 has no decoder for them), and a blank behind some producers.
"""

import csv
import io
import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kraftops.log.files import FileKind, partition_of
from kraftops.records.internal_topics import INTERNAL_TOPICS, USER
from tests.helpers.kafka.foreign.broker import TIER, foreign_data
from tests.helpers.kafka.foreign.files import Example, copy_directory, examples
from tests.helpers.kafka.foreign.topics import numbers
from tests.helpers.kafka.jvm.jars import CLIENTS_POM, MissingJarsError, resolved_jars
from tests.helpers.kafka.tools.dump_tool import KafkaDump, difference
from tests.helpers.tools.console import Done, run_command, run_here

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

_CHOSEN = os.environ.get("KRAFTOPS_KAFKA_RELEASES", "")
_RELEASES = (_CHOSEN or "4.3.1").split(",")
_ZEROS = "Found record size 0 smaller than minimum record overhead"
_SMALL_SPARK = ("--master", "local[2]", "--conf", "spark.driver.memory=512m")
_RECORD = re.compile(rb"^\| offset: ", re.MULTILINE)


_PREVIEWS = {
    "3.7": ("__consumer_offsets",),
    "4.0": ("__consumer_offsets", "__share_group_state"),
}
"""Topics of releases with records of previews, whose form changed: Kafka 4.3.1 reads none."""


class Data(NamedTuple):
    """A release, and copies of a broker's directories, made while it ran and after its stop."""

    release: str
    running: Path
    stopped: Path


@pytest.fixture(scope="module", params=_RELEASES)
def data(
    request: pytest.FixtureRequest, jars: Path, tmp_path_factory: pytest.TempPathFactory
) -> Data:
    """The data of a broker of a release."""
    pytest.importorskip("confluent_kafka")
    pytest.importorskip("aiokafka")
    try:
        client_jars = resolved_jars(request.param, CLIENTS_POM)
    except MissingJarsError as missing:
        pytest.skip(f"no jars of Kafka: {missing}")
    folder = tmp_path_factory.mktemp("foreign")
    found = Data(request.param, folder / "running", folder / "stopped")
    with foreign_data(client_jars, request.param, folder) as node:
        sources = {"logs": node.config.log_dirs[0], "tier": folder / TIER}
        for name, source in sources.items():
            copy_directory(source, found.running / name)
        node.stop()
        for name, source in sources.items():
            copy_directory(source, found.stopped / name)
    return found


@pytest.fixture(scope="module")
def rows(data: Data) -> list[dict[str, Any]]:
    """The rows of all logs of a stopped broker."""
    done = run_here("--format", "json", *_folders(data))
    assert (done.code, done.errors) == (0, [])
    return [json.loads(line) for line in done.text.splitlines()]


def test_data_has_everything(data: Data, rows: list[dict[str, Any]]) -> None:
    types = {row["type"] for row in rows}
    known = {topic.decoder for topic in INTERNAL_TOPICS} | {USER, "control"}
    gaps = [row for row in rows if row["topic"] == "keyed"]
    groups = {
        (3, 7): {"GROUP_METADATA", "CONSUMER_GROUP_METADATA", "OFFSET_COMMIT"},
        (4, 0): {"SHARE_GROUP_METADATA"},
        (4, 1): {"STREAMS_GROUP_METADATA"},
    }

    assert {row["codec"] for row in rows} == {"none", "gzip", "snappy", "lz4", "zstd"}
    assert {row["timestampType"] for row in rows} == {"CreateTime", "LogAppendTime"}
    assert {"COMMIT", "ABORT", "LEADER_CHANGE", "TRANSACTION_LOG"} <= types
    assert known - {row["kind"] for row in rows} <= ({"share"} if data.release < "4" else set())
    assert any(row["headers"] for row in rows)
    assert any(row["keySize"] is None for row in rows if row["kind"] == USER)
    assert any(row["valueSize"] is None for row in rows if row["kind"] == USER)
    assert len(gaps) < max(row["offset"] for row in gaps)  # compacted
    for first, expected in groups.items():
        assert numbers(data.release) < first or expected <= types


def test_text_is_that_of_kafka(data: Data, kafka_dump: KafkaDump, tmp_path: Path) -> None:
    """Of all files in all modes; those that a stop leaves as they were are compared once."""
    differences = {}
    kinds: Counter[str] = Counter()
    seen = set()
    for folder in (data.running, data.stopped):
        for example in examples(folder, tmp_path / folder.name):
            if example.content in seen:
                continue
            seen.add(example.content)
            kinds[example.kind] += 1
            for mode in example.modes:
                if found := _difference(kafka_dump, example, *mode):
                    differences[f"{example.path} {mode}"] = found

    assert differences == {}
    assert kinds.keys() == {kind.value for kind in FileKind}
    assert kinds[".log"] > 50


def _difference(kafka_dump: KafkaDump, example: Example, *mode: str) -> str | None:
    ours = run_here(*mode, "--files", str(example.path))
    kafka = kafka_dump(*mode, "--files", str(example.copy))
    there, here = str(example.path).encode(), str(example.copy).encode()
    if example.kind == ".timeindex" and _ZEROS in kafka.err and not ours.code:
        return None  # it dies of the zeros that preallocation leaves in the log
    return difference(kafka, Done(ours.code, ours.out.replace(there, here), ours.err))


@pytest.mark.parametrize("state", ["running", "stopped"])
@pytest.mark.parametrize("part", ["logs", "tier"])
def test_check_has_no_findings(data: Data, state: str, part: str) -> None:
    _assert_sound(data, str(getattr(data, state) / part))


@pytest.mark.parametrize("state", ["running", "stopped"])
def test_check_of_files_alone_has_no_findings(data: Data, state: str) -> None:
    """In Kafka's form, and in ours, where the logs of indexes are checked too."""
    kinds = {".index", ".timeindex", ".txnindex", ".snapshot"}
    folder = getattr(data, state) / "logs"
    files = [str(path) for path in sorted(folder.rglob("*")) if path.suffix in kinds]

    done = run_here("--check", "--files", ",".join(files))

    assert len(files) > 200
    assert (done.code, done.errors) == (0, [])
    _assert_sound(data, *files)


def _assert_sound(data: Data, *names: str) -> None:
    """Check files or directories, of which a broker that runs may have preallocated some."""
    done = run_here("--check", "--format", "json", *names)

    findings = json.loads(done.text)["findings"]
    told = [finding for finding in findings if finding["code"] != "zero-tail"]
    of_preview = [finding for finding in told if _is_of_preview(data.release, finding)]
    assert [finding for finding in told if finding not in of_preview] == []
    assert (done.code, done.errors) == (2 if of_preview else 0, [])


def _is_of_preview(release: str, finding: dict[str, Any]) -> bool:
    topic = Path(finding["file"]).parent.name.rpartition("-")[0]
    return finding["code"] == "bad-record" and topic in _PREVIEWS.get(release[:3], ())


def test_counts_are_equal_in_all_forms(
    data: Data, rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    expected, folders = _counts(data), _folders(data)

    table = run_here("--format", "csv", *folders)
    summary = run_here("--summary", "--format", "json", *folders)

    assert (table.code, table.errors, summary.code) == (0, [], 0)
    assert Counter(row["file"] for row in rows) == expected
    assert Counter(row["file"] for row in csv.DictReader(io.StringIO(table.text))) == expected
    assert _in_parquet(folders, tmp_path / "rows.parquet") == expected
    assert _in_summary(summary) == _by_log(expected)


@pytest.mark.spark
@pytest.mark.skipif(not _CHOSEN, reason="a start of Spark: with KRAFTOPS_KAFKA_RELEASES only")
def test_counts_on_spark_are_equal(data: Data) -> None:
    pytest.importorskip("pyspark")
    done = run_command("--spark", *_SMALL_SPARK, "--summary", "--format", "json", *_folders(data))

    assert done.code == 0, done.err
    assert _in_summary(done) == _by_log(_counts(data))


def _folders(data: Data) -> tuple[str, ...]:
    """Return the arguments that name all logs of a stopped broker, with their decoders."""
    return ("--from-start", *(str(data.stopped / part) for part in ("logs", "tier")))


def _counts(data: Data) -> Counter[str]:
    """Return the number of records in the text of each log of a stopped broker."""
    logs = [path for path in data.stopped.rglob("*.log") if "-delete" not in path.parent.name]
    texts = {str(path): run_here("--deep-iteration", "--files", str(path)).out for path in logs}
    return +Counter({path: len(_RECORD.findall(text)) for path, text in texts.items()})


def _in_parquet(folders: tuple[str, ...], output: Path) -> Counter[str]:
    pq = pytest.importorskip("pyarrow.parquet")
    done = run_here("--format", "parquet", "--output", str(output), *folders)
    assert done.code == 0, done.err
    return Counter(pq.read_table(output, columns=["file"])["file"].to_pylist())


def _in_summary(done: Done) -> Counter[tuple[str, int]]:
    found: Counter[tuple[str, int]] = Counter()
    for row in json.loads(done.text)["logs"]:
        found[row["topic"], row["partition"]] += row["records"]["count"]
    return +found


def _by_log(counts: Counter[str]) -> Counter[tuple[str, int]]:
    found: Counter[tuple[str, int]] = Counter()
    for path, count in counts.items():
        log = partition_of(path)
        assert log
        found[log] += count
    return found

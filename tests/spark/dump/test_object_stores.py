"""Logs and output in object stores, with the local tool and with Spark."""

import json
from collections.abc import Iterator
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kraftops.dump.sources.names import expand
from kraftops.errors import SourceError, UsageError
from kraftops.log.heads import heads
from kraftops.log.indexes import OffsetEntry
from kraftops.log.log_file import LogFile
from kraftops.log.remote import filesystem, list_directory
from kraftops.spark.session.session import Session
from tests.helpers.logs.segments import IN
from tests.helpers.logs.written import offset_index_bytes
from tests.helpers.tools.console import Done, run_command, run_here
from tests.helpers.tools.distribution import long_after

METADATA = "--cluster-metadata-decoder"
LOG = IN / "meta/00000000000000000000.log"
SMALL = ("--conf", "spark.kraftops.splitBytes=4000")
_NUMBERS = count()

pytestmark = pytest.mark.spark


def put(uri: str, data: bytes) -> str:
    """Store an object."""
    system, path = filesystem(uri)
    with system.open_output_stream(path) as stream:
        stream.write(data)
    return uri


def get(uri: str) -> bytes:
    """Return an object."""
    system, path = filesystem(uri)
    with system.open_input_stream(path) as stream:
        return bytes(stream.read())


@pytest.fixture
def folder(store: str) -> Iterator[str]:
    """A place in the store that no other test uses."""
    return f"{store}/{next(_NUMBERS)}"


def without_paths(done: Done, path: str) -> tuple[int, str, str]:
    """Return what is left when the path of the log is taken out."""
    return done.code, done.text.replace(path, ""), done.err.replace(path, "")


@pytest.mark.parametrize("form", ["text", "json"])
def test_local_tool_reads_a_segment(folder: str, form: str) -> None:
    uri = put(f"{folder}/{LOG.name}", LOG.read_bytes())
    arguments = (METADATA, "--format", form)

    done = run_here(*arguments, uri)

    assert without_paths(done, uri) == without_paths(run_here(*arguments, str(LOG)), str(LOG))


def test_missing_object_is_one_line(folder: str) -> None:
    done = run_here(f"{folder}/00000000000000000007.log")

    assert done.code == 1
    assert done.errors == [
        f"kafka-dump-log: cannot read {folder}/00000000000000000007.log: No such file or directory"
    ]


def test_file_is_read_in_ranges(folder: str) -> None:
    data = LOG.read_bytes()
    with LogFile(put(f"{folder}/{LOG.name}", data)) as log:
        assert log.size == len(data)
        assert log.read_at(100, 50) == data[100:150]
        assert log.read_at(len(data) - 3, 50) == data[-3:]
        assert log.read_at(0, 10) == data[:10]


def gets(log: Path, uri: str) -> int:
    """Return how often the server was asked for bytes of an object."""
    return log.read_text().count(f"GET /{uri.removeprefix('s3://')} ")


@pytest.fixture(scope="module")
def large(store: str) -> tuple[str, bytes]:
    """A log of several ranges."""
    data = LOG.read_bytes() * (40_000_000 // LOG.stat().st_size)
    return put(f"{store}/large/{LOG.name}", data), data


def test_requests_for_a_large_log(
    session: Session, large: tuple[str, bytes], tmp_path: Path, tmp_path_factory: Any
) -> None:
    """Requests of 8 MiB; without an index, one task reads the log, and nobody else."""
    log = tmp_path_factory.getbasetemp() / "moto0/log"
    uri, data = large
    ranges = -(-len(data) // (8 << 20))
    before = gets(log, uri)
    local = run_here(uri)
    between = gets(log, uri)

    done = run_here("--spark", uri, "--output", str(tmp_path / "out"))

    parts = sorted((tmp_path / "out").iterdir())
    assert between - before == ranges
    assert gets(log, uri) - between <= ranges + 1
    assert len(parts) == 1
    assert done.code == 0
    assert b"".join(path.read_bytes() for path in parts) == local.out


def test_directories_stand_for_their_logs(folder: str) -> None:
    """Segments come in order with the decoder of their topic, as on a disk."""
    for place in (
        "__consumer_offsets-0",
        "t-10",
        "t-9",
        "t-1.0123456789abcdef0123456789abcdef-delete",
    ):
        for name in ("00000000000000000005.log", "00000000000000000000.log", "x.index"):
            put(f"{folder}/{place}/{name}", b"")

    one = expand([f"{folder}/t-9/"])
    every = expand([folder])

    assert [source.path for source in one] == [
        f"{folder}/t-9/00000000000000000000.log",
        f"{folder}/t-9/00000000000000000005.log",
    ]
    assert [(source.topic, source.partition, source.decoder) for source in every[::2]] == [
        ("__consumer_offsets", 0, "offsets"),
        ("t", 9, "user"),
        ("t", 10, "user"),
    ]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*/t-0/*.log", ["a/t-0/1.log", "b/t-0/1.log"]),
        ("**/1.log", ["a/t-0/1.log", "b/t-0/1.log"]),
        ("[a]/t-?/1.l*", ["a/t-0/1.log"]),
        ("[!a]/t-0", ["b/t-0/1.log"]),
    ],
)
def test_patterns(folder: str, pattern: str, found: list[str]) -> None:
    for name in ("a/t-0/1.log", "b/t-0/1.log", "a/t-0/1.index", "b/other/x"):
        put(f"{folder}/{name}", b"")

    sources = expand([f"{folder}/{pattern}"])

    assert [source.path.removeprefix(f"{folder}/") for source in sources] == found


def test_pattern_without_a_match(folder: str) -> None:
    with pytest.raises(SourceError, match="nothing matches"):
        expand([f"{folder}/*.log"])


def test_missing_bucket_says_so(store: str) -> None:
    with pytest.raises((SourceError, UsageError), match="s3://nowhere"):
        LogFile("s3://nowhere/00000000000000000000.log")


def test_store_that_does_not_answer_is_one_line() -> None:
    done = run_command("s3://b/x.log", environment={"AWS_ENDPOINT_URL": "http://127.0.0.1:9"})

    assert done.code == 1
    assert done.errors == [
        "kafka-dump-log: cannot reach http://127.0.0.1:9: Connection refused [unreadable]",
    ]


def index_of(path: Path) -> bytes:
    """Return an index with an entry for each batch but the first."""
    with LogFile(str(path)) as log:
        _, *others = heads(log, 0, log.size)
    return offset_index_bytes([OffsetEntry(head.last_offset, head.position) for head in others], 0)


def test_spark_reads_and_writes(session: Session, folder: str) -> None:
    """The index beside the log cuts it."""
    uri = put(f"{folder}/__cluster_metadata-0/{LOG.name}", LOG.read_bytes())
    put(f"{folder}/__cluster_metadata-0/{LOG.stem}.index", index_of(LOG))

    done = run_here(
        "--spark", "--output", f"{folder}/out", f"{folder}/__cluster_metadata-0", *SMALL
    )

    told = json.loads(get(f"{folder}/out/_SUCCESS"))
    written = b"".join(get(f"{folder}/out/{name}") for name in told["parts"])
    assert done.code == 0
    assert told["parts"] == [f"part-{number:05}.txt" for number in range(len(told["parts"]))]
    assert len(told["parts"]) > 5
    assert written == run_here(f"{folder}/__cluster_metadata-0").out
    assert uri.encode() in written


def test_spark_overwrites_only_what_it_wrote(session: Session, folder: str) -> None:
    uri = put(f"{folder}/{LOG.name}", LOG.read_bytes())
    arguments = ("--spark", METADATA, "--format", "parquet", "--output", f"{folder}/out", uri)
    assert run_here(*arguments).code == 0
    refused = run_here(*arguments)
    replaced = run_here(*arguments, "--overwrite")
    left = [entry.name for entry in list_directory(f"{folder}/out") or ()]
    put(f"{folder}/out/mine", b"")

    kept = run_here(*arguments, "--overwrite")

    assert (refused.code, replaced.code, kept.code) == (3, 0, 1)
    assert "exists" in refused.errors[1]
    assert left == ["_SUCCESS", "part-00000.parquet"]
    assert "mine" in kept.errors[1]


def test_spark_writes_one_parquet_file(session: Session, folder: str, tmp_path: Path) -> None:
    uri = put(f"{folder}/{LOG.name}", LOG.read_bytes())
    local = tmp_path / "local.parquet"
    arguments = (METADATA, "--format", "parquet", uri)
    run_here(*arguments, "--output", str(local))

    done = run_here(*arguments, "--spark", "--single-file", "--output", f"{folder}/one.parquet")

    (tmp_path / "remote.parquet").write_bytes(get(f"{folder}/one.parquet"))
    assert done.code == 0
    assert pq.read_table(tmp_path / "remote.parquet").equals(pq.read_table(local))
    assert [entry.name for entry in list_directory(folder) or ()] == [LOG.name, "one.parquet"]


def stored(uri: str) -> dict[str, bytes]:
    """Return the files that count of an output in the store."""
    told = json.loads(get(f"{uri}/_SUCCESS"))
    found = [one.uri for one in list_directory(uri, recursive=True) or () if one.size is not None]
    assert sorted(found) == sorted(f"{uri}/{name}" for name in [*told["parts"], "_SUCCESS"])
    return {name: get(f"{uri}/{name}") for name in told["parts"]}


@pytest.mark.parametrize("form", long_after(1, ["json", "csv"]))
@pytest.mark.parametrize("by", ["type", "topic"])
def test_partitions_are_those_of_a_local_output(
    session: Session, folder: str, tmp_path: Path, by: str, form: str
) -> None:
    """The same directories with the same lines, whatever the files in them are called."""
    arguments = (METADATA, "--spark", "--format", form, "--partition-by", by, str(LOG), *SMALL)
    local = run_here(*arguments, "--output", str(tmp_path / "out"))

    done = run_here(*arguments, "--output", f"{folder}/out")

    expected: dict[str, list[str]] = {}
    for path in (tmp_path / "out").rglob(f"*.{form}"):
        expected.setdefault(path.parent.name, []).extend(path.read_text().splitlines())
    found: dict[str, list[str]] = {}
    for name, data in stored(f"{folder}/out").items():
        found.setdefault(name.rpartition("/")[0], []).extend(data.decode().splitlines())
    assert done.code == local.code == 0
    assert done.errors[-1].partition(" in ")[0] == local.errors[-1].partition(" in ")[0]
    assert {name: sorted(lines) for name, lines in found.items()} == {
        name: sorted(lines) for name, lines in expected.items()
    }
    assert len(found) > 2


def test_partitions_of_parquet_and_what_was_there_before(session: Session, folder: str) -> None:
    arguments = (METADATA, "--spark", "--format", "parquet", str(LOG), "--output", f"{folder}/out")
    run_here(*arguments, "--partition-by", "date")
    before = stored(f"{folder}/out")

    done = run_here(*arguments, "--partition-by", "type", "--overwrite")

    rows = {name: pq.read_table(BytesIO(data)) for name, data in stored(f"{folder}/out").items()}
    assert done.code == 0
    assert {name.partition("=")[0] for name in before} == {"date"}
    assert {name.partition("=")[0] for name in rows} == {"type"}
    assert {entry.name.partition("=")[0] for entry in list_directory(f"{folder}/out") or ()} == {
        "type",
        "_SUCCESS",
    }
    assert sum(table.num_rows for table in rows.values()) == len(
        run_here(METADATA, "--format", "json", str(LOG)).text.splitlines()
    )
    assert all("type" not in table.column_names for table in rows.values())


@pytest.mark.parametrize("form", long_after(2, ["json", "parquet", "csv"]))
def test_answers_of_sql_are_those_of_a_local_output(
    session: Session, folder: str, tmp_path: Path, form: str
) -> None:
    sql = (
        'SELECT type AS `a type, "quoted"`, count(*) AS n, max(timestamp) AS t,'
        " max(CAST(null AS int)) AS none, max(headers) AS h, unhex('ff00') AS raw, ' x\n\"y\"' AS text"
        " FROM log GROUP BY type ORDER BY n DESC, type"
    )
    arguments = (METADATA, "--spark", "--format", form, "--sql", sql, str(LOG))
    local = run_here(*arguments, "--output", str(tmp_path / "out"))

    done = run_here(*arguments, "--output", f"{folder}/out")

    files = [path.read_bytes() for path in sorted((tmp_path / "out").glob("part-*"))]
    found = list(stored(f"{folder}/out").values())
    assert done.code == local.code == 0
    if form == "parquet":
        assert list(map(parquet_rows, found)) == list(map(parquet_rows, files))
    else:
        assert found == files


def parquet_rows(data: bytes) -> list[dict[str, Any]]:
    """Return the rows of a file, times without a zone: Spark writes UTC in an older form."""
    table = pq.read_table(BytesIO(data))
    at = table.column_names.index("t")
    table = table.set_column(at, "t", table.column(at).cast(pa.timestamp("us")))
    return list(table.to_pylist())


def test_answer_without_rows_has_the_columns(session: Session, folder: str) -> None:
    arguments = (METADATA, "--spark", "--sql", "SELECT offset FROM log WHERE offset < 0", str(LOG))

    run_here(*arguments, "--format", "parquet", "--output", f"{folder}/out")

    (data,) = stored(f"{folder}/out").values()
    assert pq.read_table(BytesIO(data)).column_names == ["offset"]


def test_failed_answer_leaves_nothing(session: Session, folder: str) -> None:
    sql = "SELECT CASE WHEN offset > 30 THEN raise_error('no') ELSE offset END AS n FROM log"

    done = run_here(
        *(METADATA, "--spark", "--sql", sql, "--format", "csv", str(LOG), *SMALL),
        *("--output", f"{folder}/out"),
    )

    assert done.code == 1
    assert len(done.errors) <= 3
    assert not list_directory(folder)

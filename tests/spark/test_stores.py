"""Logs in object stores, read by the local tool and by Spark, and output that goes there."""

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kraftops.dump.sources import expand
from kraftops.errors import SourceError, UsageError
from kraftops.log.reader import LogFile
from kraftops.log.remote import filesystem, list_directory
from kraftops.spark.session import Session
from tests.console import Done, run_here
from tests.segments import IN

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


def test_directories_stand_for_their_logs(folder: str) -> None:
    """As on a disk: segments in order with the decoder of their topic, log directories for all."""
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
    with pytest.raises(UsageError, match="nothing matches"):
        expand([f"{folder}/*.log"])


def test_missing_bucket_says_so(store: str) -> None:
    with pytest.raises((SourceError, UsageError), match="s3://nowhere"):
        LogFile("s3://nowhere/00000000000000000000.log")


def test_spark_reads_and_writes(session: Session, folder: str) -> None:
    uri = put(f"{folder}/__cluster_metadata-0/{LOG.name}", LOG.read_bytes())

    done = run_here(
        "--spark", "--output", f"{folder}/out", f"{folder}/__cluster_metadata-0", *SMALL
    )

    told = json.loads(get(f"{folder}/out/_SUCCESS"))
    written = b"".join(get(f"{folder}/out/{name}") for name in told["parts"])
    assert done.code == 0
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

    assert (refused.code, replaced.code, kept.code) == (1, 0, 1)
    assert "exists" in refused.errors[1]
    assert len(left) == 2
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
    assert [entry.name for entry in list_directory(folder) or () if "part" in entry.name] == []

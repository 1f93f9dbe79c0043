"""The metadata shell on an object store, with and without Spark."""

from itertools import count
from pathlib import Path

import pytest

from tests.helpers.logs.segments import IN
from tests.helpers.tools.console import METADATA_SHELL, Done, run_here
from tests.spark.dump.test_object_stores import put

FOLDER = IN / "meta"
_NUMBERS = count()

pytestmark = pytest.mark.spark


@pytest.fixture
def partition(store: str) -> str:
    """The metadata partition of the corpus, in a log directory in the store."""
    uri = f"{store}/find-{next(_NUMBERS)}"
    for path in sorted(FOLDER.iterdir()):
        put(f"{uri}/__cluster_metadata-0/{path.name}", path.read_bytes())
    return uri


def run(source: str | Path, *words: str) -> tuple[int, str, str]:
    """Return what a command leaves behind, without the name of the source."""
    done: Done = run_here(*words, program=METADATA_SHELL)
    return done.code, done.text, done.err.replace(str(source), "")


@pytest.mark.parametrize(
    "place", ["", "/__cluster_metadata-0", "/__cluster_metadata-0/00000000000000000000.log"]
)
def test_same_as_local(partition: str, place: str) -> None:
    """A log directory, a partition, a segment."""
    words = ("--format", "json", "--at-offset", "300", "find", "/image", "-value", "1")
    local = f"{FOLDER}{place.removeprefix('/__cluster_metadata-0')}"

    found = run(partition + place, "-s", partition + place, *words)

    assert found == run(local, "-s", local, *words)
    assert found[0] == 0


def test_other_commands(partition: str) -> None:
    for words in (["ls", "/image/topics/byName"], ["cat", "/image/provenance"], ["summary"]):
        found = run(partition, "-s", partition, "--format", "json", *words)

        assert found == run(FOLDER, "-s", str(FOLDER), "--format", "json", *words)


def test_file_uri() -> None:
    local = run_here("-s", str(FOLDER), "find", "/image", program=METADATA_SHELL)

    assert run_here("-s", FOLDER.as_uri(), "find", "/image", program=METADATA_SHELL) == local


@pytest.mark.usefixtures("session")
def test_missing_object_is_one_line(store: str) -> None:
    for spark in ([], ["--spark"]):
        done = run_here(*spark, "-s", f"{store}/none.log", "find", "/", program=METADATA_SHELL)

        assert done.code == 1
        assert done.errors == [
            f"kafka-metadata-shell: cannot read {store}/none.log: No such file or directory"
        ]


@pytest.mark.usefixtures("session")
def test_on_spark(partition: str) -> None:
    for words in (("/", "-newer-than", "100"), ("/image", "/nowhere"), ("/local",)):
        find = ("--format", "json", "find", *words)

        found = run(partition, "--spark", "-s", partition, *find)

        assert found[:2] == run(FOLDER, "-s", str(FOLDER), *find)[:2]

"""Dumps on Spark are the same as dumps of the local tool."""

import os
from pathlib import Path

import pytest

from kraftops.spark.session.session import Session
from tests.helpers.logs.corpus_rows import EVERY_LOG, FLAGS, decoder_of
from tests.helpers.logs.segments import IN
from tests.helpers.tools.console import Done, run_here

METADATA = "--cluster-metadata-decoder"
LOG = str(IN / "meta/00000000000000000000.log")
SMALL = ("--conf", "spark.kraftops.splitBytes=8000")
"""Some splits of a small log."""
SMALLEST = ("--conf", "spark.kraftops.splitBytes=1")
"""The largest number of splits: one for each batch."""

pytestmark = pytest.mark.spark


def parts(directory: Path) -> bytes:
    """Return the parts of an output, one behind the other; of CSV without their heads."""
    found = sorted(directory.iterdir())
    assert all(path.name.startswith("part-") for path in found)
    heads = 1 if found[0].suffix == ".csv" else 0
    texts = [path.read_bytes() for path in found]
    return texts[0] + b"".join(text.split(b"\n", heads)[-1] for text in texts[1:])


def on_spark(tmp_path: Path, *args: str) -> tuple[Done, bytes]:
    """Dump on Spark; return what is said and what is written."""
    output = tmp_path / "out"
    done = run_here("--spark", "--output", str(output), *args)
    return done, parts(output)


def same(tmp_path: Path, *args: str, spark: tuple[str, ...] = ()) -> None:
    """Compare a dump on Spark with a local one: output, code, and lines of standard error."""
    local = run_here(*args)

    done, written = on_spark(tmp_path, *args, *spark)

    assert written == local.out
    assert done.code == local.code
    assert done.errors[1:-1] == local.errors
    assert " splits" in done.errors[-1]


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_every_log_of_the_corpus_at_once(session: Session, tmp_path: Path, form: str) -> None:
    """Whole and damaged ones, each form as the local tool writes it."""
    same(tmp_path, "--deep-iteration", "--format", form, *map(str, EVERY_LOG))


def test_every_metadata_log_with_its_decoder(session: Session, tmp_path: Path) -> None:
    logs = [str(path) for path in EVERY_LOG if decoder_of(path) == "metadata"]

    same(tmp_path, FLAGS["metadata"], *logs)


def test_every_file_of_a_directory(session: Session, tmp_path: Path) -> None:
    """Indexes and snapshots of producers too."""
    files = [str(path) for path in sorted(IN.rglob("*")) if path.is_file()]

    same(tmp_path, "--check", "--deep-iteration", *files)


def test_a_split_for_each_batch(session: Session, tmp_path: Path) -> None:
    """Of a form that begins with a line of its own."""
    same(tmp_path, METADATA, "--format", "csv", LOG, spark=SMALLEST)
    assert len(os.listdir(tmp_path / "out")) > 50

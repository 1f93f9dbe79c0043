"""Compare dumps on Spark with dumps of the local tool, for any master."""

import csv
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pyarrow.parquet as pq
import pytest

from kraftops.engine.choice import engine_name
from kraftops.spark.jobs.run import run
from kraftops.spark.session.failures import SparkError
from kraftops.spark.session.job_progress import workers_awaited
from kraftops.spark.session.session import Session, started
from kraftops.spark.session.settings import Settings
from tests.helpers.logs.corpus_rows import EVERY_LOG, parsed
from tests.helpers.logs.segments import IN
from tests.helpers.spark.cluster import CONF, bare_python, executors_of
from tests.helpers.tools.console import DUMP_LOG, METADATA_SHELL, Done, run_here

FORMS = ("text", "json", "csv", "parquet")
LOG = str(IN / "meta/00000000000000000000.log")
SHORT_LOG = str(IN / "v3.9.1/meta/00000000000000000000.log")
"""A log of fifty batches."""
METADATA = "--cluster-metadata-decoder"
CORPUS = ("--deep-iteration", *map(str, EVERY_LOG))
LAST_LINE = (
    r"[\d,]+ (lines|records) of \d+ splits(, \d+ of them damaged)?"
    r"(, [\d,]+ more offsets not listed)? in \d+\.\d s"
)
SOME = ("--conf", "spark.kraftops.splitBytes=1000000")
"""Splits of about fifteen small files."""
FEW_BATCHES = ("--conf", "spark.kraftops.splitBytes=600")
SMALLEST = ("--conf", "spark.kraftops.splitBytes=1")
"""The largest number of splits: one for each batch."""


def same(directory: Path, form: str, *args: str, spark: tuple[str, ...] = ()) -> Done:
    """Compare a dump on Spark with a local one, file by file; return the latter.

    The exit code and the lines about damage are the same, too.
    """
    here, there = directory / f"{form}-here", directory / f"{form}-there"
    output = ("--output", str(here)) if form == "parquet" else ()
    local = run_here("--format", form, *args, *output)

    done = run_here("--spark", "--format", form, *args, *spark, "--output", str(there))

    assert done.code == local.code
    assert done.errors[1:-1] == local.errors
    assert re.fullmatch(rf"{LAST_LINE}: {re.escape(str(there))}", done.errors[-1])
    if form == "parquet":
        _compare_tables(here, there)
    else:
        _compare_bytes(form, local.out, parts(there))
    return local


def parts(directory: Path) -> bytes:
    """Return the parts of an output, one behind the other; of CSV without their heads."""
    found = sorted(directory.iterdir())
    assert all(path.name.startswith("part-") for path in found)
    heads = 1 if found[0].suffix == ".csv" else 0
    texts = [path.read_bytes() for path in found]
    return texts[0] + b"".join(text.split(b"\n", heads)[-1] for text in texts[1:])


def _compare_bytes(form: str, expected: bytes, found: bytes) -> None:
    """Compare the whole; before it each file, so that a failure names some and is short."""
    wanted, got = by_file(form, expected), by_file(form, found)
    assert list(got) == list(wanted)
    assert [path for path in wanted if got[path] != wanted[path]] == []
    assert (found == expected) is True


def by_file(form: str, data: bytes) -> dict[str, list[str]]:
    """Return what is printed of each file."""
    text = data.decode("utf-8", "surrogateescape")
    found: dict[str, list[str]] = {}
    if form == "text":
        for block in re.split(r"^(?=Dumping )", text, flags=re.MULTILINE):
            found.setdefault(block.partition("\n")[0], []).append(block)
    elif form == "json":
        for row in parsed(text):
            found.setdefault(row["file"], []).append(repr(row))
    else:
        for row in csv.DictReader(io.StringIO(text, newline="")):
            found.setdefault(row["file"], []).append(repr(row))
    return found


def _compare_tables(here: Path, there: Path) -> None:
    schema = pq.read_schema(here)
    assert all(pq.read_schema(path).equals(schema) for path in there.iterdir())
    wanted, got = pq.read_table(here), pq.read_table(there)
    files = wanted.column("file").unique().to_pylist()
    assert got.column("file").unique().to_pylist() == files
    assert got.equals(wanted)


def same_print(*args: str, program: str = DUMP_LOG) -> Done:
    """Compare what is printed on Spark with what is printed locally, and the exit codes."""
    local = run_here(*args, program=program)

    done = run_here("--spark", *args, program=program)

    assert (done.code, done.text) == (local.code, local.text), done.err
    return done


def compare_the_most(directory: Path) -> None:
    """Compare dump, find and check, on a session that runs here."""
    same(directory, "text", *CORPUS, spark=SOME)
    batches = directory / "batches"
    batches.mkdir()
    same(batches, "text", METADATA, SHORT_LOG, spark=FEW_BATCHES)
    assert len(list((batches / "text-there").iterdir())) > 5
    same_print("-s", LOG, "--format", "json", "find", "/", program=METADATA_SHELL)
    assert same_print("--check", str(IN / "dmg/c*")).code == 2


def compare_the_rest(directory: Path) -> None:
    """Compare what else there is."""
    for form in FORMS[1:]:
        same(directory, form, *CORPUS, spark=SOME)
    same_print(METADATA, "--summary", LOG)


def compare_the_tables(directory: Path) -> None:
    """Compare a summary, SQL, and rows by type."""
    same_print(METADATA, "--summary", LOG)
    by_type = directory / "by-type"
    done = run_here(
        *("--spark", METADATA, "--format", "json", "--partition-by", "type", LOG),
        *("--output", str(by_type)),
    )
    assert done.code == 0, done.err
    rows = run_here(METADATA, "--format", "json", LOG).out.count(b"\n")
    written = [path.read_bytes().count(b"\n") for path in by_type.glob("type=*/part-*")]
    assert (sum(written), len(written) > 3) == (rows, True)


def _relative_paths(directory: Path) -> None:
    """Workers are in other directories, and mean the same."""
    name = Path(LOG).name
    (directory / name).write_bytes(Path(LOG).read_bytes())
    local = run_here(METADATA, name, cwd=directory)

    done = run_here("--spark", METADATA, name, "--output", "relative", cwd=directory)
    summary = run_here("--spark", METADATA, "--summary", name, cwd=directory)
    query = "SELECT kind = 'damage' AS lost, count(*) AS n FROM log GROUP BY lost"
    counted = run_here(
        *(METADATA, "--spark", "--format", "csv", "--sql", query, name), cwd=directory
    )

    assert (done.code, parts(directory / "relative") == local.out) == (0, True)
    assert summary.text == run_here(METADATA, "--summary", name, cwd=directory).text
    rows = run_here(METADATA, "--format", "json", name, cwd=directory).out.count(b"\n")
    assert counted.text == f"lost,n\nfalse,{rows}\n", counted.err


def tell_what_is_lacking(session: Session, directory: Path) -> None:
    """Have workers without wheels, and of another Python, and look whether that is said."""
    whole = session.jobs.context.pythonExec
    dump, query = ("--output", str(directory / "none")), ("--sql", "SELECT count(*) FROM log")
    for args, *lacks in ((dump, "cramjam"), (query, "pyarrow"), (dump, "cramjam", "pyarrow")):
        session.jobs.context.pythonExec = str(bare_python(directory, *lacks))
        place, wheels = r"( on \S+)?", " ".join(lacks)
        text = rf"a worker{place} has no {', '.join(lacks)}: pip install {wheels} there"
        _fails_in_one_line(text, directory, *args)
    this = f"{sys.version_info.major}.{sys.version_info.minor}"
    releases = (release for release in ("3.12", "3.11", "3.13") if release != this)
    for release in filter(_runs, releases):
        session.jobs.context.pythonExec = f"python{release}"
        text = f"a worker has Python {release}, the driver {this}: PYSPARK_PYTHON names .*"
        _fails_in_one_line(text, directory, *dump)
        break
    session.jobs.context.pythonExec = whole


def _runs(release: str) -> bool:
    """Tell whether this machine has a release of Python; a shim on the path may not run."""
    program = shutil.which(f"python{release}")
    return program is not None and not subprocess.run([program, "-c", ""], check=False).returncode


def _fails_in_one_line(text: str, directory: Path, *args: str) -> None:
    done = run_here("--spark", METADATA, *args, LOG)

    assert done.code == 1
    assert re.fullmatch(f"kafka-dump-log: the job failed: {text}", done.errors[-1]), done.err
    assert not list(directory.glob("*none*"))


def engine_names(things: Iterable[int]) -> Iterator[str]:
    """Yield the engine of a worker, which is the driver's, sent with the code."""
    for _ in things:
        yield engine_name()


def survive_the_end_of_a_machine(directory: Path, workers: Sequence[int]) -> None:
    """Kill a worker with its executor while they write: the splits go to the other one."""
    output = directory / "survived"
    local = run_here(METADATA, "--format", "json", SHORT_LOG)
    killed: list[tuple[int, bool]] = []

    def kill() -> None:
        latest = time.monotonic() + 120
        while len(list(directory.glob(".survived.*.tmp/part-*"))) < 4:
            assert time.monotonic() < latest
            time.sleep(0.01)
        executors = executors_of(workers)
        for pid in next(iter(executors.items())):
            os.kill(pid, signal.SIGKILL)
        killed.append((len(executors), output.exists()))

    thread = Thread(target=kill)
    thread.start()
    args = ("--spark", METADATA, "--format", "json", "--output", str(output))
    done = run_here(*args, *SMALLEST, SHORT_LOG)
    thread.join()

    assert killed == [(2, False)]
    assert (done.code, done.errors[1:-1]) == (0, [])
    assert parts(output) == local.out


def tell_that_all_is_lost(session: Session, master: str, processes: Sequence[int]) -> None:
    """Kill the master and all workers: a job ends."""
    for pid in (*processes, *executors_of(processes).values()):  # who starts others first
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    with (
        pytest.raises(SparkError, match=f"no worker of {master} has .* a task in 2 s") as lost,
        workers_awaited(session.jobs, master, 2),
    ):
        run(session, range(4), engine_names)
    assert lost.value.exit_code == 5


def run_on(master: str, directory: Path, processes: Sequence[int]) -> None:
    """Start Spark, and compare; what is the same for every cluster, on one only.

    *processes* are the master and the workers of a cluster, which end.
    """
    conf = () if master.startswith("sc:") else CONF  # a server has its own
    with started(Settings(master, conf)) as session:
        assert session.spark
        assert set(run(session, range(4), engine_names)) == {engine_name()}
        assert session.slow_text is None
        compare_the_most(directory)
        if master.startswith("sc:"):
            compare_the_tables(directory)
        else:
            compare_the_rest(directory)
        if not master.startswith("local["):  # there workers are where this process was at the start
            _relative_paths(directory)
        if master.startswith("spark:"):
            survive_the_end_of_a_machine(directory, processes)
            tell_what_is_lacking(session, directory)
            tell_that_all_is_lost(session, master, processes)


if __name__ == "__main__":
    run_on(sys.argv[1], Path(sys.argv[2]), [*map(int, sys.argv[3:])])

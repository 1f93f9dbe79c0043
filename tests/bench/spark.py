"""Measure `--spark` on this machine, beside the local tool and Kafka's DumpLogSegments.

    python tests/bench/spark.py [--only REGEX] [--runs 3] [--dir CACHE] [--size 200M] [--scale] [--write]

Jobs run in one session that is up and has run one before; the local tool and Kafka's are whole
processes, in turn with them. `--scale` adds what takes long: 4 GB in 64 files, and a snapshot of
1,000,000 partitions. Nothing else should run on the machine.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from threading import Event, Thread
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))  # for `tests`, which is not installed

from kraftops.dump.sources.names import expand  # noqa: E402
from kraftops.query.query import Query  # noqa: E402
from kraftops.spark.dump.dump_job import Output, dump  # noqa: E402
from kraftops.spark.jobs.planning import plan_splits  # noqa: E402
from kraftops.spark.session.session import Session, started  # noqa: E402
from kraftops.spark.session.settings import Settings  # noqa: E402
from tests.bench.dump_log import MAIN_CLASS, SCRIPTS, Bench  # noqa: E402
from tests.bench.measure.dump_cases import LOGS, METADATA, SMALL  # noqa: E402
from tests.bench.measure.process import run_to_file, tree_cpu  # noqa: E402
from tests.bench.measure.report import KAFKA_VERSION, machine, yes  # noqa: E402
from tests.helpers.kafka.jvm.jars import cache_directory, java_command, kafka_jars  # noqa: E402

RESULTS = HERE / "RESULTS-spark.md"
CONF_PREFIX, SHELL = str(SCRIPTS / "kafka-dump-log"), str(SCRIPTS / "kafka-metadata-shell")
MEGABYTE = 1_000_000
TYPE = "ACCESS_CONTROL_ENTRY_RECORD"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: measurement, limit, result, and whether the limit is met."""

    name: str
    bar: str
    ours: str
    other: str
    achieved: float
    is_met: bool

    def __str__(self) -> str:
        return (
            f"| {self.name} | {self.bar} | {self.ours} | {self.other} "
            f"| {self.achieved:.2f} | {yes(self.is_met)} |"
        )


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class SparkBench:
    """A session, logs of metadata and of a user topic, a small one of each, a scratch directory."""

    def __init__(self, session: Session, logs: Sequence[Path], scratch: Path, runs: int) -> None:
        self.session = session
        self.log, self.small, self.user_log, self.small_user_log = logs
        self.scratch = scratch
        self.runs = runs

    def dump(self, form: str) -> float:
        """Return the seconds of a dump."""
        output = self.scratch / "parts"
        splits = plan_splits(expand([str(self.log)]), self.session.cores)
        query = Query(decoder="metadata", deep_iteration=True, form=form)
        try:
            return seconds(lambda: dump(self.session, splits, query, Output(str(output))))
        finally:
            shutil.rmtree(output, ignore_errors=True)

    def local(self, *options: str) -> float:
        """Return the seconds of the local tool."""
        output = self.scratch / "output"
        command = [
            CONF_PREFIX,
            METADATA,
            *options,
            "--output",
            str(output),
            "--files",
            str(self.log),
        ]
        try:
            return run_to_file(command, self.scratch / "nothing").wall
        finally:
            output.unlink()

    def pairs(self, ours: Callable[[], float], other: Callable[[], float]) -> tuple[float, ...]:
        """Return medians of both, and of their ratios, after a pair that warms all up."""
        found = [(ours(), other()) for _ in range(self.runs + 1)][1:]
        return (
            median(a for a, _ in found),
            median(b for _, b in found),
            median(b / a for a, b in found),
        )

    def cpu(self, work: Callable[[], object]) -> float:
        """Return the median of the CPU of all processes of a job, after one that warms all up."""

        def once() -> float:
            before = tree_cpu()
            work()
            return tree_cpu() - before

        return median([once() for _ in range(self.runs + 1)][1:])

    def table_cpu(
        self, log: str, work: Callable[[Any], object], *columns: str, **options: str
    ) -> float:
        """Return the CPU of work on the table of a log, less that of the same on a small log."""
        given = {"decoder": log, "columns": ",".join(columns), **options}
        paths = (
            (self.log, self.small) if log == "metadata" else (self.user_log, self.small_user_log)
        )
        reader = self.session.spark.read.format("kraftops").options(**given)
        whole, start = (self.cpu(partial(work, reader.load(str(path)))) for path in paths)
        return whole - start


def read_all(table: Any) -> None:
    """Have Spark read a table."""
    table.write.format("noop").mode("overwrite").save()


def cpu_row(name: str, most: float, ours: float, other: float) -> Row:
    """Return a line that compares the CPU of a job with another's."""
    return Row(f"CPU, start apart: {name}", f"≤ {most:.2f}", f"{ours:.2f} s", f"{other:.2f} s", ours / other,
               ours / other <= most)  # fmt: skip


def text(bench: SparkBench) -> Row:
    """Compare text with the local tool in two processes."""
    ours, other, ratio = bench.pairs(lambda: bench.dump("text"), lambda: bench.local("--jobs", "2"))
    return Row("text, local tool with 2 jobs", "≥ 0.8 of its speed", f"{ours:.2f} s",
               f"{other:.2f} s", ratio, ratio >= 0.8)  # fmt: skip


def kafkas_text(bench: SparkBench) -> Row:
    """Compare text with Kafka's own tool."""
    jars = kafka_jars(KAFKA_VERSION)
    assert jars
    command = java_command(jars, MAIN_CLASS, METADATA, "--files", str(bench.log))
    output = bench.scratch / "kafka"
    ours, other, ratio = bench.pairs(
        lambda: bench.dump("text"), lambda: run_to_file(command, output).wall
    )
    return Row("text, Kafka's DumpLogSegments", "wall ≤ 1/2.5", f"{ours:.2f} s", f"{other:.2f} s",
               ratio, ratio >= 2.5)  # fmt: skip


def parquet(bench: SparkBench) -> Row:
    """Compare Parquet with the local tool."""
    ours, other, ratio = bench.pairs(
        lambda: bench.dump("parquet"), lambda: bench.local("--format", "parquet")
    )
    return Row("Parquet, local tool", "≥ 0.8 of its speed", f"{ours:.2f} s", f"{other:.2f} s",
               ratio, ratio >= 0.8)  # fmt: skip


def parquet_cpu(bench: SparkBench) -> Row:
    """Compare the CPU of Parquet with that of the local tool."""
    command = [CONF_PREFIX, METADATA, "--format", "parquet", "--output"]
    output = bench.scratch / "local.parquet"
    local = [*command, str(output), "--files", str(bench.log)]
    start = [*command, str(output), "--files", str(bench.small)]
    whole, small = (
        median(run_to_file(one, bench.scratch / "nothing").cpu for _ in range(bench.runs))
        for one in (local, start)
    )
    ours = bench.cpu(lambda: bench.dump("parquet"))
    return cpu_row("Parquet; local tool", 1.3, ours, whole - small)


def pushed(bench: SparkBench) -> Row:
    """Compare a type that is pushed with all records."""

    def rare(table: Any) -> object:
        return table.where(f"type = '{TYPE}'").count()

    ours = bench.table_cpu("metadata", rare, pushdown="true")
    other = bench.table_cpu("metadata", rare)
    return cpu_row("a type in SQL, pushed; not pushed", 0.1, ours, other)


def columns(bench: SparkBench) -> list[Row]:
    """Compare some columns of a user topic with all."""
    from pyspark.sql import functions as f

    def ends(table: Any) -> object:
        return table.agg(f.min("offset"), f.max("timestamp")).collect()

    every = bench.table_cpu("user", read_all)
    two = bench.table_cpu("user", read_all, "key", "value")
    count = bench.table_cpu("user", lambda table: table.count(), "crcValid")
    times = bench.table_cpu("user", ends, "offset", "timestamp")
    return [
        cpu_row("two columns of a user topic; all", 1 / 3, two, every),
        cpu_row("count of a user topic; all columns", 1 / 20, count, every),
        cpu_row("min(offset), max(timestamp); all columns", 1 / 20, times, every),
    ]


IN_SESSION = (text, kafkas_text, parquet, parquet_cpu, pushed, columns)


def on_spark(log: Path | str, scratch: Path, master: str, *more: str) -> float:
    """Return the seconds of a whole process that dumps on Spark."""
    command = [CONF_PREFIX, METADATA, "--spark", "--master", master, *more, str(log)]
    try:
        return run_to_file(command, scratch / "nothing").wall
    finally:
        shutil.rmtree(scratch / "out", ignore_errors=True)


def first_result(small: Path, scratch: Path, runs: int) -> Row:
    """Measure from the command line to the first result."""
    wall = median(
        on_spark(small, scratch, "local[2]", "--output", str(scratch / "out")) for _ in range(runs)
    )
    return Row("start to first result", "≤ 12 s", f"{wall:.1f} s", "", wall, wall <= 12)


def speed_up(log: Path, scratch: Path, runs: int) -> Row:
    """Compare one core with two, on the same splits, without start and stop."""
    size = log.stat().st_size // 8

    def job(master: str) -> float:
        settings = Settings(master, cache=str(scratch / "java"))
        query = Query(decoder="metadata", deep_iteration=True)
        output = scratch / "parts"
        with started(settings) as session:
            found = []
            for _ in range(runs + 1):
                splits = plan_splits(expand([str(log)]), session.cores, size=size)
                found.append(seconds(lambda s=splits: dump(session, s, query, Output(str(output)))))
                shutil.rmtree(output)
        return median(found[1:])

    one, two = job("local[1]"), job("local[2]")
    return Row("8 splits on local[2]; local[1]", "≥ 1.7x", f"{two:.2f} s", f"{one:.2f} s",
               one / two, one / two >= 1.7)  # fmt: skip


@contextmanager
def peaks(*words: bytes) -> Iterator[list[int]]:
    """Give a list that has, in the end, the largest resident size of each process, in bytes.

    That is of those whose command lines have all *words*; `wait4` would tell of the caller, too.
    """
    is_over = Event()
    sizes: dict[int, int] = {}
    found: list[int] = []

    def watch() -> None:
        while not is_over.wait(0.2):
            for entry in Path("/proc").glob("[0-9]*"):
                try:
                    line = (entry / "cmdline").read_bytes()
                    status = (entry / "status").read_text() if all(w in line for w in words) else ""
                except OSError:
                    continue
                if match := re.search(r"VmHWM:\s+(\d+) kB", status):
                    sizes[int(entry.name)] = int(match[1]) * 1024

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        is_over.set()
        thread.join()
        found.extend(sizes.values())


def large_find(scratch: Path, cache: Path) -> Row:
    """Measure the workers of find on a snapshot of a million partitions."""
    made = subprocess.run(
        [sys.executable, str(HERE / "make_snapshots.py"), "snapshot", str(cache / "million"),
         "--partitions", "1000000"],
        check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    command = [SHELL, "--spark", "--master", "local[2]", "--format", "json",
               "--conf", "spark.driver.memory=512m", "-s", made.stdout.strip(), "find", "/"]  # fmt: skip
    with peaks(b"pyspark.daemon") as found:
        wall = run_to_file(command, scratch / "paths").wall
    lines = (scratch / "paths").read_bytes().count(b"\n")
    peak = max(found) / MEGABYTE
    return Row(f"find on 1,000,000 partitions: {lines:,} lines in {wall:.0f} s",
               "no worker over 400 MB", f"{peak:.0f} MB", "", peak, peak <= 400)  # fmt: skip


def scale(log: Path, small: Path, scratch: Path) -> list[Row]:
    """Compare 64 files with 3 of them: the driver's memory, and time for each byte."""
    whole = log.read_bytes()[: 64 << 20]
    rows = []
    for name, more in (
        ("Parquet", ("--format", "parquet", "--output", str(scratch / "out"))),
        ("summary", ("--summary",)),
    ):
        start = on_spark(small, scratch, "local[2]", *more, "--conf", "spark.driver.memory=512m")
        sizes, walls = [], []
        for count in (3, 64):
            folder = scratch / "many"
            folder.mkdir()
            first = folder / "00000000000000000000.log"
            first.write_bytes(whole)
            for number in range(1, count):
                os.link(first, folder / f"{number:020}.log")
            command = [CONF_PREFIX, METADATA, "--spark", "--master", "local[2]", *more,
                       "--conf", "spark.driver.memory=512m", f"{folder}/*.log"]  # fmt: skip
            with peaks(CONF_PREFIX.encode(), b"--spark") as found:
                walls.append(run_to_file(command, scratch / "nothing").wall)
            sizes.append(max(found))
            shutil.rmtree(folder)
            shutil.rmtree(scratch / "out", ignore_errors=True)
        growth = sizes[1] / sizes[0]
        rows.append(Row(f"{name} of 4 GB; 192 MB: the driver's Python", "± 15 %",
                        f"{sizes[1] / MEGABYTE:.0f} MB", f"{sizes[0] / MEGABYTE:.0f} MB", growth,
                        abs(growth - 1) <= 0.15))  # fmt: skip
        few, many = (wall - start for wall in walls)
        linear = many / 64 / (few / 3)
        rows.append(Row(f"{name} of 4 GB; 192 MB: wall a file, less {start:.1f} s of start",
                        "≤ 1.15", f"{many / 64:.2f} s", f"{few / 3:.2f} s", linear,
                        linear <= 1.15))  # fmt: skip
    return rows


def main() -> None:
    """Measure the shapes of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="measurements that match")
    parser.add_argument("--runs", type=int, default=3, help="pairs of each")
    parser.add_argument("--dir", type=Path, default=None, metavar="CACHE", help="keeps the logs")
    parser.add_argument("--size", default="200M", help="of the logs, but for --scale")
    parser.add_argument("--scale", action="store_true", help="also what takes long")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name} too")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    jars = kafka_jars(KAFKA_VERSION)
    if not jars:
        raise SystemExit(1)
    rows: list[Row] = []

    def measure(name: str, work: Callable[[], Row | list[Row]]) -> None:
        if re.search(given.only, name):
            found = work()
            rows.extend(found if isinstance(found, list) else [found])
            sys.stderr.write("".join(f"{one}\n" for one in rows[-2:]))

    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        logs = Bench(jars, given.dir or cache_directory(), scratch, None)
        large = logs.log(LOGS["metadata log"].format(size=given.size))
        small = logs.log(SMALL)
        measure("first_result", lambda: first_result(small, scratch, given.runs))
        measure("speed_up", lambda: speed_up(large, scratch, given.runs))
        chosen = [one for one in IN_SESSION if re.search(given.only, one.__name__)]
        if chosen:
            with started(Settings("local[2]", cache=str(scratch / "java"))) as session:
                users = [
                    logs.log(LOGS["user log, lz4"].format(size=x)) for x in (given.size, "60K")
                ]
                bench = SparkBench(session, [large, small, *users], scratch, given.runs)
                for one in chosen:
                    measure(one.__name__, lambda one=one: one(bench))
        if given.scale:
            measure("large_find", lambda: large_find(scratch, logs.logs))
            measure("scale", lambda: scale(large, small, scratch))
    head = "| measured | bar | ours | other | achieved | met |\n|---|---|---:|---:|---:|---|\n"
    table = head + "".join(f"{row}\n" for row in rows)
    sys.stdout.write(table)
    if given.write:
        command = f"python tests/bench/spark.py --runs {given.runs}{' --scale' * given.scale}"
        RESULTS.write_text(
            f"# `--spark`\n\nWritten by `{command} --write`; medians of {given.runs}.\n\n"
            f"{machine(load)}\n{table}",
            "utf-8",
        )


if __name__ == "__main__":
    main()

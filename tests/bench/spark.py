"""Measure `--spark` and its tables on this machine, beside the local tool and Kafka's.

    python tests/bench/spark.py [--only REGEX] [--runs 3] [--dir CACHE] [--scale] [--write]

Jobs run in a session that is up and has run one before; the local tool and Kafka's are whole
processes, in turn with them. Start is taken off both: the same on a log of 60 KB. `--scale` adds
what takes long: 4 GB in 64 files, a snapshot of 10,000,000 partitions, and changes of one topic.
`--write` replaces the lines that are measured; the others stay.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))  # for `tests`, which is not installed

from kraftops.dump.sources.names import expand  # noqa: E402
from kraftops.query.query import Query  # noqa: E402
from kraftops.spark.dump.dump_job import Output, dump  # noqa: E402
from kraftops.spark.jobs.planning import plan_splits  # noqa: E402
from kraftops.spark.session.session import Session, started  # noqa: E402
from kraftops.spark.session.settings import Settings  # noqa: E402
from kraftops_cli.metadata_shell.spark_find import _BASE_BYTES  # noqa: E402
from tests.bench.dump_log import MAIN_CLASS, SCRIPTS, Bench  # noqa: E402
from tests.bench.measure.dump_cases import LOGS, METADATA, MIXED, SMALL  # noqa: E402
from tests.bench.measure.process import Usage, peaks, run_to_file, used_here  # noqa: E402
from tests.bench.measure.report import KAFKA_VERSION, machine  # noqa: E402
from tests.bench.measure.spark_driver import fetched_bytes, trigger_cpu  # noqa: E402
from tests.bench.measure.spark_results import Row, page  # noqa: E402
from tests.helpers.kafka.jvm.jars import cache_directory, java_command, kafka_jars  # noqa: E402

RESULTS = HERE / "RESULTS-spark.md"
CONF_PREFIX, SHELL = str(SCRIPTS / "kafka-dump-log"), str(SCRIPTS / "kafka-metadata-shell")
MEGABYTE = 1_000_000
TYPE = "REMOVE_ACCESS_CONTROL_ENTRY_RECORD"  # one record of 1,000
MIXES = {"": LOGS, ", untuned": MIXED}
"""Logs that the code was made fast for, and others."""
SMALL_USER = "user --size 60K --codec lz4"


class Apart(NamedTuple):
    """Seconds of wall clock and CPU, without those of the same on a small log."""

    wall: float
    cpu: float


class SparkBench:
    """A session, the logs, a scratch directory."""

    def __init__(self, session: Session, logs: Bench, runs: int) -> None:
        self.session, self.logs, self.runs = session, logs, runs
        self.scratch = logs.scratch

    def apart(self, work: Callable[[Path], Usage], log: str, small: str = SMALL) -> Apart:
        """Return what work takes on a log, after a run that warms all up."""
        work(self.logs.log(log))
        pairs = [(work(self.logs.log(log)), work(self.logs.log(small))) for _ in range(self.runs)]
        return Apart(
            median(whole.wall - start.wall for whole, start in pairs),
            median(whole.cpu - start.cpu for whole, start in pairs),
        )

    def dump(self, form: str, log: Path, splits: int = 0) -> Usage:
        """Dump a log on Spark."""
        output = self.scratch / "parts"
        size = log.stat().st_size // splits if splits else None
        query = Query(decoder="metadata", deep_iteration=True, form=form)

        def work() -> None:
            found = plan_splits(expand([str(log)]), self.session.cores, size=size)
            dump(self.session, [found], query, Output(str(output)))

        try:
            return used_here(work)
        finally:
            shutil.rmtree(output, ignore_errors=True)

    def local(self, options: Sequence[str], log: Path) -> Usage:
        """Dump a log by the local tool."""
        output = self.scratch / "output"
        command = [
            CONF_PREFIX,
            METADATA,
            *options,
            "--overwrite",
            "--output",
            str(output),
            "--files",
            str(log),
        ]
        try:
            return run_to_file(command, self.scratch / "nothing")
        finally:
            output.unlink(missing_ok=True)

    def table_cpu(
        self, decoder: str, log: str, work: Callable[[Any], object], *columns: str, **options: str
    ) -> float:
        """Return the CPU of work on the table of a log."""
        given = {"decoder": decoder, "columns": ",".join(columns), **options}
        reader = self.session.spark.read.format("kraftops").options(**given)

        def on(path: Path) -> Usage:
            return used_here(partial(work, reader.load(str(path))))

        return self.apart(on, log, SMALL if decoder == "metadata" else SMALL_USER).cpu


def read_all(table: Any) -> None:
    """Have Spark read a table."""
    table.write.format("noop").mode("overwrite").save()


def at_most(name: str, bar: str, most: float, ours: float, other: float) -> Row:
    """Return a line about seconds that are compared with others."""
    ratio = ours / other
    return Row(name, bar, f"{ours:.2f} s", f"{other:.2f} s", f"{ratio:.3f}", ratio / most)


def text(bench: SparkBench, mix: str, log: str) -> list[Row]:
    """Compare text with the local tool in two processes."""
    ours = bench.apart(partial(bench.dump, "text"), log)
    other = bench.apart(partial(bench.local, ("--jobs", "2")), log)
    name = f"text of 200 MB of metadata{mix}; local tool with 2 jobs"
    return [
        at_most(f"{name}: wall", "≤ 1.15", 1.15, ours.wall, other.wall),
        at_most(f"{name}: CPU", "≤ 1.3", 1.3, ours.cpu, other.cpu),
    ]


def parquet(bench: SparkBench, mix: str, log: str) -> list[Row]:
    """Compare Parquet with the local tool."""
    ours = bench.apart(partial(bench.dump, "parquet"), log)
    other = bench.apart(partial(bench.local, ("--format", "parquet")), log)
    name = f"Parquet of 200 MB of metadata{mix}; local tool: CPU"
    return [at_most(name, "≤ 1.3", 1.3, ours.cpu, other.cpu)]


def pushed(bench: SparkBench, mix: str, log: str) -> list[Row]:
    """Compare a type that is pushed with all records."""

    def rare(table: Any) -> object:
        return table.where(f"type = '{TYPE}'").count()

    ours = bench.table_cpu("metadata", log, rare, pushdown="true")
    other = bench.table_cpu("metadata", log, rare)
    name = f"a type of 200 MB of metadata{mix} in SQL, pushed; not pushed: CPU"
    return [at_most(name, "≤ 1/10", 0.1, ours, other)]


def columns(bench: SparkBench, mix: str, log: str) -> list[Row]:
    """Compare some columns of a user topic with all."""
    cpu = partial(bench.table_cpu, "user", log)
    every = cpu(read_all)
    return [
        at_most(f"{name} of 1 GB of users{mix}; all columns: CPU", bar, most, ours, every)
        for name, bar, most, ours in (
            ("key and value", "≤ 1/3", 1 / 3, cpu(read_all, "key", "value")),
            ("count(*)", "≤ 1/20", 1 / 20, cpu(lambda table: table.count(), "crcValid")),
        )
    ]


IN_SESSION = {
    text: ("metadata log", "200M"),
    parquet: ("metadata log", "200M"),
    pushed: ("metadata log", "200M"),
    columns: ("user log, lz4", "1G"),
}


def kafkas_text(bench: SparkBench) -> Row:
    """Compare text with Kafka's own tool."""
    command = java_command(bench.logs.jars, MAIN_CLASS, METADATA, "--files")

    def kafkas(log: Path) -> Usage:
        return run_to_file([*command, str(log)], bench.scratch / "kafka")

    log = LOGS["metadata log"].format(size="200M")
    ours, other = bench.apart(partial(bench.dump, "text"), log), bench.apart(kafkas, log)
    name = "text of 200 MB of metadata; Kafka's DumpLogSegments: wall"
    return at_most(name, "≤ 1/2.5", 1 / 2.5, ours.wall, other.wall)


def speed_up(logs: Bench, runs: int) -> Row:
    """Compare one core with two, on the same splits, by the quickest runs: others delay the rest."""
    log, small = logs.log(LOGS["metadata log"].format(size="200M")), logs.log(SMALL)

    def wall(master: str) -> float:
        with started(Settings(master)) as session:
            dumped = partial(SparkBench(session, logs, runs).dump, "parquet")
            dumped(log, splits=8)
            starts = [dumped(small).wall for _ in range(runs)]
            return min(dumped(log, splits=8).wall for _ in range(runs)) - min(starts)

    one, two = wall("local[1]"), wall("local[2]")
    name = "Parquet of 200 MB of metadata, 8 splits on local[2]; on local[1]: wall"
    return Row(name, "≥ 1.8x", f"{two:.2f} s", f"{one:.2f} s", f"{one / two:.2f}x", 1.8 * two / one)


def on_spark(*words: str, scratch: Path) -> Usage:
    """Run a whole process on Spark; its JVM, which nobody waits for, is not in its CPU."""
    try:
        command = [words[0], "--spark", "--master", "local[2]", *words[1:]]
        return run_to_file(command, scratch / "result")
    finally:
        shutil.rmtree(scratch / "out", ignore_errors=True)


def first_result(logs: Bench, runs: int) -> Row:
    """Measure from the command line to the first result."""
    words = (
        CONF_PREFIX,
        METADATA,
        "--overwrite",
        "--output",
        str(logs.scratch / "out"),
        str(logs.log(SMALL)),
    )
    wall = min(on_spark(*words, scratch=logs.scratch).wall for _ in range(runs))
    return Row("start to first result", "≤ 12 s", f"{wall:.1f} s", "", f"{wall:.1f} s", wall / 12)


def scale(logs: Bench) -> list[Row]:
    """Compare 64 files with 3 of them: time for each byte, and the memory of workers."""
    scratch = logs.scratch
    whole = logs.log(LOGS["metadata log"].format(size="200M")).read_bytes()[: 64 << 20]
    words = (
        CONF_PREFIX,
        METADATA,
        "--format",
        "parquet",
        "--overwrite",
        "--output",
        str(scratch / "out"),
    )
    start = on_spark(*words, str(logs.log(SMALL)), scratch=scratch).wall
    walls, sizes = [], []
    for count in (3, 64):
        folder = scratch / "many"
        folder.mkdir()
        first = folder / "00000000000000000000.log"
        first.write_bytes(whole)
        for number in range(1, count):
            os.link(first, folder / f"{number:020}.log")
        with peaks() as found:
            walls.append(on_spark(*words, f"{folder}/*.log", scratch=scratch).wall)
        sizes.append([max(found.of(name)) / MEGABYTE for name in (b"pyspark.daemon", b"--spark")])
        shutil.rmtree(folder)
    few, many = (one - start for one in walls)
    title = "Parquet of 4 GB of metadata; of 192 MB: wall for each file"
    rows = [at_most(title, "≤ 1.1", 1.1, many / 64, few / 3)]
    for at, (whose, most) in enumerate((("a worker", 300), ("the driver's Python", 300))):
        few, many = sizes[0][at], sizes[1][at]
        rows.append(Row(f"Parquet of 4 GB of metadata; of 192 MB: memory of {whose}",
                        f"≤ {most} MB, ± 15 %", f"{many:.0f} MB", f"{few:.0f} MB",
                        f"{many / few:.2f}", max(many / most, many / few / 1.15)))  # fmt: skip
    return rows


def made(kind: str, cache: Path, *options: str) -> Path:
    """Return a snapshot or a log of changes, made once."""
    folder = cache / re.sub(r"\W+", "-", " ".join((kind, *options)))
    for file in (*folder.glob("*.checkpoint"), *folder.glob("*.log")):
        return file
    command = [sys.executable, str(HERE / "make_snapshots.py"), kind, str(folder), *options]
    return Path(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout[:-1])


def large_find(logs: Bench) -> list[Row]:
    """Measure the processes of find of 1,000,000 topics with 10,000,000 partitions."""
    snapshot = made("snapshot", logs.logs, "--partitions", "10000000", "--topics", "10")
    announced = (_BASE_BYTES + snapshot.stat().st_size) / MEGABYTE
    find = ("find", "/image/topics/byName", "-maxdepth", "1")
    words = (SHELL, "--format", "json", "-s", str(snapshot), *find)
    with peaks() as processes:
        wall = on_spark(*words, scratch=logs.scratch).wall
    with (logs.scratch / "result").open("rb") as lines:
        count = sum(1 for _ in lines)
    name = f"find in 10,000,000 partitions: {count:,} lines in {wall:.0f} s"
    rows = []
    for whose, word, most in (
        ("a worker; as it says before", b"pyspark.daemon", announced),
        ("the driver's Python", b"--spark", 500),
        ("the JVM", b"java", 500),
    ):
        peak = max(processes.of(word)) / MEGABYTE
        achieved = f"{peak:.0f} MB", "", f"{peak:.0f} MB"
        rows.append(Row(f"{name}: memory of {whose}", f"≤ {most:.0f} MB", *achieved, peak / most))
    return rows


def main() -> None:
    """Measure the shapes of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="measurements that match")
    parser.add_argument("--runs", type=int, default=3, help="pairs of each")
    parser.add_argument("--dir", type=Path, default=None, metavar="CACHE", help="keeps the logs")
    parser.add_argument("--scale", action="store_true", help="also what takes long")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name} too")
    given = parser.parse_args()
    jars = kafka_jars(KAFKA_VERSION)
    if not jars:
        raise SystemExit(1)

    def measure(name: str, work: Callable[[], Row | list[Row]]) -> None:
        if not re.search(given.only, name):
            return
        load = os.getloadavg()[0]
        found = work()
        rows = [row.with_load(load) for row in (found if isinstance(found, list) else [found])]
        sys.stdout.write("".join(f"{row}\n" for row in rows))
        sys.stdout.flush()
        if given.write:
            RESULTS.write_text(page(rows, RESULTS, machine(load), given.runs), "utf-8")

    with tempfile.TemporaryDirectory() as directory:
        logs = Bench(jars, given.dir or cache_directory(), Path(directory), None)
        runs: int = given.runs
        measure("trigger_cpu", lambda: trigger_cpu(logs.scratch / "grown"))
        measure("fetched_bytes", fetched_bytes)
        measure("first_result", lambda: first_result(logs, runs))
        measure("speed_up", lambda: speed_up(logs, runs))
        cases = {
            f"{work.__name__}{mix}": partial(work, mix=mix, log=MIXES[mix][log].format(size=size))
            for (work, (log, size)), mix in product(IN_SESSION.items(), MIXES)
        }
        cases["kafkas_text"] = kafkas_text
        if any(re.search(given.only, name) for name in cases):
            with started(Settings("local[2]")) as session:
                bench = SparkBench(session, logs, runs)
                for name, work in cases.items():
                    measure(name, partial(work, bench))
        if given.scale:
            measure("scale", lambda: scale(logs))
            measure("large_find", lambda: large_find(logs))


if __name__ == "__main__":
    main()

"""Compare `kafka-metadata-shell` with Kafka's own MetadataShell, and with `kafka-dump-log`.

A replay and `kraftops report` are compared with a summary of the same log.

    python tests/bench/shell.py [--only REGEX] [--sample N] [--runs 5] [--live] [--write]

Whole processes, those of one file in turn. 100,000 partitions come in 150 shapes, of which
`--sample` measures some: at random, and the worst of the page as it stands. Kafka's shell hangs now
and then, and then is started again. The files of one seed stay in the cache, about 1 GB. Nothing
else should run on the machine.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from statistics import median

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))  # for `tests`, which is not installed

from tests.bench import dump_log  # noqa: E402
from tests.bench.dump_log import IN_MEMORY, SLOWER_STARTS, conditions, progress  # noqa: E402
from tests.bench.measure import process  # noqa: E402
from tests.bench.measure.process import Usage  # noqa: E402
from tests.bench.measure.report import KAFKA_VERSION, Pair  # noqa: E402
from tests.bench.measure.shell_cases import (  # noqa: E402
    ALL,
    DUMP,
    HUNDRED,
    KAFKA,
    OURS,
    REPORT,
    SMALL,
    SUMMARY,
    Case,
    Command,
    MatrixShape,
    cases,
    matrix,
)
from tests.bench.measure.shell_results import (  # noqa: E402
    Measured,
    Row,
    known_worst,
    live_row,
    matrix_rows,
    page,
    rows,
    tables,
)
from tests.helpers.kafka.jvm.jars import cache_directory, java_command, kafka_jars  # noqa: E402

MAIN_CLASS = "org.apache.kafka.shell.MetadataShell"
RESULTS = HERE / "RESULTS-shell.md"
GENERATORS = ("make_snapshots.py", "make_logs.py", "logs/cluster.py", "logs/shapes.py")
SCRIPTS = Path(sysconfig.get_path("scripts"))
SHELL, DUMP_LOG, KRAFTOPS = (
    str(SCRIPTS / name) for name in ("kafka-metadata-shell", "kafka-dump-log", "kraftops")
)
OUR_FORM = ("--format", "json")
HANG_SECONDS = 30
TRIES = 5
LOGGED = b" ERROR Ignoring control record "
STARTS = 9


class Bench:
    """Runs commands on files that are made once, in a directory outside the repository."""

    def __init__(self, jars: Path, scratch: Path, seed: int) -> None:
        sources = b"".join((HERE / name).read_bytes() for name in GENERATORS)
        self.jars = jars
        self.seed = seed
        self.scratch = scratch
        self.output = scratch / "output"
        self.hangs = 0
        self._size = 0  # of what the last tool printed
        self._topics: dict[Path, str] = {}
        self.files = cache_directory() / f"snapshots-{zlib.crc32(sources):08x}-{seed}"
        self.logs = dump_log.Bench(jars, self.files, scratch, None)
        for stale in cache_directory().glob("snapshots-*"):
            if stale != self.files:
                shutil.rmtree(stale)
        self.files.mkdir(exist_ok=True)

    def file(self, words: str) -> Path:
        """Return the file that is made of *words*, made once."""
        if words.startswith("metadata"):
            return self.logs.log(f"{words} --seed {self.seed}")
        directory = self.files / re.sub(r"[^\w.]+", "-", words)
        for found in directory.glob("0*"):
            if found.suffix != ".part":
                return found
        progress(f"writing {words}")
        return self._made(words, directory)

    def measure(self, chosen: Iterable[Case], runs: int) -> dict[Command, list[Usage]]:
        """Return the usage of the *runs* of each command; commands of one file take turns."""
        by_source: dict[str, dict[Command, None]] = {}
        for case in chosen:
            for command in case.commands:
                by_source.setdefault(command.source, {})[command] = None
        found: dict[Command, list[Usage]] = {}
        for source, several in by_source.items():
            for number in range(runs + 1):
                progress(f"{source}: round {number} of {runs}")
                for command in several:
                    usage = self._run(command, self.file(source))
                    if number:  # the first round warms the page cache
                        found.setdefault(command, []).append(usage)
        return found

    def measure_shape(self, shape: MatrixShape, runs: int) -> Measured:
        """Measure a shape of the matrix, on a file that does not stay."""
        ours = Command(OURS, shape.source, "ls /image")
        kafka = Command(KAFKA, shape.source, "ls /image")
        with tempfile.TemporaryDirectory(dir=self.files) as directory:
            path = self._made(shape.source, Path(directory))
            self._check(shape, path)
            pairs = []
            for _ in range(runs):
                mine = self._run(ours, path)
                text = self._printed()
                pairs.append(Pair(mine, self._run(kafka, path)))
                if self._printed() != text:
                    raise SystemExit(f"{shape.title}: not what Kafka's shell prints")
            measured = Measured(shape, path.stat().st_size, pairs)
        progress(measured.line)
        return measured

    def start(self) -> float:
        """Return the seconds of CPU that our shell takes for next to nothing."""
        command = Command(OURS, SMALL, "ls /image")
        return median(self._run(command, self.file(SMALL)).cpu for _ in range(STARTS))

    def run(self, words: Sequence[str]) -> Usage:
        """Run a command to a file that stays."""
        # What is there is written over: nobody waits until the machine has memory for it.
        with open(os.open(self.output, os.O_WRONLY | os.O_CREAT), "wb") as output:
            usage = process.run(words, output)
            self._size = os.lseek(output.fileno(), 0, os.SEEK_CUR)
        return usage

    def _made(self, words: str, directory: Path) -> Path:
        kind, *options = words.split()
        script = [sys.executable, str(HERE / "make_snapshots.py"), kind, str(directory), *options]
        script += ["--seed", str(self.seed)]
        # In a process of its own, whose memory is not counted among that of the tools.
        made = subprocess.run(script, check=True, stdout=subprocess.PIPE, text=True)
        return Path(made.stdout.strip())

    def _check(self, shape: MatrixShape, path: Path) -> None:
        """Hold our summary against the shape."""
        summary = json.loads(self._output(path, "summary", "--format", "json"))
        if summary["partitions"] != 100_000 or summary["findings"]:
            raise SystemExit(f"{shape.title}: summary: {summary}")
        if bool(summary["underReplicated"]) != bool(shape.percent):
            raise SystemExit(f"{shape.title}: {summary['underReplicated']} under-replicated")

    def _output(self, path: Path, *words: str) -> str:
        command = [SHELL, *OUR_FORM, "-s", str(path), *words]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def _run(self, command: Command, path: Path) -> Usage:
        if command.tool == KAFKA:
            return self._run_kafka(command, path)
        if command.tool == DUMP:
            return self.run([DUMP_LOG, *command.words.split(), "--files", str(path)])
        if command.tool == SUMMARY:
            words = ["--cluster-metadata-decoder", "--summary", "--files", str(path)]
            return self.run([DUMP_LOG, *words])
        form = OUR_FORM if command.is_our_form else ()
        ours = [SHELL, *form, "-s", str(path), *self._words(command, path)]
        if command.tool == REPORT:
            ours = [
                KRAFTOPS,
                "report",
                str(path),
                "--overwrite",
                "--overwrite",
                "--output",
                str(self.scratch / "report.html"),
            ]
        return self.run(["sh", "-c", '"$@" || [ $? = 2 ]', "", *ours] if command.may_find else ours)

    def _run_kafka(self, command: Command, path: Path) -> Usage:
        """Run Kafka's shell, again where it hangs."""
        words = ["-s", str(path), *self._words(command, path)]
        kafka = java_command(self.jars, MAIN_CLASS, *words, heap=command.heap)
        for _ in range(TRIES):
            try:
                return self.run(["timeout", str(HANG_SECONDS), *kafka])
            except RuntimeError as error:
                self.hangs += 1
                progress(str(error)[:200])
        raise SystemExit("Kafka's shell never came to an end")

    def _printed(self) -> list[bytes]:
        """Return the output lines of the last tool, without the log lines of Kafka's."""
        with self.output.open("rb") as output:
            lines = output.read(self._size).splitlines()
        return [line for line in lines if LOGGED not in line]

    def _words(self, command: Command, path: Path) -> list[str]:
        named = {}
        if "{other}" in command.words:
            named["other"] = str(self.file(command.other))
        if "{topic}" in command.words:
            named["topic"] = self._topic(path)
        return command.words.format(**named).split()

    def _topic(self, path: Path) -> str:
        if path not in self._topics:
            names = self._output(path, "ls", "/image/topics/byName").split()
            self._topics[path] = names[len(names) // 2]
        return self._topics[path]


def chosen_shapes(only: str, sample: int | None, seed: int) -> list[MatrixShape]:
    """Return the shapes with matching names; with *sample*, this number and the worst known."""
    shapes = [one for one in matrix() if re.search(only, f"{HUNDRED}, {ALL}: {one.title}")]
    if sample is None or sample >= len(shapes):
        return shapes
    worst = known_worst(RESULTS)
    drawn = Random(seed).sample(shapes, sample)
    return [one for one in shapes if one in drawn or one.title in worst]


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose names match")
    parser.add_argument("--sample", type=int, metavar="N", help="so many shapes of all")
    parser.add_argument("--runs", type=int, default=5, help="rounds of each case")
    parser.add_argument("--seed", type=int, default=1, help="of the files")
    parser.add_argument("--live", action="store_true", help="also loads from a real controller")
    parser.add_argument(
        "--scratch",
        type=Path,
        default=IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None,
        metavar="DIR",
        help="for outputs, up to 1 GB; in memory, if there is a place",
    )
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name} too")
    given = parser.parse_args()
    if given.write and given.only:
        parser.error("--write needs all cases")
    for name in SLOWER_STARTS:
        os.environ.pop(name, None)
    load = os.getloadavg()[0]
    jars = kafka_jars(KAFKA_VERSION)
    if not jars:
        raise SystemExit(1)
    found: list[Row] = []
    with tempfile.TemporaryDirectory(dir=given.scratch) as scratch:
        bench = Bench(jars, Path(scratch), given.seed)
        chosen = [case for case in cases() if re.search(given.only, case.name)]
        used = bench.measure(chosen, given.runs)
        for case in chosen:
            found += rows(case, used)
        shapes = chosen_shapes(given.only, given.sample, given.seed)
        measured = [bench.measure_shape(shape, given.runs) for shape in shapes]
        if measured:
            found += matrix_rows(measured, bench.start())
        if given.live:
            from tests.bench.measure.shell_live import BAR, live_loads

            loads = live_loads(
                jars, bench.file, bench.run, [SHELL], only=given.only, runs=given.runs
            )
            found += (live_row(name, pairs, BAR) for name, pairs in loads)
        where = conditions(load, given.scratch)
    text = tables(found, measured)
    sys.stdout.write(text)
    if given.write:
        options = " ".join(sys.argv[1:])
        counted = (
            f"{len(measured)} of the {len(matrix())} shapes of 100,000 partitions were measured, "
            f"in {given.runs} rounds each. Kafka's shell hung {bench.hangs} times."
        )
        RESULTS.write_text(page(text, options, given.runs, counted, where), "utf-8")


if __name__ == "__main__":
    main()

"""Compare `kafka-dump-log` with Kafka's own DumpLogSegments: time, CPU and memory.

    python tests/bench/dump_log.py [--only REGEX] [--runs 5] [--dir CACHE] [--write]

Every case is run in whole processes, ours and Kafka's in turn, after a first pair whose outputs
must be the same to the byte. Nothing else should run on the machine.
"""

import argparse
import filecmp
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "kafka"))

from jars import cache_directory, java_command, kafka_jars  # noqa: E402 - tests are no package
from process import Usage, run_to_file, run_to_pipe  # noqa: E402
from report import HEADER, KAFKA_VERSION, Pair, machine, row, yes  # noqa: E402

MAIN_CLASS = "org.apache.kafka.tools.DumpLogSegments"
RESULTS = HERE / "RESULTS.md"
NOTHING = Usage(0, 0, 0)
OURS = str(Path(sysconfig.get_path("scripts"), "kafka-dump-log"))
MEGABYTE = 1_000_000
MAX_RSS = 150 * MEGABYTE

SMALL = "metadata --size 60K"
LARGE = "metadata --size 200M --batch 100:1000"
SHORT = "metadata --size 40M --batch 1:5"
LZ4 = "user --size 200M --codec lz4"
ZSTD = "user --size 200M --codec zstd"


@dataclass(frozen=True, slots=True)
class Case:
    """A comparison: *log* are words to `make_logs.py`, *bars* what ours may take of Kafka's.

    Ours works in *jobs* processes, None for its default.
    """

    name: str
    log: str
    option: str
    bars: tuple[tuple[str, float], ...]
    jobs: int | None = None
    is_piped: bool = False


METADATA = "--cluster-metadata-decoder"
TEXT = "--print-data-log"
CASES = (
    Case("60 KB metadata log", SMALL, METADATA, (("wall", 8),)),
    Case("200 MB metadata log, to a file, 1 job", LARGE, METADATA, (("CPU", 2.3), ("wall", 2)), 1),
    Case("200 MB metadata log, to a file", LARGE, METADATA, (("wall", 3.3),)),
    Case("200 MB metadata log, into a pipe, 1 job", LARGE, METADATA, (("CPU", 1.5),), 1, True),
    Case(
        "40 MB metadata log of 1-5 records a batch, into a pipe, 1 job",
        SHORT,
        METADATA,
        (("CPU", 2.8),),
        1,
        True,
    ),
    Case("40 MB metadata log of 1-5 records a batch, to a file", SHORT, METADATA, (("wall", 3),)),
    Case("200 MB metadata log, batch lines only, 1 job", LARGE, "", (("CPU", 6),), 1),
    Case("200 MB user log, lz4, to a file, 1 job", LZ4, TEXT, (("CPU", 3),), 1),
    Case("200 MB user log, lz4, to a file", LZ4, TEXT, (("wall", 4),)),
    Case("200 MB user log, zstd, to a file, 1 job", ZSTD, TEXT, (("CPU", 3),), 1),
    Case("200 MB user log, zstd, to a file", ZSTD, TEXT, (("wall", 4),)),
)


@dataclass(frozen=True, slots=True)
class OwnCase:
    """Something that only ours can do, beside the whole text of the same log: one process each."""

    name: str
    log: str
    option: str
    more: str
    most: float
    is_piped: bool = False


OWN_CASES = (
    OwnCase("rows as JSON, to a file", LARGE, METADATA, "--format json", 1.2),
    OwnCase("rows as JSON, into a pipe", LARGE, METADATA, "--format json", 1.2, True),
    OwnCase("one record of 150 by type", LARGE, METADATA, "--type accesscontrolentry", 0.25),
)


class Bench:
    """The tools, the logs and the scratch directory of one benchmark."""

    def __init__(self, jars: Path, logs: Path, scratch: Path) -> None:
        self.jars = jars
        # Other code, other logs: a stale one must never be measured.
        sources = b"".join((HERE / name).read_bytes() for name in ("make_logs.py", "cluster.py"))
        self.logs = logs / f"logs-{zlib.crc32(sources):08x}"
        self.scratch = scratch

    def log(self, words: str) -> Path:
        """Return the log that `make_logs.py` makes of *words*, made once."""
        kind, *options = words.split()
        directory = self.logs / re.sub(r"\W+", "-", words)
        for segment in directory.glob("*.log"):
            return segment
        _progress(f"making {words}")
        command = [sys.executable, str(HERE / "make_logs.py"), kind, str(directory), *options]
        # In a process of its own, whose memory is not counted among that of the tools.
        made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return Path(made.stdout.strip())

    def commands(self, case: Case) -> tuple[list[str], list[str]]:
        """Return our command and Kafka's."""
        arguments = [*case.option.split(), "--files", str(self.log(case.log))]
        jobs = [] if case.jobs is None else ["--jobs", str(case.jobs)]
        return [OURS, *arguments, *jobs], java_command(self.jars, MAIN_CLASS, *arguments)

    def own_pairs(self, case: OwnCase, runs: int) -> list[Pair]:
        """Measure what only ours can do, and the text of the same log in the place of Kafka's."""
        text = [OURS, *case.option.split(), "--jobs", "1", "--files", str(self.log(case.log))]
        found = []
        for number in range(runs + 1):
            _progress(f"{case.name}: {number} of {runs}")
            commands = ([*text, *case.more.split()], text)
            pair = Pair(*(self._run(command, is_piped=case.is_piped) for command in commands))
            if number:  # the first pair warms the page cache
                found.append(pair)
        return found

    def pairs(self, case: Case, runs: int) -> list[Pair]:
        """Measure a case, after a pair that warms the page cache and shows that outputs agree."""
        ours, kafka = self.commands(case)
        self._compare(case, ours, kafka)
        found = []
        for number in range(runs):
            _progress(f"{case.name}: {number + 1} of {runs}")
            pair = (self._run(command, is_piped=case.is_piped) for command in (ours, kafka))
            found.append(Pair(*pair))
        return found

    def _run(self, command: list[str], *, is_piped: bool) -> Usage:
        if is_piped:
            return run_to_pipe(command)
        output = self.scratch / "output"
        try:
            return run_to_file(command, output)
        finally:
            output.unlink()

    def _compare(self, case: Case, ours: list[str], kafka: list[str]) -> None:
        _progress(f"{case.name}: comparing the outputs")
        with tempfile.TemporaryDirectory(dir=self.scratch) as directory:
            paths = Path(directory, "ours"), Path(directory, "kafka")
            for command, path in zip((ours, kafka), paths, strict=True):
                run_to_file(command, path)
            if not filecmp.cmp(*paths, shallow=False):
                raise SystemExit(f"{case.name}: the outputs differ")


def _progress(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def memory_row(measured: Iterable[list[Pair]]) -> str:
    """Return the line of the table for the peaks of all cases."""
    pairs = [pair for pairs in measured for pair in pairs] or [Pair(NOTHING, NOTHING)]
    ours, kafka = max(pair.ours.rss for pair in pairs), max(pair.kafka.rss for pair in pairs)
    return (
        f"| any of these | peak RSS ≤ {MAX_RSS / MEGABYTE:.0f} MB | {ours / MEGABYTE:.0f} MB "
        f"| {kafka / MEGABYTE:.0f} MB | {ours / MEGABYTE:.0f} MB | {yes(ours <= MAX_RSS)} |"
    )


def table(measured: dict[Case, list[Pair]]) -> str:
    """Return the table, in Markdown."""
    lines = [HEADER]
    for case, pairs in measured.items():
        lines += [row(case.name, measure, bar, pairs) for measure, bar in case.bars]
    return "\n".join([*lines, memory_row(measured.values())]) + "\n"


def own_table(measured: dict[OwnCase, list[Pair]]) -> str:
    """Return the table of what only ours can do, in Markdown."""
    lines = ["| case | bar | ours | text | achieved | met |\n|---|---|---:|---:|---:|---|"]
    for case, pairs in measured.items():
        ours = median(pair.ours.cpu for pair in pairs)
        text = median(pair.kafka.cpu for pair in pairs)
        ratio = median(pair.ours.cpu / pair.kafka.cpu for pair in pairs)
        lines.append(
            f"| {case.name} | CPU ≤ {case.most:g} of the text's | {ours:.3g} s | {text:.3g} s "
            f"| {ratio:.2f} | {yes(ratio <= case.most)} |"
        )
    return "\n".join(lines) + "\n"


def results(
    measured: dict[Case, list[Pair]], own: dict[OwnCase, list[Pair]], runs: int, load: float
) -> str:
    """Return the whole of RESULTS.md."""
    commands = "\n".join(
        f"- {case.name}: `make_logs.py {case.log}`; "
        f"`{' '.join(['kafka-dump-log', *case.option.split()])} --files LOG "
        f"{'| cat >/dev/null' if case.is_piped else '>FILE'}`"
        for case in measured
    )
    return f"""# `kafka-dump-log` against Kafka's DumpLogSegments

Written by `python tests/bench/dump_log.py --runs {runs} --write`. Whole processes, ours and Kafka's
in turn, medians of {runs} pairs; "achieved" is the median of the pairs' ratios. CPU is user and
system time. Both outputs are the same to the byte. Kafka's tool gets the same arguments, and of
Java the heap and the flags of Kafka's own script.

Where no number of jobs is given, ours has its default of one a core.

{machine(load)}
{table(measured)}
What only ours can do, beside the whole text of the same 200 MB metadata log, one process each:

{own_table(own)}
Logs and commands:

{commands}
"""


def main() -> None:
    """Measure the cases that the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose names match")
    parser.add_argument("--runs", type=int, default=5, help="pairs of each case")
    parser.add_argument("--dir", type=Path, default=None, metavar="CACHE", help="keeps the logs")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name} too")
    given = parser.parse_args()
    if given.write and given.only:
        parser.error("--write needs all cases, without --only")
    chosen = [case for case in CASES if re.search(given.only, case.name)]
    if not chosen and not any(re.search(given.only, case.name) for case in OWN_CASES):
        parser.error(f"no case matches {given.only!r}")
    load = os.getloadavg()[0]
    jars = kafka_jars(KAFKA_VERSION)
    if not jars:
        raise SystemExit(1)
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(jars, given.dir or cache_directory(), Path(scratch))
        for case in chosen:
            bench.log(case.log)
        measured = {case: bench.pairs(case, given.runs) for case in chosen}
        own_chosen = [case for case in OWN_CASES if re.search(given.only, case.name)]
        own = {case: bench.own_pairs(case, given.runs) for case in own_chosen}
    sys.stdout.write(f"{table(measured)}\n{own_table(own)}")
    if given.write:
        RESULTS.write_text(results(measured, own, given.runs, load), "utf-8")


if __name__ == "__main__":
    main()

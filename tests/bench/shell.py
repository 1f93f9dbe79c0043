"""Compare `kafka-metadata-shell` with Kafka's own MetadataShell: time, CPU and memory.

    python tests/bench/shell.py [--only REGEX] [--runs 5] [--write]

Whole processes, ours and Kafka's in turn. Kafka's shell hangs now and then, and then is started
again. Nothing else should run on the machine.
"""

import argparse
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "kafka"))

from jars import cache_directory, java_command, kafka_jars  # noqa: E402 - tests are no package
from process import Usage, run_to_file  # noqa: E402
from report import HEADER, KAFKA_VERSION, Pair, machine, row, yes  # noqa: E402

MAIN_CLASS = "org.apache.kafka.shell.MetadataShell"
RESULTS = HERE / "RESULTS-shell.md"
SCRIPTS = Path(sysconfig.get_path("scripts"))
OURS = str(SCRIPTS / "kafka-metadata-shell")
DUMP = str(SCRIPTS / "kafka-dump-log")
HANG_SECONDS = 60
TRIES = 5

SMALL = "snapshot --partitions 100"
MEDIUM = "snapshot --partitions 100000"
LARGE = "snapshot --partitions 1000000"
LOG = "changes --partitions 50000 --changes 5000000"
HEAPS = {SMALL: "256M", MEDIUM: "1G", LARGE: "4G"}


@dataclass(frozen=True, slots=True)
class Case:
    """A comparison: *source* are words to `make_snapshots.py`, *command* the shell's.

    *bars* are measures and how often ours should fit into Kafka's.
    """

    name: str
    source: str
    command: str
    bars: tuple[tuple[str, float], ...]


CASES = (
    Case("small snapshot, `ls /image`", SMALL, "ls /image", (("wall", 8),)),
    Case(
        "100,000 partitions, `ls /image`",
        MEDIUM,
        "ls /image",
        (("CPU", 6), ("wall", 5), ("RSS", 3)),
    ),
    Case("100,000 partitions, `find /image`", MEDIUM, "find /image", (("wall", 1.5),)),
    Case("100,000 partitions, `tree /`", MEDIUM, "tree /", (("wall", 1.5),)),
    Case(
        "1,000,000 partitions, `ls` of all topics",
        LARGE,
        "ls /image/topics/byName",
        (("wall", 2), ("RSS", 7)),
    ),
    Case(
        "1,000,000 partitions, `cat` of one",
        LARGE,
        "cat /image/topics/byName/topic-77/7",
        (("wall", 2), ("RSS", 7)),
    ),
)


class Bench:
    """Runs cases on files that are made once, in a directory outside the repository."""

    def __init__(self, jars: Path, scratch: Path) -> None:
        sources = b"".join(
            (HERE / name).read_bytes() for name in ("make_snapshots.py", "cluster.py")
        )
        self.jars = jars
        self.scratch = scratch
        self.files = cache_directory() / f"snapshots-{zlib.crc32(sources):08x}"

    def file(self, words: str) -> Path:
        """Return the file that `make_snapshots.py` makes of *words*, made once."""
        kind, *options = words.split()
        directory = self.files / re.sub(r"[ -]+", "-", words)
        found = sorted(directory.glob("0*"))
        if not found:
            command = [sys.executable, str(HERE / "make_snapshots.py"), kind, str(directory)]
            subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
            found = sorted(directory.glob("0*"))
        return found[0]

    def pairs(self, case: Case, runs: int) -> list[Pair]:
        """Measure a case, after a pair that warms the page cache."""
        arguments = ["-s", str(self.file(case.source)), *case.command.split()]
        kafka = java_command(self.jars, MAIN_CLASS, *arguments, heap=HEAPS[case.source])
        found = []
        for number in range(runs + 1):
            sys.stderr.write(f"{case.name}: {number} of {runs}\n")
            pair = Pair(self.run([OURS, *arguments]), self.run_kafka(kafka))
            if number:
                found.append(pair)
        return found

    def run(self, command: list[str]) -> Usage:
        """Run a command to a file."""
        return run_to_file(command, self.scratch / "output")

    def run_kafka(self, command: list[str]) -> Usage:
        """Run Kafka's shell, again where it hangs."""
        for _ in range(TRIES):
            try:
                return self.run(["timeout", str(HANG_SECONDS), *command])
            except RuntimeError as error:
                sys.stderr.write(f"{str(error)[:200]}\n")
        raise SystemExit("Kafka's shell never came to an end")

    def log_row(self, runs: int) -> str:
        """Return the line that compares replaying a log with dumping it, both by us."""
        path = str(self.file(LOG))
        dump = [DUMP, "--cluster-metadata-decoder", "--jobs", "1", "--files", path]
        ratios, ours, dumped = [], [], []
        for number in range(runs + 1):
            sys.stderr.write(f"log of changes: {number} of {runs}\n")
            image, text = self.run([OURS, "-s", path, "ls", "/image"]), self.run(dump)
            if number:
                ours.append(image.wall)
                dumped.append(text.wall)
                ratios.append(image.wall / text.wall)
        ratio = median(ratios)
        return (
            f"| log of 5,000,000 changes, `ls /image` | wall ≤ that of dumping it, 1 job "
            f"| {median(ours):.3g} s | {median(dumped):.3g} s (dump) | {ratio:.2f} "
            f"| {yes(ratio <= 1)} |"
        )


def rows(case: Case, pairs: list[Pair]) -> list[str]:
    """Return the lines of a case."""
    found = [row(case.name, *bar, pairs) for bar in case.bars if bar[0] != "RSS"]
    for measure, bar in case.bars:
        if measure == "RSS":
            ours = median(pair.ours.rss for pair in pairs) / 1e6
            kafka = median(pair.kafka.rss for pair in pairs) / 1e6
            found.append(
                f"| {case.name} | peak RSS ≤ 1/{bar:g} of Kafka's | {ours:.0f} MB | {kafka:.0f} MB "
                f"| 1/{kafka / ours:.1f} | {yes(kafka / ours >= bar)} |"
            )
    return found


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose names match")
    parser.add_argument("--runs", type=int, default=5, help="pairs of each case")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name} too")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    jars = kafka_jars(KAFKA_VERSION)
    if not jars:
        raise SystemExit(1)
    lines = [HEADER]
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(jars, Path(scratch))
        for case in CASES:
            if re.search(given.only, case.name):
                lines += rows(case, bench.pairs(case, given.runs))
        if re.search(given.only, "log of changes"):
            lines.append(bench.log_row(given.runs))
    table = "\n".join(lines) + "\n"
    sys.stdout.write(table)
    if given.write:
        RESULTS.write_text(
            f"""# `kafka-metadata-shell` against Kafka's MetadataShell

Written by `python tests/bench/shell.py --runs {given.runs} --write`. Whole processes to a file, ours
and Kafka's in turn, medians of {given.runs} pairs; "achieved" is the median of the pairs' ratios. Of
Java, Kafka's tool has the flags of its own script and a heap that holds the image (256 MB, 1 GB,
4 GB). It often shows an empty tree, which takes less time than showing what is there.

{machine(load)}
{table}""",
            "utf-8",
        )


if __name__ == "__main__":
    main()

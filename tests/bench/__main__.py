"""Measure our commands beside Kafka's own tools, their work and their memory beside bars.

    python -m tests.bench [KIND …] [--only REGEX] [--runs 3] [--before DIR] [--write]

Whole processes: of kind `speed` ours and another in turn, after a first pair whose texts must be the
same to the byte as Kafka's, `work` costly files, `memory` bombs. `--write` puts the rows into
RESULTS.md, with the date, and keeps the others. `--before` is a checkout of an earlier commit, whose
commands take the place of the others. Rows are ratios of CPU: other work hardly moves them.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench import dump_log, memory, work
from tests.bench.measure.report import KAFKA_VERSION, machine
from tests.bench.measure.rows import Row, merged, table
from tests.helpers.kafka.jvm.jars import cache_directory, kafka_jars

RESULTS = Path(__file__).parent / "RESULTS.md"
KINDS = ("speed", "work", "memory")
IN_MEMORY = Path("/dev/shm")


def rows(asked: argparse.Namespace, jars: Path) -> Iterator[Row]:
    """Yield the rows that the command line asks for."""
    kinds = asked.kinds or KINDS
    with tempfile.TemporaryDirectory(dir=asked.scratch) as scratch:
        if "speed" in kinds:
            bench = dump_log.Bench(jars, asked.dir, Path(scratch), asked.before)
            yield from dump_log.rows(bench, asked.only, asked.runs, asked.size)
        if "work" in kinds:
            yield from work.rows(Path(scratch), asked.only, asked.runs)
        if "memory" in kinds:
            yield from memory.rows(asked.only, asked.codecs.split(","))


def main() -> None:
    """Measure, and print the table or write it."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose names match")
    parser.add_argument("--runs", type=int, default=3, help="of each case")
    parser.add_argument("--size", default="200M", help="of large logs")
    parser.add_argument("--codecs", default="zstd", help="of bombs")
    parser.add_argument("--before", type=Path, metavar="DIR", help="a checkout to compare with")
    parser.add_argument("--dir", type=Path, default=cache_directory(), help="keeps the logs")
    parser.add_argument(
        "--scratch",
        type=Path,
        default=IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None,
        metavar="DIR",
        help="for outputs, up to 5 GB; in memory, if there is a place",
    )
    parser.add_argument("--write", action="store_true", help=f"into {RESULTS.name}, too")
    asked = parser.parse_args()
    if unknown := set(asked.kinds).difference(KINDS):
        parser.error(f"there is no kind {', '.join(sorted(unknown))}")
    for name in dump_log.SLOWER_STARTS:
        os.environ.pop(name, None)
    load = os.getloadavg()[0]
    if not (jars := kafka_jars(KAFKA_VERSION)):
        raise SystemExit(1)
    measured = list(rows(asked, jars))
    if not measured:
        parser.error(f"no case matches {asked.only!r}")
    sys.stdout.write(table(row.line for row in measured))
    if asked.write:
        head = RESULTS.read_text("utf-8").partition("\n- 20")[0]
        lines = merged(RESULTS.read_text("utf-8"), measured)
        RESULTS.write_text(f"{head}\n{machine(load)}\n{table(lines)}", "utf-8")


if __name__ == "__main__":
    main()

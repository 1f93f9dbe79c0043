"""Compare `kafka-storage` with Kafka's own StorageTool: whole-process wall time.

    python tests/bench/storage.py [--runs 11] [--write]

Ours and Kafka's run in turn. Nothing else should run on the machine.
"""

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))  # for `tests`, which is not installed

from tests.bench.measure.process import run_to_file  # noqa: E402
from tests.bench.measure.report import HEADER, KAFKA_VERSION, Pair, machine, row  # noqa: E402
from tests.helpers.kafka.jvm.jars import java_command, kafka_jars  # noqa: E402

MAIN_CLASS = "kafka.tools.StorageTool"
RESULTS = HERE / "RESULTS-storage.md"
BAR = 8
CONFIGURATION = """\
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://localhost:29092,CONTROLLER://localhost:29093
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=localhost:29093
log.dirs={}
"""
FORMAT = ("-t", "AAECAwQFBgcICQoLDA0ODw", "--standalone")


def measured(jars: Path, scratch: Path, runs: int) -> dict[str, list[Pair]]:
    """Return the pairs of runs of each case, by its command line."""
    ours = str(Path(sysconfig.get_path("scripts"), "kafka-storage"))
    config = scratch / "server.properties"
    config.write_text(CONFIGURATION.format(scratch / "data"))
    formatted = [ours, "format", "-c", str(config), *FORMAT]
    subprocess.run(formatted, check=True, stdout=subprocess.DEVNULL)
    pairs: dict[str, list[Pair]] = {}
    for arguments in (["random-uuid"], ["info", "-c", str(config)]):
        commands = [ours, *arguments], java_command(jars, MAIN_CLASS, *arguments)
        found = pairs.setdefault(f"{arguments[0]}", [])
        for number in range(runs + 1):
            pair = Pair(*(run_to_file(command, scratch / "output") for command in commands))
            if number:  # the first pair warms the page cache
                found.append(pair)
    return pairs


def table(pairs: dict[str, list[Pair]]) -> str:
    """Return the table, in Markdown."""
    lines = [row(name, "wall", BAR, found) for name, found in pairs.items()]
    return "\n".join([HEADER, *lines]) + "\n"


def results(pairs: dict[str, list[Pair]], runs: int, load: float) -> str:
    """Return the whole of the results file."""
    return f"""# `kafka-storage` against Kafka's StorageTool

Written by `python tests/bench/storage.py --runs {runs} --write`. Whole processes, ours and Kafka's
in turn, medians of {runs} pairs; "achieved" is the median of the pairs' ratios. Of Java, Kafka's
tool gets the heap and the flags of its own script. `info` is that of a formatted combined node.

{machine(load)}
{table(pairs)}"""


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=11, help="pairs of each case")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name} too")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    jars = kafka_jars(KAFKA_VERSION)
    if not jars:
        raise SystemExit(1)
    with tempfile.TemporaryDirectory() as scratch:
        pairs = measured(jars, Path(scratch), given.runs)
    sys.stdout.write(table(pairs))
    if given.write:
        RESULTS.write_text(results(pairs, given.runs, load), "utf-8")


if __name__ == "__main__":
    main()

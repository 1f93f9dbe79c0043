"""Compare `kafka-dump-log` with Kafka's own DumpLogSegments, with itself, and with an older one.

    python tests/bench/dump_log.py [--before DIR] [--only REGEX] [--runs 5] [--write]

Whole processes, the same ones in turn in every round, after a first round whose outputs must be the
same to the byte as Kafka's. `--before` is a checkout of an earlier commit. Nothing else should run
on the machine.
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
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))  # for `tests`, which is not installed

from tests.bench.measure.dump_cases import ALONE, SMALL, SMALL_TIMES, Command, cases  # noqa: E402
from tests.bench.measure.dump_results import Measured, results, table  # noqa: E402
from tests.bench.measure.process import Usage, run, run_to_file, run_to_pipe  # noqa: E402
from tests.bench.measure.report import KAFKA_VERSION, machine  # noqa: E402
from tests.helpers.kafka.jvm.jars import cache_directory, java_command, kafka_jars  # noqa: E402

MAIN_CLASS = "org.apache.kafka.tools.DumpLogSegments"
RESULTS = HERE / "RESULTS.md"
GENERATORS = (
    "make_logs.py",
    "logs/batches.py",
    "logs/cluster.py",
    "logs/group_log.py",
    "logs/random_messages.py",
)
SCRIPTS = Path(sysconfig.get_path("scripts"))
CHECKOUT = HERE.parent.parent
IN_MEMORY = Path("/dev/shm")
MEGABYTE = 1 << 20
SLOWER_STARTS = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")  # no operator sets them


class Bench:
    """The tools, the logs and the scratch directory of one benchmark."""

    def __init__(self, jars: Path, logs: Path, scratch: Path, before: Path | None) -> None:
        self.jars = jars
        # Other code, other logs: a stale one must never be measured.
        sources = b"".join((HERE / name).read_bytes() for name in GENERATORS)
        self.logs = logs / f"logs-{zlib.crc32(sources):08x}"
        self.scratch = scratch
        self.output = scratch / "output"
        self.output.touch()
        self.before = before

    def log(self, words: str) -> Path:
        """Return the log that `make_logs.py` makes of *words*, made once."""
        kind, *options = words.split()
        directory = self.logs / re.sub(r"\W+", "-", words)
        for segment in directory.glob("*.log"):
            return segment
        progress(f"writing {words}")
        command = [sys.executable, str(HERE / "make_logs.py"), kind, str(directory), *options]
        # In a process of its own, whose memory is not counted among that of the tools.
        made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return Path(made.stdout.strip())

    def measure(self, commands: Iterable[Command], runs: int) -> dict[Command, list[Usage]]:
        """Return the usage of the *runs* of each command; commands of one log take turns."""
        by_log: dict[str, dict[Command, None]] = {}
        for command in commands:
            by_log.setdefault(command.log, {})[command] = None
        found: dict[Command, list[Usage]] = {}
        for log, several in by_log.items():
            self.log(log)
            self._compare(several)
            for number in range(runs * SMALL_TIMES if SMALL in log else runs):
                progress(f"{log}: round {number + 1}")
                for command in several:
                    found.setdefault(command, []).append(self._run(command))
        return found

    def declined(self, command: Command) -> tuple[int, int]:
        """Return the number of batches that the compiled engine declines, and of all batches."""
        progress(f"counting what is declined: {command.log}: {command.text}")
        script = [sys.executable, str(HERE / "declined.py"), str(self.log(command.log))]
        words = [*command.options.split(), *command.more.replace(ALONE, "").split()]
        done = subprocess.run(
            [*script, *words, *self._target(command)],
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._drop_rows()
        left, batches = map(int, done.stdout.split())
        return left, batches

    def _words(self, command: Command) -> list[str]:
        words = [*command.options.split(), *command.more.split(), *self._target(command)]
        words += ["--files", str(self.log(command.log))]
        if command.tool == "kafka":
            return java_command(self.jars, MAIN_CLASS, *words)
        if command.tool == "ours":
            return [str(SCRIPTS / "kafka-dump-log"), *words]
        checkout = CHECKOUT if command.tool == "now" else self.before
        paths = [str(Path(checkout or "", name)) for name in ("core", "cli", "shell")]
        code = f"import sys; sys.path[:0] = {paths}; from kraftops_cli.main import kafka_dump_log"
        return [sys.executable, "-c", f"{code}; kafka_dump_log()", *words]

    def _target(self, command: Command) -> list[str]:
        return ["--overwrite", "--output", str(self.scratch / "rows")] if command.is_parquet else []

    def _run(self, command: Command) -> Usage:
        with self.log(command.log).open("rb") as log:
            while log.read(MEGABYTE):
                pass  # so that it lies in memory
        if command.is_piped:
            return run_to_pipe(self._words(command))
        try:
            # What is there is written over: nobody waits until the machine has memory for it.
            with open(os.open(self.output, os.O_WRONLY | os.O_CREAT), "wb") as output:
                return run(self._words(command), output)
        finally:
            self._drop_rows()

    def _drop_rows(self) -> None:
        (self.scratch / "rows").unlink(missing_ok=True)

    def _compare(self, commands: Iterable[Command]) -> None:
        """Run each command once, and hold our texts of a log against Kafka's."""
        texts: dict[str, Path] = {}
        with tempfile.TemporaryDirectory(dir=self.scratch) as directory:
            for command in commands:
                progress(f"{command.log}: a first run: {command.tool}: {command.text}")
                is_text = not command.more.removeprefix(ALONE)
                if not is_text or command.is_piped or command.tool in ("now", "before"):
                    self._run(command)
                    continue
                path = Path(directory, f"{command.tool}{command.options}")
                run_to_file(self._words(command), path)
                if command.tool == "kafka":
                    texts[command.options] = path
                    continue
                kafkas = texts.get(command.options)
                if kafkas and not filecmp.cmp(path, kafkas, shallow=False):
                    raise SystemExit(f"{command.log}: {command.text}: not what Kafka's tool prints")
            for path in texts.values():
                if path.stat().st_size > self.output.stat().st_size:
                    path.replace(self.output)


def progress(text: str) -> None:
    """Print a line of progress."""
    sys.stderr.write(f"{text}\n")


def conditions(load: float, scratch: Path | None) -> str:
    """Return the conditions of the measurement; *load* is the load average at the start."""
    words = [str(SCRIPTS / "kraftops"), "--version"]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    version = ", ".join(done.stdout.strip().split("\n"))
    return f"{machine(load)}- {version}\n- outputs in {scratch or tempfile.gettempdir()}\n"


def main() -> None:
    """Measure the cases that the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose names match")
    parser.add_argument("--runs", type=int, default=5, help="rounds of each case")
    parser.add_argument("--size", default="200M", help="of the large logs")
    parser.add_argument("--before", type=Path, metavar="DIR", help="a checkout to compare with")
    parser.add_argument("--dir", type=Path, default=None, metavar="CACHE", help="keeps the logs")
    parser.add_argument(
        "--scratch",
        type=Path,
        default=IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None,
        metavar="DIR",
        help="for outputs, up to 5 GB; in memory, if there is a place",
    )
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name} too")
    given = parser.parse_args()
    if given.write and (given.only or given.size != "200M"):
        parser.error("--write needs all cases, and logs of 200 MB")
    chosen = [case for case in cases(given.size) if re.search(given.only, case.title)]
    if not chosen:
        parser.error(f"no case matches {given.only!r}")
    left_out = ""
    if not given.before:
        missing = [case for case in chosen if case.peer.tool == "before"]
        chosen = [case for case in chosen if case not in missing]
        names = [case.title for case in missing]
        if names:
            left_out = f"\nLeft out, without a commit before: {'; '.join(names)}.\n"
    for name in SLOWER_STARTS:
        os.environ.pop(name, None)
    load = os.getloadavg()[0]
    jars = kafka_jars(KAFKA_VERSION)
    if not jars:
        raise SystemExit(1)
    with tempfile.TemporaryDirectory(dir=given.scratch) as scratch:
        bench = Bench(jars, given.dir or cache_directory(), Path(scratch), given.before)
        used = bench.measure((each for case in chosen for each in case.commands), given.runs)
        declined = {case.ours: bench.declined(case.ours) for case in chosen}
    measured = Measured(used, declined)
    rows = [*map(measured.row, chosen), *measured.overall_rows()]
    sys.stdout.write(table(rows) + left_out)
    if given.write:
        RESULTS.write_text(
            results(chosen, rows, given.runs, conditions(load, given.scratch), left_out), "utf-8"
        )


if __name__ == "__main__":
    main()

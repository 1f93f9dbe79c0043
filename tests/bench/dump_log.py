"""`kafka-dump-log` beside Kafka's own DumpLogSegments, itself, or an older one."""

import filecmp
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

from tests.bench.measure.dump_cases import ALONE, SMALL, SMALL_TIMES, Case, Command, cases, started
from tests.bench.measure.process import Usage, run, run_to_file, run_to_pipe
from tests.bench.measure.rows import Row, pair_row
from tests.helpers.kafka.jvm.jars import java_command

HERE = Path(__file__).parent
MAIN_CLASS = "org.apache.kafka.tools.DumpLogSegments"
GENERATORS = (
    "make_logs.py",
    "logs/batches.py",
    "logs/cluster.py",
    "logs/group_log.py",
    "logs/random_messages.py",
)
SCRIPTS = Path(sysconfig.get_path("scripts"))
CHECKOUT = HERE.parent.parent
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

    def _words(self, command: Command) -> list[str]:
        words = [*command.options.split(), *command.more.split(), *self._target(command)]
        words += ["--files", ",".join(map(str, self._paths(command.log)))]
        if command.tool == "kafka":
            return java_command(self.jars, MAIN_CLASS, *words)
        if command.tool == "ours":
            return [str(SCRIPTS / "kafka-dump-log"), *words]
        checkout = CHECKOUT if command.tool == "now" else self.before
        paths = [str(Path(checkout or "", name)) for name in ("core", "cli", "shell")]
        code = f"import sys; sys.path[:0] = {paths}; from kraftops_cli.main import kafka_dump_log"
        return [sys.executable, "-c", f"{code}; kafka_dump_log()", *words]

    def _paths(self, words: str) -> list[Path]:
        return sorted(self.log(words).parent.glob("*.log"))

    def _target(self, command: Command) -> list[str]:
        return ["--overwrite", "--output", str(self.scratch / "rows")] if command.is_parquet else []

    def _run(self, command: Command) -> Usage:
        for path in self._paths(command.log):
            with path.open("rb") as log:
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


def rows(bench: Bench, only: str, runs: int, size: str) -> Iterator[Row]:
    """Yield the rows of the cases whose names match, beside an older checkout if there is one."""
    chosen = [case for case in cases(size) if re.search(only, case.title)]
    if bench.before:
        chosen = [_beside_before(case) for case in chosen]
    for case in chosen:
        used = bench.measure(case.commands, runs)
        start = median(usage.cpu for usage in used[started(case.ours)]) if case.starts_apart else 0
        whose = {"kafka": "Kafka's", "before": "the commit before's"}.get(case.peer.tool, "text's")
        yield pair_row(case, whose, used[case.ours], used[case.peer], start)


def _beside_before(case: Case) -> Case:
    now, before = (replace(case.ours, tool=tool) for tool in ("now", "before"))
    return Case(f"{case.name}, beside the commit before", now, before, 1.1)

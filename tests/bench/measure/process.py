"""Run a process to its end, and measure time and memory."""

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from threading import Event, Thread
from typing import IO, NamedTuple


class Usage(NamedTuple):
    """Usage of a process: seconds of wall clock and CPU, and peak bytes; *system* is part of CPU."""

    wall: float
    cpu: float
    rss: int
    system: float = 0.0


def run(command: Sequence[str], output: IO[bytes]) -> Usage:
    """Run *command* with its standard output to *output*.

    The caller's own memory bounds the peak from below: Linux counts what a process had before
    `exec`.

    Raises:
        RuntimeError: the command failed; the message ends with its standard error.
    """
    with TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        # `wait4` counts this process alone, where RUSAGE_CHILDREN has the peak of all so far.
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            text = errors.read().decode(errors="replace")
            raise RuntimeError(f"{command[0]} ended with {process.returncode}: {text[-2000:]}")
    cpu = used.ru_utime + used.ru_stime
    return Usage(wall, cpu, used.ru_maxrss * 1024, used.ru_stime)


def run_to_file(command: Sequence[str], path: Path) -> Usage:
    """Run *command* with its standard output to a new file."""
    with path.open("wb") as output:
        return run(command, output)


def run_to_pipe(command: Sequence[str]) -> Usage:
    """Run *command* as the shell runs `command | cat >/dev/null`; `cat` is not counted."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as reader:
        assert reader.stdin is not None
        return run(command, reader.stdin)


def used_here(work: Callable[[], object]) -> Usage:
    """Measure work in this process and in those that it has started, without their memory."""
    cpu, start = tree_cpu(), time.perf_counter()
    work()
    return Usage(time.perf_counter() - start, tree_cpu() - cpu, 0)


def tree_cpu() -> float:
    """Return the seconds of CPU of this process and of all that it has started, also of ended ones."""
    return sum(_tree_ticks().values()) / os.sysconf("SC_CLK_TCK")


def _tree_ticks() -> dict[int, int]:
    """Return the ticks of CPU of this process and of all below it, by process."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        parents[int(entry.name)] = int(fields[1])
        ticks[int(entry.name)] = sum(map(int, fields[11:15]))  # user, system, and of waited-for

    def is_ours(pid: int) -> bool:
        while pid not in (0, os.getpid()):
            pid = parents.get(pid, 0)
        return bool(pid)

    return {pid: used for pid, used in ticks.items() if is_ours(pid)}


class Peaks(NamedTuple):
    """Largest resident sizes of processes in bytes, and their command lines."""

    sizes: dict[int, int]
    lines: dict[int, bytes]

    def of(self, word: bytes) -> list[int]:
        """Return the sizes of those with a word in their command lines, of Python or Java."""
        return [size for pid, size in self.sizes.items() if word in self.lines[pid]]


@contextmanager
def peaks() -> Iterator[Peaks]:
    """Give the peaks of all processes below this one, complete in the end.

    `wait4` would tell of the caller, too, and not of each.
    """
    found, is_over = Peaks({}, {}), Event()

    def watch() -> None:
        while not is_over.wait(0.5):
            for pid in _tree_ticks().keys() - {os.getpid()}:
                try:
                    line = Path(f"/proc/{pid}/cmdline").read_bytes()
                    status = Path(f"/proc/{pid}/status").read_text()
                except OSError:
                    continue  # it has ended
                if match := re.search(r"VmHWM:\s+(\d+) kB", status):
                    found.sizes[pid], found.lines[pid] = int(match[1]) * 1024, line

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        is_over.set()
        thread.join()

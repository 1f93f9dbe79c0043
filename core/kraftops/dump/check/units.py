"""Units of a check, each done alone: the directory of a partition, or files named alone.

The directories of a large check are shared by processes: a check of small batches keeps Python's
lock.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from kraftops.dump.check.files import check_files
from kraftops.dump.check.findings import PartitionCheck
from kraftops.dump.check.partition import check_partition
from kraftops.dump.check.plain import plain_checks
from kraftops.dump.check.tier import Surroundings
from kraftops.dump.sources.parts import sizes_of
from kraftops.errors import SourceError
from kraftops.fileio.mounts import folder_at
from kraftops.memory import ALONE, Turn
from kraftops.parallel.ordered import core_count
from kraftops.server.log_directory import LogDirectory

if TYPE_CHECKING:
    from multiprocessing.synchronize import Lock

_WORTH_A_PROCESS = 32 << 20  # bytes: read in 0.1 s or less, as long as a process takes to start
_BLOCK = 512  # bytes of a block in st_blocks, whatever the file system (POSIX sys/stat.h)
_TURN: ContextVar[Lock] = ContextVar("lock of the process that reads large batches")
_UNITS: ContextVar[Sequence[Unit]] = ContextVar("units of the check")
"""Inherited by the processes: each unit has the checkpoints of its whole log directory."""


class Unit(NamedTuple):
    """A unit of a check: a partition in its log directory, or *files* with their decoder."""

    path: str
    directory: LogDirectory | None = None
    files: tuple[str, ...] = ()
    decoder: str | None = None

    @property
    def size(self) -> int:
        """About the number of bytes that are read."""
        if self.directory is None:
            return sum(sizes_of(self.files))
        try:
            if packed := folder_at(self.path):
                return sum(extent.size for extent in packed.files.values())
            with os.scandir(self.path) as entries:
                # A preallocated index is a hole, which is not read: it has few blocks.
                files = [entry.stat() for entry in entries]
                return sum(min(file.st_size, file.st_blocks * _BLOCK) for file in files)
        except OSError:
            return 0


RunUnits = Callable[[Sequence[Unit], Surroundings], Iterable[PartitionCheck]]
"""Checks units, and yields the outcomes in their order."""


def check_unit(unit: Unit, surroundings: Surroundings, turn: Turn = ALONE) -> PartitionCheck:
    if unit.directory is None:
        return check_files(unit.files, unit.decoder, surroundings.budget, turn)
    return check_partition(unit.path, unit.directory, surroundings, turn)


def run_units(
    units: Sequence[Unit], surroundings: Surroundings, jobs: int | None = None
) -> Iterator[PartitionCheck]:
    """Check units on this machine, in *jobs* processes; by default as many as are worth it."""
    plain = list(plain_checks(units, surroundings))
    others = [unit for unit, check in zip(units, plain, strict=True) if check is None]
    looks = _looks(others, surroundings, jobs)
    yield from (check or next(looks) for check in plain)


def _looks(
    units: Sequence[Unit], surroundings: Surroundings, jobs: int | None
) -> Iterator[PartitionCheck]:
    """Check units each by itself; see `run_units`."""
    if jobs is None:
        jobs = min(core_count(), sum(unit.size for unit in units) // _WORTH_A_PROCESS)
    check = partial(check_unit, surroundings=surroundings)
    if min(jobs, len(units)) < 2 or sys.platform != "linux":
        yield from map(check, units)
        return
    yield from _in_processes(check, units, min(jobs, len(units)))


def _in_processes(
    check: Callable[..., PartitionCheck], units: Sequence[Unit], jobs: int
) -> Iterator[PartitionCheck]:
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children, get_context

    before = active_children()
    context = get_context("fork")
    try:
        begin = partial(_begin_worker, context.Lock(), units)
        processes = ProcessPoolExecutor(jobs, context, initializer=begin)
    except (OSError, ImportError, NotImplementedError):  # no semaphores, as of a full /dev/shm
        yield from map(check, units)
        return
    with processes as pool:
        try:
            yield from pool.map(partial(_check_in_turn, check, jobs), range(len(units)))
        except BrokenProcessPool:
            raise SourceError(
                "the system has ended a process of the check", "--jobs 1 needs less memory"
            ) from None
        except BaseException:
            for child in set(active_children()).difference(before):
                child.terminate()  # every worker must stop on Ctrl-C
            raise


def _begin_worker(turn: Lock, units: Sequence[Unit]) -> None:
    """Have this process end at signals without a word; large batches need its *turn*."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    _TURN.set(turn)
    _UNITS.set(units)


def _check_in_turn(
    check: Callable[..., PartitionCheck], workers: int, index: int
) -> PartitionCheck:
    """Check the unit at an index within the memory budget that *workers* processes share."""
    with ExitStack() as stack:
        turns = iter((_TURN.get(),))

        def wait() -> None:
            for turn in turns:  # once
                stack.enter_context(turn)

        return check(_UNITS.get()[index], turn=Turn(workers, wait))

"""Units of a check, each done alone: the directory of a partition, or files named alone.

The directories of a large check are shared by processes: a check of small batches keeps Python's
lock.
"""

from __future__ import annotations

import os
import os.path
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from kraftops.dump.check.files import check_files
from kraftops.dump.check.findings import PartitionCheck
from kraftops.dump.check.partition import check_partition
from kraftops.dump.check.records import Reading, scan_of
from kraftops.dump.check.tier import Surroundings
from kraftops.dump.sources.parts import sizes_of
from kraftops.errors import SourceError, UsageError
from kraftops.fileio.mounts import folder_at, names_in
from kraftops.log.files import METADATA_TOPIC, FileKind, file_name, offset_in, partition_of
from kraftops.log.held_files import small_files
from kraftops.memory import ALONE, Turn
from kraftops.parallel.ordered import core_count
from kraftops.records.internal_topics import decoder_for_topic
from kraftops.server.log_directory import LogDirectory

if TYPE_CHECKING:
    from multiprocessing.synchronize import Lock


_WORTH_A_PROCESS = 32 << 20  # bytes: read in 0.1 s or less, as long as a process takes to start
_BLOCK = 512  # bytes of a block in st_blocks, whatever the file system (POSIX sys/stat.h)
_TURN: ContextVar[Lock] = ContextVar("lock of the process that reads large batches")
_UNITS: ContextVar[Sequence[Unit]] = ContextVar("units of the check")
"""Inherited by the processes: each unit has the checkpoints of its whole log directory."""
_UNITS_AT_ONCE = 4096  # some megabytes of paths
_BARE = (FileKind.LOG, "", "")
_NAME_LENGTH = len(f"{0:020}.log")  # one of a tiered segment is longer


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
    plain = list(_plain_checks(units, surroundings))
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


class _LogEnd(NamedTuple):
    """The size of a log in bytes, and the offset after its last batch."""

    size: int
    offset: int


class _Copy(NamedTuple):
    """The logs of a partition, or one that is named alone, by their paths with base offsets."""

    unit: Unit
    base_offsets: Mapping[str, int]
    topic: str | None
    partition: int | None

    @property
    def decoder(self) -> str | None:
        by_topic = None if self.topic is None else decoder_for_topic(self.topic)
        return self.unit.decoder or by_topic

    def check(self, ends: Mapping[str, _LogEnd]) -> PartitionCheck | None:
        """Return the check, if each log is plain and begins where the one before ends."""
        first = offset = next(iter(self.base_offsets.values()))
        size = 0
        for path, base_offset in self.base_offsets.items():
            end = ends.get(path)
            if end is None or base_offset != offset:
                return None
            size, offset = size + end.size, end.offset
        return PartitionCheck(
            path=self.unit.path,
            topic=self.topic,
            partition=self.partition,
            segments=len(self.base_offsets),
            bytes=size,
            start=first,
            end=offset,
            is_file=self.unit.directory is None,
        )


def _plain_checks(
    units: Sequence[Unit], surroundings: Surroundings
) -> Iterator[PartitionCheck | None]:
    """Yield the check of each unit that has only plain logs; None of one that needs a look."""
    for start in range(0, len(units), _UNITS_AT_ONCE):
        yield from _checks(units[start : start + _UNITS_AT_ONCE], surroundings)


def _checks(units: Sequence[Unit], surroundings: Surroundings) -> Iterator[PartitionCheck | None]:
    copies = [_copy_of(unit, surroundings) for unit in units]
    by_decoder: dict[str | None, dict[str, int]] = defaultdict(dict)
    for copy in filter(None, copies):
        by_decoder[copy.decoder].update(copy.base_offsets)
    ends: dict[str, _LogEnd] = {}
    for decoder, base_offsets in by_decoder.items():
        ends |= _ends(base_offsets, Reading(decoder, surroundings.budget))
    return (copy.check(ends) if copy else None for copy in copies)


def _ends(base_offsets: Mapping[str, int], reading: Reading) -> Iterator[tuple[str, _LogEnd]]:
    """Yield the ends of the small logs that are plain, by their paths."""
    with scan_of(reading.request("")) as scan:
        for group in small_files(base_offsets):
            firsts = [base_offsets[path] for path in group.paths]
            offsets = scan.engine.ends(group.content, group.stops, firsts)
            for path, size, offset in zip(group.paths, group.sizes, offsets, strict=True):
                if offset is not None:
                    yield path, _LogEnd(size, offset)


def _copy_of(unit: Unit, surroundings: Surroundings) -> _Copy | None:
    """Return a unit that has only logs; None if any other file says something about them."""
    try:
        base_offsets = _of_files(unit.files) if unit.directory is None else _of_folder(unit.path)
    except (OSError, UsageError):
        return None
    if not base_offsets:
        return None
    topic, partition = partition_of(next(iter(base_offsets))) or (None, None)
    if directory := unit.directory:
        has_others = directory.offsets_of(topic, partition) or directory.plan.was_clean
        if has_others or topic == METADATA_TOPIC or surroundings.remote_of(topic, partition):
            return None
    return _Copy(unit, base_offsets, topic, partition)


def _of_files(paths: Sequence[str]) -> dict[str, int]:
    file = file_name(paths[0])
    is_log = len(paths) == 1 and file is not None and file.kind is FileKind.LOG
    return {paths[0]: file.base_offset} if is_log and file else {}


def _of_folder(path: str) -> dict[str, int]:
    """Return the logs in a directory; none if there is anything else.

    Raises:
        OSError: it cannot be listed.
    """
    base_offsets: dict[str, int] = {}
    prefix = os.path.join(path, "")
    for name in names_in(path):
        file = file_name(name)
        if file is None or file[1:] != _BARE or len(name) != _NAME_LENGTH:
            return {}
        base_offsets[prefix + name] = offset_in(name)
    return base_offsets

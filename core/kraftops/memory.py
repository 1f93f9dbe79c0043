"""The budget of a run: the memory, work and output that its sources may cost.

The memory is for what is held beside the image: the interpreter, bytes of files, inflated batches
and output. A quarter of it is the most that one batch takes, as it lies in a file and inflated; a
large batch inflates in one thread or process at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple
from zlib import crc32

from kraftops.display.sizes import size_of
from kraftops.errors import UsageError

VARIABLE = "KRAFTOPS_MAX_MEMORY"
"""The environment variable of the memory in bytes, which --max-memory goes before."""
DEFAULT = 256 << 20
"""Bytes of memory: above a broker's largest request, 100 MiB (`socket.request.max.bytes`)."""
LEAST_SHARE = 1 << 20
"""Bytes that each worker may take without waiting: the default of `max.message.bytes`, about."""
_LARGEST_FREED_BLOCK = 30 << 20  # below DEFAULT_MMAP_THRESHOLD_MAX of glibc's malloc, 32 MiB
_MACHINE, _CONTAINER = "/proc/meminfo", "/sys/fs/cgroup/memory.max"
MOST_RATIO = 1100
"""Inflated bytes for each byte that are never too many; deflate reaches 1032, with zeros."""
MAX_OUTPUT = 1 << 30
"""Bytes of a file's rows beyond that, by default: a disk has room for them, but a log of 80 KB
could be written as 1.5 GB. Kafka's text is never cut."""


class Turn(NamedTuple):
    """The place of a thread or process among *workers* that share the memory.

    *wait* is called, again and again, before a batch takes more than the share of a worker. It
    returns when no other worker can take more before this one has ended its task.
    """

    workers: int = 1
    wait: Callable[[], None] = lambda: None


ALONE = Turn()
"""The turn of a thread that shares the memory with no other."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one run may take: bytes of *memory*, and of *output* for the rows of each file."""

    memory: int = DEFAULT
    output: int = MAX_OUTPUT

    @property
    def batch(self) -> int:
        """The most bytes that a batch may have, inflated or in its file."""
        return self.memory // 4

    def meter(self, turn: Turn = ALONE) -> Meter:
        """Begin to count what the batches of a source inflate to."""
        free = self.batch
        if turn.workers > 1:
            free = max(free // (2 * turn.workers), LEAST_SHARE)
        return Meter(self, free, turn.wait, self.memory)

    def most_rows(self, size: int) -> int:
        return MOST_RATIO * size + self.output


@dataclass(slots=True)
class Meter:
    """Counts what the batches of a source inflate to: `MOST_RATIO` times their size, and *spare*.

    A file of zeros would keep a command busy for hours. Both engines count the same: a batch that
    the compiled engine inflates, and then leaves to the reference, counts once. A batch takes
    *free* bytes, in its file or inflated, without a call of *await_turn*.
    """

    budget: Budget
    free: int
    await_turn: Callable[[], None]
    spare: int
    is_spent: bool = field(default=False, init=False)
    """Whether a batch was refused since the source had no more to spend: nothing more is read."""
    _left_to_reference: tuple[int, int, int] | None = field(default=None, init=False)

    def restart(self) -> None:
        """Begin to count for another source."""
        self.spare, self.is_spent, self._left_to_reference = self.budget.memory, False, None

    def limit(self, stored: int) -> int:
        """Return the most bytes of the next batch, of *stored* bytes."""
        return min(self.budget.batch, MOST_RATIO * stored + self.spare)

    def charge(self, stored: bytes, size: int, *, is_first_try: bool) -> None:
        """Count a batch that inflated to *size*; *is_first_try*: the reference may follow."""
        excess = size - MOST_RATIO * len(stored)
        self._left_to_reference = None
        if excess > 0:
            self.spare -= excess
            if is_first_try:
                self._left_to_reference = len(stored), crc32(stored), excess

    def refund(self, stored: bytes) -> None:
        """Take the charge for a batch back if it was the last one, by the compiled engine."""
        if last := self._left_to_reference:
            size, crc, excess = last
            if size == len(stored) and crc == crc32(stored):
                self.spare += excess
                self._left_to_reference = None


USUAL = Budget()
"""The budget of a run that names no other."""
LEAST = Budget(64 << 20)
"""The least: `message.max.bytes` may be some MB. Readers of a node's own metadata log need no more:
a controller writes 8 MiB at most (`KafkaRaftClient.MAX_BATCH_SIZE_BYTES`)."""


def budget_of(environment: Mapping[str, str]) -> Budget:
    """Return the budget that an environment has for a run.

    Raises:
        UsageError: KRAFTOPS_MAX_MEMORY is not a size.
    """
    text = environment.get(VARIABLE, "")
    if not text:
        return USUAL
    is_number = text.isascii() and text.isdecimal() and len(text) < 20
    size = int(text) if is_number else size_of(text)
    if not (is_number or size):
        raise UsageError(f"{VARIABLE} is {text!r}: it is not a size such as 512m or 2g")
    return Budget(size)


def free_memory() -> float:
    """Return how many bytes the machine, a container and a limit leave for this process."""
    import resource  # a door: not on Windows

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    sizes = [math.inf if limit == resource.RLIM_INFINITY else limit]
    with suppress(OSError, ValueError), open(_CONTAINER) as text:  # "max" without a limit
        sizes.append(int(text.read()))
    with suppress(OSError), open(_MACHINE) as lines:
        sizes += [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable")]
    return min(sizes)


def keep_freed_memory() -> None:
    """Let the C library keep freed memory: to allocate it again takes up to half of a scan.

    glibc adapts to the largest block that was ever freed, up to 32 MiB.
    """
    with suppress(MemoryError):
        bytes(_LARGEST_FREED_BLOCK)  # no page of it is touched

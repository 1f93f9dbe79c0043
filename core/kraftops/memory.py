"""The memory budget of a process, and how threads and processes share it.

The budget is for what is held beside the image: the interpreter, bytes of files, inflated batches
and output. A quarter of it is the most that one batch takes, as it lies in a file and inflated; a
large batch inflates in one thread or process at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple
from zlib import crc32

from kraftops.errors import UsageError

VARIABLE = "KRAFTOPS_MAX_MEMORY"
"""The environment variable of the budget in bytes, by which child processes and workers know it."""
DEFAULT = 256 << 20
LEAST_SHARE = 1 << 20
_LARGEST_FREED_BLOCK = 30 << 20
MOST_RATIO = 1100
"""Inflated bytes for each byte that are never too many; deflate reaches 1032, with zeros."""
MAX_OUTPUT = 1 << 30
"""Bytes of a file's rows beyond that, by default: a disk has room for them, but a log of 80 KB
could be written as 1.5 GB. Kafka's text is never cut."""


def max_memory() -> int:
    """Return the budget of this process in bytes.

    Raises:
        UsageError: KRAFTOPS_MAX_MEMORY is not a number of bytes.
    """
    return _parsed(os.environ.get(VARIABLE, ""))


def set_max_memory(size: int) -> None:
    """Set the budget of this process, and of those that it starts from now on, in bytes."""
    os.environ[VARIABLE] = str(size)


def max_batch_bytes() -> int:
    """Return the most bytes that a batch may have, inflated or in its file."""
    return max_memory() // 4


def keep_freed_memory() -> None:
    """Let the C library keep freed memory: to allocate it anew takes up to half of a scan.

    glibc adapts to the largest block that was ever freed, up to 32 MiB.
    """
    with suppress(MemoryError):
        bytes(_LARGEST_FREED_BLOCK)  # no page of it is touched


@dataclass(slots=True)
class SourceShare:
    """What the batches of a source may inflate to: `MOST_RATIO` times their size, and *spare*.

    A file of zeros would keep a command busy for hours. Both engines count the same: a batch that
    the compiled engine inflates, and then leaves to the reference, counts once.
    """

    budget: int
    spare: int
    _left_to_reference: tuple[int, int, int] | None = None

    @property
    def most_of_batch(self) -> int:
        """The most bytes of any batch."""
        return self.budget // 4

    def limit(self, stored: int) -> int:
        """Return the most bytes of the next batch, of *stored* bytes."""
        return min(self.most_of_batch, MOST_RATIO * stored + self.spare)

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


_SOURCE: ContextVar[SourceShare | None] = ContextVar("source that is read", default=None)


def begin_source() -> None:
    """Begin to count for a source what its batches inflate to, in this thread."""
    _SOURCE.set(_new_share())


def source_share() -> SourceShare:
    """Return the share of the source that this thread reads; a new one if none was begun."""
    return _SOURCE.get() or _new_share()


def _new_share() -> SourceShare:
    budget = max_memory()
    return SourceShare(budget, budget)


@cache
def _parsed(text: str) -> int:
    if not text:
        return DEFAULT
    if not (text.isascii() and text.isdecimal()) or len(text) > 19:
        raise UsageError(f"{VARIABLE} is {text!r}: it is not a number of bytes")
    return int(text)


class _Share(NamedTuple):
    """The bytes that a thread takes freely, and the wait for its turn to take more."""

    size: int
    await_turn: Callable[[], None]


_SHARE: ContextVar[_Share | None] = ContextVar("share of the memory budget", default=None)


def free_share(most: int) -> int:
    """Return the bytes of a batch that this thread may inflate without a call of `await_turn`.

    Where nobody shares the budget, that is the *most* that a batch may have.
    """
    share = _SHARE.get()
    return most if share is None else share.size


def await_turn() -> None:
    """Wait until this thread is the one that may take as much as a batch needs."""
    if share := _SHARE.get():
        share.await_turn()


def turn_of_caller() -> Callable[[], None]:
    """Return `await_turn` of this thread, for threads that work in its place."""
    share = _SHARE.get()
    return share.await_turn if share else lambda: None


@contextmanager
def shared_memory(workers: int, await_turn: Callable[[], None]) -> Iterator[None]:
    """Let this thread or process take the share of one of *workers*, and more when it may.

    Args:
        workers: threads, or processes, that share the budget.
        await_turn: is called, again and again, before a batch takes more than the share. It returns
            when no other worker can take more before this one has ended its task.
    """
    size = max(max_batch_bytes() // (2 * workers), LEAST_SHARE)
    token = _SHARE.set(_Share(size, await_turn))
    try:
        yield
    finally:
        _SHARE.reset(token)

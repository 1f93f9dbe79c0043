"""Work on tasks in several threads; what they write comes out in the order of the tasks.

The compiled engine holds no lock of Python's while it works, so that threads use all cores.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from threading import Condition, Thread
from typing import Generic, TypeVar

from kraftops.fileio.writing import Chunks, write_all

T = TypeVar("T")
R = TypeVar("R")
Tell = Callable[[R], None]
Produce = Callable[[T, Tell[R]], Iterable[bytes]]
"""Yields the output of a task, and gives its second argument what is found besides."""

Make = Callable[[], AbstractContextManager[Produce[T, R]]]

HELD_BYTES = 32 << 20
_END_SECONDS = 2


def run_ordered(
    tasks: Iterable[T],
    make: Make[T, R],
    fd: int,
    jobs: int,
    on_result: Tell[R],
    *,
    held_bytes: int = HELD_BYTES,
) -> None:
    """Write the output of all tasks to a file descriptor, as if they were done one by one.

    *jobs* threads work on the next task that is left; where there is but one task or job, this one
    does. What a producer tells is given to *on_result* in this thread in its order among all
    output: what comes before it is written by then, and the output of the next task is not.

    Args:
        tasks: What there is to do; asked for no more than can be worked on.
        make: Makes what does tasks, for each thread: it is called with some of them, in order.
        fd: Where the output goes.
        jobs: How many threads may work.
        on_result: Takes what is found besides output.
        held_bytes: How much output, and results with `nbytes`, may wait before threads do, too.

    Raises:
        OSError: the output cannot be written; `BrokenPipeError`, if nobody reads it.
        Exception: what a producer raised, when the output before that is written, or *on_result*,
            or the iteration over *tasks*.
    """
    _keep_freed_memory()
    left = iter(tasks)
    first = list(islice(left, 2)) if jobs > 1 else []
    tasks = chain(first, left)
    chunks = Chunks(lambda data: write_all(fd, data))

    def tell(result: R) -> None:
        chunks.flush()
        on_result(result)

    try:
        if len(first) < 2 or not _Workers(tasks, make, held_bytes).run(jobs, chunks.add, tell):
            _run_here(tasks, make, chunks.add, tell)
    finally:
        chunks.flush()


def _run_here(
    tasks: Iterable[T], make: Make[T, R], add: Callable[[bytes], None], tell: Tell[R]
) -> None:
    with make() as produce:
        for task in tasks:
            for chunk in produce(task, tell):
                add(chunk)


def _keep_freed_memory() -> None:
    """Let the C library keep memory that is freed: to get it anew takes 3% of a dump.

    glibc learns from the largest block that it has seen freed; more than this it does not learn.
    """
    with suppress(MemoryError):
        bytes(30 << 20)  # no page of it is touched


@dataclass(frozen=True, slots=True)
class _Result(Generic[R]):
    """What is found besides output."""

    result: R


@dataclass(slots=True)
class _Line(Generic[R]):
    """What a task has made that waits for its turn."""

    made: deque[bytes | _Result[R]] = field(default_factory=deque)
    is_done: bool = False
    error: BaseException | None = None


def _size(one: bytes | _Result[R]) -> int:
    """Return how many bytes wait: of a result, those that it says it has."""
    if isinstance(one, _Result):
        return int(getattr(one.result, "nbytes", 0))
    return len(one)


class _Over(Exception):
    """Nobody wants what is made any more."""


class _Workers(Generic[T, R]):
    """Threads that do tasks; all that they share is looked at with *_changed* held."""

    def __init__(self, tasks: Iterable[T], make: Make[T, R], held_bytes: int) -> None:
        self._changed = Condition()
        self._tasks = iter(tasks)
        self._make = make
        self._most = held_bytes
        self._lines: deque[_Line[R]] = deque()  # of the tasks that were begun, in order
        self._held = 0
        self._working = 0
        self._most_lines = 0
        self._is_over = False

    def run(self, count: int, add: Callable[[bytes], None], tell: Tell[R]) -> bool:
        """Hand on what *count* threads make, in the order of the tasks.

        Return False, with nothing done, where the system allows no thread.
        """
        threads: list[Thread] = []
        try:
            for _ in range(count):
                thread = Thread(target=self._work, daemon=True)
                with self._changed:
                    self._working += 1
                    self._most_lines += 2
                try:
                    thread.start()
                except RuntimeError:  # the system allows no more
                    with self._changed:
                        self._working -= 1
                    break
                threads.append(thread)
            while (line := self._first()) is not None:
                for one in self._line(line):
                    if isinstance(one, _Result):
                        tell(one.result)
                    else:
                        add(one)
        finally:
            with self._changed:
                self._is_over = True
                self._changed.notify_all()
            for thread in threads:
                thread.join(_END_SECONDS)
        return bool(threads)

    def _first(self) -> _Line[R] | None:
        """Wait for the next task that was begun; there is none when all threads are done."""
        with self._changed:
            self._changed.wait_for(lambda: self._lines or not self._working)
            return self._lines[0] if self._lines else None

    def _line(self, line: _Line[R]) -> Iterator[bytes | _Result[R]]:
        """Yield what a task makes, as it is made; then the next one is the first."""
        is_done = False
        while not is_done:
            with self._changed:
                self._changed.wait_for(lambda: line.made or line.is_done)
                made, line.made = line.made, deque()
                is_done = line.is_done
                self._held -= sum(map(_size, made))
                if is_done:
                    self._lines.popleft()
                self._changed.notify_all()
            yield from made
        if line.error:
            raise line.error

    def _work(self) -> None:
        try:
            with self._make() as produce:
                while (begun := self._begin()) is not None:
                    task, line = begun
                    try:
                        for chunk in produce(task, partial(self._tell, line)):
                            self._put(line, chunk)
                    except _Over:
                        return
                    except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                        self._end(line, error)
                    else:
                        self._end(line)
        finally:
            with self._changed:
                self._working -= 1
                self._changed.notify_all()

    def _begin(self) -> tuple[T, _Line[R]] | None:
        """Return the next task and what is to hold what it makes; None if there is none."""
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    self._is_over
                    or not self._lines
                    or (self._held < self._most and len(self._lines) < self._most_lines)
                )
            )
            if self._is_over:
                return None
            line: _Line[R] = _Line()
            try:
                task = next(self._tasks)
            except StopIteration:
                return None
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                line.error, line.is_done = error, True
                self._tasks = iter(())
                self._lines.append(line)
                self._changed.notify_all()
                return None
            self._lines.append(line)
            return task, line

    def _tell(self, line: _Line[R], result: R) -> None:
        self._put(line, _Result(result))

    def _put(self, line: _Line[R], one: bytes | _Result[R]) -> None:
        """Hand something on, when there is room or it is its turn.

        Raises:
            _Over: nobody wants it.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._is_over or self._held < self._most or self._lines[0] is line
            )
            if self._is_over:
                raise _Over
            line.made.append(one)
            self._held += _size(one)
            self._changed.notify_all()

    def _end(self, line: _Line[R], error: BaseException | None = None) -> None:
        with self._changed:
            line.error, line.is_done = error, True
            self._changed.notify_all()

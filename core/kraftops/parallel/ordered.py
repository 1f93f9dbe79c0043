"""Ordered thread pool: tasks run in several threads, and their output keeps the tasks' order.

The compiled engine releases Python's lock while it works, so that threads use all cores.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from threading import Condition, Thread
from typing import Generic, TypeVar

from kraftops.fileio.writing import Chunks, write_all
from kraftops.memory import ALONE, Turn, keep_freed_memory

T = TypeVar("T")
R = TypeVar("R")
Emit = Callable[[R], None]
Produce = Callable[[T, Emit[R]], Iterable[bytes]]
"""Yields the output of a task, and calls its second argument with other results."""

OpenProducer = Callable[[Turn], AbstractContextManager[Produce[T, R]]]
"""Opens what does the tasks of a thread, with the turn of that thread."""

_MAX_PENDING_BYTES = 16 << 20
"""Bytes of output, and of results with `nbytes`, that wait before threads wait, too.

It bounds memory where the first task is slow and the others are ahead of it.
"""
_JOIN_SECONDS = 2  # a thread that reads a slow disk does not hold up Ctrl-C for longer


def run_ordered(
    tasks: Iterable[T],
    open_producer: OpenProducer[T, R],
    fd: int,
    jobs: int,
    on_result: Emit[R],
) -> None:
    """Write the output of all tasks to a file descriptor, as if they were done one by one.

    *jobs* threads take tasks in turn; one task, or one job, is done in this thread. *on_result* is
    called in this thread, in the order of the output: earlier output is written by then, unless a
    result says with `is_quiet` that no one sees it, and later output is not.

    Args:
        tasks: Iterated only as far as threads can take tasks.
        open_producer: Called once a thread, with its turn; its producer is called with some of the
            tasks, in their order.
        fd: The output.
        jobs: Number of threads.
        on_result: Takes the results that are not output.

    Raises:
        OSError: the output cannot be written; `BrokenPipeError`, if its reader is gone.
        Exception: an error of a producer, after the output before it is written; of *on_result*;
            or of the iteration over *tasks*.
    """
    keep_freed_memory()
    remaining = iter(tasks)
    first = list(islice(remaining, 2)) if jobs > 1 else []
    tasks = chain(first, remaining)
    chunks = Chunks(lambda data: write_all(fd, data))

    def emit(result: R) -> None:
        if not getattr(result, "is_quiet", False):
            chunks.flush()
        on_result(result)

    try:
        if len(first) < 2 or not _ThreadPool(tasks, open_producer).run(jobs, chunks.add, emit):
            _run_here(tasks, open_producer(ALONE), chunks.add, emit)
    finally:
        chunks.flush()


def _run_here(
    tasks: Iterable[T],
    producer: AbstractContextManager[Produce[T, R]],
    write: Callable[[bytes], None],
    emit: Emit[R],
) -> None:
    with producer as produce:
        for task in tasks:
            for chunk in produce(task, emit):
                write(chunk)


@dataclass(frozen=True, slots=True)
class _Result(Generic[R]):
    """A result that is not output."""

    result: R


@dataclass(slots=True)
class _TaskOutput(Generic[R]):
    """The output and results of a task that wait for their turn."""

    pending: deque[bytes | _Result[R]] = field(default_factory=deque)
    is_done: bool = False
    error: BaseException | None = None


def _size(piece: bytes | _Result[R]) -> int:
    """Return the bytes of a piece: the length of output, the `nbytes` of a result, or 0."""
    if isinstance(piece, _Result):
        return int(getattr(piece.result, "nbytes", 0))
    return len(piece)


class _PoolClosed(Exception):
    """No one waits for output."""


class _ThreadPool(Generic[T, R]):
    """Threads that do tasks; all shared state is guarded by *_changed*."""

    def __init__(self, tasks: Iterable[T], open_producer: OpenProducer[T, R]) -> None:
        self._changed = Condition()
        self._tasks = iter(tasks)
        self._open_producer = open_producer
        self._outputs: deque[_TaskOutput[R]] = deque()  # of the tasks that were begun, in order
        self._pending_bytes = 0
        self._active_threads = 0
        self._max_outputs = 0
        self._count = 1
        self._is_closed = False

    def run(self, count: int, write: Callable[[bytes], None], emit: Emit[R]) -> bool:
        """Hand on the output of *count* threads, in the order of the tasks.

        Return False, with nothing done, where the system allows no thread.
        """
        threads: list[Thread] = []
        self._count = count
        try:
            for _ in range(count):
                thread = Thread(target=self._work, daemon=True)
                with self._changed:
                    self._active_threads += 1
                    self._max_outputs += 2
                try:
                    thread.start()
                except RuntimeError:  # the system allows no more
                    with self._changed:
                        self._active_threads -= 1
                    break
                threads.append(thread)
            while (output := self._next_output()) is not None:
                for piece in self._pieces(output):
                    if isinstance(piece, _Result):
                        emit(piece.result)
                    else:
                        write(piece)
        finally:
            with self._changed:
                self._is_closed = True
                self._changed.notify_all()
            for thread in threads:
                thread.join(_JOIN_SECONDS)
        return bool(threads)

    def _next_output(self) -> _TaskOutput[R] | None:
        """Wait for the next task that was begun; return None when all threads are done."""
        with self._changed:
            self._changed.wait_for(lambda: self._outputs or not self._active_threads)
            return self._outputs[0] if self._outputs else None

    def _pieces(self, output: _TaskOutput[R]) -> Iterator[bytes | _Result[R]]:
        """Yield the pieces of the first output as they come; remove it at its end."""
        is_done = False
        while not is_done:
            with self._changed:
                self._changed.wait_for(lambda: output.pending or output.is_done)
                pending, output.pending = output.pending, deque()
                is_done = output.is_done
                self._pending_bytes -= sum(map(_size, pending))
                if is_done:
                    self._outputs.popleft()
                self._changed.notify_all()
            yield from pending
        if output.error:
            raise output.error

    def _work(self) -> None:
        try:
            output: _TaskOutput[R]
            turn = Turn(self._count, lambda: self._await_turn(output))
            with self._open_producer(turn) as produce:
                while (begun := self._begin_task()) is not None:
                    task, output = begun
                    try:
                        for chunk in produce(task, partial(self._emit, output)):
                            self._put(output, chunk)
                    except _PoolClosed:
                        return
                    except BaseException as error:  # noqa: BLE001 - raised in the caller's thread
                        self._finish(output, error)
                    else:
                        self._finish(output)
        finally:
            with self._changed:
                self._active_threads -= 1
                self._changed.notify_all()

    def _begin_task(self) -> tuple[T, _TaskOutput[R]] | None:
        """Return the next task with its empty output; None if there is no task."""
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    self._is_closed
                    or not self._outputs
                    or (
                        self._pending_bytes < _MAX_PENDING_BYTES
                        and len(self._outputs) < self._max_outputs
                    )
                )
            )
            if self._is_closed:
                return None
            output: _TaskOutput[R] = _TaskOutput()
            try:
                task = next(self._tasks)
            except StopIteration:
                return None
            except BaseException as error:  # noqa: BLE001 - raised in the caller's thread
                output.error, output.is_done = error, True
                self._tasks = iter(())
                self._outputs.append(output)
                self._changed.notify_all()
                return None
            self._outputs.append(output)
            return task, output

    def _emit(self, output: _TaskOutput[R], result: R) -> None:
        self._put(output, _Result(result))

    def _put(self, output: _TaskOutput[R], piece: bytes | _Result[R]) -> None:
        """Add a piece, when there is room, or when *output* is the first and has none.

        Raises:
            _PoolClosed: nobody waits for it.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    self._is_closed
                    or self._pending_bytes < _MAX_PENDING_BYTES
                    or (self._outputs[0] is output and not output.pending)
                )
            )
            if self._is_closed:
                raise _PoolClosed
            output.pending.append(piece)
            self._pending_bytes += _size(piece)
            self._changed.notify_all()

    def _await_turn(self, output: _TaskOutput[R]) -> None:
        """Wait until *output* is the first.

        Raises:
            _PoolClosed: nobody waits for it.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._outputs[0] is output)
            if self._is_closed:
                raise _PoolClosed

    def _finish(self, output: _TaskOutput[R], error: BaseException | None = None) -> None:
        with self._changed:
            output.error, output.is_done = error, True
            self._changed.notify_all()


def core_count() -> int:
    """Return the number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(affinity(0)) if affinity else os.cpu_count() or 1

"""Work on tasks in several processes; what they write comes out in the order of the tasks.

The processes are forked. Each makes the output of a task in memory and writes it itself when that
of all tasks before it is written, so that nothing is copied from process to process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain, islice
from typing import TypeVar

from kraftops.dump.writing import Chunks, write_all

T = TypeVar("T")
R = TypeVar("R")
Tell = Callable[[R], None]
Produce = Callable[[T, Tell[R]], Iterable[str | bytes]]
"""Yields the output of a task, and gives its second argument what is found besides."""

HELD_BYTES = 32 << 20


def run_ordered(
    tasks: Iterable[T],
    produce: Produce[T, R],
    fd: int,
    jobs: int,
    on_result: Tell[R],
    *,
    held_bytes: int = HELD_BYTES,
) -> None:
    """Write the output of all tasks to a file descriptor, as if they were done one by one.

    *jobs* processes are forked, each of which works on the next task that is left; where there is
    but one task or job, or no `os.fork`, this process does the work. *tasks* is asked for no more
    than can be worked on. A task should be small when pickled. What *produce* tells is pickled, and
    given to *on_result* in this process in its order among all output: what comes before it is
    written by then, and the output of the next task is not.

    No thread may be running, and nothing be held back in this process for the same descriptor.

    Args:
        tasks: What there is to do.
        produce: Does a task. In each process it is called with some of the tasks, in their order.
        fd: Where the output goes.
        jobs: How many processes may work.
        on_result: Takes what is found besides output.
        held_bytes: How much output a process may hold, before it waits for its turn to write.

    Raises:
        OSError: the output cannot be written; `BrokenPipeError`, if nobody reads it.
        KraftopsError: a worker died.
        Exception: what *produce* raised, when the output before that is written, or *on_result*, or
            the iteration over *tasks*.
    """
    _keep_freed_memory()
    left = iter(tasks)
    first = list(islice(left, jobs)) if jobs > 1 and hasattr(os, "fork") else []
    tasks = chain(first, left)
    if len(first) > 1:
        from kraftops.dump.crew import Crew  # 2 ms

        os.fstat(fd)  # of a closed one, the number would become that of a pipe
        if Crew(produce, fd, on_result, held_bytes).run(tasks, len(first)):
            return
    _run_here(tasks, produce, fd, on_result)


def _keep_freed_memory() -> None:
    """Let the C library keep memory that is freed: to get it anew takes 3% of a dump.

    glibc learns from the largest block that it has seen freed; more than this it does not learn.
    """
    with suppress(MemoryError):
        bytes(30 << 20)  # no page of it is touched


def _run_here(tasks: Iterable[T], produce: Produce[T, R], fd: int, on_result: Tell[R]) -> None:
    chunks = Chunks(lambda data: write_all(fd, data))

    def tell(result: R) -> None:
        chunks.flush()
        on_result(result)

    for task in tasks:
        try:
            for chunk in produce(task, tell):
                chunks.add(chunk)
        except Exception:
            chunks.flush()
            raise
        chunks.flush()

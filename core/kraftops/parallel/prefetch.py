"""Ask for what comes next in a thread, while what is there is worked on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, Full, Queue
from threading import Event as Flag
from threading import Thread
from typing import TypeVar

T = TypeVar("T")

_LISTS = 8  # that wait to be worked on
_WEIGHT = 1 << 20  # of a list: to hand things over one by one takes longer than most of them
_PATIENCE = 0.1  # seconds, after which a thread looks whether it is wanted still


@contextmanager
def ahead(
    things: Iterator[T], weight: Callable[[T], int], is_last: Callable[[T], bool]
) -> Iterator[Iterator[T]]:
    """Give an iterator of the same things, which end behind the first that *is_last*.

    What raises in the thread is raised by the iterator. Leaving it early, *things* may be asked for
    one more; otherwise they can be gone on with.

    Args:
        things: asked for in the thread.
        weight: of each, in bytes.
        is_last: tells of each whether to ask for no more.
    """
    waiting: Queue[list[T] | BaseException | None] = Queue(_LISTS)
    is_over = Flag()

    def hand_over(one: list[T] | BaseException | None) -> None:
        while not is_over.is_set():
            with suppress(Full):
                waiting.put(one, timeout=_PATIENCE)
                break

    def run() -> None:
        found: list[T] = []
        size = 0
        try:
            for thing in things:
                found.append(thing)
                size += weight(thing)
                if is_over.is_set() or is_last(thing):
                    break
                if size >= _WEIGHT:
                    hand_over(found)
                    found, size = [], 0
        except Exception as error:  # noqa: BLE001 - raised again where things are worked on
            hand_over(found)
            hand_over(error)
        else:
            hand_over(found)
            hand_over(None)

    def come() -> Iterator[T]:
        while True:
            try:
                found = waiting.get(timeout=_PATIENCE)
            except Empty:  # a wait without end would not notice Ctrl-C on every system
                continue
            if found is None:
                return
            if isinstance(found, BaseException):
                raise found
            yield from found

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        yield come()
    finally:
        is_over.set()
        thread.join(2 * _PATIENCE)

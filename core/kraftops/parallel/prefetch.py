"""Iteration in a thread: it asks for later items while the caller works on earlier ones."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Generic, Self, TypeVar

T = TypeVar("T")

_GROUP_BYTES = 1 << 20  # to hand over each item alone takes longer than most of the work
_PATIENCE = 0.1  # seconds, after which each side looks whether the other still waits


class Prefetch(Generic[T]):
    """Items of an iterator that a thread asks for; a context manager that ends the thread.

    Iteration, and `poll`, raise an error of the iterator after the items before it. The iterator
    may yield None where it has nothing new, so that the thread can end in time.
    """

    def __init__(
        self,
        items: Iterator[T | None],
        *,
        max_groups: int = 8,
        size: Callable[[T], int] | None = None,
        is_last: Callable[[T], bool] = lambda _: False,
    ) -> None:
        """Start the thread.

        Args:
            items: The iterator; after the last item here it can be used again. A generator is
                closed if this is closed before.
            max_groups: Groups of items that may wait; after that, the thread waits.
            size: Returns the bytes of an item: small items wait in one group until they have
                1 MiB together. Without it each item is a group.
            is_last: Tells whether to ask for no more items.
        """
        self._items = items
        self._size = size
        self._is_last = is_last
        self._queue: Queue[list[T] | BaseException | None] = Queue(max_groups)
        self._group: deque[T] = deque()
        self._has_ended = False
        self._is_closed = Event()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[T]:
        """Yield the items, waiting for each; not together with `poll`."""
        while not self._has_ended:
            group, self._group = self._group, deque()
            yield from group
            # A wait without end would not notice Ctrl-C on every system.
            with suppress(Empty):
                self._receive(self._queue.get(timeout=_PATIENCE))

    def poll(self) -> T | None:
        """Return the next item that waits; None if none does."""
        if not self._group and not self._has_ended:
            with suppress(Empty):
                self._receive(self._queue.get_nowait())
        return self._group.popleft() if self._group else None

    def close(self) -> None:
        """End the thread; it may still ask for one more item."""
        self._is_closed.set()
        self._thread.join(2 * _PATIENCE)

    @property
    def is_running(self) -> bool:
        """Whether the thread still asks for items."""
        return self._thread.is_alive()

    def _receive(self, group: list[T] | BaseException | None) -> None:
        if isinstance(group, list):
            self._group.extend(group)
            return
        self._has_ended = True
        if group is not None:
            raise group

    def _run(self) -> None:
        group: list[T] = []
        group_bytes = 0
        try:
            for item in self._items:
                if self._is_closed.is_set():
                    if isinstance(self._items, Generator):
                        self._items.close()
                    return
                if item is None:
                    continue
                group.append(item)
                group_bytes += self._size(item) if self._size else _GROUP_BYTES
                if self._is_last(item):
                    break
                if group_bytes >= _GROUP_BYTES:
                    self._put(group)
                    group, group_bytes = [], 0
        except Exception as error:  # noqa: BLE001 - raised in the caller's thread
            self._put(group)
            self._put(error)
        else:
            self._put(group)
            self._put(None)

    def _put(self, group: list[T] | BaseException | None) -> None:
        while not self._is_closed.is_set():
            with suppress(Full):
                self._queue.put(group, timeout=_PATIENCE)
                break

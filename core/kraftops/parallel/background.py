"""One thread beside the caller's: a call with a result, or work that ends with a block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from threading import Event

T = TypeVar("T")


class BackgroundCall(Generic[T]):
    """A call in a thread of its own; the thread does not keep the process alive."""

    def __init__(self, function: Callable[[], T], *, name: str | None = None) -> None:
        """Start the call; *name* is the name of the thread."""
        from threading import Thread  # 0.5 ms, and most runs start no thread

        self._function = function
        self._results: list[T] = []
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._results.append(self._function())
        except BaseException as error:  # noqa: BLE001 - raised by `result`
            self._error = error

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end of the call, at most *seconds*; tell whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def result(self) -> T:
        """Wait for the end of the call; return its result, or raise its error."""
        self.wait()
        if self._error:
            raise self._error
        return self._results[0]


@contextmanager
def background_work(work: Callable[[Event], None]) -> Iterator[None]:
    """Run *work* in a thread while the block runs; its argument is set when the block ends."""
    from threading import Event, Thread

    is_over = Event()
    thread = Thread(target=work, args=(is_over,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()

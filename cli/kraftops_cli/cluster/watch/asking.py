"""Asking a cluster again and again, in a thread: an answer may take long, or not come."""

import gc
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Event

from kraftops.errors import AnswerError, KraftopsError, WireError
from kraftops.parallel.background import BackgroundCall
from kraftops.wire.cluster import ClusterConnections
from kraftops.wire.rpc.error_codes import may_pass
from kraftops_cli.cluster.description import ClusterDescription, KeptAnswers, ask_description
from kraftops_cli.cluster.watch.happenings import Happening, past_happenings
from kraftops_cli.cluster.watch.pages import Page, page_of
from kraftops_cli.cluster.watch.state import Trouble
from kraftops_terminal.live import Subject, pause_after

Item = ClusterDescription | Trouble | Happening | Page


class Asker:
    """Asks a cluster, and keeps what it found until that is taken."""

    def __init__(
        self, cluster: ClusterConnections, seconds: float, tell: Callable[[], None]
    ) -> None:
        """Begin to ask.

        Args:
            cluster: What is asked.
            seconds: The time between an answer and the next question.
            tell: Is called when there is something to take.
        """
        self._cluster = cluster
        self._seconds = seconds
        self._tell = tell
        self._has_past = False
        self._description: ClusterDescription | None = None
        self._subject: Subject | None = None
        self._turned = Event()
        self._found: SimpleQueue[Item | Exception] = SimpleQueue()
        BackgroundCall(self._run)

    def take(self) -> list[Item]:
        """Return what was found since the last call.

        Raises:
            KraftopsError: the question is not permitted, or will never be answered.
        """
        items: list[Item] = []
        while True:
            try:
                item = self._found.get_nowait()
            except Empty:
                return items
            if isinstance(item, Exception):
                raise item
            items.append(item)

    def turn_to(self, subject: Subject | None) -> None:
        """Answer with the page of a subject, too, from now on."""
        if subject != self._subject:
            self._subject = subject
            self._turned.set()

    def _run(self) -> None:
        kept = KeptAnswers(self._put_skipped)
        is_first = True
        while True:
            cpu = time.thread_time()
            try:
                self._ask(kept)
            except Exception as error:  # noqa: BLE001 - the main thread raises it
                if not isinstance(error, WireError) or not may_pass(error):
                    self._put(error)
                    return
                self._put(Trouble(time.time_ns() // 1_000_000, error.message))
            if is_first:  # what is loaded has no cycles; the screen is to be free of its own
                gc.freeze()
                gc.enable()
                is_first = False
            self._rest(pause_after(time.thread_time() - cpu, self._seconds))
            self._cluster.renew_deadline()

    def _ask(self, kept: KeptAnswers) -> None:
        self._description = ask_description(self._cluster, kept)
        self._put(self._description)
        self._put_page()
        if self._cluster.is_of_controllers and not self._has_past:
            self._has_past = True
            self._put_past()

    def _rest(self, seconds: float) -> None:
        """Wait for the next question; a page that is turned to meanwhile is answered at once."""
        end = time.monotonic() + seconds
        while self._turned.wait(max(end - time.monotonic(), 0)):
            self._turned.clear()
            self._put_page()

    def _put_page(self) -> None:
        subject, description = self._subject, self._description
        if subject is None or description is None:
            return
        try:
            self._put(page_of(subject, description))
        except KraftopsError as error:
            self._put(Page(subject, (error.message,)))

    def _put_past(self) -> None:
        """Put what the log knows of the time before; it is little, and may fail by itself."""
        now = time.time_ns() // 1_000_000
        try:
            live = self._cluster.live_image()
            happenings = past_happenings(live.names, now, live.image.store.budget)
        except KraftopsError as error:
            happenings = [Happening(now, "warning", error.message)]
        for happening in happenings:
            self._put(happening)

    def _put_skipped(self, part: str, error: AnswerError) -> None:
        now = time.time_ns() // 1_000_000
        self._put(Happening(now, "warning", f"{part}: {error.message}"))

    def _put(self, item: Item | Exception) -> None:
        self._found.put(item)
        self._tell()

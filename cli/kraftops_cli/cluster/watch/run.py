"""`kafka-cluster describe --watch` on a terminal: the loop between the cluster, keys and frames."""

import gc
import time
from collections.abc import Callable
from dataclasses import replace
from queue import Empty, SimpleQueue
from threading import Event

from kraftops.errors import AnswerError, KraftopsError, WireError
from kraftops.parallel.background import BackgroundCall
from kraftops.wire.cluster import ClusterConnections
from kraftops.wire.rpc.error_codes import may_pass
from kraftops_cli.cluster.description import (
    BrokerFilter,
    ClusterDescription,
    KeptAnswers,
    ask_description,
)
from kraftops_cli.cluster.watch.drawing import frame
from kraftops_cli.cluster.watch.happenings import Happening, past_happenings
from kraftops_cli.cluster.watch.pages import Page, page_of
from kraftops_cli.cluster.watch.state import (
    ScreenState,
    Trouble,
    pressed,
    with_description,
    with_note,
    with_trouble,
)
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.live import Subject, pause_after
from kraftops_terminal.screen import Screen

_SILENCE = 3.0  # seconds without an answer, after which the screen says so
_LEAST_PAUSE, _LONGEST_PAUSE = 0.2, 1.0  # seconds between two frames, unless a key is pressed
_KEYBOARD = 0
Item = ClusterDescription | Trouble | Happening | Page


def watch_screen(
    terminal: Terminal, cluster: ClusterConnections, chosen: BrokerFilter, seconds: float
) -> int:
    """Show the cluster until the user quits; return the exit code.

    Raises:
        KraftopsError: the question is not permitted, or will never be answered.
    """
    console = terminal.console
    with Screen(console.fd, _KEYBOARD) as screen:
        asker = _Asker(cluster, seconds, screen.wake)
        state = ScreenState(chosen=chosen)
        heard, patience = time.monotonic(), seconds + _SILENCE
        keys: list[str] = []
        drawn_at = 0.0
        while not state.is_over:
            now = time.time_ns() // 1_000_000
            silence = time.monotonic() - heard
            drawn = state
            if silence > patience and state.trouble is None:
                waited = Trouble(now - round(silence * 1000), "it is asked, and has not answered")
                drawn = replace(state, trouble=waited)
            rest = drawn_at + _LEAST_PAUSE - time.monotonic()
            if keys or rest <= 0:
                lines, placed = frame(
                    drawn, console, screen.size, now=now, has_keys=screen.has_keys
                )
                state = replace(placed, trouble=state.trouble)
                screen.draw(lines)
                drawn_at, rest = time.monotonic(), _LONGEST_PAUSE
            keys = screen.wait(rest)
            items = asker.take()
            if items:
                heard = time.monotonic()
            for item in items:
                state = _with(state, item)
            for key in keys:
                state = pressed(state, key)
            asker.turn_to(state.subject)
    return 0


def _with(state: ScreenState, item: Item) -> ScreenState:
    if isinstance(item, Trouble):
        return with_trouble(state, item)
    if isinstance(item, Page):
        return replace(state, page=item)
    return with_note(state, item) if isinstance(item, Happening) else with_description(state, item)


class _Asker:
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

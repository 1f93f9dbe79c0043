"""`kafka-cluster describe --watch` on a terminal: the loop between the cluster, keys and frames."""

import time
from dataclasses import replace

from kraftops.wire.cluster import ClusterConnections
from kraftops_cli.cluster.description import BrokerFilter
from kraftops_cli.cluster.watch.asking import Asker, Item
from kraftops_cli.cluster.watch.drawing import frame
from kraftops_cli.cluster.watch.happenings import Happening
from kraftops_cli.cluster.watch.pages import Page
from kraftops_cli.cluster.watch.state import (
    ScreenState,
    Trouble,
    pressed,
    with_description,
    with_note,
    with_trouble,
)
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.screen import Screen

_SILENCE = 3.0  # seconds without an answer, after which the screen says so
_LEAST_PAUSE, _LONGEST_PAUSE = 0.2, 1.0  # seconds between two frames, unless a key is pressed
_KEYBOARD = 0


def watch_screen(
    terminal: Terminal, cluster: ClusterConnections, chosen: BrokerFilter, seconds: float
) -> int:
    """Show the cluster until the user quits; return the exit code.

    Raises:
        KraftopsError: the question is not permitted, or will never be answered.
    """
    console = terminal.console
    with Screen(console.fd, _KEYBOARD) as screen:
        asker = Asker(cluster, seconds, screen.wake)
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

"""State of the screen: descriptions as they come, and what keys do. Nothing here draws or waits."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from kraftops_cli.cluster.description import (
    ALL_BROKERS,
    BrokerDescription,
    BrokerFilter,
    ClusterDescription,
)
from kraftops_cli.cluster.health import Counts
from kraftops_cli.cluster.watch.happenings import Happening, happenings_between
from kraftops_cli.cluster.watch.pages import Page
from kraftops_terminal import live
from kraftops_terminal.live import LiveState, Subject, entered, has_words

MOST_COUNTS = 600
"""Descriptions whose counts are kept: more than a terminal has columns for their history."""
_MOST_HAPPENINGS = 200  # more than the tallest screen shows


class Order(NamedTuple):
    """An order of brokers; unknown values come last."""

    name: str
    key: Callable[[BrokerDescription], int | str | None]
    is_largest_first: bool = False


ORDERS = (
    Order("broker", lambda row: row.id),
    Order("state", lambda row: row.state, is_largest_first=True),
    Order("release", lambda row: row.release),
    Order("rack", lambda row: row.rack),
    Order("leaders", lambda row: row.leaders, is_largest_first=True),
    Order("replicas", lambda row: row.replicas, is_largest_first=True),
    Order("lag", lambda row: row.lag, is_largest_first=True),
)


class Trouble(NamedTuple):
    """A question without an answer, since a time in ms."""

    time: int
    message: str


@dataclass(frozen=True, slots=True)
class ScreenState(LiveState):
    """All that is drawn, and what keys have chosen."""

    newest: ClusterDescription | None = None
    paused_on: ClusterDescription | None = None
    """What is shown while the screen is paused."""
    counts: tuple[Counts | None, ...] = ()
    """Counts of the last descriptions, None for each question without an answer."""
    happenings: tuple[Happening, ...] = ()
    trouble: Trouble | None = None
    chosen: BrokerFilter = ALL_BROKERS
    """The brokers that the options of the command choose."""
    order: int = 0
    is_reversed: bool = False
    page: Page | None = None
    """The last answer for a page."""

    @property
    def description(self) -> ClusterDescription | None:
        """What is shown."""
        return self.paused_on if self.is_paused else self.newest


def with_description(state: ScreenState, description: ClusterDescription) -> ScreenState:
    happened: list[Happening] = []
    if state.trouble is not None:
        happened.append(Happening(description.now, "good", "there are answers again"))
    if state.newest is not None:
        happened += happenings_between(state.newest, description)
    return replace(
        state,
        newest=description,
        counts=(*state.counts, description.counts)[-MOST_COUNTS:],
        happenings=(*state.happenings, *happened)[-_MOST_HAPPENINGS:],
        trouble=None,
    )


def with_trouble(state: ScreenState, trouble: Trouble) -> ScreenState:
    """Note a question without an answer; of several in a row, only the first happened."""
    happened: tuple[Happening, ...] = ()
    if state.trouble is None:
        happened = (Happening(trouble.time, "bad", trouble.message),)
    since = state.trouble.time if state.trouble else trouble.time
    return replace(
        state,
        counts=(*state.counts, None)[-MOST_COUNTS:],
        happenings=(*state.happenings, *happened)[-_MOST_HAPPENINGS:],
        trouble=trouble._replace(time=since),
    )


def with_note(state: ScreenState, happening: Happening) -> ScreenState:
    """Sort in a happening that no two descriptions tell; it may be older than the newest."""
    happenings = sorted((*state.happenings, happening), key=lambda latest: latest.time)
    return replace(state, happenings=tuple(happenings[-_MOST_HAPPENINGS:]))


def shown_brokers(state: ScreenState) -> list[BrokerDescription]:
    """Filter the chosen brokers, and sort them as keys chose; those without a value come last.

    Each word of the filter must be in the id, state, rack or release of a broker.
    """
    description = state.description
    rows = [
        row
        for row in (description.brokers if description else None) or ()
        if state.chosen.allows(row)
        and has_words(state, f"{row.id} {row.state} {row.rack or ''} {row.release or ''}")
    ]
    order = ORDERS[state.order]
    with_value = [row for row in rows if order.key(row) is not None]
    with_value.sort(key=lambda row: row.id)
    is_down = order.is_largest_first is not state.is_reversed
    with_value.sort(key=order.key, reverse=is_down)  # type: ignore[arg-type]  # no None is left
    return [*with_value, *(row for row in rows if order.key(row) is None)]


def pressed(state: ScreenState, key: str) -> ScreenState:
    """Return the state after a key, see `kraftops_terminal.screen`."""
    return live.pressed(state, key, _KEYS)


def _sorted(state: ScreenState, step: int, *, turns: bool = False) -> ScreenState:
    order = (state.order + step) % len(ORDERS)
    return replace(state, order=order, is_reversed=state.is_reversed is not turns, top=0, cursor=0)


_KEYS: dict[str, Callable[[ScreenState], ScreenState]] = {
    **live.PAGES,
    "s": lambda state: _sorted(state, 1),
    "S": lambda state: _sorted(state, -1),
    "r": lambda state: _sorted(state, 0, turns=True),
    "enter": lambda state: entered(
        state, [Subject("broker", broker.id) for broker in shown_brokers(state)]
    ),
    " ": lambda state: replace(state, is_paused=not state.is_paused, paused_on=state.newest),
}

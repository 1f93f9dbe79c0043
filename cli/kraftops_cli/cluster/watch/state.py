"""State of the screen: views as they come, and what keys do. Nothing here draws or waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from kraftops_cli.cluster.description import ALL, FENCED, BrokerDescription, Chosen
from kraftops_cli.cluster.watch.happenings import Happening, happenings_between
from kraftops_cli.cluster.watch.pages import Kind, Page, Subject
from kraftops_cli.cluster.watch.view import Counts, View

MOST_COUNTS = 600
"""Views whose counts are kept."""
_MOST_HAPPENINGS = 200


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
class ScreenState:
    """All that is drawn, and what keys have chosen."""

    newest: View | None = None
    held: View | None = None
    """The view that is shown while the screen is paused."""
    counts: tuple[Counts | None, ...] = ()
    """Counts of the last views, None for each question without an answer."""
    happenings: tuple[Happening, ...] = ()
    trouble: Trouble | None = None
    chosen: Chosen = ALL
    """The brokers that the options of the command choose."""
    order: int = 0
    is_reversed: bool = False
    filter: str = ""
    is_typing: bool = False
    """Whether keys are letters of the filter."""
    is_paused: bool = False
    cursor: int = 0
    """The chosen broker, by its place among those that are shown."""
    top: int = 0
    """The number of brokers, or lines of a page, above the first that is drawn."""
    page: int = 10
    """Brokers or lines that were drawn last."""
    lines: int = 0
    """The lines of the page that was drawn last."""
    subject: Subject | None = None
    """What the page is about that is shown instead of the brokers."""
    answer: Page | None = None
    behind: ScreenState | None = None
    """The state to which Escape leads back from a page: its filter, cursor and place."""
    has_help: bool = False
    """Whether the last line has all keys."""
    is_over: bool = False

    @property
    def view(self) -> View | None:
        """The view that is shown."""
        return self.held if self.is_paused else self.newest


def with_view(state: ScreenState, view: View) -> ScreenState:
    """Return the state after an answer of the cluster."""
    happened: list[Happening] = []
    if state.trouble is not None:
        happened.append(Happening(view.time, "good", "there are answers again"))
    if state.newest is not None:
        happened += happenings_between(state.newest, view)
    return replace(
        state,
        newest=view,
        counts=(*state.counts, view.counts)[-MOST_COUNTS:],
        happenings=(*state.happenings, *happened)[-_MOST_HAPPENINGS:],
        trouble=None,
    )


def with_trouble(state: ScreenState, trouble: Trouble) -> ScreenState:
    """Return the state after a question without an answer; the first of several counts."""
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
    """Return the state after a happening that is not between two views, perhaps an earlier one."""
    happenings = sorted((*state.happenings, happening), key=lambda each: each.time)
    return replace(state, happenings=tuple(happenings[-_MOST_HAPPENINGS:]))


def shown_brokers(state: ScreenState) -> list[BrokerDescription]:
    """Return the chosen brokers that the filter leaves, in the order that keys chose.

    Each word of the filter must be in the id, state, rack or release of a broker.
    """
    view = state.view
    words = state.filter.casefold().split()
    rows = [
        row
        for row in (view.brokers if view else None) or ()
        if state.chosen.allows(row.id, row.rack, is_fenced=row.state == FENCED) and _has(row, words)
    ]
    order = ORDERS[state.order]

    def value(row: BrokerDescription) -> int | str:
        found = order.key(row)
        assert found is not None
        return found

    known = [row for row in rows if order.key(row) is not None]
    known.sort(key=lambda row: row.id)
    known.sort(key=value, reverse=order.is_largest_first is not state.is_reversed)
    return [*known, *(row for row in rows if order.key(row) is None)]


def _has(row: BrokerDescription, words: list[str]) -> bool:
    if not words:
        return True
    text = f"{row.id} {row.state} {row.rack or ''} {row.release or ''}".casefold()
    return all(word in text for word in words)


def with_answer(state: ScreenState, answer: Page) -> ScreenState:
    """Return the state with the answer for a page; one for another page is dropped."""
    return replace(state, answer=answer) if answer.subject == state.subject else state


def with_page(state: ScreenState, page: int, lines: int = 0) -> ScreenState:
    """Return the state of a screen that has room for so many brokers, or *lines* of a page."""
    state = replace(state, page=page, lines=lines)
    count = _count(state)
    cursor = max(min(state.cursor, count - 1), 0)
    top = min(state.top, max(count - page, 0))
    if state.subject is None:
        top = max(min(top, cursor), cursor - page + 1)
    return replace(state, cursor=cursor, top=top)


def _count(state: ScreenState) -> int:
    return len(shown_brokers(state)) if state.subject is None else state.lines


def pressed(state: ScreenState, key: str) -> ScreenState:
    """Return the state after a key, see `kraftops_terminal.keys`."""
    if key == "end-of-input":
        return replace(state, is_over=True)
    if state.is_typing:
        return _typed(state, key)
    act = _KEYS.get(key)
    return state if act is None else act(state)


def _typed(state: ScreenState, key: str) -> ScreenState:
    """Return the state after a key of the filter: Enter keeps it, Escape forgets it."""
    if key == "enter":
        return replace(state, is_typing=False)
    if key == "escape":
        return replace(state, is_typing=False, filter="")
    if key == "backspace":
        return replace(state, filter=state.filter[:-1], top=0, cursor=0)
    if len(key) == 1 and key.isprintable():
        return replace(state, filter=state.filter + key, top=0, cursor=0)
    return state


def _scrolled(state: ScreenState, rows: int, *, is_page: bool = False) -> ScreenState:
    """Return the state after a move of the cursor; a page, and one of its own, moves all lines."""
    count = _count(state)
    cursor = min(max(state.cursor + rows, 0), max(count - 1, 0))
    is_whole = is_page or state.subject is not None
    top = min(max(state.top + rows, 0), max(count - state.page, 0)) if is_whole else state.top
    if state.subject is None:
        top = max(min(top, cursor), cursor - state.page + 1)
    return replace(state, cursor=cursor, top=top)


def _entered(state: ScreenState) -> ScreenState:
    """Return the state with the page of the chosen broker."""
    brokers = shown_brokers(state)
    if state.subject is not None or not brokers:
        return state
    return _opened(state, Subject(Kind.BROKER, brokers[min(state.cursor, len(brokers) - 1)].id))


def _opened(state: ScreenState, subject: Subject) -> ScreenState:
    behind = state.behind or state
    return replace(state, subject=subject, answer=None, behind=behind, filter="", top=0, lines=0)


def _left(state: ScreenState) -> ScreenState:
    """Return the state after Escape: without a filter, or else back from a page."""
    behind = state.behind
    if state.filter or behind is None:
        return replace(state, filter="", top=0, cursor=0 if behind is None else state.cursor)
    return replace(
        state, subject=None, answer=None, behind=None, filter=behind.filter, top=behind.top,
        cursor=behind.cursor,
    )  # fmt: skip


def _paused(state: ScreenState) -> ScreenState:
    return replace(state, is_paused=not state.is_paused, held=state.newest)


_FAR = 1 << 30
_KEYS: dict[str, Callable[[ScreenState], ScreenState]] = {
    "q": lambda state: replace(state, is_over=True),
    "s": lambda state: replace(state, order=(state.order + 1) % len(ORDERS), top=0, cursor=0),
    "S": lambda state: replace(state, order=(state.order - 1) % len(ORDERS), top=0, cursor=0),
    "r": lambda state: replace(state, is_reversed=not state.is_reversed, top=0, cursor=0),
    "f": lambda state: replace(state, is_typing=True),
    "/": lambda state: replace(state, is_typing=True),
    "escape": _left,
    "enter": _entered,
    "o": lambda state: _opened(state, Subject(Kind.OPERATIONS)),
    "p": lambda state: _opened(state, Subject(Kind.PROBLEMS)),
    "c": lambda state: _opened(state, Subject(Kind.CHANGES)),
    "?": lambda state: replace(state, has_help=not state.has_help),
    " ": _paused,
    "up": lambda state: _scrolled(state, -1),
    "down": lambda state: _scrolled(state, 1),
    "page-up": lambda state: _scrolled(state, -state.page, is_page=True),
    "page-down": lambda state: _scrolled(state, state.page, is_page=True),
    "home": lambda state: _scrolled(state, -_FAR, is_page=True),
    "end": lambda state: _scrolled(state, _FAR, is_page=True),
}

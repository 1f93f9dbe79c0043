"""Live screens: the keys, the filter, the pages and the last line that all of them share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from kraftops.display.sizes import number_text
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.tables import Table, table_text
from kraftops_terminal.widths import cut, width_of_text

Keys = Sequence[tuple[str, str]]
"""Keys and what they do, in a word, for the last line."""
PAGE_KEYS: Keys = (("p", "problems"), ("c", "changes"), ("o", "operations"))
"""The keys of pages that are not about a row."""
_FIRST: Keys = (("q", "quit"), ("?", "keys"))
_LAST: Keys = (("/", "filter"), ("↑↓", "choose"), ("Space", "pause"), ("Esc", "back"))
_PAGE: Keys = (("Esc", "back"), ("/", "filter"), ("↑↓", "scroll"))
_FAR = 1 << 62
_SHARE = 0.1  # the most of a core that looks may take


class Subject(NamedTuple):
    """What a page is about: *of* is a broker, a log or a path, where the kind has some."""

    kind: str
    of: int | str | None = None

    @property
    def title(self) -> str:
        """The subject in words."""
        return self.kind if self.of is None else f"{self.kind} {self.of}"


@dataclass(frozen=True, slots=True)
class LiveState:
    """What keys have chosen: a row of a list, or the page of a subject instead of the list."""

    filter: str = ""
    is_typing: bool = False
    """Whether keys are letters of the filter."""
    is_paused: bool = False
    helps: int = 0
    """How often in a row the last line was asked for the keys that it has no room for."""
    is_over: bool = False
    cursor: int = 0
    """The place of the chosen row in the list."""
    top: int = 0
    """The number of rows, or lines of a page, above the first that is drawn."""
    room: int = 10
    """The rows or lines that could be drawn last."""
    count: int = 0
    """The rows or lines that there were."""
    subject: Subject | None = None
    behind: LiveState | None = None
    """The list as it was before the page: its filter, cursor and place."""


S = TypeVar("S", bound=LiveState)


def pressed(state: S, key: str, own: Mapping[str, Callable[[S], S]]) -> S:
    """Return the state after a key, see `screen`; *own* are those of one screen."""
    if key == "end-of-input":
        return replace(state, is_over=True)
    if state.is_typing:
        return _typed(state, key)
    state = replace(state, helps=state.helps + 1 if key == "?" else 0)
    act = own.get(key) or _SHARED.get(key)
    return state if act is None else act(state)


def opened(state: S, subject: Subject) -> S:
    behind = state.behind or state
    return replace(state, subject=subject, behind=behind, filter="", top=0, count=0)


def entered(state: S, subjects: Sequence[Subject]) -> S:
    """Return the state with the page of the chosen row of a list, if a list is shown."""
    if state.subject is not None or not subjects:
        return state
    return opened(state, subjects[min(state.cursor, len(subjects) - 1)])


def placed(state: S, room: int, count: int) -> S:
    """Scroll a state so that its cursor is visible among *count* rows in *room* lines."""
    cursor = max(min(state.cursor, count - 1), 0)
    top = min(state.top, max(count - room, 0))
    if state.subject is None:
        top = max(min(top, cursor), cursor - room + 1)
    return replace(state, room=room, count=count, cursor=cursor, top=top)


def pause_after(cpu: float, seconds: float) -> float:
    """Return the pause in seconds before the next look, which keeps looks under 10 % of a core."""
    return max(seconds, cpu / _SHARE)


def has_words(state: LiveState, text: str) -> bool:
    """Tell whether a text has every word of the filter; case is ignored."""
    return all(word in text.casefold() for word in state.filter.casefold().split())


def part_lines(console: Console, columns: int, parts: Sequence[str | Table]) -> list[str]:
    """Return the lines of texts and tables; the first line of a table scrolls with the others."""
    lines: list[str] = []
    for part in parts:
        text = cut(escaped(part), columns) if isinstance(part, str) else table_text(console, part)
        lines += text.splitlines() or [""]
    return lines


def page_lines(
    state: S, console: Console, size: tuple[int, int], lines: Sequence[str] | None
) -> tuple[list[str], S]:
    """Return the title of a page, and those of its lines that fit; None for no answer yet."""
    assert state.subject is not None
    title = console.painted(cut(escaped(state.subject.title), size[0]), "header")
    lines = [console.painted("it is asked …", "muted")] if lines is None else lines
    lines = [line for line in lines if has_words(state, line)]
    state = placed(state, max(size[1] - 1, 1), len(lines))
    return [title, *lines[state.top : state.top + state.room]], state


def foot(
    state: LiveState, console: Console, columns: int, keys: Keys, *, has_keys: bool = True
) -> str:
    """Draw the last line: the filter being typed, or as many keys as fit, and the position."""
    if state.is_typing:
        hint = "  Enter keeps it, Escape forgets it"
        text = cut(f"/{escaped(state.filter)}█", columns)
        return text + console.painted(cut(hint, columns - width_of_text(text)), "muted")
    if not has_keys:
        return console.painted(cut("Ctrl-C quits", columns), "muted")
    every = [*_FIRST, *(_PAGE if state.subject else ()), *keys, *(() if state.subject else _LAST)]
    place = cut(_place(state), columns)
    room = columns - width_of_text(place)
    listed, fit = every, _fitting(every, room)
    for _ in range(state.helps):
        listed = listed[fit:] or every
        fit = _fitting(listed, room)
    parts = [f"{console.painted(key, 'name')} {word}  " for key, word in listed[:fit]]
    return "".join(parts) + console.painted(place, "muted")


def framed(above: Sequence[str], below: Sequence[str], rows: int) -> list[str]:
    """Return the lines of a screen: those of both parts, with empty ones between them."""
    height = max(rows - len(below), 0)
    return [*above[:height], *[""] * (height - len(above)), *below][-rows:]


def _fitting(keys: Keys, room: int) -> int:
    for number, (key, word) in enumerate(keys):
        room -= len(key) + len(word) + 3
        if room < 0:
            return number
    return len(keys)


def _place(state: LiveState) -> str:
    """Say which rows are visible (FIRST-LAST of COUNT), and the filter."""
    chosen = f"filter: {escaped(state.filter)}" if state.filter else ""
    if state.count <= state.room:
        return chosen
    last = min(state.top + state.room, state.count)
    place = f"{number_text(state.top + 1)}-{number_text(last)} of {number_text(state.count)}"
    return f"{place}  {chosen}".rstrip()


def _typed(state: S, key: str) -> S:
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


def _moved(rows: int, pages: int = 0) -> Callable[[S], S]:
    def move(state: S) -> S:
        step = rows + pages * state.room
        cursor = min(max(state.cursor + step, 0), max(state.count - 1, 0))
        is_whole = abs(step) > 1 or state.subject is not None
        last = max(state.count - state.room, 0)
        top = min(max(state.top + step, 0), last) if is_whole else state.top
        return placed(replace(state, cursor=cursor, top=top), state.room, state.count)

    return move


def _left(state: S) -> S:
    """Return the state after Escape: without a filter, or else back from a page."""
    behind = state.behind
    if state.filter:
        return replace(state, filter="", top=0, cursor=state.cursor if behind else 0)
    if behind is None:
        return state
    return replace(state, subject=None, behind=None, filter=behind.filter, top=behind.top,
                   cursor=behind.cursor, count=behind.count)  # fmt: skip


def _page(kind: str) -> Callable[[S], S]:
    return lambda state: opened(state, Subject(kind))


PAGES: dict[str, Callable[[Any], Any]] = {key: _page(kind) for key, kind in PAGE_KEYS}
_SHARED: dict[str, Callable[[Any], Any]] = {
    "q": lambda state: replace(state, is_over=True),
    "/": lambda state: replace(state, is_typing=True),
    " ": lambda state: replace(state, is_paused=not state.is_paused),
    "escape": _left,
    "up": _moved(-1),
    "down": _moved(1),
    "k": _moved(-1),
    "j": _moved(1),
    "page-up": _moved(0, -1),
    "page-down": _moved(0, 1),
    "home": _moved(-_FAR),
    "end": _moved(_FAR),
    "g": _moved(-_FAR),
    "G": _moved(_FAR),
}

"""The state of a browser, and its keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from kraftops.errors import KraftopsError
from kraftops.tree.node import descend
from kraftops_shell.commands.browser.details import details
from kraftops_shell.commands.browser.frame import Shown, frame, layout
from kraftops_shell.commands.browser.moments import Moments
from kraftops_shell.commands.browser.search import search
from kraftops_shell.commands.browser.visible import Path, VisibleTree
from kraftops_terminal.escaping import escaped
from kraftops_terminal.json_text import leaf_text

_MANY_CHANGES = 100
_NODES_A_LOOK = 2000
"""Nodes that are searched between two looks at the keyboard."""


class Browser:
    """The tree that is shown, the node that is chosen, and the moment."""

    def __init__(self, moments: Moments, working: Path, *, has_color: bool) -> None:
        """Begin at a working directory, which is open."""
        self._moments = moments
        self._tree = VisibleTree(moments.root)
        self._has_color = has_color
        self._text_of = leaf_text(is_pretty=True, has_color=has_color)
        self._cursor = 0
        self._top = 0
        self._scrolled = 0
        self._page = 1
        self._details: tuple[tuple[object, ...], list[str]] = ((), [])
        self._typed: str | None = None
        """The text of a search that is being typed."""
        self._wanted = ""
        self._is_searching = False
        self._note = ""
        self.is_over = False
        self._tree.open(working)
        self._go_to(working)

    @property
    def path(self) -> Path:
        """The node that is chosen; () in a tree without nodes."""
        return self._tree.row(self._cursor).path if len(self._tree) else ()

    def refresh(self) -> None:
        """Show a newer state, if the present is shown and there is one."""
        try:
            if self._moments.refresh():
                self._show_moment()
        except KraftopsError as error:
            self._note = escaped(error.message)

    def lines(self, size: tuple[int, int]) -> list[str]:
        """Return the lines of a screen of this size."""
        parts = layout(*size)
        self._page = height = parts.tree[1]
        self._top = max(min(self._top, self._cursor), self._cursor - height + 1)
        about = self._details_of(parts.details[0])
        if self._scrolled >= len(about):
            self._scrolled = 0
        note = f"/{escaped(self._typed)}" if self._typed is not None else self._note
        shown = Shown(
            self._moments.line(escaped),
            self._tree.rows(self._top, height),
            self._cursor - self._top,
            about[self._scrolled :],
            note,
        )
        return frame(shown, size, has_color=self._has_color)

    def press(self, key: str, is_interrupted: Callable[[], bool]) -> None:
        """Do what a key says; a search ends when *is_interrupted* says so."""
        if self._typed is not None:
            self._type(key, is_interrupted)
            return
        self._note = ""
        if key in ("q", "end-of-input"):
            self.is_over = True
        elif key == "/":
            self._typed = ""
        elif key == "n":
            self._search(is_interrupted)
        elif key == " ":
            self._scrolled += max(self._page - 1, 1)
        elif key in _STEPS:
            self._move(key)
        elif key in self._ACTIONS:
            self._ACTIONS[key](self)

    def leave_search(self) -> bool:
        """Leave a search that is typed or runs; tell whether there was one."""
        is_search = self._typed is not None or self._is_searching
        self._typed, self._is_searching, self._note = None, False, ""
        return is_search

    def _move(self, key: str) -> None:
        pages, rows = _STEPS[key]
        last = len(self._tree) - 1
        self._cursor = max(min(self._cursor + pages * self._page + rows, last), 0)
        self._scrolled = 0

    def _open(self) -> None:
        self._tree.open(self.path)

    def _close(self) -> None:
        """Close the chosen directory; of what is closed, choose the directory above."""
        path = self.path
        if not path:
            return
        if self._tree.row(self._cursor).is_open:
            self._tree.close(path)
        else:
            self._go_to(path[:-1] or path)

    def _toggle(self) -> None:
        if path := self.path:
            is_open = self._tree.row(self._cursor).is_open
            (self._tree.close if is_open else self._tree.open)(path)

    def _travel(self, count: int) -> None:
        try:
            if self._moments.move(count):
                self._show_moment()
            else:
                self._note = "no change is earlier" if count < 0 else "this is the newest state"
        except KraftopsError as error:
            self._note = escaped(error.message)

    def _return(self) -> None:
        self._moments.to_present()
        self._show_moment()

    def _show_moment(self) -> None:
        path = self.path
        self._tree.replace_root(self._moments.root)
        self._go_to(path)

    def _go_to(self, path: Path) -> None:
        self._cursor = self._tree.index(path)
        self._scrolled = 0

    def _type(self, key: str, is_interrupted: Callable[[], bool]) -> None:
        assert self._typed is not None
        if key == "enter":
            self._wanted, self._typed = self._typed or self._wanted, None
            self._search(is_interrupted)
        elif key in ("escape", "end-of-input"):
            self._typed = None
        elif key == "backspace":
            self._typed = self._typed[:-1]
        elif len(key) == 1:
            self._typed += key

    def _search(self, is_interrupted: Callable[[], bool]) -> None:
        if not self._wanted:
            self._note = "/ and a part of a name search"
            return
        self._is_searching = True
        self._find(is_interrupted)
        self._is_searching = False

    def _find(self, is_interrupted: Callable[[], bool]) -> None:
        self._note = f"searching {escaped(self._wanted)}; any key stops"
        for number, found in enumerate(search(self._tree.root, self._wanted, self.path), 1):
            if found:
                self._tree.open(found[:-1])
                self._go_to(found)
                self._note = ""
                return
            if number % _NODES_A_LOOK == 0 and is_interrupted():
                self._note = f"stopped after {number:,} nodes; n goes on from the chosen one"
                return
        self._note = f"no name has {escaped(self._wanted)}"

    def _details_of(self, width: int) -> list[str]:
        path = self.path
        key = (path, width, id(self._tree.root))
        if self._details[0] != key:
            node = descend(self._tree.root, path)
            lines = details(node, path, width, self._text_of, has_color=self._has_color)
            self._details = key, lines
        return self._details[1]

    _ACTIONS: ClassVar[Mapping[str, Callable[[Browser], None]]] = {
        "right": _open,
        "l": _open,
        "left": _close,
        "h": _close,
        "enter": _toggle,
        "[": lambda self: self._travel(-1),
        "]": lambda self: self._travel(1),
        "shift-left": lambda self: self._travel(-1),
        "shift-right": lambda self: self._travel(1),
        "{": lambda self: self._travel(-_MANY_CHANGES),
        "}": lambda self: self._travel(_MANY_CHANGES),
        "=": _return,
    }


_FAR = 1 << 62
_STEPS: Mapping[str, tuple[int, int]] = {
    "down": (0, 1),
    "j": (0, 1),
    "up": (0, -1),
    "k": (0, -1),
    "page-down": (1, 0),
    "page-up": (-1, 0),
    "home": (0, -_FAR),
    "g": (0, -_FAR),
    "end": (0, _FAR),
    "G": (0, _FAR),
}
"""The pages and rows that a key moves on."""

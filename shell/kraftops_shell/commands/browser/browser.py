"""The state of a browser, and its keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from kraftops.errors import KraftopsError
from kraftops.tree.node import Directory, descend
from kraftops_shell.commands.browser.frame import Layout, body, details, layout
from kraftops_shell.commands.browser.moments import Moments
from kraftops_shell.commands.browser.visible import Path, VisibleTree
from kraftops_terminal import live
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.json_text import leaf_text
from kraftops_terminal.live_pages import log_parts
from kraftops_terminal.widths import cut

_MANY_CHANGES = 100  # that { and } pass at once: a log of 10,000 changes takes as many keys
_NODES_PER_LOOK = 2000
"""Nodes that are searched between two looks at the keyboard; a key ends the search."""
_KEYS: live.Keys = (
    ("↵", "open, close"),
    ("[ ]", "back, on"),
    *live.PAGE_KEYS,
    ("n", "next match"),
    ("{ }", "by 100"),
    ("=", "newest"),
    ("d", "details"),
)


class Browser:
    """The tree that is shown, the node that is chosen, and the moment."""

    def __init__(self, moments: Moments, working: Path, console: Console) -> None:
        """Begin at a working directory, which is open."""
        self._moments = moments
        self._tree = VisibleTree(moments.root)
        self._console = console
        self._text_of = leaf_text(is_pretty=True, has_color=console.has_color)
        self._state = live.LiveState()
        self._scrolled = 0
        self._details: tuple[tuple[object, ...], list[str]] = ((), [])
        self._page: tuple[tuple[object, ...], list[str]] = ((), [])
        self._searched = ""
        self._is_searching = False
        self._note = ""
        self._tree.open(working)
        self._go_to(working)

    @property
    def is_over(self) -> bool:
        """Whether somebody has quit."""
        return self._state.is_over

    @property
    def path(self) -> Path:
        """The node that is chosen; () in a tree without nodes."""
        return self._tree.row(self._state.cursor).path if len(self._tree) else ()

    def refresh(self) -> None:
        """Show a newer state, if the present is shown and there is one."""
        try:
            if not self._state.is_paused and self._moments.refresh():
                self._show_moment()
        except KraftopsError as error:
            self._note = escaped(error.message)

    def lines(self, size: tuple[int, int]) -> list[str]:
        columns, rows = size
        place = f"{'paused: Space goes on  ' * self._state.is_paused}{self._moments.line(escaped)}"
        above = [self._console.painted(cut(place, columns), "title")]
        if self._state.subject is not None:
            lines, self._state = live.page_lines(
                self._state, self._console, (columns, rows - 3), self._page_lines(columns)
            )
            above += ["", *lines]
        else:
            above += self._tree_lines(layout(columns, rows))
        if self._note and not self._state.is_typing:
            last = self._console.painted(cut(self._note, columns), "warning")
        else:
            keys = _KEYS if self._state.subject is None else live.PAGE_KEYS
            last = live.foot(self._state, self._console, columns, keys)
        return live.framed(above, [last], rows)

    def press(self, key: str, is_interrupted: Callable[[], bool]) -> None:
        """Do what a key says; a search ends when *is_interrupted* says so."""
        is_typed, is_page = self._state.is_typing, self._state.subject is not None
        before = self._state.cursor
        self._note = ""
        self._state = live.pressed(self._state, key, live.PAGES)
        if self._state.cursor != before:
            self._scrolled = 0
        if is_page or self._state.subject is not None:
            return
        if is_typed or self._state.is_typing:
            # The filter of a tree is a search: it leaves all rows, and goes to one.
            self._state = replace(self._state, cursor=before)
            if key == "enter":
                self._searched = self._state.filter or self._searched
                self._state = replace(self._state, filter="")
                self._search(is_interrupted)
        elif key == "n":
            self._search(is_interrupted)
        elif key == "d":
            self._scrolled += max(self._state.room - 1, 1)
        elif key in self._ACTIONS:
            self._ACTIONS[key](self)

    def leave_search(self) -> bool:
        """Leave a search that is typed or runs; tell whether there was one."""
        is_search = self._state.is_typing or self._is_searching
        self._is_searching, self._note = False, ""
        self._state = replace(self._state, is_typing=False, filter="")
        return is_search

    def _tree_lines(self, parts: Layout) -> list[str]:
        self._state = live.placed(self._state, parts.tree[1], len(self._tree))
        top = self._state.top
        about = self._details_of(parts.details[0])
        if self._scrolled >= len(about):
            self._scrolled = 0
        rows, chosen = self._tree.rows(top, parts.tree[1]), self._state.cursor - top
        return body(rows, chosen, about[self._scrolled :], parts, self._console)

    def _page_lines(self, columns: int) -> list[str]:
        subject, image = self._state.subject, self._moments.image
        assert subject is not None
        if image is None:
            return ["this is not the state of a metadata log"]
        key = subject, id(image), columns
        if self._page[0] != key:
            try:
                now, last = image.provenance.timestamp, image.offset
                answer = log_parts(subject, image, self._moments.log, now, last)
                lines = live.part_lines(self._console, columns, [*answer])
            except KraftopsError as error:
                lines = [escaped(error.message)]
            self._page = key, lines
        return self._page[1]

    def _open(self) -> None:
        self._tree.open(self.path)

    def _close(self) -> None:
        """Close the chosen directory; of what is closed, choose the directory above."""
        path = self.path
        if not path:
            return
        if self._tree.row(self._state.cursor).is_open:
            self._tree.close(path)
        else:
            self._go_to(path[:-1] or path)

    def _toggle(self) -> None:
        if path := self.path:
            is_open = self._tree.row(self._state.cursor).is_open
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
        self._state = replace(self._state, cursor=self._tree.index(path), count=len(self._tree))
        self._scrolled = 0

    def _search(self, is_interrupted: Callable[[], bool]) -> None:
        if not self._searched:
            self._note = "type / and part of a name to search"
            return
        self._is_searching = True
        self._find(is_interrupted)
        self._is_searching = False

    def _find(self, is_interrupted: Callable[[], bool]) -> None:
        self._note = f"searching {escaped(self._searched)}; any key stops"
        for number, path in enumerate(search(self._tree.root, self._searched, self.path), 1):
            if path:
                self._tree.open(path[:-1])
                self._go_to(path)
                self._note = ""
                return
            if number % _NODES_PER_LOOK == 0 and is_interrupted():
                self._note = f"stopped after {number:,} nodes; n continues from the selected node"
                return
        self._note = f"no name contains {escaped(self._searched)}"

    def _details_of(self, width: int) -> list[str]:
        path = self.path
        key = (path, width, id(self._tree.root))
        if self._details[0] != key:
            node = descend(self._tree.root, path)
            self._details = key, details(node, path, width, self._text_of, self._console)
        return self._details[1]

    _ACTIONS: ClassVar[Mapping[str, Callable[[Browser], None]]] = {
        "right": _open,
        "l": _open,
        "left": _close,
        "h": _close,
        "enter": _toggle,
        "escape": _close,
        "[": lambda self: self._travel(-1),
        "]": lambda self: self._travel(1),
        "shift-left": lambda self: self._travel(-1),
        "shift-right": lambda self: self._travel(1),
        "{": lambda self: self._travel(-_MANY_CHANGES),
        "}": lambda self: self._travel(_MANY_CHANGES),
        "=": _return,
    }


def search(root: Directory, text: str, after: Path) -> Iterator[Path | None]:
    """Yield the first node after path *after* whose name contains *text*, in upper or lower case.

    Text with a slash is searched in paths. None is yielded for each node before it, so that the
    caller can give up.
    """
    folded_text = text.casefold()
    is_of_paths = "/" in folded_text
    for path in _all_after(root, after):
        searched = "/" + "/".join(path) if is_of_paths else path[-1]
        if folded_text in searched.casefold():
            yield path
            return
        yield None


def _all_after(root: Directory, after: Path) -> Iterator[Path]:
    """Yield all nodes in display order, beginning after a node and wrapping around."""
    yield from _after(root, (), after)
    yield from _after(root, (), ())


def _after(directory: Directory, above: Path, after: Path) -> Iterator[Path]:
    """Yield the nodes below a directory that come after one of them."""
    names = directory.natural_names()
    if after and after[0] in names:
        start = names.index(after[0])
        first = directory.get(after[0])
        if isinstance(first, Directory):
            yield from _after(first, (*above, after[0]), after[1:])
        names = names[start + 1 :]
    for name in names:
        path = (*above, name)
        yield path
        if directory.is_known_flat:
            continue
        child = directory.get(name)
        if isinstance(child, Directory):
            yield from _after(child, path, ())

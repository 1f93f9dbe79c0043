"""Search for paths of the tree by some of their letters, within a time."""

import re
from collections import deque
from collections.abc import Iterator
from heapq import nsmallest
from itertools import islice
from time import monotonic

from kraftops.tree.node import Directory
from kraftops_shell.grammar.paths import escaped

_BLOCK = 500
"""Paths that are looked at between two looks at the clock, which cost as much as a path."""
_MOST_HITS = 20_000
"""Paths that are compared with each other; more letters find others."""
_LAST = ("byId", "findings")
"""Directories with other names of what is elsewhere: they come last on their level."""


class PathSearch:
    """A search in one tree, which goes on from where the last letter left it.

    Paths are found level by level, so that those near the root come first.
    """

    def __init__(self, root: Directory) -> None:
        """Search below *root*."""
        self._walk = _paths_of(root)
        self._paths: list[str] = []
        self._query = ""
        self._hits: list[str] = []
        self._next = 0
        self.is_complete = False
        """Whether the last search has seen all paths."""

    def best(self, query: str, *, seconds: float, most: int = 50) -> list[str]:
        """Return the best paths that have the letters of a query in their order.

        Those come first that have the query as it is, near the end of the path, and short ones.
        After *seconds*, the best of the paths up to then are returned.
        """
        end = monotonic() + seconds
        pattern = _pattern(query)
        if self._query and query.startswith(self._query):
            self._hits = [path for path in self._hits if pattern.search(path)]
        else:
            self._hits, self._next = [], 0
        self._query = query
        self.is_complete = False
        while monotonic() < end and len(self._hits) < _MOST_HITS:
            block = self._block()
            if not block:
                self.is_complete = True
                break
            self._hits += filter(pattern.search, block)
        lower = query.lower()
        return nsmallest(most, self._hits, key=lambda path: _rank(path, lower))

    def _block(self) -> list[str]:
        """Return some paths that the present search has not seen; none at the end."""
        if self._next == len(self._paths):
            self._paths += islice(self._walk, _BLOCK)
        block = self._paths[self._next : self._next + _BLOCK]
        self._next += len(block)
        return block


def _pattern(query: str) -> re.Pattern[str]:
    """Return a pattern for the letters of a query in their order.

    Between two letters is anything but the second, so that no letter is tried twice.
    """
    gaps = "".join(f"[^{re.escape(letter)}]*{re.escape(letter)}" for letter in query[1:])
    ignores_case = re.IGNORECASE if query == query.lower() else 0
    return re.compile(re.escape(query[:1]) + gaps, ignores_case)


def _rank(path: str, query: str) -> tuple[bool, bool, int, str]:
    lower = path.lower()
    return query not in lower[lower.rfind("/") + 1 :], query not in lower, len(path), path


def _paths_of(root: Directory) -> Iterator[str]:
    """Yield the paths of all nodes, level by level; a directory is read when it is its turn."""
    waiting: _Waiting = deque()
    later: _Waiting = deque()
    yield from _children("", root, waiting, later)
    while waiting or later:
        prefix, parent, name = (waiting or later).popleft()
        directory = parent.get(name)
        if isinstance(directory, Directory) and not directory.is_view:
            yield from _children(prefix, directory, waiting, later)


_Waiting = deque[tuple[str, Directory, str]]


def _children(
    prefix: str, directory: Directory, waiting: _Waiting, later: _Waiting
) -> Iterator[str]:
    """Yield the paths of children; those that may be directories wait for their turn."""
    for name in directory.names():
        path = f"{prefix}/{escaped(name)}"
        yield path
        if not directory.is_known_flat:
            (later if name in _LAST else waiting).append((path, directory, name))

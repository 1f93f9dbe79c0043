"""The rows of a tree whose directories are opened and closed, without a list of them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kraftops.tree.node import Directory, descend

Path = tuple[str, ...]


class Row(NamedTuple):
    """A node in a row: the names from the root to it."""

    path: Path
    is_directory: bool
    is_open: bool


@dataclass(slots=True)
class _Branch:
    """An open directory: the names in it, and the open directories among them by position."""

    names: Sequence[str]
    open: dict[int, _Branch] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The number of rows below the directory."""
        return len(self.names) + sum(branch.count for branch in self.open.values())


class VisibleTree:
    """The rows of a tree: a node is read when its row is asked for.

    It holds the names of open directories only, so that a row costs no more where there are a
    million of them.
    """

    def __init__(self, root: Directory) -> None:
        """Begin with the children of the root."""
        self.root = root
        self._top = _Branch(root.natural_names())

    def __len__(self) -> int:
        return self._top.count

    def rows(self, start: int, count: int) -> list[Row]:
        """Return some rows from one on, fewer at the end."""
        return [self.row(index) for index in range(start, min(start + count, len(self)))]

    def row(self, index: int) -> Row:
        branch = self._top
        names: Path = ()
        while True:
            position, rest, inner = _place(branch, index)
            names = (*names, branch.names[position])
            if inner is None or rest == 0:
                is_open = inner is not None
                is_directory = is_open or isinstance(descend(self.root, names), Directory)
                return Row(names, is_directory, is_open)
            branch, index = inner, rest - 1

    def index(self, path: Path) -> int:
        """Return the index of a node's row, or of that of the nearest node above; 0 for none."""
        branch: _Branch | None = self._top
        index = -1
        for name in path:
            if branch is None or name not in branch.names:
                break
            position = branch.names.index(name)
            before = (
                branch_below.count
                for open_position, branch_below in branch.open.items()
                if open_position < position
            )
            index += 1 + position + sum(before)
            branch = branch.open.get(position)
        return max(index, 0)

    def open(self, path: Path) -> None:
        """Open a directory and those above it; a leaf stays as it is."""
        branch = self._top
        for depth, name in enumerate(path, 1):
            if name not in branch.names:
                return
            position = branch.names.index(name)
            if position not in branch.open:
                node = descend(self.root, path[:depth])
                if not isinstance(node, Directory):
                    return
                branch.open[position] = _Branch(node.natural_names())
            branch = branch.open[position]

    def close(self, path: Path) -> None:
        above = self._branch(path[:-1])
        if above and path and path[-1] in above.names:
            above.open.pop(above.names.index(path[-1]), None)

    def replace_root(self, root: Directory) -> None:
        """Show another state, with the directories open that were."""
        opened = list(_open_paths(self._top, ()))
        self.root, self._top = root, _Branch(root.natural_names())
        for path in opened:
            self.open(path)

    def _branch(self, path: Path) -> _Branch | None:
        branch: _Branch | None = self._top
        for name in path:
            if branch is None or name not in branch.names:
                return None
            branch = branch.open.get(branch.names.index(name))
        return branch


def _place(branch: _Branch, index: int) -> tuple[int, int, _Branch | None]:
    """Locate a row: index of its name, the row below that name, and the open directory there."""
    rows_to_go = index
    passed = 0
    for position in sorted(branch.open):
        inner = branch.open[position]
        if rows_to_go < position - passed:
            break
        rows_to_go -= position - passed
        if rows_to_go <= inner.count:
            return position, rows_to_go, inner
        rows_to_go -= inner.count + 1
        passed = position + 1
    return passed + rows_to_go, 0, None


def _open_paths(branch: _Branch, path: Path) -> Iterator[Path]:
    for position, inner in branch.open.items():
        below = (*path, branch.names[position])
        yield below
        yield from _open_paths(inner, below)

"""Search by name through the whole tree, from a node on and around."""

from __future__ import annotations

from collections.abc import Iterator

from kraftops.tree.node import Directory
from kraftops_shell.commands.browser.visible import Path


def search(root: Directory, text: str, after: Path) -> Iterator[Path | None]:
    """Yield the first node after one whose name has a text, in any case, or end without one.

    Text with a slash is searched in paths. None comes now and then before, so that the caller can
    give up.
    """
    folded_text = text.casefold()
    is_of_paths = "/" in folded_text
    for path in _around(root, after):
        searched = "/" + "/".join(path) if is_of_paths else path[-1]
        if folded_text in searched.casefold():
            yield path
            return
        yield None


def _around(root: Directory, after: Path) -> Iterator[Path]:
    """Yield all nodes in the order of rows, from the one after a node, and then from the first."""
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

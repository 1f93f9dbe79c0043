"""Walks below nodes, for commands that look at all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kraftops.image.image import Change
from kraftops.tree.node import Directory, Leaf, Node
from kraftops_shell.paths import escaped


class Found(NamedTuple):
    """A node on the way: path in our form, last name, and how many levels below the start it is."""

    path: str
    name: str
    node: Node
    depth: int


def walk(node: Node, path: str, name: str, deepest: int | None = None) -> Iterator[Found]:
    """Yield a node and all that is below it, in the order of the names, down to a depth.

    *path* is the node's own, with `/` for the root.
    """
    yield from _walk(Found(path, name, node, 0), deepest)


def _walk(found: Found, deepest: int | None) -> Iterator[Found]:
    yield found
    node, depth = found.node, found.depth + 1
    if not isinstance(node, Directory) or (deepest is not None and depth > deepest):
        return
    prefix = "" if found.path == "/" else found.path
    for name, child in node.children():
        below = Found(f"{prefix}/{escaped(name)}", name, child, depth)
        if node.is_flat:
            yield below
        else:
            yield from _walk(below, deepest)


def newest_change(node: Node) -> Change | None:
    """Return where a node, or anything below it, was last changed; None where no record did it."""
    found = _newest(node)
    return None if found is None else found[1].change


def _newest(node: Node) -> tuple[int, Leaf] | None:
    """Return the leaf that was changed last, and the address of the record that did it.

    Addresses grow with the log.
    """
    if isinstance(node, Leaf):
        return None if node.newest is None else (node.newest, node)
    best: tuple[int, Leaf] | None = None
    for name in node.names():
        child = node.get(name)
        found = None if child is None else _newest(child)
        if found and (best is None or found[0] > best[0]):
            best = found
    return best

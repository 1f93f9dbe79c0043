"""Walks through all nodes below a node, and the newest change there.

Views of a directory, as `/image/byBroker`, are left out of walks from above.

The walk for a purpose:

- `walk`: nodes in the order of names, with paths that a user can type again. The usual one.
- `newest_change`: the last change of a subtree, by the shortcuts of directories where they exist.
- `kraftops.tree.node.leaves_by_raw_path`: leaves by paths without escapes, for comparisons.

A command has a walk of its own only where its output needs one: `find` without tests prints paths
without reading leaves, `tree` and `export` print between the nodes.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kraftops.image.state.image import LastChange, MetadataImage
from kraftops.tree.node import Directory, Leaf, Node, is_view
from kraftops_shell.grammar.paths import escaped


class WalkedNode(NamedTuple):
    """A node of a walk: path in our form, last name, and depth below the start."""

    path: str
    name: str
    node: Node
    depth: int


def walk(node: Node, path: str, name: str, deepest: int | None = None) -> Iterator[WalkedNode]:
    """Yield a node and all nodes below it, in the order of names, down to a depth.

    *path* is the node's own path, `/` for the root.
    """
    yield from _walk(WalkedNode(path, name, node, 0), deepest)


def _walk(walked: WalkedNode, deepest: int | None) -> Iterator[WalkedNode]:
    yield walked
    node, depth = walked.node, walked.depth + 1
    if not isinstance(node, Directory) or (deepest is not None and depth > deepest):
        return
    prefix = "" if walked.path == "/" else walked.path
    for name, child in node.children():
        below = WalkedNode(f"{prefix}/{escaped(name)}", name, child, depth)
        if node.is_known_flat:
            yield below
        else:
            yield from _walk(below, deepest)


def newest_change(node: Node) -> LastChange | None:
    """Return the last change of a node or any node below it; None where no record made them."""
    newest = None if isinstance(node, Leaf) else _newest(node)
    if newest is None:
        return _last_change(node)
    image, address = newest
    change = image.change(address)
    if change.is_upper_bound or change.offset < image.snapshot_end:
        # Addresses in a snapshot are in no order of time; the log before it may have one.
        return _last_change(node)
    return LastChange(change, image, address, 1)


def _newest(node: Node) -> tuple[MetadataImage, int] | None:
    """Return the highest address of a record that changed a node below, and its image.

    Addresses grow with the log.
    """
    if isinstance(node, Leaf):
        return (node.image, node.newest.address) if node.newest else None
    if node.newest:
        return node.newest()
    newest = (
        newest_below for child in _children_unsorted(node) if (newest_below := _newest(child))
    )
    return max(newest, key=lambda newest_below: newest_below[1], default=None)


def _last_change(node: Node) -> LastChange | None:
    if isinstance(node, Leaf):
        return node.last_change
    if node.last_change:
        return node.last_change()
    last_changes = (
        last_change for child in _children_unsorted(node) if (last_change := _last_change(child))
    )
    return max(last_changes, key=_rank, default=None)


def _children_unsorted(node: Directory) -> Iterator[Node]:
    return (child for name in node.names() if (child := node.get(name)) and not is_view(child))


def _rank(last_change: LastChange) -> tuple[int, bool]:
    return last_change.change.offset, not last_change.change.is_upper_bound

"""Walk over a tree."""

from collections.abc import Iterator

from kraftops.tree.node import Leaf, Node


def leaves_of(node: Node, path: str = "") -> Iterator[tuple[str, Leaf]]:
    """Yield the leaves below a node with their paths."""
    if isinstance(node, Leaf):
        yield path, node
        return
    for name, child in node.children():
        yield from leaves_of(child, f"{path}/{name}")

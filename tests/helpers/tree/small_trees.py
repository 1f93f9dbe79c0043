"""Small trees, which need no image."""

from collections.abc import Mapping
from typing import Any

from kraftops.image.state.image import MetadataImage
from kraftops.tree.node import Directory, Leaf, LeafKind, Node, fixed
from kraftops_shell.session.session import Session

VALUE = LeafKind(
    lambda _image, key: key[0], lambda _image, key: str(key[0]), lambda _image, _key: None
)
"""Leaves whose value is their key."""
IMAGE = MetadataImage()


def leaf(value: object) -> Leaf:
    """Return a leaf with a value."""
    return Leaf(VALUE, IMAGE, (value,))


def directory(children: Mapping[str, Any]) -> Directory:
    """Return a directory: what is a mapping becomes one, other values become leaves."""
    nodes: dict[str, Node] = {
        name: directory(child) if isinstance(child, Mapping) else leaf(child)
        for name, child in children.items()
    }
    return fixed(nodes)


class Written(list[str]):
    """The output of a session."""

    @property
    def text(self) -> str:
        return "".join(self)


def session(tree: Mapping[str, Any], *, kafka: bool = False) -> tuple[Session, Written, Written]:
    """Return a session, and what it writes to its two streams."""
    out, err = Written(), Written()
    return Session(directory(tree), out.append, err.append, is_kafka=kafka), out, err

"""Read what KRaft Kafka writes: segments, snapshots, indexes, and the records in them.

`load` replays a metadata log into an image, `tree_of` shows an image as a filesystem, `scan` gives
the records of any log as rows. Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraftops.dump.scan.rows import scan
    from kraftops.errors import KraftopsError
    from kraftops.image.load.loading import load
    from kraftops.image.state.image import MetadataImage
    from kraftops.query.filters import Filter
    from kraftops.query.query import Query
    from kraftops.query.row import Row
    from kraftops.tree.layout import tree_of
    from kraftops.tree.node import Directory, Leaf, Node

_PLACES = {
    "Directory": "kraftops.tree.node",
    "Filter": "kraftops.query.filters",
    "KraftopsError": "kraftops.errors",
    "Leaf": "kraftops.tree.node",
    "MetadataImage": "kraftops.image.state.image",
    "Node": "kraftops.tree.node",
    "Query": "kraftops.query.query",
    "Row": "kraftops.query.row",
    "load": "kraftops.image.load.loading",
    "scan": "kraftops.dump.scan.rows",
    "tree_of": "kraftops.tree.layout",
}
__all__ = [
    "Directory",
    "Filter",
    "KraftopsError",
    "Leaf",
    "MetadataImage",
    "Node",
    "Query",
    "Row",
    "load",
    "scan",
    "tree_of",
]


def __getattr__(name: str) -> object:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(place), name)
    globals()[name] = value
    return value

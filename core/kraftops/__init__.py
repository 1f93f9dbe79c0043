"""Read what KRaft Kafka writes: segments, snapshots, indexes, and the records in them.

`load` replays a metadata log into an image, `tree_of` shows an image as a filesystem, `scan` gives
the records of any log as rows. Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraftops.dump.reading import scan
    from kraftops.engine.filters import Filter
    from kraftops.engine.query import Query
    from kraftops.engine.rows import Row
    from kraftops.errors import KraftopsError
    from kraftops.image.image import MetadataImage
    from kraftops.image.loading import load
    from kraftops.tree.layout import tree_of
    from kraftops.tree.node import Directory, Leaf, Node

_PLACES = {
    "Directory": "kraftops.tree.node",
    "Filter": "kraftops.engine.filters",
    "KraftopsError": "kraftops.errors",
    "Leaf": "kraftops.tree.node",
    "MetadataImage": "kraftops.image.image",
    "Node": "kraftops.tree.node",
    "Query": "kraftops.engine.query",
    "Row": "kraftops.engine.rows",
    "load": "kraftops.image.loading",
    "scan": "kraftops.dump.reading",
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

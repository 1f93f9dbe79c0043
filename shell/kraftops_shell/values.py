"""The text of a leaf's value in our form."""

from __future__ import annotations

from kraftops.tree.node import Leaf


def json_text(leaf: Leaf) -> str:
    """Return the value of a leaf as JSON on one line."""
    return leaf.json

"""Fixtures of verified nodes."""

from pathlib import Path

import pytest

from tests.helpers.nodes.node_directories import DYNAMIC, format_node, make_node


@pytest.fixture
def static(tmp_path: Path) -> Path:
    """Return a node with two directories and static voters."""
    node = make_node(tmp_path / "node")
    assert format_node(node).code == 0
    return node


@pytest.fixture
def standalone(tmp_path: Path) -> Path:
    """Return a node that is its only voter."""
    node = make_node(tmp_path / "node", DYNAMIC)
    assert format_node(node, "--standalone").code == 0
    return node

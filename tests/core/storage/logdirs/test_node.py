"""A node knows its roles, its voters and the controllers that it connects to."""

from pathlib import Path

import pytest

from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.node import Node, read_node
from tests.helpers.nodes.node_directories import CLUSTER_ID, DYNAMIC, format_node, make_node


def read(path: Path, monkeypatch: pytest.MonkeyPatch) -> Node:
    monkeypatch.chdir(path)
    return read_node(load_config("server.properties"))


def test_standalone_node_is_its_only_voter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_node(tmp_path / "node", DYNAMIC)
    assert format_node(path, "--standalone").code == 0

    node = read(path, monkeypatch)

    assert node.cluster_id == CLUSTER_ID
    assert [voter.node_id for voter in node.voters] == [1]
    assert node.is_only_voter
    assert (node.is_broker, node.is_controller) == (True, True)


def test_node_without_files_has_no_voters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = read(make_node(tmp_path / "node", DYNAMIC), monkeypatch)

    assert node.cluster_id is None
    assert node.voters == ()
    assert not node.is_only_voter


@pytest.mark.parametrize(
    ("servers", "asks_itself"), [("localhost:29093", True), ("localhost:29093,other:29093", False)]
)
def test_bootstrap_servers_may_be_the_node_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, servers: str, asks_itself: bool
) -> None:
    keys = {"controller.quorum.bootstrap.servers": servers}

    node = read(make_node(tmp_path / "node", keys), monkeypatch)

    assert node.bootstrap_controllers[0] == ("localhost", 29093)
    assert node.asks_itself == asks_itself

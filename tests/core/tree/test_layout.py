"""The paths of the tree in both forms, and properties of all nodes."""

import json
from random import Random

import pytest

from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops.tree.layout import LAYOUT, tree_of
from kraftops.tree.node import Directory, Leaf, Node
from kraftops.tree.view import Form
from tests.helpers.logs.random_logs import (
    log_bytes,
    random_log,
)
from tests.helpers.tools.corpus import SHELL
from tests.helpers.tree.leaves import leaves_of
from tests.helpers.tree.reading import (
    data,
    image_in,
    names,
    node_at,
)

REAL = SHELL / "in" / "n431"


class TestForms:
    def test_kafkas_form_has_kafkas_paths(self) -> None:
        root = tree_of(load(REAL), form=Form.KAFKA)

        assert names(root, "/image") == [
            *("acls", "clientQuotas", "cluster", "configs", "delegationToken", "features"),
            *("producerIds", "provenance", "scram", "topics"),
        ]
        assert names(root, "/image/topics") == ["byId", "byName"]
        assert names(root, "/local") == ["commitId", "version"]

    def test_our_form_has_more_paths(self) -> None:
        root = tree_of(load(REAL))

        assert names(root, "/image/topics/byState") == [
            *("leaderless", "offline", "reassigning", "underMinIsr", "underReplicated"),
            *("withElr", "withoutPreferredLeader"),
        ]
        assert names(root, "/image/quorum") == ["epoch", "kraftVersion", "leader", "voters"]
        assert names(root, "/local") == ["commitId", "findings", "version"]

    def test_empty_image_has_all_directories(self) -> None:
        for form in (Form.KAFKA, Form.OURS):
            root = tree_of(MetadataImage(), form=form)
            for row in LAYOUT:
                if form in row.forms:
                    assert node_at(root, row.path) is not None, row.path
            assert dict(leaves_of(root))

    def test_version_is_shown(self) -> None:
        assert data(tree_of(MetadataImage(), version="7"), "/local/version") == "7"


@pytest.mark.parametrize("seed", range(30))
def test_shortcuts_of_directories_match_their_nodes(seed: int) -> None:
    """JSON is that of the data; directories know what their leaves would say."""
    image = image_in(log_bytes(random_log(Random(seed))))

    def walk(node: Node) -> None:
        if isinstance(node, Leaf):
            assert node.json == json.dumps(node.data, ensure_ascii=False, separators=(",", ":"))
            return
        leaves = [leaf for _, leaf in leaves_of(node)]
        if node.last_change:
            addresses = [leaf.newest.address for leaf in leaves if leaf.newest]
            found = node.last_change()
            assert (found and found.address) == max(addresses, default=None)
        if node.kafka_texts:
            children = {name: child for name, child in node.children() if isinstance(child, Leaf)}
            assert node.kafka_texts() == {name: leaf.kafka_text for name, leaf in children.items()}
        if node.topics:
            assert sorted(node.topics.ids()) == sorted(node.names())
        for _, child in node.children():
            walk(child)

    for form in (Form.OURS, Form.KAFKA):
        walk(tree_of(image, form=form))


@pytest.mark.parametrize("seed", range(10))
def test_keys_of_leaves_are_valid_in_another_image(seed: int) -> None:
    """So that one can be asked what another shows."""
    raw = log_bytes(random_log(Random(seed)))
    image, other = image_in(raw), image_in(raw)

    for path, leaf in leaves_of(tree_of(image)):
        there = leaf._replace(image=other)
        assert (there.data, there.kafka_text, there.newest) == (
            leaf.data,
            leaf.kafka_text,
            leaf.newest,
        ), path
        gone = leaf._replace(image=MetadataImage())
        assert gone.newest is None or path.startswith("/local/findings/"), path


@pytest.mark.parametrize("seed", range(10))
def test_flat_directories_hold_leaves_only(seed: int) -> None:
    image = image_in(log_bytes(random_log(Random(seed))))

    def walk(node: Node) -> None:
        if isinstance(node, Directory):
            for _, child in node.children():
                assert not node.is_known_flat or isinstance(child, Leaf)
                walk(child)

    walk(tree_of(image))

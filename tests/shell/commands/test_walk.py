"""Walks through nodes, and the newest change below a directory."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from kraftops.image.load.loading import load
from kraftops.tree.layout import tree_of
from kraftops.tree.node import Directory, Leaf, Node
from kraftops_shell.commands.walk import newest_change, walk
from tests.helpers.image.snapshots import snapshot_of
from tests.helpers.logs.metadata_logs import write_log
from tests.helpers.logs.random_logs import RandomLog, leader_change
from tests.helpers.tree.small_trees import directory


def _directories(node: Node, path: str = "") -> Iterator[tuple[str, Directory]]:
    if isinstance(node, Directory):
        yield path, node
        for name, child in node.children():
            yield from _directories(child, f"{path}/{name}")


def _leaves(node: Node) -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        yield node
    else:
        for _, child in node.children():
            yield from _leaves(child)


@pytest.mark.parametrize("seed", range(40))
def test_newest_change_of_a_directory_comes_from_its_leaves(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    log, offset = [leader_change(0, 1)], 1
    for batch in RandomLog(random).log(most_batches=12, most_records=6):
        log.append(bytes(batch._replace(base_offset=offset, epoch=1)))
        offset += len(batch.records)
    whole = write_log(tmp_path / "whole", {0: log})
    end = random.randint(1, offset)
    snapshot = snapshot_of(load(whole, at_offset=end - 1)) if end > 1 else None
    folder = write_log(tmp_path / "log", {0: log}, {(end, 1): snapshot} if snapshot else {})
    root = tree_of(load(folder))

    for path, below in _directories(root):
        changes = [leaf.change for leaf in _leaves(below)]
        offsets = [change.offset for change in changes if change]
        last = newest_change(below)
        assert (last and last.change.offset) == max(offsets, default=None), path


def test_walk_is_in_the_order_of_names_with_paths_that_can_be_typed() -> None:
    root = directory({"b": {"x/y": 1, "*": 2}, "a": 3})

    assert [found.path for found in walk(root, "/", "/")] == ["/", "/a", "/b", r"/b/\*", r"/b/x\/y"]
    assert [found.depth for found in walk(root, "/", "/", deepest=1)] == [0, 1, 1]

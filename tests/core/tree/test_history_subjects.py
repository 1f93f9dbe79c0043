"""The steps of a history add up to the state after every record."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import KraftopsError, UsageError
from kraftops.image.history import Step, history
from kraftops.image.load.loading import load
from kraftops.image.state.fields import ChangeKind
from kraftops.tree.history_subjects import history_subject
from kraftops.tree.layout import tree_of
from kraftops.tree.node import Directory, Node, descend, leaves_by_raw_path
from tests.helpers.logs.random_logs import log_bytes, random_log
from tests.helpers.tools.corpus import SHELL


def values(node: Node | None) -> dict[str, Any]:
    """Return the leaves that records made."""
    return {path: leaf.data for path, leaf in leaves_by_raw_path(node) if leaf.newest is not None}


def told(steps: Sequence[Step]) -> dict[str, Any]:
    """Return the leaves that there are in the end, as the steps tell."""
    found: dict[str, Any] = {}
    for step in steps:
        if step.kind is ChangeKind.REMOVED:
            assert found.pop(step.path) == step.old
        else:
            assert found.get(step.path) == step.old
            assert (step.kind is ChangeKind.ADDED) == (step.path not in found)
            found[step.path] = step.new
    return found


def nodes_of(node: Node | None, names: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """Return the paths of all nodes below one."""
    found: set[tuple[str, ...]] = set()
    if isinstance(node, Directory):
        for name, child in node.children():
            below = (*names, name)
            found |= {below} | nodes_of(child, below)
    return found


def can_be_told(names: Sequence[str]) -> bool:
    try:
        history_subject(names)
    except UsageError:
        return False
    return True


@given(st.integers(min_value=0, max_value=1 << 32))
def test_histories_lead_to_the_states(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    random = Random(seed)
    log = random_log(random)
    path = tmp_path_factory.getbasetemp() / "watched.log"
    path.write_bytes(log_bytes(log))
    offsets = sorted(random.sample(range(log[-1].end), min(4, log[-1].end)))
    trees = {}
    for offset in (*offsets, log[-1].end):
        try:
            trees[offset] = tree_of(load(path, at_offset=offset), show_secrets=True)
        except KraftopsError:
            continue  # nothing of the log can be read by then
    everywhere = sorted({names for tree in trees.values() for names in nodes_of(tree)})
    chosen = random.sample(everywhere, min(6, len(everywhere)))

    for names in filter(can_be_told, chosen):
        all_of_it = history(path, history_subject(names, show_secrets=True))

        for offset, tree in trees.items():
            steps = history(path, history_subject(names, show_secrets=True), at_offset=offset)
            assert told(steps) == values(descend(tree, names)), (names, offset)
            assert steps == all_of_it[: len(steps)]


@pytest.mark.parametrize("node", ["n332", "n391", "n431"])
def test_histories_of_real_logs_end_in_the_state(node: str) -> None:
    source = SHELL / "in" / node / "__cluster_metadata-0"
    tree = tree_of(load(source))

    for names in sorted(nodes_of(tree)):
        # The log has the leader's record, the snapshot with which loading begins does not.
        if can_be_told(names) and names[:2] != ("image", "quorum"):
            steps = history(source, history_subject(names))

            assert told(steps) == values(descend(tree, names)), names


@pytest.mark.parametrize(
    "path",
    [
        "",
        "image",
        "image/topics",
        "image/topics/byName",
        "image/topics/byState/leaderless",
        "local",
    ],
)
def test_what_is_all_of_the_log_or_none_of_it_has_no_history(path: str) -> None:
    with pytest.raises(UsageError, match="no history of its own"):
        history_subject(path.split("/"))


def test_ids_that_are_none_are_refused() -> None:
    with pytest.raises(UsageError, match="16 bytes"):
        history_subject(["image", "topics", "byId", "abc"])

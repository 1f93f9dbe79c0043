"""Rows of a tree that is opened and closed, compared with a list of them all."""

import time
from collections.abc import Iterator
from random import Random

import pytest

from kraftops.tree.node import Directory
from kraftops_shell.commands.browser.browser import search
from kraftops_shell.commands.browser.visible import Path, VisibleTree
from tests.helpers.tree.small_trees import directory, leaf

MANY = 1_000_000


def random_tree(rng: Random, depth: int = 0) -> dict[str, object]:
    names = rng.sample([*"abcde", *map(str, range(12))], rng.randrange(0 if depth else 3, 6))
    return {
        name: random_tree(rng, depth + 1) if depth < 3 and rng.random() < 0.6 else depth
        for name in names
    }


def listed(node: Directory, opened: set[Path], above: Path = ()) -> Iterator[tuple[Path, bool]]:
    """Yield the rows of a tree, by a walk through all that is open."""
    for name in node.natural_names():
        path = (*above, name)
        child = node.get(name)
        yield path, isinstance(child, Directory)
        if path in opened and isinstance(child, Directory):
            yield from listed(child, opened, path)


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_those_of_a_walk(seed: int) -> None:
    rng = Random(seed)
    root = directory(random_tree(rng))
    tree, opened = VisibleTree(root), set[Path]()
    for _ in range(25):
        row = tree.row(rng.randrange(len(tree)))
        if row.is_open:
            tree.close(row.path)
            opened = {path for path in opened if path[: len(row.path)] != row.path}
        elif row.is_directory:
            tree.open(row.path)
            opened.add(row.path)

        found = tree.rows(0, 1000)
        assert [(one.path, one.is_directory) for one in found] == [*listed(root, opened)]
        assert len(tree) == len(found)
        assert [tree.index(one.path) for one in found] == [*range(len(found))]


def test_other_state_keeps_what_is_open() -> None:
    tree = VisibleTree(directory({"a": {"b": {"c": 1}}, "d": {"e": 1}}))
    tree.open(("a", "b"))
    tree.open(("d",))

    tree.replace_root(directory({"a": {"b": {"x": 1}}, "d": 1}))

    shown = ["/".join(row.path) for row in tree.rows(0, 9)]
    assert shown == ["a", "a/b", "a/b/x", "d"]
    assert tree.index(("a", "b", "c")) == 1


@pytest.mark.slow
def test_million_partitions_are_shown_at_once() -> None:
    value = leaf(1)
    names = dict.fromkeys(map(str, range(MANY)))
    reads = 0

    def get(name: str) -> object:
        nonlocal reads
        reads += 1
        return value

    topic = Directory(lambda: names, get, is_known_flat=True)  # type: ignore[arg-type]
    tree = VisibleTree(Directory(lambda: ["t"], lambda _: topic))
    tree.open(("t",))
    start = time.process_time()
    for top in range(0, MANY, MANY // 100):
        assert tree.rows(top, 24)[-1].path == ("t", str(top + 22))

    assert reads <= 100 * 24
    assert time.process_time() - start < 1


def test_search_goes_on_from_a_node_and_around() -> None:
    root = directory({"a": {"x1": {"y": 1}}, "b": {"x2": 1}, "x3": 1})

    def found(text: str, after: Path) -> Path | None:
        return next(filter(None, search(root, text, after)), None)

    assert found("X", ()) == ("a", "x1")
    assert found("x", ("a", "x1")) == ("b", "x2")
    assert found("x", ("b",)) == ("b", "x2")
    assert found("x", ("x3",)) == ("a", "x1")
    assert found("b/x", ()) == ("b", "x2")
    assert found("z", ("b",)) is None

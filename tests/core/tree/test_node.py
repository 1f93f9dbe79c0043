"""Nodes, their order, and walks to leaves."""

from kraftops.tree.node import descend, leaves_by_raw_path
from tests.helpers.tree.small_trees import directory, leaf

TREE = directory({"b": {"x": 1, "y": 2}, "a": 3})


def test_children_come_in_the_order_of_utf_16() -> None:
    tree = directory({"\uffee": 1, "\U0001f600": 2, "a": 3})

    assert [name for name, _ in tree.children()] == ["a", "\U0001f600", "\uffee"]


def test_names_lead_to_nodes() -> None:
    assert descend(TREE, ["b", "y"]) == TREE.get("b").get("y")  # type: ignore[union-attr]
    assert descend(TREE, ["a", "x"]) is None
    assert descend(TREE, ["c"]) is None


def test_leaves_have_paths_from_the_node() -> None:
    assert {path: leaf.data for path, leaf in leaves_by_raw_path(TREE)} == {
        "a": 3,
        "b/x": 1,
        "b/y": 2,
    }
    assert [path for path, _ in leaves_by_raw_path(TREE.get("a"))] == [""]
    assert list(leaves_by_raw_path(None)) == []


def test_size_of_a_leaf_is_the_number_of_bytes_of_its_json() -> None:
    assert leaf({"a": "é"}).size == len('{"a":"é"}'.encode())
    assert leaf("\ud800").size == 5


def test_numbers_that_json_does_not_have_are_texts() -> None:
    value = {"a": [float("inf"), 1.5], "b": (float("nan"), {"c": float("-inf")})}

    assert leaf(value).json == '{"a":["Infinity",1.5],"b":["NaN",{"c":"-Infinity"}]}'


def test_children_are_counted() -> None:
    assert TREE.child_count == 2

"""Differences of trees are the differences of all their leaves."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import KraftopsError
from kraftops.image.load.loading import load
from kraftops.image.state.fields import ChangeKind, FieldChange, field_changes
from kraftops.image.state.image import MetadataImage
from kraftops.tree import leaves
from kraftops.tree.diff import DERIVED_NODES, Difference, diff
from kraftops.tree.layout import tree_of
from kraftops.tree.node import Node, descend
from tests.helpers.logs.random_logs import log_bytes, new_record, random_log
from tests.helpers.tools.corpus import SHELL
from tests.helpers.tree.leaves import leaves_of
from tests.helpers.tree.reading import config, image_of
from tests.helpers.tree.small_trees import directory

LOG = SHELL / "in/n431/__cluster_metadata-0/00000000000000000000.log"


def values(node: Node | None) -> dict[tuple[str, ...], Any]:
    """Return the leaves of a tree that tell nothing that others tell."""
    if node is None:
        return {}
    found = {tuple(path.split("/")[1:]): leaf.data for path, leaf in leaves_of(node)}
    return {
        names: value
        for names, value in found.items()
        if not any(names[: len(node)] == node for node in DERIVED_NODES)
    }


def check(old: Node, new: Node) -> list[Difference]:
    before, after = values(old), values(new)

    found = list(diff(old, new))

    assert {one.names: (one.old, one.new) for one in found} == {
        names: (before.get(names), after.get(names))
        for names in before.keys() | after.keys()
        if (names in before, before.get(names)) != (names in after, after.get(names))
    }
    for one in found:
        is_there = one.names in before, one.names in after
        assert (
            is_there
            == {
                ChangeKind.ADDED: (False, True),
                ChangeKind.REMOVED: (True, False),
                ChangeKind.CHANGED: (True, True),
            }[one.kind]
        )
    return found


@given(st.integers(min_value=0, max_value=1 << 32))
def test_differences_of_two_moments_are_those_of_their_leaves(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    random = Random(seed)
    log = random_log(random)
    path = tmp_path_factory.getbasetemp() / "diff.log"
    path.write_bytes(log_bytes(log))
    try:
        old = tree_of(load(path, at_offset=random.randrange(log[-1].end)))
    except KraftopsError:
        return  # nothing of the log can be read by then

    check(old, tree_of(load(path)))


def test_differences_of_a_real_log_are_those_of_its_leaves() -> None:
    found = check(tree_of(load(LOG, at_offset=278)), tree_of(load(LOG)))

    assert {one.kind for one in found} == set(ChangeKind)


def test_what_is_equal_does_not_differ() -> None:
    image = load(LOG)

    assert list(diff(tree_of(image), tree_of(image))) == []
    assert list(diff(tree_of(image), tree_of(load(LOG)))) == []


def test_secrets_differ_without_being_shown() -> None:
    def tree(password: str, key: bytes) -> Node:
        scram = {"name": "u", "mechanism": 1, "salt": b"s", "storedKey": key, "serverKey": b"k"}
        return tree_of(
            image_of(
                config(4, "1", "ssl.key.password", password),
                config(4, "1", "my.token", "same"),
                new_record("UserScramCredentialRecord", iterations=4096, **scram),
            )
        )

    found = list(diff(tree("a", b"1"), tree("b", b"2")))

    assert [(one.names[-1], *one.fields) for one in found] == [
        ("ssl.key.password", FieldChange("", "<redacted>", "<redacted>")),
        ("u", FieldChange("storedKey", "<redacted>", "<redacted>")),
    ]
    assert list(diff(tree("a", b"1"), tree("a", b"1"))) == []


def test_one_image_is_compared_without_being_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    image = load(LOG)
    old, new = (descend(tree_of(image), ["image", "topics", "byName"]) for _ in range(2))

    def refuse(_image: MetadataImage, _key: object) -> str:
        raise AssertionError

    kind = leaves.PARTITION._replace(data=refuse, kafka_text=refuse)
    monkeypatch.setattr(leaves, "PARTITION", kind)

    assert list(diff(old, new)) == []


def test_nodes_that_are_not_there_are_compared_too() -> None:
    tree = directory({"a": {"b": 1, "c": 2}})

    assert list(diff(None, tree)) == [
        Difference(ChangeKind.ADDED, ("a", "b"), None, 1),
        Difference(ChangeKind.ADDED, ("a", "c"), None, 2),
    ]
    assert [one.kind for one in diff(tree, None)] == [ChangeKind.REMOVED] * 2
    assert list(diff(None, None)) == []


def test_leaves_that_become_directories_go_and_come() -> None:
    old, new = directory({"a": 1}), directory({"a": {"b": 1}})

    assert [(one.kind.value, one.names) for one in diff(old, new)] == [
        ("removed", ("a",)),
        ("added", ("a", "b")),
    ]


def test_echoes_are_compared_where_they_are_asked_for() -> None:
    names = ("image", "topics", "byId")
    old, new = (descend(tree_of(load(LOG, at_offset=offset)), names) for offset in (100, 200))

    assert list(diff(old, new, names))


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        (1, 1, ()),
        (1, 2, (FieldChange("", 1, 2),)),
        (
            {"a": 1, "b": 2},
            {"a": 1, "c": 3},
            (FieldChange("b", 2, None), FieldChange("c", None, 3)),
        ),
        ({"a": 1}, [1], (FieldChange("", {"a": 1}, [1]),)),
        (None, {"a": 1}, (FieldChange("", None, {"a": 1}),)),
    ],
)
def test_fields_that_changed_are_named(
    old: object, new: object, changes: tuple[FieldChange, ...]
) -> None:
    assert field_changes(old, new) == changes


def test_paths_of_files_play_no_part(tmp_path: Path) -> None:
    copy = tmp_path / LOG.name
    copy.write_bytes(LOG.read_bytes())

    assert list(diff(tree_of(load(LOG)), tree_of(load(copy)))) == []

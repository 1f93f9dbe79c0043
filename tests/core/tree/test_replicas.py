"""The directories of partitions by broker, rack, directory and state, against their leaves."""

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import pytest

from kraftops.image.state.image import MetadataImage
from kraftops.tree.layout import tree_of
from kraftops.tree.node import Directory, Leaf, descend
from kraftops.uuids import to_text
from tests.helpers.engine.choice import using
from tests.helpers.engine.comparison import has_native
from tests.helpers.logs.random_logs import log_bytes, new_record, random_log, uuid
from tests.helpers.tree.reading import (
    TOPIC,
    T,
    config,
    data,
    image_in,
    image_of,
    names,
    node_at,
    partition,
)

State = Mapping[str, Any]
ENGINES = ["reference", "native"] if has_native() else ["reference"]


@pytest.fixture(autouse=True, params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[None]:
    """Have each test use each engine."""
    with using(request.param):
        yield


def broker(number: int, rack: str | None = None, **changes: Any) -> Any:
    fields: dict[str, Any] = {"fenced": False, "logDirs": [uuid(200 + number)]}
    return new_record("RegisterBrokerRecord", brokerId=number, rack=rack, **fields | changes)


def leaves_by_name(root: Directory) -> dict[str, State]:
    """Return the partitions that have a name, from their leaves alone."""
    by_name = descend(root, ["image", "topics", "byName"])
    assert isinstance(by_name, Directory)
    found = {}
    for topic, node in by_name.children():
        assert isinstance(node, Directory)
        for number, leaf in node.children():
            if isinstance(leaf, Leaf) and isinstance(leaf.data, dict):
                found[f"{topic}-{number}"] = leaf.data
    return found


def check_directory(root: Directory, path: str, expected: Mapping[str, State]) -> None:
    node = node_at(root, path)
    assert isinstance(node, Directory), path
    assert sorted(node.names()) == sorted(expected), path
    for name, state in expected.items():
        leaf = node.get(name)
        assert isinstance(leaf, Leaf), (path, name)
        assert leaf.data == state
    assert node.beginning
    for text in ("", "a", *list(expected)[:3], *(name[:-1] for name in list(expected)[:3])):
        beginning = sorted(name for name in expected if name.startswith(text))
        assert sorted(node.beginning(text, 10**6)) == beginning, text
        few = node.beginning(text, 3)
        assert set(few) <= set(beginning)
        assert len(few) == min(3, len(beginning)), (text, few, beginning)


def chosen(all_: Mapping[str, State], test: Callable[[State], bool]) -> dict[str, State]:
    return {name: state for name, state in all_.items() if test(state)}


@pytest.mark.parametrize("seed", range(12))
def test_directories_are_those_of_the_leaves(seed: int) -> None:
    image = image_in(log_bytes(random_log(Random(seed))))
    root = tree_of(image)
    known = leaves_by_name(root)
    brokers = {*image.brokers} | {one for state in known.values() for one in state["replicas"]}
    racks: dict[str, set[int]] = {}
    for number in brokers | {state["leader"] for state in known.values()} - {-1}:
        check_roles(root, f"/image/byBroker/{number}", {number}, known)
        registered = image.broker(number)
        if registered and registered["rack"]:
            racks.setdefault(registered["rack"], set()).add(number)
    assert sorted(names(root, "/image/byRack")) == sorted(racks)
    for rack, members in racks.items():
        rack_node = descend(root, ["image", "byRack", rack])
        assert isinstance(rack_node, Directory)
        check_roles(rack_node, "", members, known)
    for directory in {one for state in known.values() for one in state["directories"]}:
        expected = chosen(known, lambda state, one=directory: one in state["directories"])  # type: ignore[misc]
        check_directory(root, f"/image/byDirectory/{directory}", expected)
    check_states(image, root, known)


def check_roles(root: Directory, path: str, brokers: set[int], known: Mapping[str, State]) -> None:
    leads = chosen(known, lambda state: state["leader"] in brokers)
    follows = chosen(
        known,
        lambda state: any(one in brokers for one in state["replicas"] if one != state["leader"]),
    )
    if path and not leads and not follows and node_at(root, path) is None:
        return
    check_directory(root, f"{path}/leader", leads)
    check_directory(root, f"{path}/follower", follows)


def check_states(image: MetadataImage, root: Directory, known: Mapping[str, State]) -> None:
    active = {number for number in image.brokers if not (image.broker(number) or {}).get("fenced")}
    tests: dict[str, Callable[[State], bool]] = {
        "offline": lambda state: state["leader"] not in active,
        "withoutPreferredLeader": lambda state: state["replicas"][:1] != [state["leader"]],
    }
    for name, test in tests.items():
        node = node_at(root, f"/image/topics/byState/{name}")
        assert isinstance(node, Directory)
        found = {
            f"{topic}-{number}"
            for topic, below in node.children()
            if isinstance(below, Directory)
            for number in below.names()
        }
        assert found == chosen(known, test).keys(), name


def test_brokers_racks_and_directories_lead_to_the_same_leaf() -> None:
    root = tree_of(
        image_of(
            broker(1, "a"),
            broker(2, "b"),
            broker(3),
            TOPIC,
            partition(0, directories=[uuid(201), uuid(202)]),
            partition(10, leader=2),
            partition(2, replicas=[2, 9], isr=[2], leader=2),
        )
    )

    assert names(root, "/image/byBroker") == ["1", "2", "3", "9"]
    assert list(node_names(root, "/image/byBroker/2/leader")) == ["orders-2", "orders-10"]
    assert list(node_names(root, "/image/byBroker/9/follower")) == ["orders-2"]
    assert list(node_names(root, "/image/byBroker/3/leader")) == []
    assert node_at(root, "/image/byBroker/7") is None
    assert names(root, "/image/byRack") == ["a", "b"]
    assert list(node_names(root, "/image/byRack/b/follower")) == ["orders-0"]
    partition_0 = data(root, "/image/topics/byName/orders/0")
    assert data(root, "/image/byBroker/1/leader/orders-0") == partition_0
    assert data(root, f"/image/byDirectory/{to_text(uuid(202))}/orders-0") == partition_0
    assert node_at(root, "/image/byBroker/1/leader/orders-2") is None
    for name in ("orders", "orders-", "orders-x", "-0", "", "nope-0", "orders--0"):
        assert node_at(root, f"/image/byBroker/1/leader/{name}") is None, name


def node_names(root: Directory, path: str) -> list[str]:
    node = node_at(root, path)
    assert isinstance(node, Directory)
    return node.natural_names()


def test_topics_with_dashes_and_odd_numbers_are_found() -> None:
    twin = new_record("TopicRecord", topicId=uuid(9), name="orders-")
    other = new_record("PartitionRecord", partitionId=1, topicId=uuid(9), replicas=[1], leader=1)
    root = tree_of(image_of(TOPIC, partition(-1), partition(3), twin, other))
    leads = "/image/byBroker/1/leader"

    assert set(node_names(root, leads)) == {"orders--1", "orders-3"}
    assert data(root, f"{leads}/orders-3")["partitionId"] == 3


def test_partitions_under_min_isr_are_found_by_configurations() -> None:
    records = [TOPIC, partition(0), partition(1, isr=[1]), partition(2, isr=[], leader=-1)]
    under = "/image/topics/byState/underMinIsr"

    def found(*configs: Any) -> list[str]:
        root = tree_of(image_of(*records, *configs))
        return names(root, f"{under}/orders") if names(root, under) else []

    key = "min.insync.replicas"
    assert found() == ["2"]
    assert found(config(2, "orders", key, "2")) == ["1", "2"]
    assert found(config(2, "orders", key, "9")) == ["1", "2"]
    assert found(config(4, "", key, "2")) == ["1", "2"]
    assert found(config(4, "", key, "2"), config(2, "orders", key, "1")) == ["2"]
    assert found(config(4, "7", key, "2"), config(2, "", key, "2"), config(2, "x", key, "2")) == [
        "2"
    ]
    assert found(config(2, "orders", key, "two")) == ["2"]


def test_what_is_listed_is_all_that_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    image = image_of(broker(1), TOPIC, *(partition(number) for number in range(40)))
    root = tree_of(image)
    asked: list[object] = []
    with_role = image.fold.with_role
    monkeypatch.setattr(
        image.fold,
        "with_role",
        lambda role, brokers, topics=None: asked.append(topics) or with_role(role, brokers, topics),
    )

    node = node_at(root, "/image/byBroker/1/leader")
    assert isinstance(node, Directory)
    assert asked == []
    assert node.get("orders-7")
    assert asked == [[T]]


def test_walks_from_above_leave_views_out() -> None:
    root = tree_of(image_of(broker(1), TOPIC, partition(0)))
    image = descend(root, ["image"])
    assert isinstance(image, Directory)

    assert [name for name, _ in image.children() if name.startswith("by")] == []
    assert {"byBroker", "byRack", "byDirectory"} <= set(image.names())

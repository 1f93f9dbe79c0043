"""All views, compared with what the leaves of the tree say."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from kraftops.image.state.image import MetadataImage
from kraftops.tree.layout import tree_of
from kraftops.tree.node import Directory, Leaf, descend, json_text
from kraftops.views.registry import VIEWS
from kraftops.views.selection import in_order
from tests.helpers.logs.random_logs import log_bytes, random_log
from tests.helpers.project.json_schemas import problems
from tests.helpers.tree.reading import image_in

Rows = list[dict[str, Any]]
SEEDS = range(40)
_DEFAULTS = "DYNAMIC_DEFAULT_BROKER_CONFIG"


def rows_of(name: str, image: MetadataImage) -> Rows:
    """Return the rows of a view."""
    view = VIEWS[name]
    frame = view.frame(image, False)
    return [
        dict(zip(frame.columns, values, strict=True))
        for index in in_order(view, frame, range(frame.count))
        if (values := [get(index) for get in frame.columns.values()])
    ]


def leaves(image: MetadataImage, *path: str) -> Iterator[tuple[tuple[str, ...], Leaf]]:
    """Yield the leaves below a path, and their names below it."""

    def below(node: Any, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Leaf]]:
        if isinstance(node, Leaf):
            yield names, node
        elif isinstance(node, Directory):
            for name, child in node.children():
                yield from below(child, (*names, name))

    yield from below(descend(tree_of(image), path), ())


def last(leaf: Leaf) -> dict[str, Any]:
    """Return the columns of a leaf's last change."""
    change = leaf.last_change
    assert change
    return {
        "lastOffset": change.change.offset,
        "lastTime": change.change.timestamp,
        "inSnapshot": change.change.is_upper_bound,
    }


def by(rows: Rows, *names: str) -> Rows:
    """Return rows in the order of some columns."""
    return sorted(rows, key=lambda row: [str(row[name]) for name in names])


def min_isr(image: MetadataImage, topic: str) -> int:
    """Return the min ISR of a topic by the leaves of configurations."""
    found = {names: leaf.data for names, leaf in leaves(image, "image", "configs")}
    for owner in (f"TOPIC:{topic}", "BROKER"):
        value = found.get((owner, "min.insync.replicas"))
        if isinstance(value, str) and value.isdecimal():
            return int(value)
    return 1


def partitions(image: MetadataImage) -> Rows:
    """Return the rows of partitions by the leaves."""
    names = {str(leaf.data): one for (one, kind), leaf in _topics(image, "byName") if kind == "id"}
    every = {one: leaf.data for (one, kind), leaf in _topics(image, "byId") if kind == "name"}
    found = []
    for (topic_id, number), leaf in _topics(image, "byId"):
        if number in ("id", "name"):
            continue
        data: Any = leaf.data
        topic = names.get(topic_id, every[topic_id])
        least = min_isr(image, topic)
        isr, replicas = len(data["isr"]), len(data["replicas"])
        is_short = isr < max(min(least, replicas), 1)
        is_behind = isr < replicas - len(data["addingReplicas"])
        states = [
            ("offline", data["leader"] < 0),
            ("under-min-isr", is_short),
            ("under-replicated", is_behind),
            ("ok", True),
        ]
        found.append(
            {
                "topic": topic,
                "topicId": topic_id,
                "partition": int(number),
                "state": next(state for state, holds in states if holds),
                "leader": data["leader"],
                "preferred": next(iter(data["replicas"]), None),
                "isr": data["isr"],
                "replicas": data["replicas"],
                "minIsr": least,
                "leaderEpoch": data["leaderEpoch"],
                "partitionEpoch": data["partitionEpoch"],
                "adding": data["addingReplicas"],
                "removing": data["removingReplicas"],
                "elr": data["eligibleLeaderReplicas"],
                "lastKnownElr": data["lastKnownElr"],
                "directories": data["directories"],
                "recovery": data["leaderRecoveryState"],
                "underReplicated": is_behind,
                "underMinIsr": is_short,
                "reassigning": bool(data["addingReplicas"] or data["removingReplicas"]),
                **last(leaf),
            }
        )
    return found


def _topics(image: MetadataImage, kind: str) -> Iterator[tuple[tuple[str, ...], Leaf]]:
    return leaves(image, "image", "topics", kind)


@pytest.fixture(params=SEEDS, scope="module")
def image(request: pytest.FixtureRequest) -> MetadataImage:
    return image_in(log_bytes(random_log(Random(request.param))))


def test_partitions_are_those_of_the_tree(image: MetadataImage) -> None:
    found = rows_of("partitions", image)

    key = ("topicId", "partition")
    assert by(found, *key) == by(partitions(image), *key)


def test_topics_are_counted_from_their_partitions(image: MetadataImage) -> None:
    found = {row["topic"]: row for row in rows_of("topics", image)}

    below: dict[str, Rows] = {name: [] for name in image.topic_ids}
    ids = {str(leaf.data) for (_, kind), leaf in _topics(image, "byName") if kind == "id"}
    for row in partitions(image):
        if row["topicId"] in ids:
            below[row["topic"]].append(row)
    assert found.keys() == below.keys()
    for name, rows in below.items():
        configs = [*leaves(image, "image", "configs", f"TOPIC:{name}")]
        topic = found[name]
        assert topic["partitions"] == len(rows)
        assert topic["replication"] == min((len(row["replicas"]) for row in rows), default=None)
        assert topic["offline"] == sum(row["leader"] < 0 for row in rows)
        assert topic["underReplicated"] == sum(row["underReplicated"] for row in rows)
        assert topic["underMinIsr"] == sum(row["underMinIsr"] for row in rows)
        assert topic["minIsr"] == min_isr(image, name)
        assert topic["configs"] == len(configs)
        changes = [row["lastOffset"] for row in rows]
        made = next(leaf for one, leaf in _topics(image, "byName") if one == (name, "id"))
        assert topic["lastOffset"] == max([*changes, last(made)["lastOffset"]])


def test_brokers_are_those_of_the_tree(image: MetadataImage) -> None:
    expected = []
    placed = partitions(image)
    for (broker_id,), leaf in leaves(image, "image", "cluster", "brokers"):
        data: Any = leaf.data
        ends = [f"{one['name']}://{one['host']}:{one['port']}" for one in data["endPoints"]]
        features = [
            f"{one['name']} {one['minSupportedVersion']}-{one['maxSupportedVersion']}"
            for one in data["features"]
        ]
        expected.append(
            {
                "broker": int(broker_id),
                "state": data["state"],
                "rack": data["rack"],
                "endpoints": ends,
                "leaders": sum(row["leader"] == int(broker_id) for row in placed),
                "replicas": sum(row["replicas"].count(int(broker_id)) for row in placed),
                "directories": data["logDirs"],
                "features": features,
                "brokerEpoch": data["brokerEpoch"],
                "incarnation": data["incarnationId"],
                **last(leaf),
            }
        )

    assert rows_of("brokers", image) == sorted(expected, key=lambda row: int(row["broker"]))


def test_configs_are_those_of_the_tree(image: MetadataImage) -> None:
    found = rows_of("configs", image)

    expected = []
    for (owner, key), leaf in leaves(image, "image", "configs"):
        kind, _, name = owner.partition(":")
        expected.append({"type": kind, "name": name, "key": key, "value": leaf.data, **last(leaf)})
    sources = {(row["type"], row["name"] == ""): row.pop("source") for row in found}
    assert sources.get(("TOPIC", False), "DYNAMIC_TOPIC_CONFIG") == "DYNAMIC_TOPIC_CONFIG"
    assert sources.get(("BROKER", True), _DEFAULTS) == _DEFAULTS
    names = ("type", "name", "key")
    assert by(found, *names) == by(expected, *names)


def test_acls_are_those_of_the_tree(image: MetadataImage) -> None:
    expected = []
    for (acl_id,), leaf in leaves(image, "image", "acls", "byId"):
        data: Any = leaf.data
        expected.append(
            {
                "principal": data["principal"],
                "permission": data["permissionType"],
                "operation": data["operation"],
                "resource": data["resourceType"],
                "name": data["resourceName"],
                "pattern": data["patternType"],
                "host": data["host"],
                "id": acl_id,
                **last(leaf),
            }
        )

    assert by(rows_of("acls", image), "id") == by(expected, "id")


def test_quotas_are_those_of_the_tree(image: MetadataImage) -> None:
    expected = {
        names: (leaf.data, *last(leaf).values())
        for names, leaf in leaves(image, "image", "clientQuotas")
    }

    found = rows_of("quotas", image)

    assert {
        (row["entity"], row["key"]): (
            *(row["value"], row["lastOffset"], row["lastTime"], row["inSnapshot"]),
        )
        for row in found
    } == expected


@pytest.mark.parametrize("name", VIEWS)
def test_columns_of_a_view_are_those_of_its_rows(name: str) -> None:
    image = image_in(log_bytes(random_log(Random(1))))
    view = VIEWS[name]
    names = tuple(column.name for column in view.columns)

    frame = view.frame(image, False)
    assert set(frame.columns) == set(names)
    assert all(column.help for column in view.columns)
    for row in rows_of(name, image):
        assert problems(f"metadata-shell-{name}", json_text(row)) == []

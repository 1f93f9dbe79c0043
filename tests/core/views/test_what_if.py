"""The loss of brokers, compared with a count over the leaves of the tree."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from kraftops.errors import UsageError
from kraftops.image.state.image import MetadataImage
from kraftops.tree.layout import tree_of
from kraftops.tree.node import Directory, Leaf, descend
from kraftops.views.what_if import RESULTS, brokers_in, loss_of
from tests.helpers.logs.random_logs import log_bytes, random_log
from tests.helpers.tree.placed_replicas import TOPIC, broker, partition
from tests.helpers.tree.reading import config, image_in, image_of


@pytest.mark.parametrize(
    ("fields", "result"),
    [
        pytest.param({}, None, id="one-of-three"),
        pytest.param({"isr": [1, 2]}, "under-min-isr", id="one-of-two-in-sync"),
        pytest.param({"isr": [1]}, "offline", id="last-in-sync"),
        pytest.param({"isr": [1], "eligibleLeaderReplicas": [2]}, "last-in-sync", id="with-elr"),
        pytest.param({"isr": [1], "eligibleLeaderReplicas": [3]}, "offline", id="fenced-elr"),
        pytest.param({"replicas": [1], "isr": [1]}, "no-replica", id="only-replica"),
        pytest.param({"isr": [2], "leader": 2}, None, id="out-of-sync-already"),
        pytest.param({"isr": [2, 3], "leader": 2}, None, id="others-in-sync"),
        pytest.param({"isr": [1], "leader": -1}, "last-in-sync", id="offline-already"),
        pytest.param({"replicas": [2, 3], "isr": [2], "leader": 2}, None, id="on-others"),
    ],
)
def test_results(fields: dict[str, Any], result: str | None) -> None:
    image = image_of(
        *(broker(1), broker(2), broker(3, fenced=True)),
        *(TOPIC, partition(0, **fields), config(2, "t", "min.insync.replicas", "2")),
    )

    loss = loss_of(image, {1})

    assert [hit.result for hit in loss.hits] == ([] if result is None else [result])
    is_led = fields.get("leader", 1) == 1
    assert loss.moved == (is_led and result not in ("offline", "no-replica"))


def test_totals_contain_worse_results_but_not_what_is_offline_already() -> None:
    image = image_of(
        *(broker(1), broker(2), TOPIC),
        *(partition(0, replicas=[1], isr=[1]), partition(1, replicas=[1], isr=[], leader=-1)),
        *(partition(2, isr=[1]), partition(10, replicas=[1, 2], isr=[1])),
    )

    loss = loss_of(image, {1})

    assert {result: loss.total(result) for result in RESULTS} == {
        "no-replica": 2,
        "offline": 3,
        "last-in-sync": 3,
        "under-min-isr": 0,
    }
    assert loss.topics == [("t", 2, 3, 3, 0)]
    assert [hit.partition.number for hit in loss.hits] == [0, 1, 2, 10]
    assert loss.partitions == 4


def test_racks_have_their_brokers() -> None:
    image = image_of(broker(1, "a"), broker(2, "b"), broker(3, "a"), broker(4))

    assert brokers_in(image, ["a"]) == {1, 3}
    assert brokers_in(image, ["a", "b"]) == {1, 2, 3}
    with pytest.raises(UsageError, match="no rack 'B2'") as caught:
        brokers_in(image, ["B2"])
    assert (caught.value.hint, caught.value.exit_code) == ("perhaps b", 4)


def expected(image: MetadataImage, gone: set[int]) -> Counter[tuple[str, int, str]]:
    """Return the harmed partitions and their results, by the leaves of the tree."""
    root = tree_of(image)
    brokers: Any = descend(root, ("image", "cluster", "brokers"))
    alive = {
        int(name)
        for name, leaf in brokers.children()
        if leaf.data["state"] != "registered-fenced" and int(name) not in gone
    }
    names = descend(root, ("image", "topics", "byId"))
    assert isinstance(names, Directory)
    found: Counter[tuple[str, int, str]] = Counter()
    for _, topic in names.children():
        assert isinstance(topic, Directory)
        name = topic.get("name")
        assert isinstance(name, Leaf)
        for number, leaf in topic.children():
            if number in ("id", "name") or not isinstance(leaf, Leaf):
                continue
            data: Any = leaf.data
            least = _min_isr(root, str(name.data))
            target = [one for one in data["replicas"] if one not in data["removingReplicas"]]
            left = {*data["isr"]} - gone
            if {*data["replicas"]} <= gone:
                result = "no-replica"
            elif not gone & {*data["isr"]}:
                continue
            elif not left:
                can_lead = alive & {*data["eligibleLeaderReplicas"]} or data["leader"] < 0
                result = "last-in-sync" if can_lead else "offline"
            elif sum(one in left for one in data["isr"]) < max(min(least, len(target)), 1):
                result = "under-min-isr"
            else:
                continue
            if gone & {*data["replicas"]}:
                found[str(name.data), int(number), result] += 1
    return found


def _min_isr(root: Directory, topic: str) -> int:
    for owner in (f"TOPIC:{topic}", "BROKER"):
        leaf = descend(root, ("image", "configs", owner, "min.insync.replicas"))
        if isinstance(leaf, Leaf) and str(leaf.data).isdecimal():
            return int(str(leaf.data))
    return 1


@pytest.mark.parametrize("seed", range(40))
def test_random_states_agree_with_the_tree(seed: int) -> None:
    random = Random(seed)
    image = image_in(log_bytes(random_log(random)))
    gone = set(random.sample(range(6), random.randrange(1, 4)))

    loss = loss_of(image, gone)

    hits = Counter((*hit.partition, hit.result) for hit in loss.hits)
    assert hits == expected(image, gone)

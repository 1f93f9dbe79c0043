"""The directories of topics, by id, name and condition."""

import pytest

from kraftops.tree.layout import tree_of
from kraftops.tree.node import Directory, Leaf
from kraftops.uuids import to_text
from tests.helpers.logs.random_logs import (
    new_record,
    uuid,
)
from tests.helpers.tree.reading import TOPIC, T, data, image_of, names, node_at, partition


class TestTopics:
    def test_topics_are_by_id_and_by_name(self) -> None:
        root = tree_of(image_of(TOPIC, partition(10), partition(2), partition(-1)))

        assert names(root, "/image/topics/byId") == [to_text(T)]
        assert names(root, "/image/topics/byName") == ["orders"]
        assert names(root, "/image/topics/byName/orders") == ["-1", "10", "2", "id", "name"]
        assert data(root, "/image/topics/byName/orders/id") == to_text(T)
        assert data(root, f"/image/topics/byId/{to_text(T)}/name") == "orders"

    @pytest.mark.parametrize("name", ["2", "02", "+2", "002"])
    def test_numbers_are_read_as_java_does(self, name: str) -> None:
        root = tree_of(image_of(TOPIC, partition(2)))

        assert data(root, f"/image/topics/byName/orders/{name}")["partitionId"] == 2

    @pytest.mark.parametrize("name", ["", "x", "3", "2x", "--2", "99999999999999999999"])
    def test_other_names_have_no_node(self, name: str) -> None:
        root = tree_of(image_of(TOPIC, partition(2)))

        assert node_at(root, f"/image/topics/byName/orders/{name}") is None

    def test_shortcuts_have_what_the_leaves_have(self) -> None:
        root = tree_of(
            image_of(TOPIC, partition(10), partition(2, leader=-1, isr=[]), partition(3, isr=[1]))
        )

        for path in ("/image/topics/byName", "/image/topics/byId"):
            topics = node_at(root, path)
            assert isinstance(topics, Directory)
            assert topics.leaf_names
            for name, leaf_names in topics.leaf_names():
                topic = topics.get(name)
                assert isinstance(topic, Directory)
                assert topic.json_texts
                assert list(leaf_names) == topic.sorted_names()
                texts = dict(topic.json_texts())
                assert [*texts] == topic.natural_names()
                for leaf_name, text in texts.items():
                    leaf = topic.get(leaf_name)
                    assert isinstance(leaf, Leaf)
                    assert text == leaf.json

    def test_states_list_partitions_that_need_attention(self) -> None:
        root = tree_of(
            image_of(
                TOPIC,
                partition(0),
                partition(1, isr=[1]),
                partition(2, leader=-1, isr=[]),
                partition(3, addingReplicas=[2]),
                partition(4, removingReplicas=[1]),
                partition(5, eligibleLeaderReplicas=[2], isr=[1]),
                new_record("TopicRecord", topicId=uuid(2), name="healthy"),
            )
        )
        by_state = "/image/topics/byState"

        assert names(root, f"{by_state}/underReplicated/orders") == ["1", "2", "5"]
        assert names(root, f"{by_state}/leaderless/orders") == ["2"]
        assert names(root, f"{by_state}/reassigning/orders") == ["3", "4"]
        assert names(root, f"{by_state}/withElr/orders") == ["5"]
        assert names(root, f"{by_state}/withElr") == ["orders"]
        assert data(root, f"{by_state}/withElr/orders/5")["eligibleLeaderReplicas"] == [2]

    def test_states_are_listed_without_reading_partitions(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        full = {"replicas": [1, 2], "directories": [uuid(1), uuid(2)]}
        image = image_of(
            TOPIC,
            partition(0, **full, isr=[1, 2], leader=1),
            partition(1, **full, isr=[1], leader=1),
            partition(2, **full, isr=[1], leader=-1),
        )
        monkeypatch.setattr(image, "partition", None)
        root = tree_of(image)

        assert names(root, "/image/topics/byState/underReplicated/orders") == ["1", "2"]
        assert names(root, "/image/topics/byState/leaderless/orders") == ["2"]
        assert names(root, "/image/topics/byState/withElr") == []

    def test_states_leave_out_topics_that_lost_their_names(self) -> None:
        twin = new_record("TopicRecord", topicId=uuid(77), name="orders")
        root = tree_of(image_of(TOPIC, partition(0, leader=-1, isr=[]), twin))

        assert names(root, "/image/topics/byState/leaderless") == []

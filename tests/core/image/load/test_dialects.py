"""Logs in the dialects of KIP-631's texts are replayed."""

from collections.abc import Sequence
from typing import Any

import pytest

from kraftops.image.load.loader import Loader
from kraftops.image.replay.replay import Replay
from kraftops.image.state.image import MetadataImage
from kraftops.tree.layout import tree_of
from kraftops.tree.view import Form
from kraftops.views.registry import VIEWS
from kraftops.views.view import values_of
from tests.helpers.image.model import partition_fields, state_of
from tests.helpers.logs.random_logs import (
    ZERO,
    MetadataRecord,
    log_batches,
    log_bytes,
    new_record,
    uuid,
)
from tests.helpers.logs.segments import batches_of
from tests.helpers.tree.leaves import leaves_of

LATE, DRAFT = "kip-631", "kip-631-draft"
T = uuid(1)


def image_of(dialect: str, *records: tuple[str, dict[str, Any]]) -> MetadataImage:
    """Return the image of records, each in a batch of its own."""
    return image_in(
        dialect, *([new_record(name, dialect=dialect, **data)] for name, data in records)
    )


def image_in(dialect: str, *batches: Sequence[MetadataRecord]) -> MetadataImage:
    image = MetadataImage(dialect)
    source = image.store.add_source("memory", None)
    assert Loader(Replay(image)).add(batches_of(log_bytes(log_batches(*batches))), source, "memory")
    for form in (Form.OURS, Form.KAFKA):
        for path, leaf in leaves_of(tree_of(image, form=form, version="1")):
            assert leaf.json, path
            assert leaf.kafka_text, path
    for view in VIEWS.values():
        frame = view.frame(image, False)
        for index in range(frame.count):
            assert len([*values_of(frame, view.columns, index)]) == len(view.columns)
    return image


def partition(number: int = 0, **changes: Any) -> tuple[str, dict[str, Any]]:
    data: dict[str, Any] = {"partitionId": number, "topicId": T, "replicas": [1, 2], "isr": [1, 2]}
    return "PartitionRecord", data | {"leader": 1, "leaderEpoch": 5} | changes


def broker(number: int = 1, **changes: Any) -> tuple[str, dict[str, Any]]:
    name = "RegisterBrokerRecord"
    return name, {"brokerId": number, "brokerEpoch": 7, **changes}


def state(image: MetadataImage) -> Any:
    found = image.partition(T, 0)
    assert found
    return partition_fields(found)


class TestLateDialect:
    TOPIC = ("TopicRecord", {"topicId": T, "topicName": "a"})

    def test_broker_begins_fenced(self) -> None:
        features = [{"name": "x", "minVersion": 1, "maxVersion": 2}]
        image = image_of(LATE, broker(endPoints=None, features=features))

        found = image.broker(1)
        assert found
        assert (found["fenced"], found["endPoints"]) == (True, [])
        assert found["features"] == [
            {"name": "x", "minSupportedVersion": 1, "maxSupportedVersion": 2}
        ]

    def test_fencing_asks_the_epoch_and_takes_the_broker_out_of_isrs(self) -> None:
        fence = ("FenceBrokerRecord", {"brokerId": 1, "brokerEpoch": 7})
        wrong = ("FenceBrokerRecord", {"brokerId": 1, "brokerEpoch": 8})
        unfence = ("UnfenceBrokerRecord", {"brokerId": 1, "brokerEpoch": 7})
        before = image_of(LATE, broker(), self.TOPIC, partition(), unfence, wrong)
        after = image_of(LATE, broker(), self.TOPIC, partition(), unfence, fence)

        assert (state(before)["isr"], state(after)["isr"]) == ([1, 2], [2])
        assert [one["fenced"] for one in (before.broker(1), after.broker(1)) if one] == [
            False,
            True,
        ]
        assert state_of(before)["findings"] == [4]

    def test_partitions_change_as_they_do_now(self) -> None:
        change = ("PartitionChangeRecord", {"partitionId": 0, "topicId": T, "leader": 2})
        image = image_of(LATE, self.TOPIC, partition(), change)

        assert (state(image)["leader"], state(image)["leaderEpoch"]) == (2, 6)
        assert state(image)["directories"] == [ZERO, ZERO]
        assert not image_of(LATE, self.TOPIC, ("RemoveTopicRecord", {"topicId": T})).topics

    def test_credentials_of_a_user_replace_all_it_had(self) -> None:
        def scram(*mechanisms: int) -> tuple[str, dict[str, Any]]:
            infos = [
                {"mechanism": one, "salt": b"\1", "saltedPassword": b"\2", "iterations": one}
                for one in mechanisms
            ]
            return "UserScramCredentialRecord", {"userName": "u", "credentialInfos": infos}

        image = image_of(LATE, scram(1, 2), scram(2))
        root = tree_of(image, form=Form.KAFKA)
        texts = {path: leaf.kafka_text for path, leaf in leaves_of(root) if "/scram/" in path}

        assert texts == {
            "/image/scram/SCRAM-SHA-512/u": "ScramCredentialData(salt=01, saltedPassword=02, iterations=2)"
        }

    def test_acls_are_all_that_they_say(self) -> None:
        acl = {"resourceType": 2, "resourceName": None, "principal": "User:a", "host": "*"}
        name = "AccessControlRecord"
        image = image_of(LATE, (name, acl), (name, acl), (name, acl | {"host": "h"}))

        assert len(image.acls) == 2

    def test_all_else(self) -> None:
        image = image_of(
            LATE,
            ("ConfigRecord", {"resourceType": 2, "resourceName": "a", "name": "k", "value": "v"}),
            ("DelegationTokenRecord", {"owner": "User:o", "tokenId": "t"}),
            ("FeatureLevelRecord", {"name": "x", "minFeatureLevel": 1, "maxFeatureLevel": 3}),
            ("FailedReplicasRecord", {"brokerId": 4, "topics": []}),
            (
                "QuotaRecord",
                {
                    "entity": [{"entityType": "user", "entityName": "u"}],
                    "key": "x",
                    "value": 1.5,
                    "remove": False,
                },
            ),
            broker(),
            ("UnregisterBrokerRecord", {"brokerId": 1, "brokerEpoch": 0}),
        )

        found = state_of(image)
        assert found["configs"] == {(2, "a"): {"k": "v"}}
        assert found["tokens"]["t"]["requester"] == "User:o"
        assert found["features"] == {"x": 3}
        assert set(image.failed_replicas) == {4}
        assert found["quotas"] == {(("user", "u"),): {"x": 1.5}}
        assert not found["brokers"]
        assert not found["findings"]


class TestDrafts:
    TOPIC = ("TopicRecord", {"topicId": T, "name": "a", "deleting": False})
    BROKER = ("BrokerRecord", {"brokerId": 1, "brokerEpoch": 7, "endPoints": []})

    def test_brokers_that_are_there_are_not_fenced(self) -> None:
        found = image_of(DRAFT, self.BROKER).broker(1)

        assert found
        assert (found["fenced"], found["incarnationId"], found["features"]) == (False, ZERO, [])

    def test_isr_change_says_all(self) -> None:
        change = {"partitionId": 0, "topicId": T, "isr": [2], "leader": -1, "leaderEpoch": 3}
        image = image_of(DRAFT, self.TOPIC, partition(), ("IsrChangeRecord", change))

        found = state(image)
        assert (found["isr"], found["leader"], found["leaderEpoch"]) == ([2], -1, 3)

    def test_deleted_broker_leaves_the_isrs(self) -> None:
        gone = ("DeleteBrokerRecord", {"id": 1})
        image = image_of(DRAFT, self.BROKER, self.TOPIC, partition(), gone)

        assert not image.brokers
        assert state(image)["isr"] == [2]
        assert state(image)["replicas"] == [1, 2]

    def test_deleted_topic_goes_by_a_field_called_name(self) -> None:
        marked = ("TopicRecord", {"topicId": T, "name": "a", "deleting": True})

        assert image_of(DRAFT, self.TOPIC, marked).topics[T].is_deleting
        assert not image_of(DRAFT, self.TOPIC, ("DeleteTopicRecord", {"name": T})).topics

    def test_configurations_and_acls(self) -> None:
        acl = {"resourceType": 2, "resourceName": None, "principal": "User:a", "host": "*"}
        image = image_of(
            DRAFT,
            ("ConfigRecord", {"resourceType": 2, "resourceName": "a", "name": "k", "value": "v"}),
            ("AccessControlRecord", acl),
        )

        assert state_of(image)["configs"] == {(2, "a"): {"k": "v"}}
        assert len(image.acls) == 1

    def test_unknown_topics_and_partitions_are_found(self) -> None:
        change = {"partitionId": 3, "topicId": T}
        image = image_of(DRAFT, partition(), self.TOPIC, ("IsrChangeRecord", change))

        assert [reason for _, reason in image.record_findings] == [
            "there is no topic with this id",
            "there is no such partition",
        ]


@pytest.mark.parametrize("dialect", [LATE, DRAFT])
def test_records_of_another_dialect_are_findings(dialect: str) -> None:
    records = [new_record("TopicRecord", topicId=T, name="a"), new_record("NoOpRecord")]

    assert len(image_in(dialect, records).record_findings) == 2

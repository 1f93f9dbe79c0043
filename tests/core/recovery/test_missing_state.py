"""Names of what one state of the metadata lacks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops.recovery.missing_state import missing_state
from tests.helpers.logs.metadata_logs import records_batch, write_log
from tests.helpers.nodes.lost_quorums import broker

Record = tuple[str, Mapping[str, Any]]
TOPIC = bytes([7]) * 16


def topic(name: str, topic_id: bytes = TOPIC) -> Record:
    return "TopicRecord", {"name": name, "topicId": topic_id}


def partition(number: int, leader: int = 1) -> Record:
    data: dict[str, Any] = {
        "partitionId": number,
        "topicId": TOPIC,
        "replicas": [1, 2],
        "isr": [1],
        "removingReplicas": [],
        "addingReplicas": [],
        "leader": leader,
        "leaderRecoveryState": 0,
        "leaderEpoch": 0,
        "partitionEpoch": 0,
    }
    return "PartitionRecord", data


def acl(number: int) -> Record:
    data = {
        "id": bytes([number]) * 16,
        "resourceType": 2,
        "resourceName": "orders",
        "patternType": 3,
        "principal": "User:bob",
        "host": "*",
        "operation": 3,
        "permissionType": 3,
    }
    return "AccessControlEntryRecord", data


def config(value: str | None) -> Record:
    data = {"resourceType": 2, "resourceName": "orders", "name": "retention.ms", "value": value}
    return "ConfigRecord", data


def scram(user: str) -> Record:
    data = {
        "name": user,
        "mechanism": 1,
        "salt": b"s",
        "storedKey": b"k",
        "serverKey": b"k",
        "iterations": 4096,
    }
    return "UserScramCredentialRecord", data


def quota(value: float) -> Record:
    entity = [{"entityType": "user", "entityName": "bob"}]
    data = {"entity": entity, "key": "producer_byte_rate", "value": value, "remove": False}
    return "ClientQuotaRecord", data


def feature(name: str, level: int) -> Record:
    return "FeatureLevelRecord", {"name": name, "featureLevel": level}


def producer_ids(end: int) -> Record:
    return "ProducerIdsRecord", {"brokerId": 1, "brokerEpoch": 1, "nextProducerId": end}


ACL_TEXT = "ALLOW User:bob READ on TOPIC orders (LITERAL) from *"
BEFORE = [topic("orders"), partition(0), config("1"), quota(1.0), acl(1)]


def image(folder: Path, *more: Record) -> MetadataImage:
    batches = [records_batch(at, one) for at, one in enumerate([*BEFORE, *more])]
    return load([str(write_log(folder, {0: batches}))])


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ([], {}),
        ([topic("new", bytes([8]) * 16)], {"topics": ["new"]}),
        (
            [("RemoveTopicRecord", {"topicId": TOPIC})],
            {
                "deletedTopics": ["orders"],
                "configurations": ["TOPIC:orders retention.ms (removed)"],
            },
        ),
        ([partition(5)], {"partitions": ["orders-5"]}),
        ([partition(0, leader=2)], {"partitionStates": ["orders-0"]}),
        ([broker(4), broker(3)], {"brokers": ["3", "4"]}),
        ([config("2")], {"configurations": ["TOPIC:orders retention.ms"]}),
        ([config(None)], {"configurations": ["TOPIC:orders retention.ms (removed)"]}),
        ([quota(2.0)], {"quotas": ["user(bob) producer_byte_rate"]}),
        ([scram("alice")], {"users": ["SCRAM-SHA-256 alice"]}),
        ([acl(2)], {"acls": [ACL_TEXT]}),
        (
            [("RemoveAccessControlEntryRecord", {"id": bytes([1]) * 16})],
            {"deletedAcls": [ACL_TEXT]},
        ),
        ([producer_ids(3000)], {"producerIds": ["0 to 2999"]}),
        (
            [feature("metadata.version", 30), feature("group.version", 1)],
            {"features": ["group.version=1", "metadata.version=30"]},
        ),
    ],
)
def test_later_record_is_missing(
    tmp_path: Path, more: list[Record], found: dict[str, list[str]]
) -> None:
    chosen = image(tmp_path / "chosen")

    assert missing_state(chosen, image(tmp_path / "other", *more)) == found

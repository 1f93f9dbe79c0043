"""Records of the metadata log for tests of folds."""

from typing import Any

import pytest

from kraftops.records import metadata_numbers as types
from tests.helpers.logs.random_logs import Made, made, uuid

T, U, V = uuid(1), uuid(2), uuid(3)
D1, D2, D3, LOST = uuid(201), uuid(202), uuid(203), uuid(2)
ELR: dict[str, Any] = {"eligibleLeaderReplicas": [2], "lastKnownElr": [1]}
BEGIN, END, ABORT = (made(f"{name}TransactionRecord") for name in ("Begin", "End", "Abort"))
MARKERS = [
    pytest.param(BEGIN, types.BEGIN_TRANSACTION, id="begin"),
    pytest.param(END, types.END_TRANSACTION, id="end"),
    pytest.param(ABORT, types.ABORT_TRANSACTION, id="abort"),
]
NO_OP = made("NoOpRecord")


def topic(topic_id: bytes = T, name: str = "a") -> Made:
    return made("TopicRecord", topicId=topic_id, name=name)


def removal(topic_id: bytes = T) -> Made:
    return made("RemoveTopicRecord", topicId=topic_id)


def partition(number: int = 0, topic_id: bytes = T, **changes: Any) -> Made:
    data: dict[str, Any] = {
        "partitionId": number,
        "topicId": topic_id,
        "replicas": [1, 2],
        "isr": [1, 2],
        "leader": 1,
    }
    return made("PartitionRecord", **data | changes)


def change(number: int = 0, topic_id: bytes = T, **changes: Any) -> Made:
    return made("PartitionChangeRecord", partitionId=number, topicId=topic_id, **changes)


def clear_elr(name: str = "") -> Made:
    return made("ClearElrRecord", topicName=name)


def broker(number: int = 1, **changes: Any) -> Made:
    return made("RegisterBrokerRecord", **{"brokerId": number, "brokerEpoch": 7} | changes)


def registration_change(**changes: Any) -> Made:
    return made("BrokerRegistrationChangeRecord", brokerId=1, brokerEpoch=7, **changes)


def fence(number: int = 1) -> Made:
    return made("FenceBrokerRecord", id=number, epoch=7)


def unfence(number: int = 1) -> Made:
    return made("UnfenceBrokerRecord", id=number, epoch=7)


def config(value: str | None, key: str = "k", kind: int = 2) -> Made:
    data: dict[str, Any] = {"resourceType": kind, "resourceName": "a", "name": key, "value": value}
    return made("ConfigRecord", **data)


def quota(*, remove: bool = False) -> Made:
    entity = [{"entityType": "user", "entityName": None}]
    return made("ClientQuotaRecord", entity=entity, key="k", value=1.0, remove=remove)


def feature(level: int, name: str = "group.version") -> Made:
    return made("FeatureLevelRecord", name=name, featureLevel=level)


def scram(salt: bytes = b"x") -> Made:
    keys: dict[str, Any] = {"salt": salt, "storedKey": b"x", "serverKey": b"x"}
    return made("UserScramCredentialRecord", name="u", mechanism=1, iterations=4096, **keys)


def token() -> Made:
    return made("DelegationTokenRecord", tokenId="t")

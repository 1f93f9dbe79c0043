"""Records of the metadata log for tests of folds."""

from typing import Any

import pytest

from kraftops.records import metadata_numbers as types
from kraftops.records.kip_631 import record_reader
from kraftops.records.meaning import Unknown
from tests.helpers.logs.random_logs import MetadataRecord, new_record, uuid

T, U, V = uuid(1), uuid(2), uuid(3)
D1, D2, D3, LOST = uuid(201), uuid(202), uuid(203), uuid(2)
ELR: dict[str, Any] = {"eligibleLeaderReplicas": [2], "lastKnownElr": [1]}
BEGIN, END, ABORT = (new_record(f"{name}TransactionRecord") for name in ("Begin", "End", "Abort"))
MARKERS = [
    pytest.param(BEGIN, types.BEGIN_TRANSACTION, id="begin"),
    pytest.param(END, types.END_TRANSACTION, id="end"),
    pytest.param(ABORT, types.ABORT_TRANSACTION, id="abort"),
]
NO_OP = new_record("NoOpRecord")


def topic(topic_id: bytes = T, name: str = "a") -> MetadataRecord:
    return new_record("TopicRecord", topicId=topic_id, name=name)


def removal(topic_id: bytes = T) -> MetadataRecord:
    return new_record("RemoveTopicRecord", topicId=topic_id)


def partition(number: int = 0, topic_id: bytes = T, **changes: Any) -> MetadataRecord:
    data: dict[str, Any] = {
        "partitionId": number,
        "topicId": topic_id,
        "replicas": [1, 2],
        "isr": [1, 2],
        "leader": 1,
    }
    return new_record("PartitionRecord", **data | changes)


def change(number: int = 0, topic_id: bytes = T, **changes: Any) -> MetadataRecord:
    return new_record("PartitionChangeRecord", partitionId=number, topicId=topic_id, **changes)


def clear_elr(name: str = "") -> MetadataRecord:
    return new_record("ClearElrRecord", topicName=name)


def broker(number: int = 1, **changes: Any) -> MetadataRecord:
    return new_record("RegisterBrokerRecord", **{"brokerId": number, "brokerEpoch": 7} | changes)


def registration_change(**changes: Any) -> MetadataRecord:
    return new_record("BrokerRegistrationChangeRecord", brokerId=1, brokerEpoch=7, **changes)


def fence(number: int = 1) -> MetadataRecord:
    return new_record("FenceBrokerRecord", id=number, epoch=7)


def unfence(number: int = 1) -> MetadataRecord:
    return new_record("UnfenceBrokerRecord", id=number, epoch=7)


def config(value: str | None, key: str = "k", kind: int = 2) -> MetadataRecord:
    data: dict[str, Any] = {"resourceType": kind, "resourceName": "a", "name": key, "value": value}
    return new_record("ConfigRecord", **data)


def quota(*, remove: bool = False) -> MetadataRecord:
    entity = [{"entityType": "user", "entityName": None}]
    return new_record("ClientQuotaRecord", entity=entity, key="k", value=1.0, remove=remove)


def feature(level: int, name: str = "group.version") -> MetadataRecord:
    return new_record("FeatureLevelRecord", name=name, featureLevel=level)


def scram(salt: bytes = b"x") -> MetadataRecord:
    keys: dict[str, Any] = {"salt": salt, "storedKey": b"x", "serverKey": b"x"}
    return new_record("UserScramCredentialRecord", name="u", mechanism=1, iterations=4096, **keys)


def token() -> MetadataRecord:
    return new_record("DelegationTokenRecord", tokenId="t")


def fields_of(record: MetadataRecord, dialect: str = "kafka") -> Any:
    """Return the fields of a record as the rules of a fold take them."""
    found = record_reader(dialect)(record.value)
    assert not isinstance(found, Unknown)
    return found[1]

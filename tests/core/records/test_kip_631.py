"""Records of KIP-631's texts become Kafka's records."""

from typing import Any

import pytest

from kraftops.errors import UsageError
from kraftops.records import metadata_numbers as types
from kraftops.records.kip_631 import record_reader
from kraftops.records.meaning import LARGEST_DECODED, Unknown
from tests.helpers.logs.random_logs import ZERO, new_record, uuid

T = uuid(1)


def read(name: str, /, *, dialect: str = "kip-631", **data: Any) -> tuple[int, Any]:
    found = record_reader(dialect)(new_record(name, dialect=dialect, **data).value)
    assert not isinstance(found, Unknown)
    return found


def test_kafkas_records_stay_as_they_are() -> None:
    number, data = read("TopicRecord", dialect="kafka", name="a", topicId=T)

    assert (number, data) == (types.TOPIC, {"name": "a", "topicId": T})


@pytest.mark.parametrize(("dialect", "name"), [("kip-631", "topicName"), ("kip-631-draft", "name")])
def test_topic_has_kafkas_number_and_field_names(dialect: str, name: str) -> None:
    number, data = read("TopicRecord", dialect=dialect, topicId=T, **{name: "a"})

    assert (number, data["name"], data["topicId"]) == (types.TOPIC, "a", T)


def test_registered_broker_is_fenced_in_the_kip_alone() -> None:
    fields: dict[str, Any] = {"brokerId": 1, "brokerEpoch": 7}
    feature = {"name": "f", "minVersion": 1, "maxVersion": 2}

    number, data = read("RegisterBrokerRecord", features=[feature], **fields)
    _, draft = read("BrokerRecord", dialect="kip-631-draft", **fields)

    assert number == types.REGISTER_BROKER
    assert data["fenced"]
    assert data["features"] == [{"name": "f", "minSupportedVersion": 1, "maxSupportedVersion": 2}]
    assert (draft["fenced"], draft["features"], draft["incarnationId"]) == (False, [], ZERO)


def test_fenced_broker_leaves_the_isrs() -> None:
    number, data = read("FenceBrokerRecord", brokerId=1, brokerEpoch=7)

    assert number == types.FENCE_BROKER
    assert data == {"id": 1, "epoch": 7, "leavesIsrs": True}


def test_partition_change_of_a_draft_states_its_leader_epoch() -> None:
    fields: dict[str, Any] = {"partitionId": 3, "topicId": T, "isr": [1]}

    number, data = read(
        "IsrChangeRecord", dialect="kip-631-draft", leader=1, leaderEpoch=9, **fields
    )

    assert number == types.PARTITION_CHANGE
    assert (data["isr"], data["leader"], data["leaderEpoch"]) == ([1], 1, 9)
    assert (data["replicas"], data["leaderRecoveryState"]) == (None, -1)


def test_deleted_broker_of_a_draft_leaves_the_isrs() -> None:
    number, data = read("DeleteBrokerRecord", dialect="kip-631-draft", id=4)

    assert number == types.UNREGISTER_BROKER
    assert data == {"brokerId": 4, "brokerEpoch": -1, "leavesIsrs": True}


def test_acls_of_the_same_content_have_the_same_id() -> None:
    fields: dict[str, Any] = {"principal": "User:a", "host": "*", "operation": 3}

    one, same, other = (
        read("AccessControlRecord", resourceName=name, **fields)[1] for name in ("t", "t", "u")
    )

    assert one["id"] == same["id"] != other["id"]
    assert len(one["id"]) == 16


def test_feature_has_its_highest_level() -> None:
    number, data = read("FeatureLevelRecord", name="f", minFeatureLevel=1, maxFeatureLevel=3)

    assert (number, data["featureLevel"]) == (types.FEATURE_LEVEL, 3)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        pytest.param(None, "Error while reading frame type", id="null"),
        pytest.param(b"\1\2\0", "unknown frame type 1", id="kafkas-frame"),
        pytest.param(bytes(LARGEST_DECODED + 1), "is not decoded", id="too-large"),
    ],
)
def test_value_that_is_no_record_is_unknown(value: bytes | None, reason: str) -> None:
    found = record_reader("kip-631")(value)

    assert isinstance(found, Unknown)
    assert reason in found.reason


def test_lists_of_structs_are_left_out_unless_they_are_needed() -> None:
    endpoint = {"name": "C", "host": "h", "port": 1, "securityProtocol": 0}
    value = new_record("RegisterBrokerRecord", brokerId=1, endPoints=[endpoint]).value

    whole, short = (record_reader("kafka", whole=whole)(value) for whole in (True, False))

    assert not isinstance(whole, Unknown)
    assert not isinstance(short, Unknown)
    assert whole[1]["endPoints"] == [endpoint]
    assert not short[1]["endPoints"]


def test_unknown_dialect_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no dialect 'x'"):
        record_reader("x")

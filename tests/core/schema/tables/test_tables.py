"""Facts about the tables that can be told without Kafka's own definitions."""

import pytest

from kraftops.schema.message import Field, Versions
from tests.helpers.logs.messages import TABLES, every_version, table

METADATA = {
    0: ("RegisterBrokerRecord", 4),
    1: ("UnregisterBrokerRecord", 0),
    2: ("TopicRecord", 0),
    3: ("PartitionRecord", 2),
    4: ("ConfigRecord", 0),
    5: ("PartitionChangeRecord", 2),
    7: ("FenceBrokerRecord", 0),
    8: ("UnfenceBrokerRecord", 0),
    9: ("RemoveTopicRecord", 0),
    10: ("DelegationTokenRecord", 0),
    11: ("UserScramCredentialRecord", 0),
    12: ("FeatureLevelRecord", 0),
    14: ("ClientQuotaRecord", 0),
    15: ("ProducerIdsRecord", 0),
    17: ("BrokerRegistrationChangeRecord", 3),
    18: ("AccessControlEntryRecord", 0),
    19: ("RemoveAccessControlEntryRecord", 0),
    20: ("NoOpRecord", 0),
    21: ("ZkMigrationStateRecord", 0),
    22: ("RemoveUserScramCredentialRecord", 0),
    23: ("BeginTransactionRecord", 0),
    24: ("EndTransactionRecord", 0),
    25: ("AbortTransactionRecord", 0),
    26: ("RemoveDelegationTokenRecord", 0),
    27: ("RegisterControllerRecord", 0),
    28: ("ClearElrRecord", 0),
}


def tags(fields: tuple[Field, ...]) -> dict[str, int]:
    return {field.name: field.tag for field in fields if field.tag is not None}


def test_metadata_records_are_those_of_4_3() -> None:
    found = {
        message.key: (message.name, message.versions.last) for message in table("metadata").values()
    }

    assert found == METADATA
    assert all(message.flexible == Versions(0, None) for message in table("metadata").values())


def test_partition_changes_have_these_tags() -> None:
    change = table("metadata")["PartitionChangeRecord"]

    assert tags(change.fields) == {
        "isr": 0,
        "leader": 1,
        "replicas": 2,
        "removingReplicas": 3,
        "addingReplicas": 4,
        "leaderRecoveryState": 5,
        "eligibleLeaderReplicas": 6,
        "lastKnownElr": 7,
        "directories": 8,
    }
    defaults = {field.name: field.default for field in change.fields if field.tag is not None}
    assert (defaults.pop("leader"), defaults.pop("leaderRecoveryState")) == (-2, -1)
    assert set(defaults.values()) == {None}


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("group", {*range(9), *range(10, 18), *range(19, 24)}),
        ("transaction", {0}),
        ("share", {0, 1}),
    ],
)
def test_coordinators_have_a_key_and_a_value_of_each_type(name: str, numbers: set[int]) -> None:
    messages = list(table(name).values())

    keys = [message for message in messages if message.name.endswith("Key")]
    values = [message for message in messages if message.name.endswith("Value")]
    assert {message.key for message in keys} == numbers
    assert {message.key for message in values} == numbers
    assert len(keys) == len(values) == len(numbers)
    assert all(key.flexible is None and key.versions == Versions(0, 0) for key in keys)


@pytest.mark.parametrize(
    ("where", "name", "last", "flexible"),
    [
        ("group", "OffsetCommitValue", 4, Versions(4, None)),
        ("group", "GroupMetadataValue", 4, Versions(4, None)),
        ("group", "ConsumerGroupMetadataValue", 0, Versions(0, None)),
        ("transaction", "TransactionLogValue", 1, Versions(1, None)),
        ("share", "ShareSnapshotValue", 0, Versions(0, None)),
        ("consumer", "ConsumerProtocolSubscription", 3, None),
        ("consumer", "ConsumerProtocolAssignment", 3, None),
        ("control", "LeaderChangeMessage", 1, Versions(0, None)),
    ],
)
def test_versions(where: str, name: str, last: int, flexible: Versions | None) -> None:
    message = table(where)[name]

    assert message.versions.last == last
    assert message.flexible == flexible


def test_remote_log_records_have_these_numbers() -> None:
    assert {message.key: message.name for message in table("remote").values()} == {
        0: "RemoteLogSegmentMetadataRecord",
        1: "RemoteLogSegmentMetadataUpdateRecord",
        2: "RemotePartitionDeleteMetadataRecord",
        3: "RemoteLogSegmentMetadataSnapshotRecord",
    }


@pytest.mark.parametrize(("name", "count"), [("kip_631", 15), ("kip_631_draft", 8)])
def test_dialects_number_their_records_without_a_gap(name: str, count: int) -> None:
    assert [message.key for message in table(name).values()] == list(range(count))


def test_ports_changed_their_type_between_the_texts_of_kip_631() -> None:
    def port(name: str, record: str) -> str:
        endpoints = next(f for f in table(name)[record].fields if f.name == "endPoints")
        return next(field.type for field in endpoints.fields if field.name == "port")

    assert port("kip_631", "RegisterBrokerRecord") == "uint16"
    assert port("kip_631_draft", "BrokerRecord") == "int16"


@pytest.mark.parametrize("name", TABLES)
def test_names_are_those_of_json(name: str) -> None:
    """Fields begin with a small letter, and none is there twice."""

    def check(fields: tuple[Field, ...]) -> None:
        names = [field.name for field in fields]
        assert len(names) == len(set(names))
        assert all(field_name[0].islower() and field_name.isalnum() for field_name in names)
        for field in fields:
            assert bool(field.fields) == field.is_struct
            check(field.fields)

    for message in table(name).values():
        check(message.fields)


def test_tags_are_only_in_flexible_versions_and_unique() -> None:
    def check(fields: tuple[Field, ...], flexible: bool, version: int) -> None:
        here = [field for field in fields if field.versions.has(version)]
        numbers = [field.tag for field in here if field.tag is not None]
        assert flexible or not numbers
        assert len(numbers) == len(set(numbers))
        for field in here:
            check(field.fields, flexible, version)

    for _, message, version in every_version():
        check(message.fields, message.is_flexible(version), version)

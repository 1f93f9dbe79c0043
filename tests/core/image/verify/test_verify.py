"""States that a server would refuse are found, with their offsets, and no others."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kraftops.findings.finding import Finding
from kraftops.image.load.loading import load
from kraftops.image.state.findings import EPOCH, GAP, LATE_START, OPEN_TRANSACTION
from kraftops.image.verify.verify import verify
from tests.helpers.logs.metadata_logs import snapshot_bytes, write_log
from tests.helpers.logs.random_logs import (
    LogBatch,
    MetadataRecord,
    log_batches,
    log_bytes,
    new_record,
    uuid,
)
from tests.helpers.tools.corpus import SHELL

TOPIC = uuid(1 << 100)
DIRECTORIES = {1: uuid(1 << 101), 2: uuid(1 << 102)}
VERSION = new_record("FeatureLevelRecord", name="metadata.version", featureLevel=30)


def broker(number: int, **data: Any) -> MetadataRecord:
    given = {"logDirs": [DIRECTORIES[number]], "incarnationId": uuid(number)} | data
    return new_record("RegisterBrokerRecord", brokerId=number, brokerEpoch=number, **given)


def partition(number: int = 0, **data: Any) -> MetadataRecord:
    given = {
        "replicas": [1, 2],
        "isr": [1, 2],
        "leader": 1,
        "directories": [DIRECTORIES[1], DIRECTORIES[2]],
    } | data
    return new_record("PartitionRecord", partitionId=number, topicId=TOPIC, **given)


def topic(name: str = "orders", topic_id: bytes = TOPIC) -> MetadataRecord:
    return new_record("TopicRecord", name=name, topicId=topic_id)


CLUSTER = (VERSION, broker(1), broker(2), topic())


def found(tmp_path: Path, *records: MetadataRecord) -> list[Finding]:
    return found_in(tmp_path, log_batches(list(records)))


def found_in(tmp_path: Path, log: Sequence[LogBatch]) -> list[Finding]:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(log_bytes(log))
    return list(verify(load(path)))


def told(findings: Sequence[Finding]) -> list[tuple[int | None, str]]:
    return [(finding.place.offset, finding.text) for finding in findings]


@pytest.mark.parametrize("node", ["n332", "n391", "n431"])
def test_real_logs_have_nothing_wrong(node: str) -> None:
    directory = SHELL / "in" / node

    assert list(verify(load(directory))) == []
    for file in (directory / "__cluster_metadata-0").iterdir():
        assert list(verify(load(file))) == []


def test_sound_partitions_are_not_found(tmp_path: Path) -> None:
    lost, unassigned = uuid(2), uuid(1)

    assert (
        found(
            tmp_path,
            *CLUSTER,
            partition(0),
            partition(1, leader=-1, isr=[], eligibleLeaderReplicas=[1]),
            partition(2, isr=[1], directories=[unassigned, lost]),
            partition(3, addingReplicas=[2], directories=[]),
        )
        == []
    )


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"replicas": [], "isr": [], "leader": -1, "directories": []}, "it has no replicas"),
        (
            {"replicas": [1, 7, 8], "isr": [1], "directories": []},
            "it has replicas on brokers 7, 8, not registered",
        ),
        (
            {"replicas": [1, 1], "isr": [1], "directories": []},
            "a broker is twice among its replicas [1, 1]",
        ),
        ({"isr": [1, 7]}, "its ISR has broker 7, not among its replicas [1, 2]"),
        ({"isr": [2]}, "its leader, broker 1, is not in its ISR [2]"),
        ({"leader": -3}, "its leader is -3"),
        ({"eligibleLeaderReplicas": [7]}, "its ELR has broker 7, not among its replicas [1, 2]"),
        (
            {"addingReplicas": [7]},
            "its list of replicas to add has broker 7, not among its replicas [1, 2]",
        ),
        (
            {"directories": [DIRECTORIES[2], DIRECTORIES[2]]},
            "it is in directory AAAAQAAAAAAAAAAAAAAAAA of broker 1, which has no such directory",
        ),
        (
            {"directories": [DIRECTORIES[1], uuid(2)]},
            "broker 2 is in its ISR, and the directory there is lost",
        ),
    ],
)
def test_states_that_cannot_be_are_found(
    tmp_path: Path, state: dict[str, Any], reason: str
) -> None:
    assert told(found(tmp_path, *CLUSTER, partition(), partition(1, **state))) == [
        (5, f"partition orders-1: {reason}")
    ]


def test_leaders_that_nobody_knows_are_found(tmp_path: Path) -> None:
    assert told(found(tmp_path, *CLUSTER, partition(leader=9)))[1:] == [
        (4, "partition orders-0: its leader, broker 9, is not registered")
    ]


def test_change_that_spoils_a_state_is_the_one_that_is_named(tmp_path: Path) -> None:
    change = new_record("PartitionChangeRecord", partitionId=0, topicId=TOPIC, isr=[2])

    assert told(found(tmp_path, *CLUSTER, partition(), change)) == [
        (5, "partition orders-0: its leader, broker 1, is not in its ISR [2]")
    ]


def test_replicas_of_a_broker_that_left_are_found(tmp_path: Path) -> None:
    gone = new_record("UnregisterBrokerRecord", brokerId=2, brokerEpoch=2)

    assert told(found(tmp_path, *CLUSTER, partition(), gone)) == [
        (4, "partition orders-0: it has replicas on broker 2, not registered")
    ]


def test_records_that_cannot_apply_are_found(tmp_path: Path) -> None:
    unknown = new_record("PartitionChangeRecord", partitionId=7, topicId=TOPIC, isr=[1])
    epoch = new_record("FenceBrokerRecord", id=1, epoch=9)

    assert told(found(tmp_path, *CLUSTER, unknown, epoch)) == [
        (4, "there is no such partition"),
        (5, "broker 1 has epoch 1, not 9"),
    ]


def test_gaps_epochs_and_open_transactions_are_found(tmp_path: Path) -> None:
    log = [
        LogBatch(0, CLUSTER, epoch=3),
        LogBatch(9, [partition()], epoch=2),
        LogBatch(10, [new_record("BeginTransactionRecord")], epoch=3),
    ]

    assert [finding.code for finding in found_in(tmp_path, log)] == [
        GAP,
        EPOCH,
        OPEN_TRANSACTION,
    ]


def test_log_that_begins_late_is_not_blamed_for_what_nobody_knows(tmp_path: Path) -> None:
    write_log(tmp_path, {9: [bytes(LogBatch(9, [topic(), partition()]))]})

    assert [finding.code for finding in verify(load(tmp_path))] == [LATE_START]


def test_snapshot_without_metadata_version_is_found(tmp_path: Path) -> None:
    write_log(tmp_path, {}, {(4, 1): snapshot_bytes(bytes(LogBatch(1, [topic()])), end=2)})

    assert told(list(verify(load(tmp_path)))) == [
        (None, "there is no metadata.version: no server accepts this state")
    ]


@pytest.mark.parametrize(
    ("level", "record", "what"),
    [
        (10, new_record("UserScramCredentialRecord", name="u", mechanism=1), "SCRAM credentials"),
        (13, new_record("DelegationTokenRecord", tokenId="t", renewers=[]), "delegation tokens"),
        (
            14,
            new_record("RegisterControllerRecord", controllerId=1, endPoints=[], features=[]),
            "controller registrations",
        ),
        (16, broker(1), "log directories of brokers"),
        (29, broker(1, cordonedLogDirs=[]), "cordoned log directories"),
    ],
)
def test_what_the_metadata_version_cannot_hold_is_found(
    tmp_path: Path, level: int, record: MetadataRecord, what: str
) -> None:
    version = new_record("FeatureLevelRecord", name="metadata.version", featureLevel=level)
    enough = new_record("FeatureLevelRecord", name="metadata.version", featureLevel=level + 1)

    findings = told(found(tmp_path, version, record))

    assert [offset for offset, _ in findings] == [1]
    assert findings[0][1].startswith(f"{what} cannot be written at metadata.version")
    assert found(tmp_path, enough, record) == []


def test_features_that_nobody_knows_are_found(tmp_path: Path) -> None:
    features = [
        new_record("FeatureLevelRecord", name=name, featureLevel=level)
        for name, level in (("group.version", 1), ("group.version", 9), ("new.version", 1))
    ]

    assert told(found(tmp_path, VERSION, *features)) == [
        (2, "Kafka 4.3 does not know group.version=9"),
        (3, "Kafka 4.3 does not know new.version=1"),
    ]


def test_names_and_directories_that_two_have_are_found(tmp_path: Path) -> None:
    other = broker(2, logDirs=[DIRECTORIES[1]])

    findings = told(found(tmp_path, VERSION, broker(1), other, topic(), topic(topic_id=uuid(99))))

    assert findings == [
        (3, "there is another topic of the name orders than AAAAEAAAAAAAAAAAAAAAAA"),
        (2, "directory AAAAIAAAAAAAAAAAAAAAAA is of broker 1 and of broker 2"),
    ]

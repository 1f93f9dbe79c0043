"""The effect of each record; `test_replay` has random logs."""

from collections.abc import Sequence
from typing import Any

import pytest

from kraftops.image.load.loader import Loader
from kraftops.image.replay.replay import Replay
from kraftops.image.state.image import MetadataImage
from tests.helpers.image.model import state_of
from tests.helpers.logs.random_logs import (
    ZERO,
    MetadataRecord,
    log_batches,
    log_bytes,
    new_record,
    uuid,
)
from tests.helpers.logs.segments import batches_of

T, U = uuid(1), uuid(2)
D1, D2 = uuid(11), uuid(12)
BEGIN, END, ABORT = (new_record(f"{name}TransactionRecord") for name in ("Begin", "End", "Abort"))
NO_OP = new_record("NoOpRecord")


def image_of(*batches: Sequence[MetadataRecord]) -> MetadataImage:
    """Return the image of batches."""
    image = MetadataImage()
    source = image.store.add_source("memory", None)
    assert Loader(Replay(image)).add(batches_of(log_bytes(log_batches(*batches))), source, "memory")
    return image


def reasons(image: MetadataImage) -> dict[int, str]:
    """Return why records were left out, by offset."""
    return {image.record(at).offset: reason for at, reason in image.record_findings}


def topic(topic_id: bytes = T, name: str = "a") -> MetadataRecord:
    return new_record("TopicRecord", topicId=topic_id, name=name)


def partition(
    number: int = 0, topic_id: bytes = T, version: int = 2, **changes: Any
) -> MetadataRecord:
    data: dict[str, Any] = {
        "partitionId": number,
        "topicId": topic_id,
        "replicas": [1, 2],
        "isr": [1, 2],
        "leader": 1,
        "leaderEpoch": 5,
        "partitionEpoch": 6,
        "directories": [D1, D2],
    }
    return new_record("PartitionRecord", version, **data | changes)


def change(
    number: int = 0, topic_id: bytes = T, version: int = 2, **changes: Any
) -> MetadataRecord:
    return new_record(
        "PartitionChangeRecord", version, partitionId=number, topicId=topic_id, **changes
    )


def broker(number: int = 1, epoch: int = 7, version: int = 4, **changes: Any) -> MetadataRecord:
    data: dict[str, Any] = {
        "brokerId": number,
        "brokerEpoch": epoch,
        "fenced": True,
        "logDirs": [D1],
    }
    return new_record("RegisterBrokerRecord", version, **data | changes)


def registration_change(version: int = 3, **changes: Any) -> MetadataRecord:
    data: dict[str, Any] = {"brokerId": 1, "brokerEpoch": 7}
    return new_record("BrokerRegistrationChangeRecord", version, **data | changes)


def config(value: str | None, key: str = "k", kind: int = 2, name: str = "a") -> MetadataRecord:
    data: dict[str, Any] = {"resourceType": kind, "resourceName": name, "name": key, "value": value}
    return new_record("ConfigRecord", **data)


def removal(topic_id: bytes = T) -> MetadataRecord:
    return new_record("RemoveTopicRecord", topicId=topic_id)


class TestTopics:
    def test_same_id_again_replaces_the_topic_with_its_partitions(self) -> None:
        image = image_of([topic(), partition()], [topic(name="b")])

        assert state_of(image)["topics"] == {T: {"name": "b", "partitions": {}}}
        assert image.topic_ids == {"b": T}

    def test_changes_of_a_partition_go_with_its_topic(self) -> None:
        again = partition(leaderEpoch=0, partitionEpoch=0)
        image = image_of([topic(), partition()], [change(leader=2)], [topic(), again])

        state = state_of(image)["topics"][T]["partitions"][0]
        assert (state["leader"], state["leaderEpoch"], state["partitionEpoch"]) == (1, 0, 0)

    def test_name_is_that_of_the_topic_that_had_it_last(self) -> None:
        image = image_of([topic(T)], [topic(U)])

        assert image.topic_ids == {"a": U}
        assert set(image.topics) == {T, U}

    def test_removal_of_a_topic_leaves_a_name_that_another_has_now(self) -> None:
        image = image_of([topic(T)], [topic(U)], [removal(T)])

        assert image.topic_ids == {"a": U}
        assert set(image.topics) == {U}

    def test_removal_of_an_unknown_topic_is_left_out(self) -> None:
        assert reasons(image_of([removal()])) == {0: "there is no topic with this id"}

    def test_second_removal_in_a_batch_is_none_of_an_unknown_topic(self) -> None:
        image = image_of([topic()], [removal(), removal()], [removal()])

        assert reasons(image) == {3: "there is no topic with this id"}

    def test_removal_takes_the_configurations_that_were_there_before_the_batch(self) -> None:
        image = image_of([topic(), config("1")], [config("2"), removal(), config("3", key="new")])

        assert state_of(image)["configs"] == {(2, "a"): {"new": "3"}}

    def test_removal_leaves_configurations_that_came_in_its_batch(self) -> None:
        image = image_of([topic(), config("1"), removal()])

        assert state_of(image)["configs"] == {(2, "a"): {"k": "1"}}

    def test_second_removal_takes_configurations_again(self) -> None:
        image = image_of([topic(), config("1")], [removal(), config("2"), removal()])

        assert not image.configs


class TestPartitions:
    @pytest.mark.parametrize("record", [partition(), change()], ids=["partition", "change"])
    def test_unknown_topic_costs_that_record_alone(self, record: MetadataRecord) -> None:
        """Kafka loses the whole batch."""
        image = image_of([topic(U, "b"), record, broker()])

        assert reasons(image) == {1: "there is no topic with this id"}
        assert set(image.topics) == {U}
        assert set(image.brokers) == {1}

    def test_change_of_an_unknown_partition_is_left_out(self) -> None:
        assert reasons(image_of([topic(), change(4)])) == {1: "there is no such partition"}

    @pytest.mark.parametrize("number", [-(1 << 31), -1, 0, 3, 2000, (1 << 31) - 1])
    def test_any_number_does(self, number: int) -> None:
        image = image_of([topic(), partition(number), partition(1), change(number, leader=9)])

        partitions = state_of(image)["topics"][T]["partitions"]
        assert set(partitions) == {number, 1}
        assert partitions[number]["leader"] == 9

    @pytest.mark.parametrize(
        ("version", "directories", "expected"),
        [
            (0, None, [ZERO, ZERO]),
            (1, [], [ZERO, ZERO]),
            (2, [ZERO, ZERO], [ZERO, ZERO]),
            (2, [ZERO, D1], [ZERO, D1]),
        ],
    )
    def test_directories_that_are_not_said_are_migrating(
        self, version: int, directories: Any, expected: list[bytes]
    ) -> None:
        record = partition(version=version, directories=directories or [])

        state = state_of(image_of([topic(), record]))["topics"][T]["partitions"][0]
        assert state["directories"] == expected

    @pytest.mark.parametrize("directories", [[D1], [ZERO], [D1, D2, D1]])
    def test_directories_of_another_count_are_refused(self, directories: list[bytes]) -> None:
        image = image_of([topic(), partition(directories=directories)])

        assert reasons(image) == {1: "its directories are not as many as its replicas"}

    def test_unknown_recovery_state_is_refused(self) -> None:
        image = image_of(
            [
                topic(),
                partition(leaderRecoveryState=2),
                partition(1),
                change(1, leaderRecoveryState=7),
            ]
        )

        assert reasons(image) == {
            1: "there is no leader recovery state 2",
            3: "there is no leader recovery state 7",
        }

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            pytest.param({}, {}, id="nothing"),
            pytest.param({"leader": -2}, {}, id="kept-leader"),
            pytest.param({"leader": 1}, {"leaderEpoch": 6}, id="same-leader"),
            pytest.param({"leader": -1}, {"leader": -1, "leaderEpoch": 6}, id="no-leader"),
            pytest.param({"isr": []}, {"isr": []}, id="empty-isr"),
            pytest.param({"leaderRecoveryState": 1}, {"leaderRecoveryState": 1}, id="recovering"),
            pytest.param({"replicas": [3, 4]}, {"replicas": [3, 4]}, id="directories-by-position"),
            pytest.param(
                {"replicas": [3], "directories": [D2]},
                {"replicas": [3], "directories": [D2]},
                id="replicas-and-directories",
            ),
            pytest.param({"directories": []}, {"directories": [ZERO, ZERO]}, id="no-directories"),
            pytest.param(
                {"eligibleLeaderReplicas": [2], "lastKnownElr": [1]},
                {"eligibleLeaderReplicas": [2], "lastKnownElr": [1]},
                id="elr",
            ),
        ],
    )
    def test_change_is_merged_and_counts_an_epoch(
        self, changes: dict[str, Any], expected: dict[str, Any]
    ) -> None:
        image = image_of([topic(), partition()], [change(**changes)])

        before = state_of(image_of([topic(), partition()]))["topics"][T]["partitions"][0]
        after = state_of(image)["topics"][T]["partitions"][0]
        assert after == before | {"partitionEpoch": 7} | expected

    @pytest.mark.parametrize(
        "changes",
        [
            {"replicas": [3]},
            {"replicas": [3], "directories": [D1, D2]},
            {"replicas": [3], "directories": [ZERO, ZERO]},
            {"directories": [D1]},
        ],
    )
    def test_change_to_other_counts_is_refused(self, changes: dict[str, Any]) -> None:
        image = image_of([topic(), partition()], [change(**changes)])

        assert reasons(image) == {2: "its directories are not as many as its replicas"}

    def test_migrating_directories_follow_the_replicas(self) -> None:
        image = image_of([topic(), partition(directories=[])], [change(replicas=[1, 2, 3])])

        assert state_of(image)["topics"][T]["partitions"][0]["directories"] == [ZERO] * 3

    def test_epochs_are_ints_as_javas(self) -> None:
        most = (1 << 31) - 1
        record = partition(leaderEpoch=most, partitionEpoch=most)
        state = state_of(image_of([topic(), record, change(leader=1)]))["topics"][T]["partitions"][
            0
        ]

        assert state["leaderEpoch"] == state["partitionEpoch"] == -(1 << 31)

    def test_clear_elr_counts_an_epoch_where_there_was_any(self) -> None:
        elr: dict[str, Any] = {"eligibleLeaderReplicas": [2], "lastKnownElr": [1]}
        topics = [topic(), partition(), partition(1, **elr), topic(U, "b"), partition(0, U, **elr)]
        image = image_of(topics, [new_record("ClearElrRecord", topicName="a")])

        state = state_of(image)["topics"]
        epochs = [state[T]["partitions"][0], state[T]["partitions"][1], state[U]["partitions"][0]]
        assert [one["partitionEpoch"] for one in epochs] == [6, 7, 6]
        assert [one["eligibleLeaderReplicas"] for one in epochs] == [[], [], [2]]

    def test_clear_elr_without_a_name_is_for_all_topics(self) -> None:
        elr: dict[str, Any] = {"lastKnownElr": [1]}
        topics = [topic(), partition(**elr), topic(U, "b"), partition(0, U, **elr)]
        image = image_of([*topics, new_record("ClearElrRecord", topicName="")])

        state = state_of(image)["topics"]
        assert [state[one]["partitions"][0]["partitionEpoch"] for one in (T, U)] == [7, 7]

    def test_clear_elr_of_an_unknown_name_is_left_out(self) -> None:
        clear = new_record("ClearElrRecord", topicName="a")
        image = image_of([clear, topic()], [removal(), clear])

        assert reasons(image) == {0: "there is no topic with this name"}


class TestBrokers:
    @pytest.mark.parametrize("version", range(5))
    def test_absent_fields_have_defaults(self, version: int) -> None:
        image = image_of([broker(version=version, inControlledShutdown=True, cordonedLogDirs=[D2])])

        state = image.broker(1)
        assert state
        assert state["inControlledShutdown"] is (version >= 1)
        assert state["isMigratingZkBroker"] is False
        assert state["logDirs"] == ([D1] if version >= 3 else [])
        assert state["cordonedLogDirs"] == ([D2] if version >= 4 else None)

    def test_registration_replaces_all(self) -> None:
        image = image_of([broker(), registration_change(fenced=-1)], [broker(epoch=8, rack="r")])

        state = image.broker(1)
        assert state
        assert (state["brokerEpoch"], state["fenced"], state["rack"]) == (8, True, "r")

    def test_unregistration_asks_no_epoch_and_has_no_side_effects(self) -> None:
        gone = new_record("UnregisterBrokerRecord", brokerId=1, brokerEpoch=99)
        unknown = new_record("UnregisterBrokerRecord", brokerId=5, brokerEpoch=0)
        image = image_of(
            [broker(), topic(), partition(), config("1", kind=4, name="1"), gone, unknown]
        )

        state = state_of(image)
        assert not state["brokers"]
        assert not state["findings"]
        assert state["configs"]
        assert state["topics"][T]["partitions"][0]["isr"] == [1, 2]

    @pytest.mark.parametrize(
        "record",
        [
            new_record("FenceBrokerRecord", id=1, epoch=6),
            new_record("UnfenceBrokerRecord", id=1, epoch=8),
            registration_change(brokerEpoch=8, fenced=-1),
        ],
        ids=["fence", "unfence", "change"],
    )
    def test_wrong_epoch_and_unknown_broker_are_refused(self, record: MetadataRecord) -> None:
        image = image_of([record, broker(), record])

        assert reasons(image)[0] == "there is no broker 1"
        assert reasons(image)[2].startswith("broker 1 has epoch 7, not ")
        assert image.broker(1) == image_of([broker()]).broker(1)

    @pytest.mark.parametrize(
        ("record", "expected"),
        [
            (new_record("UnfenceBrokerRecord", id=1, epoch=7), {"fenced": False}),
            (new_record("FenceBrokerRecord", id=1, epoch=7), {"fenced": True}),
            (registration_change(), {}),
            (registration_change(fenced=-1), {"fenced": False}),
            (registration_change(fenced=1), {"fenced": True}),
            (registration_change(0, inControlledShutdown=1), {}),
            (registration_change(inControlledShutdown=1), {"inControlledShutdown": True}),
            (registration_change(logDirs=[D2]), {"logDirs": [D2]}),
            (registration_change(1, logDirs=[D2]), {}),
            (registration_change(cordonedLogDirs=[]), {"cordonedLogDirs": []}),
            (registration_change(cordonedLogDirs=[D1]), {"cordonedLogDirs": [D1]}),
        ],
    )
    def test_changes(self, record: MetadataRecord, expected: dict[str, Any]) -> None:
        before = image_of([broker()]).broker(1)
        assert before

        assert image_of([broker(), record]).broker(1) == before | expected

    @pytest.mark.parametrize("field", ["fenced", "inControlledShutdown"])
    def test_changes_to_what_there_is_not_are_refused(self, field: str) -> None:
        image = image_of([broker(), registration_change(**{field: 2})])

        assert reasons(image) == {1: f"there is no {field} 2"}

    def test_shutdown_ends_with_a_new_registration_only(self) -> None:
        image = image_of([broker(), registration_change(inControlledShutdown=-1)])

        assert reasons(image) == {1: "there is no inControlledShutdown -1"}

    def test_controller_with_an_unknown_protocol_is_refused(self) -> None:
        endpoint = {"name": "C", "host": "h", "port": 1, "securityProtocol": 4}
        bad = new_record("RegisterControllerRecord", controllerId=2, endPoints=[endpoint])
        image = image_of([new_record("RegisterControllerRecord", controllerId=1), bad])

        assert reasons(image) == {1: "there is no security protocol 4"}
        assert set(image.controllers) == {1}


def quota(key: str, value: float | None, *parts: tuple[str, str | None]) -> MetadataRecord:
    entity = [{"entityType": kind, "entityName": name} for kind, name in parts]
    return new_record(
        "ClientQuotaRecord", entity=entity, key=key, value=value or 0.0, remove=value is None
    )


class TestAllElse:
    def test_null_removes_a_configuration_and_an_empty_one_is_a_value(self) -> None:
        image = image_of([config("1"), config("1", key="l"), config(None), config("", key="m")])

        assert state_of(image)["configs"] == {(2, "a"): {"l": "1", "m": ""}}
        assert not image_of([config("1"), config(None)]).configs

    def test_quotas_are_by_entity_whatever_the_order_of_its_parts(self) -> None:
        user, client = ("user", "u"), ("client-id", None)
        image = image_of(
            [quota("x", 1.0, user, client), quota("y", 2.0, client, ("user", "v"), user)]
        )

        assert state_of(image)["quotas"] == {
            (("client-id", None), ("user", "u")): {"x": 1.0, "y": 2.0}
        }
        assert not image_of([quota("x", 1.0, user)], [quota("x", None, user)]).quotas

    def test_acls_are_by_id(self) -> None:
        acl = new_record("AccessControlEntryRecord", id=T, host="h")
        gone, unknown = (new_record("RemoveAccessControlEntryRecord", id=one) for one in (T, U))

        assert set(image_of([acl]).acls) == {T}
        assert not image_of([acl, gone]).acls
        assert reasons(image_of([acl], [gone, gone, unknown], [gone])) == {
            3: "there is no ACL with this id",
            4: "there is no ACL with this id",
        }
        assert reasons(image_of([acl, gone, gone])) == {2: "there is no ACL with this id"}

    def test_features(self) -> None:
        def level(name: str, value: int) -> MetadataRecord:
            return new_record("FeatureLevelRecord", name=name, featureLevel=value)

        levels = (("metadata.version", 7), ("kraft.version", 1), ("x", -3), ("y", 2), ("y", 0))
        wrong = (level("metadata.version", 6), level("metadata.version", 32))
        image = image_of([*(level(*one) for one in levels), *wrong])

        assert (state_of(image)["metadata.version"], state_of(image)["features"]) == (7, {"x": -3})
        assert reasons(image) == {
            5: "there is no metadata.version 6",
            6: "there is no metadata.version 32",
        }

    def test_scram_tokens_and_producer_ids(self) -> None:
        def scram(name: str, mechanism: int, user: str) -> MetadataRecord:
            return new_record(f"{name}Record", name=user, mechanism=mechanism)

        put, remove = "UserScramCredential", "RemoveUserScramCredential"
        token, other = (new_record("DelegationTokenRecord", tokenId=one) for one in "st")
        image = image_of(
            [scram(put, 1, "u"), scram(put, 2, "u"), scram(remove, 1, "u"), scram(remove, 9, "x")],
            [token, other, new_record("RemoveDelegationTokenRecord", tokenId="s")],
            [new_record("ProducerIdsRecord", nextProducerId=one) for one in (9, 3)],
        )

        state = state_of(image)
        assert set(state["scram"]) == {(2, "u")}
        assert set(state["tokens"]) == {"t"}
        assert state["producer ids"] == 3
        assert not state["findings"]

    @pytest.mark.parametrize(
        "record", [NO_OP, new_record("ZkMigrationStateRecord", zkMigrationState=-5)]
    )
    def test_nothing_moves_the_offset_on(self, record: MetadataRecord) -> None:
        state, empty = state_of(image_of([record])), state_of(MetadataImage())

        assert state.pop("provenance")[0] == 0
        assert empty.pop("provenance")[0] == -1
        assert state == empty

    @pytest.mark.parametrize(
        ("value", "reason"),
        [
            (None, "Error while reading frame version"),
            (b"\1\6\0\0", "Unknown metadata id 6"),
            (b"\2\24\0\0", "unknown frame version 2"),
            (b"\1\24\0\0\0", "1 byte(s) of garbage"),
            (b"\1\24\0\1", "Failed to deserialize record with type 20"),
            (b"\1\3\1\0", "Failed to deserialize record with type 3"),
        ],
    )
    def test_what_nobody_can_read_is_left_out(self, value: bytes | None, reason: str) -> None:
        image = image_of([topic(), MetadataRecord("", 0, {}, value), partition()])

        assert list(reasons(image)) == [1]
        assert reason in reasons(image)[1]
        assert image.fold.partition_count(T) == 1


class TestTransactions:
    def test_records_count_at_the_end(self) -> None:
        assert not image_of([BEGIN, topic()], [NO_OP]).topics
        assert image_of([BEGIN, topic()], [END]).topics
        assert image_of([BEGIN, topic(), END]).topics

    def test_aborted_records_are_gone_also_before_others_in_the_batch(self) -> None:
        """Kafka keeps them where a record follows the abort."""
        image = image_of([BEGIN, topic(), ABORT, topic(U, "b")])

        assert set(image.topics) == {U}
        assert not reasons(image)

    def test_what_is_before_the_begin_in_its_batch_counts_at_once(self) -> None:
        image = image_of([NO_OP], [topic(), BEGIN, removal()])

        assert set(image.topics) == {T}
        assert image.provenance.offset == 1

    def test_markers_out_of_order_are_left_out(self) -> None:
        image = image_of([END, ABORT, BEGIN, topic(), BEGIN, END, END])

        assert reasons(image) == {
            0: "no metadata transaction is open",
            1: "no metadata transaction is open",
            4: "a metadata transaction is open already",
            6: "no metadata transaction is open",
        }
        assert set(image.topics) == {T}

    def test_transaction_is_one_unit_over_its_batches(self) -> None:
        """Configurations that came in it are not those from before the topic's removal."""
        image = image_of([BEGIN, topic()], [config("1")], [removal(), END])

        assert image.configs
        assert not image.topics

    def test_transaction_is_a_unit_of_its_own(self) -> None:
        """Configurations from before its begin are those that a removal takes, of its batch too."""
        image = image_of([topic()], [config("1"), BEGIN, removal(), END])

        assert not image.configs

    def test_findings_of_an_aborted_transaction_are_none(self) -> None:
        assert not reasons(image_of([BEGIN, removal()], [ABORT]))
        assert reasons(image_of([BEGIN, removal()], [END])) == {1: "there is no topic with this id"}

"""Records of brokers, configurations, security and features change the tables of a state."""

from typing import Any

import pytest

from kraftops.engine.metadata_state import NewestRecord
from kraftops.engine.reference.folding import table_rules
from kraftops.engine.reference.folding.state import State, Unit
from tests.helpers.engine.fold_records import (
    broker,
    config,
    feature,
    fence,
    fields_of,
    quota,
    scram,
)
from tests.helpers.logs.random_logs import MetadataRecord, new_record, uuid

ACL = uuid(1)


@pytest.fixture
def state() -> State:
    return State("kafka", bytes)


def acl(name: str = "AccessControlEntryRecord") -> Any:
    return fields_of(new_record(name, id=ACL))


def begin_unit(state: State) -> None:
    state.unit = Unit({}, {}, {}, {})


class TestBrokers:
    def test_new_registration_forgets_the_changes_of_the_old_one(self, state: State) -> None:
        table_rules.register_broker(state, fields_of(broker()), 10)
        table_rules.fence_broker(state, fields_of(fence()), 20)
        assert state.brokers[1].entry().addresses == (10, 20)

        table_rules.register_broker(state, fields_of(broker(brokerEpoch=8)), 30)

        assert state.brokers[1].entry() == (8, (30,), NewestRecord(30, 1))

    @pytest.mark.parametrize(
        ("registered", "reason"),
        [
            pytest.param(broker(2), "there is no broker 1", id="another-broker"),
            pytest.param(broker(brokerEpoch=8), "broker 1 has epoch 8, not 7", id="another-epoch"),
        ],
    )
    def test_fencing_of_another_registration_is_refused(
        self, state: State, registered: MetadataRecord, reason: str
    ) -> None:
        table_rules.register_broker(state, fields_of(registered), 10)

        assert table_rules.fence_broker(state, fields_of(fence()), 20) == reason

        assert [one.entry().addresses for one in state.brokers.values()] == [(10,)]

    def test_broker_is_unregistered_whatever_epoch_the_record_has(self, state: State) -> None:
        table_rules.register_broker(state, fields_of(broker()), 10)

        record = new_record("UnregisterBrokerRecord", brokerId=1, brokerEpoch=99)
        table_rules.unregister_broker(state, fields_of(record), 20)

        assert not state.brokers

    def test_controller_with_an_unknown_security_protocol_is_refused(self, state: State) -> None:
        endpoint = {"name": "C", "host": "h", "port": 1, "securityProtocol": 4}
        record = new_record("RegisterControllerRecord", controllerId=1, endPoints=[endpoint])

        reason = table_rules.register_controller(state, fields_of(record), 10)

        assert reason == "there is no security protocol 4"
        assert not state.tables.controllers


class TestConfigsAndQuotas:
    def test_resource_without_keys_vanishes(self, state: State) -> None:
        for address, record in enumerate([config("v"), config("w", "l"), config(None)]):
            table_rules.put_config(state, fields_of(record), address)
        assert state.tables.configs == {(2, "a"): {"l": 1}}

        table_rules.put_config(state, fields_of(config(None, "l")), 3)

        assert state.tables.configs == {}

    def test_order_of_the_parts_of_an_entity_does_not_matter(self, state: State) -> None:
        parts: list[dict[str, Any]] = [
            {"entityType": "user", "entityName": "u"},
            {"entityType": "client-id", "entityName": None},
        ]
        for address, entity in enumerate((parts, parts[::-1])):
            record = new_record("ClientQuotaRecord", entity=entity, key="k", value=1.0)
            table_rules.put_quota(state, fields_of(record), address)

        assert state.tables.quotas == {(("client-id", None), ("user", "u")): {"k": 1}}

    def test_removed_quota_is_gone(self, state: State) -> None:
        table_rules.put_quota(state, fields_of(quota()), 1)

        table_rules.put_quota(state, fields_of(quota(remove=True)), 2)

        assert state.tables.quotas == {}


class TestSecurity:
    def test_acl_from_before_the_unit_may_be_removed_twice(self, state: State) -> None:
        table_rules.put_acl(state, acl(), 1)
        begin_unit(state)
        removal = acl("RemoveAccessControlEntryRecord")

        reasons = [table_rules.remove_acl(state, removal, address) for address in (2, 3)]
        begin_unit(state)
        reasons.append(table_rules.remove_acl(state, removal, 4))

        assert reasons == [None, None, "there is no ACL with this id"]
        assert not state.tables.acls

    def test_acl_of_the_same_unit_is_removed_once(self, state: State) -> None:
        table_rules.put_acl(state, acl(), 1)
        removal = acl("RemoveAccessControlEntryRecord")

        assert table_rules.remove_acl(state, removal, 2) is None
        assert table_rules.remove_acl(state, removal, 3) == "there is no ACL with this id"

    def test_credential_is_removed_for_its_mechanism_alone(self, state: State) -> None:
        table_rules.put_scram(state, fields_of(scram()), 1)
        removals = [
            fields_of(new_record("RemoveUserScramCredentialRecord", name="u", mechanism=mechanism))
            for mechanism in (2, 1)
        ]

        table_rules.remove_scram(state, removals[0], 2)
        assert state.tables.scram == {1: {"u": 1}}
        table_rules.remove_scram(state, removals[1], 3)
        assert state.tables.scram == {1: {}}


class TestFeatures:
    @pytest.mark.parametrize("level", [6, 32])
    def test_unknown_metadata_version_is_refused(self, state: State, level: int) -> None:
        record = fields_of(feature(level, "metadata.version"))

        assert table_rules.put_feature(state, record, 1) == f"there is no metadata.version {level}"
        assert state.tables.metadata_version is None

    def test_level_0_removes_a_feature(self, state: State) -> None:
        table_rules.put_feature(state, fields_of(feature(1)), 1)
        assert state.tables.features == {"group.version": (1, 1)}

        table_rules.put_feature(state, fields_of(feature(0)), 2)

        assert state.tables.features == {}

    def test_kraft_version_is_left_to_the_quorum(self, state: State) -> None:
        assert table_rules.put_feature(state, fields_of(feature(1, "kraft.version")), 1) is None

        assert state.tables.features == {}

"""The rules of records of all but topics, as in Kafka's `ClusterDelta` and its siblings."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, TypeVar

from kraftops.engine.metadata_state import (
    QUORUM_FEATURE,
    SECURITY_PROTOCOLS,
    VERSION_FEATURE,
    VERSION_LEVELS,
)
from kraftops.engine.reference.folding import brokers
from kraftops.engine.reference.folding.brokers import Registration
from kraftops.engine.reference.folding.state import State
from kraftops.engine.reference.folding.topic_rules import leave_isrs

if TYPE_CHECKING:
    from kraftops.records.kip_631_types import (
        AnyFenceBrokerRecord,
        AnyUnregisterBrokerRecord,
        FailedReplicasRecord,
        UserScramCredentials,
    )
    from kraftops.records.metadata_types import (
        AccessControlEntryRecord,
        BrokerRegistrationChangeRecord,
        ClientQuotaRecord,
        ConfigRecord,
        DelegationTokenRecord,
        FeatureLevelRecord,
        ProducerIdsRecord,
        RegisterBrokerRecord,
        RegisterControllerRecord,
        RemoveAccessControlEntryRecord,
        RemoveDelegationTokenRecord,
        RemoveUserScramCredentialRecord,
        UserScramCredentialRecord,
    )

K = TypeVar("K", bound=Hashable)


# Nodes


def register_broker(state: State, data: RegisterBrokerRecord, address: int) -> None:
    """Apply a RegisterBrokerRecord, which replaces the whole registration."""
    broker_id, epoch = data["brokerId"], data["brokerEpoch"]
    old = state.brokers.get(broker_id)
    state.changes.note("brokers", (broker_id,), None if old is None else old.newest, address)
    state.brokers[broker_id] = Registration(epoch, address)


def unregister_broker(state: State, data: AnyUnregisterBrokerRecord, address: int) -> None:
    """Apply an UnregisterBrokerRecord, whatever epoch it has."""
    broker_id = data["brokerId"]
    old = state.brokers.pop(broker_id, None)
    if old is not None:
        state.changes.note("brokers", (broker_id,), old.newest, None)
    if data.get("leavesIsrs"):
        leave_isrs(state, broker_id, address)


def fence_broker(state: State, data: AnyFenceBrokerRecord, address: int) -> str | None:
    """Apply a FenceBrokerRecord or an UnfenceBrokerRecord."""
    broker_id = data["id"]
    broker = _registered(state, broker_id, data["epoch"])
    if isinstance(broker, str):
        return broker
    state.changes.note("brokers", (broker_id,), broker.newest, address)
    broker.fence(address)
    if data.get("leavesIsrs"):
        leave_isrs(state, broker_id, address)
    return None


def change_broker(state: State, data: BrokerRegistrationChangeRecord, address: int) -> str | None:
    reason = brokers.refusal(data)
    if reason is not None:
        return reason
    broker_id = data["brokerId"]
    broker = _registered(state, broker_id, data["brokerEpoch"])
    if isinstance(broker, str):
        return broker
    state.changes.note("brokers", (broker_id,), broker.newest, address)
    broker.change(data, address)
    return None


def _registered(state: State, broker_id: int, epoch: int) -> Registration | str:
    broker = state.brokers.get(broker_id)
    if broker is None:
        return f"there is no broker {broker_id}"
    if broker.epoch != epoch:
        return f"broker {broker_id} has epoch {broker.epoch}, not {epoch}"
    return broker


def note_failed_replicas(state: State, data: FailedReplicasRecord, address: int) -> None:
    """Apply a FailedReplicasRecord of KIP-631."""
    broker_id = data["brokerId"]
    _put(state, "failed-replicas", state.tables.failed_replicas, broker_id, address)


def register_controller(state: State, data: RegisterControllerRecord, address: int) -> str | None:
    for endpoint in data["endPoints"]:
        if endpoint["securityProtocol"] not in SECURITY_PROTOCOLS:
            return f"there is no security protocol {endpoint['securityProtocol']}"
    controller_id = data["controllerId"]
    _put(state, "controllers", state.tables.controllers, controller_id, address)
    return None


# Configurations and quotas


def put_config(state: State, data: ConfigRecord, address: int) -> None:
    """Apply a ConfigRecord: one without a value removes its key."""
    configs = state.tables.configs
    resource = data["resourceType"], data["resourceName"]
    state.unit.configs.setdefault(resource, resource in configs)
    key = data["name"]
    before = configs.get(resource, {}).get(key)
    after = None if data["value"] is None else address
    _set(configs, resource, key, after)
    state.changes.note("configs", (*resource, key), before, after)


def put_quota(state: State, data: ClientQuotaRecord, address: int) -> None:
    """Apply a ClientQuotaRecord, or have it remove its key."""
    quotas = state.tables.quotas
    names = {part["entityType"]: part["entityName"] for part in data["entity"]}
    entity = tuple(sorted(names.items(), key=lambda part: part[0]))
    key = data["key"]
    before = quotas.get(entity, {}).get(key)
    after = None if data["remove"] else address
    _set(quotas, entity, key, after)
    state.changes.note("quotas", (entity, key), before, after)


def _set(table: dict[K, dict[str, int]], owner: K, key: str, address: int | None) -> None:
    """Set a key of a resource, or remove it; a resource without keys vanishes."""
    keys = table.setdefault(owner, {})
    if address is None:
        keys.pop(key, None)
    else:
        keys[key] = address
    if not keys:
        del table[owner]


# Security


def put_acl(state: State, data: AccessControlEntryRecord, address: int) -> None:
    acl_id, acls = data["id"], state.tables.acls
    state.unit.acls.setdefault(acl_id, acl_id in acls)
    _put(state, "acls", acls, acl_id, address)


def remove_acl(state: State, data: RemoveAccessControlEntryRecord, _address: int) -> str | None:
    """Apply a RemoveAccessControlEntryRecord: an ACL from before the unit may be removed twice."""
    acl_id, acls = data["id"], state.tables.acls
    had = state.unit.acls.setdefault(acl_id, acl_id in acls)
    if acl_id not in acls:
        return None if had else "there is no ACL with this id"
    _remove(state, "acls", acls, acl_id)
    return None


def put_scram(
    state: State, data: UserScramCredentialRecord | UserScramCredentials, address: int
) -> None:
    """Apply a UserScramCredentialRecord; in KIP-631, one has all credentials of its user."""
    scram, user = state.tables.scram, data["name"]
    if "mechanism" in data:
        _put_credential(state, data["mechanism"], user, address)
        return
    for mechanism in scram:
        _remove_credential(state, mechanism, user)
    for credential in data["credentials"]:
        _put_credential(state, credential["mechanism"], user, address)


def remove_scram(state: State, data: RemoveUserScramCredentialRecord, _address: int) -> None:
    mechanism, user = data["mechanism"], data["name"]
    if mechanism in state.tables.scram:
        _remove_credential(state, mechanism, user)


def _put_credential(state: State, mechanism: int, user: str, address: int) -> None:
    users = state.tables.scram.setdefault(mechanism, {})
    state.changes.note("scram", (mechanism, user), users.get(user), address)
    users[user] = address


def _remove_credential(state: State, mechanism: int, user: str) -> None:
    before = state.tables.scram[mechanism].pop(user, None)
    state.changes.note("scram", (mechanism, user), before, None)


def put_token(state: State, data: DelegationTokenRecord, address: int) -> None:
    _put(state, "tokens", state.tables.tokens, data["tokenId"], address)


def remove_token(state: State, data: RemoveDelegationTokenRecord, _address: int) -> None:
    _remove(state, "tokens", state.tables.tokens, data["tokenId"])


# All else


def put_feature(state: State, data: FeatureLevelRecord, address: int) -> str | None:
    """Apply a FeatureLevelRecord: level 0 removes a feature."""
    tables = state.tables
    name, level = data["name"], data["featureLevel"]
    if name == QUORUM_FEATURE:
        return None
    is_version = name == VERSION_FEATURE
    if is_version and level not in VERSION_LEVELS:
        return f"there is no metadata.version {level}"
    old = tables.metadata_version if is_version else tables.features.get(name)
    before, after = None if old is None else old[1], address if level else None
    if is_version:
        state.tables = tables._replace(metadata_version=(level, address))
    elif level:
        tables.features[name] = level, address
    else:
        tables.features.pop(name, None)
    state.changes.note("features", (name,), before, after)
    return None


def put_producer_ids(state: State, _data: ProducerIdsRecord, address: int) -> None:
    state.changes.note("producer-ids", (), state.tables.producer_ids, address)
    state.tables = state.tables._replace(producer_ids=address)


def do_nothing(_state: State, _data: object, _address: int) -> None:
    """Apply a record that has no effect on the state."""


def _put(state: State, table: str, entries: dict[K, int], key: K, address: int) -> None:
    state.changes.note(table, (key,), entries.get(key), address)
    entries[key] = address


def _remove(state: State, table: str, entries: dict[K, int], key: K) -> None:
    state.changes.note(table, (key,), entries.pop(key, None), None)

"""The text of leaves as Kafka 4.3's shell prints it, from states and records of an image."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import TYPE_CHECKING, TypedDict, TypeVar

from kraftops.engine.metadata_state import PartitionState
from kraftops.image.state.broker import BrokerState
from kraftops.image.state.changes import Provenance
from kraftops.java.dates import iso_time_text
from kraftops.java.text import sorted_strings
from kraftops.tree import names

if TYPE_CHECKING:
    from kraftops.records import metadata_types
    from kraftops.records.kip_631_types import ScramCredential

    Registration = BrokerState | metadata_types.RegisterControllerRecord
    Credential = metadata_types.UserScramCredentialRecord | ScramCredential


class _Named(TypedDict):
    name: str


Named = TypeVar("Named", bound=_Named)

_UNBOUNDED = 0x7FFF  # `Short.MAX_VALUE`, which Kafka shows as +
_HALVES = Struct(">qq")


def partition_text(state: PartitionState) -> str:
    """Return the text of `PartitionRegistration.toString`."""
    replicas, ids, isr, removing, adding, elr, last_known, leader, recovery, *epochs = state
    directories = ", ".join([names.UUIDS[directory_id] for directory_id in ids])
    return (  # most of the lists are empty
        f"PartitionRegistration(replicas={replicas}, directories=[{directories}], isr={isr}, "
        f"removingReplicas={removing or '[]'}, addingReplicas={adding or '[]'}, "
        f"elr={elr or '[]'}, lastKnownElr={last_known or '[]'}, leader={leader}, "
        f"leaderRecoveryState={names.RECOVERY_STATES[recovery]}, "
        f"leaderEpoch={epochs[0]}, partitionEpoch={epochs[1]})"
    )


def broker_text(state: BrokerState) -> str:
    """Return the text of `BrokerRegistration.toString`."""
    rack = "Optional.empty" if state["rack"] is None else f"Optional[{state['rack']}]"
    cordoned = state["cordonedLogDirs"]
    return (
        f"BrokerRegistration(id={state['brokerId']}, epoch={state['brokerEpoch']}, "
        f"incarnationId={names.UUIDS[state['incarnationId']]}, "
        f"listeners={_listeners(state)}, supportedFeatures={_features(state)}, rack={rack}, "
        f"fenced={_bool(state['fenced'])}, "
        f"inControlledShutdown={_bool(state['inControlledShutdown'])}, "
        f"isMigratingZkBroker={_bool(state['isMigratingZkBroker'])}, "
        f"directories={_directories(sorted_ids(state['logDirs']))}, "
        f"cordonedDirectories={'null' if cordoned is None else _directories(cordoned)})"
    )


def controller_text(data: metadata_types.RegisterControllerRecord) -> str:
    """Return the text of `ControllerRegistration.toString`."""
    return (
        f"ControllerRegistration(id={data['controllerId']}, "
        f"incarnationId={names.UUIDS[data['incarnationId']]}, "
        f"zkMigrationReady={_bool(data['zkMigrationReady'])}, "
        f"listeners={_listeners(data)}, supportedFeatures={_features(data)})"
    )


def acl_text(data: metadata_types.AccessControlEntryRecord) -> str:
    """Return the text of `StandardAcl.toString`."""
    return (
        f"StandardAcl[resourceType={names.code_name(names.ACL_RESOURCES, data['resourceType'])}, "
        f"resourceName={data['resourceName']}, "
        f"patternType={names.code_name(names.ACL_PATTERNS, data['patternType'])}, "
        f"principal={data['principal']}, host={data['host']}, "
        f"operation={names.code_name(names.ACL_OPERATIONS, data['operation'])}, "
        f"permissionType={names.code_name(names.ACL_PERMISSIONS, data['permissionType'])}]"
    )


def scram_text(data: Credential) -> str:
    """Return the text of `ScramCredentialDataNode`, with readable keys."""
    keys = ", ".join(f"{key}={value.hex()}" for key, value in scram_keys(data).items())
    return f"ScramCredentialData({keys}, iterations={data['iterations']})"


def scram_keys(data: Credential) -> dict[str, bytes]:
    """Return salt and keys: all fields of bytes, which differ between KIP-631 and Kafka."""
    return {key: value for key, value in data.items() if isinstance(value, bytes)}


def token_text(data: metadata_types.DelegationTokenRecord) -> str:
    """Return the text of `DelegationTokenDataNode`; its brackets do not match."""
    renewers = " ".join(data["renewers"])
    return (
        f"DelegationTokenDatatokenId={data['tokenId']}(owner={data['owner']}"
        f"(tokenRequester={data['requester']}(renewers={renewers}, "
        f"issueTimestamp={data['issueTimestamp']}, maxTimestamp={data['maxTimestamp']}), "
        f"expiryTimestamp={data['expirationTimestamp']}"
    )


def provenance_text(provenance: Provenance) -> str:
    """Return the text of `MetadataProvenance.toString`."""
    _, epoch, timestamp, counted = provenance
    return f"offset {counted}, epoch {epoch}, time {iso_time_text(timestamp)}[UTC]"


def by_name(entries: Sequence[Named]) -> list[Named]:
    """Sort entries by name; of a repeated name the last one counts, as in Kafka's maps."""
    named = {named_value["name"]: named_value for named_value in entries}
    return [named[name] for name in sorted_strings(named)]


def _listeners(data: Registration) -> str:
    return "[" + ", ".join(map(_listener, by_name(data["endPoints"]))) + "]"


def _listener(endpoint: metadata_types.BrokerEndpoint) -> str:
    code = endpoint["securityProtocol"]
    is_known = 0 <= code < len(names.SECURITY_PROTOCOLS)
    protocol = names.SECURITY_PROTOCOLS[code] if is_known else "null"
    return (
        f"Endpoint(listenerName='{endpoint['name']}', securityProtocol={protocol}, "
        f"host='{endpoint['host']}', port={endpoint['port']})"
    )


def _features(data: Registration) -> str:
    ranges = [f"{feature['name']}: {_range(feature)}" for feature in by_name(data["features"])]
    return "{" + ", ".join(ranges) + "}"


def _range(feature: metadata_types.BrokerFeature) -> str:
    first, last = feature["minSupportedVersion"], feature["maxSupportedVersion"]
    if first == last:
        return str(first)
    return f"{first}+" if last == _UNBOUNDED else f"{first}-{last}"


def sorted_ids(values: list[bytes]) -> list[bytes]:
    """Return directory ids as a registration sorts them: by their halves, as signed numbers."""
    return sorted(values, key=_HALVES.unpack)


def _directories(values: list[bytes]) -> str:
    return "[" + ", ".join(names.UUIDS[directory_id] for directory_id in values) + "]"


def _bool(value: object) -> str:
    return "true" if value else "false"

"""The text of a leaf as Kafka 4.3's shell prints it.

Each function takes a state as `kraftops.image` has it: a record's data in Kafka's field names.
"""

from __future__ import annotations

from struct import Struct
from typing import cast

from kraftops.image.image import Provenance
from kraftops.memo import Memo
from kraftops.schema.read import Data
from kraftops.tree.names import (
    ACL_OPERATIONS,
    ACL_PATTERNS,
    ACL_PERMISSIONS,
    ACL_RESOURCES,
    RECOVERY_STATES,
    SECURITY_PROTOCOLS,
    code_name,
)
from kraftops.tree.node import java_sorted
from kraftops.uuids import to_text

_UNBOUNDED = 0x7FFF
_HALVES = Struct(">qq")
_YEAR_2000 = 946_684_800_000  # ms
_CALENDAR_CYCLE = 146_097 * 86_400_000  # ms of 400 years
_UUIDS: Memo[str] = Memo(to_text)


def partition_text(state: Data) -> str:
    """Return what `PartitionRegistration.toString` does."""
    directories = ", ".join([_UUIDS[one] for one in cast("list[bytes]", state["directories"])])
    return (
        f"PartitionRegistration(replicas={state['replicas']}, directories=[{directories}], "
        f"isr={state['isr']}, removingReplicas={state['removingReplicas']}, "
        f"addingReplicas={state['addingReplicas']}, elr={state['eligibleLeaderReplicas']}, "
        f"lastKnownElr={state['lastKnownElr']}, leader={state['leader']}, "
        f"leaderRecoveryState={RECOVERY_STATES[cast('int', state['leaderRecoveryState'])]}, "
        f"leaderEpoch={state['leaderEpoch']}, partitionEpoch={state['partitionEpoch']})"
    )


def broker_text(state: Data) -> str:
    """Return what `BrokerRegistration.toString` does."""
    rack = "Optional.empty" if state["rack"] is None else f"Optional[{state['rack']}]"
    cordoned = state["cordonedLogDirs"]
    return (
        f"BrokerRegistration(id={state['brokerId']}, epoch={state['brokerEpoch']}, "
        f"incarnationId={_UUIDS[cast('bytes', state['incarnationId'])]}, "
        f"listeners={_listeners(state)}, supportedFeatures={_features(state)}, rack={rack}, "
        f"fenced={_bool(state['fenced'])}, "
        f"inControlledShutdown={_bool(state['inControlledShutdown'])}, "
        f"isMigratingZkBroker={_bool(state['isMigratingZkBroker'])}, "
        f"directories={_directories(sorted_ids(state['logDirs']))}, "
        f"cordonedDirectories={'null' if cordoned is None else _directories(cordoned)})"
    )


def controller_text(data: Data) -> str:
    """Return what `ControllerRegistration.toString` does."""
    return (
        f"ControllerRegistration(id={data['controllerId']}, "
        f"incarnationId={_UUIDS[cast('bytes', data['incarnationId'])]}, "
        f"zkMigrationReady={_bool(data['zkMigrationReady'])}, "
        f"listeners={_listeners(data)}, supportedFeatures={_features(data)})"
    )


def acl_text(data: Data) -> str:
    """Return what `StandardAcl.toString` does."""
    return (
        f"StandardAcl[resourceType={code_name(ACL_RESOURCES, data['resourceType'])}, "
        f"resourceName={data['resourceName']}, "
        f"patternType={code_name(ACL_PATTERNS, data['patternType'])}, "
        f"principal={data['principal']}, host={data['host']}, "
        f"operation={code_name(ACL_OPERATIONS, data['operation'])}, "
        f"permissionType={code_name(ACL_PERMISSIONS, data['permissionType'])}]"
    )


def scram_text(data: Data) -> str:
    """Return what `ScramCredentialDataNode` prints, keys in the clear."""
    shown = {key: cast("bytes", data[key]).hex() for key in _SCRAM_KEYS if key in data}
    keys = ", ".join(f"{key}={value}" for key, value in shown.items())
    return f"ScramCredentialData({keys}, iterations={data['iterations']})"


_SCRAM_KEYS = ("salt", "saltedPassword", "storedKey", "serverKey")


def token_text(data: Data) -> str:
    """Return what `DelegationTokenDataNode` prints; its brackets do not match."""
    renewers = " ".join(cast("list[str]", data["renewers"]))
    return (
        f"DelegationTokenDatatokenId={data['tokenId']}(owner={data['owner']}"
        f"(tokenRequester={data['requester']}(renewers={renewers}, "
        f"issueTimestamp={data['issueTimestamp']}, maxTimestamp={data['maxTimestamp']}), "
        f"expiryTimestamp={data['expirationTimestamp']}"
    )


def provenance_text(provenance: Provenance) -> str:
    """Return what `MetadataProvenance.toString` does."""
    _, epoch, timestamp, counted = provenance
    return f"offset {counted}, epoch {epoch}, time {time_text(timestamp)}[UTC]"


def time_text(timestamp: int) -> str:
    """Return ms since the epoch as Java's `ISO_ZONED_DATE_TIME` prints UTC, of any year."""
    from datetime import UTC, datetime, timedelta

    cycles, rest = divmod(timestamp - _YEAR_2000, _CALENDAR_CYCLE)
    time = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(milliseconds=rest)
    year = time.year + 400 * cycles
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    fraction = f".{time.microsecond // 1000:03}".rstrip("0").rstrip(".")
    return f"{sign}{abs(year):04}-{time:%m-%dT%H:%M:%S}{fraction}Z"


def _listeners(data: Data) -> str:
    endpoints = {cast("str", one["name"]): one for one in cast("list[Data]", data["endPoints"])}
    return "[" + ", ".join(_listener(endpoints[name]) for name in java_sorted(endpoints)) + "]"


def _listener(endpoint: Data) -> str:
    code = cast("int", endpoint["securityProtocol"])
    known = 0 <= code < len(SECURITY_PROTOCOLS)
    protocol = SECURITY_PROTOCOLS[code] if known else "null"
    return (
        f"Endpoint(listenerName='{endpoint['name']}', securityProtocol={protocol}, "
        f"host='{endpoint['host']}', port={endpoint['port']})"
    )


def _features(data: Data) -> str:
    ranges = {cast("str", one["name"]): one for one in cast("list[Data]", data["features"])}
    return "{" + ", ".join(f"{name}: {_range(ranges[name])}" for name in java_sorted(ranges)) + "}"


def _range(feature: Data) -> str:
    first, last = feature["minSupportedVersion"], feature["maxSupportedVersion"]
    if first == last:
        return str(first)
    return f"{first}+" if last == _UNBOUNDED else f"{first}-{last}"


def sorted_ids(values: object) -> list[bytes]:
    """Return directory ids as a registration sorts them: by their halves, as signed numbers."""
    return sorted(cast("list[bytes]", values), key=_HALVES.unpack)


def _directories(values: object) -> str:
    return "[" + ", ".join(_UUIDS[one] for one in cast("list[bytes]", values)) + "]"


def _bool(value: object) -> str:
    return "true" if value else "false"

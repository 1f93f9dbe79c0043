"""Records of KIP-631's texts in the shape of those that Kafka shipped, so that one replay does.

What a dialect's record says beyond the shipped one is in fields of its own: `leavesIsrs` (the
broker leaves all in-sync replicas), `leaderEpoch` of a partition change (absolute), `deleting` of a
topic, `credentials` of a user; `kraftops.records.kip_631_types` has the types. What it does not
say, and every shipped one does, has the default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kraftops.records.dialects import dialect
from kraftops.records.meaning import Unknown, refusal
from kraftops.records.metadata import read_body
from kraftops.records.metadata_numbers import (
    ACCESS_CONTROL_ENTRY,
    CONFIG,
    DELEGATION_TOKEN,
    FAILED_REPLICAS,
    FEATURE_LEVEL,
    FENCE_BROKER,
    PARTITION,
    PARTITION_CHANGE,
    REGISTER_BROKER,
    REMOVE_TOPIC,
    TOPIC,
    UNFENCE_BROKER,
    UNREGISTER_BROKER,
    USER_SCRAM_CREDENTIAL,
)
from kraftops.uuids import ZERO

if TYPE_CHECKING:
    from kraftops.records.kip_631_types import (
        AnyFenceBrokerRecord,
        AnyUnregisterBrokerRecord,
        UserScramCredentials,
    )
    from kraftops.records.metadata_types import RemoveTopicRecord, TopicRecord, UnfenceBrokerRecord

RecordReader = Callable[[bytes | None], tuple[int, Any] | Unknown]
"""A record's value to the number and data of Kafka's record; the data's type is by the number."""
KEPT_RECOVERY = -1
"""A partition change's recovery state that leaves it as it is."""
_Data = dict[str, Any]
_Shape = tuple[int, Callable[[_Data], Any]]

_NO_EPOCH = -1  # of a broker whose dialect has none: a record that names one fits


def record_reader(dialect_name: str, *, whole: bool = True) -> RecordReader:
    """Return what reads the records of a dialect, those that are not too large.

    Unless the *whole* of them is wanted, lists of structs are empty.

    Raises:
        UsageError: there is no such dialect.
    """
    spoken = dialect(dialect_name)
    shapes = _SHAPES.get(dialect_name, {})

    def read(value: bytes | None) -> tuple[int, Any] | Unknown:
        too_large = refusal(None, value)
        if too_large is not None:
            return Unknown(too_large, value)
        found = read_body(value, spoken, whole=whole)
        if isinstance(found, Unknown):
            return found
        number, _, data = found
        shape = shapes.get(number)
        return (number, data) if shape is None else (shape[0], shape[1](data))

    return read


def _same(data: _Data) -> _Data:
    return data


def _broker(data: _Data) -> _Data:
    ranges = [
        {
            "name": one["name"],
            "minSupportedVersion": one["minVersion"],
            "maxSupportedVersion": one["maxVersion"],
        }
        for one in data["features"] or []
    ]
    return data | {"endPoints": data["endPoints"] or [], "features": ranges, "fenced": True}


def _draft_broker(data: _Data) -> _Data:
    # The drafts know no fenced brokers: one that is not there has no lease.
    return data | {"incarnationId": ZERO, "features": [], "fenced": False}


def _deletion(data: _Data) -> AnyUnregisterBrokerRecord:
    return {"brokerId": data["id"], "brokerEpoch": _NO_EPOCH, "leavesIsrs": True}


def _topic(data: _Data) -> TopicRecord:
    return {"name": data["topicName"], "topicId": data["topicId"]}


def _topic_deletion(data: _Data) -> RemoveTopicRecord:
    return {"topicId": data["name"]}


def _partition(data: _Data) -> _Data:
    return data | {"leaderRecoveryState": 0, "partitionEpoch": 0}


def _partition_change(data: _Data) -> _Data:
    return data | {"leaderRecoveryState": KEPT_RECOVERY}


def _isr_change(data: _Data) -> _Data:
    # What it says is the whole of it: the leader is set and not moved on.
    lists = dict.fromkeys(("replicas", "removingReplicas", "addingReplicas"))
    return data | lists | {"leaderRecoveryState": KEPT_RECOVERY}


def _acl(data: _Data) -> _Data:
    from hashlib import md5

    # Nothing names an entry but all that it says.
    identity = repr(sorted(data.items())).encode("utf-8", "surrogatepass")
    name = data["resourceName"]
    acl_id = md5(identity, usedforsecurity=False).digest()
    return data | {"id": acl_id, "resourceName": "" if name is None else name}


def _fencing(data: _Data) -> AnyFenceBrokerRecord:
    return {"id": data["brokerId"], "epoch": data["brokerEpoch"], "leavesIsrs": True}


def _unfencing(data: _Data) -> UnfenceBrokerRecord:
    return {"id": data["brokerId"], "epoch": data["brokerEpoch"]}


def _token(data: _Data) -> _Data:
    return data | {"requester": data["owner"]}


def _scram(data: _Data) -> UserScramCredentials:
    return {"name": data["userName"], "credentials": data["credentialInfos"]}


def _feature(data: _Data) -> _Data:
    return data | {"featureLevel": data["maxFeatureLevel"]}


_SHAPES: Mapping[str, Mapping[int, _Shape]] = {
    "kip-631": {
        0: (REGISTER_BROKER, _broker),
        2: (TOPIC, _topic),
        3: (PARTITION, _partition),
        5: (PARTITION_CHANGE, _partition_change),
        6: (ACCESS_CONTROL_ENTRY, _acl),
        7: (FENCE_BROKER, _fencing),
        8: (UNFENCE_BROKER, _unfencing),
        10: (DELEGATION_TOKEN, _token),
        11: (USER_SCRAM_CREDENTIAL, _scram),
        12: (FEATURE_LEVEL, _feature),
        13: (FAILED_REPLICAS, _same),
    },
    "kip-631-draft": {
        0: (REGISTER_BROKER, _draft_broker),
        1: (TOPIC, _same),
        2: (PARTITION, _partition),
        3: (CONFIG, _same),
        4: (PARTITION_CHANGE, _isr_change),
        5: (ACCESS_CONTROL_ENTRY, _acl),
        6: (UNREGISTER_BROKER, _deletion),
        7: (REMOVE_TOPIC, _topic_deletion),
    },
}

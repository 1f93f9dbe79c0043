"""Conversion of the records of KIP-631's texts to Kafka's records, for the same replay.

Additional fields carry what Kafka's records lack: `leavesIsrs` (the broker leaves all in-sync
replicas), `leaderEpoch` of a partition change (absolute), `deleting` of a topic, `credentials` of a
user; `kraftops.records.kip_631_types` has their types. Fields that the dialect lacks have defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kraftops.records import metadata_numbers as types
from kraftops.records.dialects import dialect
from kraftops.records.meaning import Unknown, size_error
from kraftops.records.metadata import read_body
from kraftops.uuids import ZERO

if TYPE_CHECKING:
    from kraftops.records.kip_631_types import (
        AnyFenceBrokerRecord,
        AnyUnregisterBrokerRecord,
        UserScramCredentials,
    )
    from kraftops.records.metadata_types import RemoveTopicRecord, TopicRecord, UnfenceBrokerRecord

RecordReader = Callable[[bytes | None], tuple[int, Any] | Unknown]
"""A function from a record's value to the type number and the data of Kafka's record."""
UNCHANGED_RECOVERY = -1
"""The recovery state in a partition change that changes nothing."""
_Data = dict[str, Any]
_Shape = tuple[int, Callable[[_Data], Any]]

_NO_EPOCH = -1  # the dialect has no broker epochs: any epoch matches


def record_reader(dialect_name: str, *, whole: bool = True) -> RecordReader:
    """Return a reader of the records of a dialect; a record that is too large is unknown.

    Unless *whole* is set, lists of structs are empty.

    Raises:
        UsageError: there is no such dialect.
    """
    framing = dialect(dialect_name)
    shapes = _SHAPES.get(dialect_name, {})

    def read(value: bytes | None) -> tuple[int, Any] | Unknown:
        error = size_error(None, value)
        if error is not None:
            return Unknown(error, value)
        body = read_body(value, framing, whole=whole)
        if isinstance(body, Unknown):
            return body
        number, _, data = body
        shape = shapes.get(number)
        return (number, data) if shape is None else (shape[0], shape[1](data))

    return read


def _same(data: _Data) -> _Data:
    return data


def _broker(data: _Data) -> _Data:
    ranges = [
        {
            "name": feature["name"],
            "minSupportedVersion": feature["minVersion"],
            "maxSupportedVersion": feature["maxVersion"],
        }
        for feature in data["features"] or []
    ]
    return data | {"endPoints": data["endPoints"] or [], "features": ranges, "fenced": True}


def _draft_broker(data: _Data) -> _Data:
    # The drafts have no fenced brokers: a broker without a lease is not registered.
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
    return data | {"leaderRecoveryState": UNCHANGED_RECOVERY}


def _isr_change(data: _Data) -> _Data:
    # The record replaces the lists, and states the leader epoch instead of incrementing it.
    lists = dict.fromkeys(("replicas", "removingReplicas", "addingReplicas"))
    return data | lists | {"leaderRecoveryState": UNCHANGED_RECOVERY}


def _acl(data: _Data) -> _Data:
    from hashlib import md5

    # An entry has no id: its content identifies it.
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
        0: (types.REGISTER_BROKER, _broker),
        2: (types.TOPIC, _topic),
        3: (types.PARTITION, _partition),
        5: (types.PARTITION_CHANGE, _partition_change),
        6: (types.ACCESS_CONTROL_ENTRY, _acl),
        7: (types.FENCE_BROKER, _fencing),
        8: (types.UNFENCE_BROKER, _unfencing),
        10: (types.DELEGATION_TOKEN, _token),
        11: (types.USER_SCRAM_CREDENTIAL, _scram),
        12: (types.FEATURE_LEVEL, _feature),
        13: (types.FAILED_REPLICAS, _same),
    },
    "kip-631-draft": {
        0: (types.REGISTER_BROKER, _draft_broker),
        1: (types.TOPIC, _same),
        2: (types.PARTITION, _partition),
        3: (types.CONFIG, _same),
        4: (types.PARTITION_CHANGE, _isr_change),
        5: (types.ACCESS_CONTROL_ENTRY, _acl),
        6: (types.UNREGISTER_BROKER, _deletion),
        7: (types.REMOVE_TOPIC, _topic_deletion),
    },
}

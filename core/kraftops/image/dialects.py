"""Records of KIP-631's texts in the shape of those that Kafka shipped, so that one replay does.

What a dialect's record says beyond the shipped one is in fields of its own: `leavesIsrs` (the
broker leaves all in-sync replicas), `leaderEpoch` of a partition change (absolute), `deleting` of a
topic, `credentials` of a user, `failedReplicas`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kraftops.image.recordtypes import (
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
from kraftops.records.dialects import dialect
from kraftops.records.meaning import Unknown
from kraftops.records.metadata import read_body
from kraftops.schema.read import Data
from kraftops.uuids import ZERO

RecordReader = Callable[[bytes | None], tuple[int, Data] | Unknown]
"""A record's value to the number and data of Kafka's record."""
_Shape = tuple[int, Callable[[Data], Data]]

_NO_EPOCH = -1  # of a broker whose dialect has none: a record that names one fits


def record_reader(dialect_name: str) -> RecordReader:
    """Return what reads the records of a dialect.

    Raises:
        UsageError: there is no such dialect.
    """
    spoken = dialect(dialect_name)
    shapes = _SHAPES.get(dialect_name, {})

    def read(value: bytes | None) -> tuple[int, Data] | Unknown:
        found = read_body(value, spoken)
        if isinstance(found, Unknown):
            return found
        number, _, data = found
        shape = shapes.get(number)
        return (number, data) if shape is None else (shape[0], shape[1](data))

    return read


def _same(data: Data) -> Data:
    return data


def _broker(data: Data) -> Data:
    endpoints, features = data["endPoints"] or [], data["features"] or []
    assert isinstance(features, list)
    ranges = [
        {
            "name": one["name"],
            "minSupportedVersion": one["minVersion"],
            "maxSupportedVersion": one["maxVersion"],
        }
        for one in features
    ]
    return data | {"endPoints": endpoints, "features": ranges, "fenced": True}


def _draft_broker(data: Data) -> Data:
    # The drafts know no fenced brokers: one that is not there has no lease.
    return data | {"incarnationId": ZERO, "features": [], "fenced": False}


def _topic(data: Data) -> Data:
    return {"name": data["topicName"], "topicId": data["topicId"]}


def _isr_change(data: Data) -> Data:
    # What it says is the whole of it: the leader is set and not moved on.
    epoch = data["leaderEpoch"]
    return data | {"leaderEpoch": epoch, "replicas": None, "directories": None}


def _acl(data: Data) -> Data:
    from hashlib import md5

    # Nothing names an entry but all that it says.
    identity = repr(sorted(data.items())).encode("utf-8", "surrogatepass")
    name = data["resourceName"]
    acl_id = md5(identity, usedforsecurity=False).digest()
    return data | {"id": acl_id, "resourceName": "" if name is None else name}


def _fencing(data: Data) -> Data:
    return {"id": data["brokerId"], "epoch": data["brokerEpoch"], "leavesIsrs": True}


def _unfencing(data: Data) -> Data:
    return {"id": data["brokerId"], "epoch": data["brokerEpoch"]}


def _token(data: Data) -> Data:
    return data | {"requester": data["owner"]}


def _scram(data: Data) -> Data:
    return {"name": data["userName"], "credentials": data["credentialInfos"]}


def _feature(data: Data) -> Data:
    return data | {"featureLevel": data["maxFeatureLevel"]}


_SHAPES: Mapping[str, Mapping[int, _Shape]] = {
    "kip-631": {
        0: (REGISTER_BROKER, _broker),
        2: (TOPIC, _topic),
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
        2: (PARTITION, _same),
        3: (CONFIG, _same),
        4: (PARTITION_CHANGE, _isr_change),
        5: (ACCESS_CONTROL_ENTRY, _acl),
        6: (
            UNREGISTER_BROKER,
            lambda data: {"brokerId": data["id"], "brokerEpoch": _NO_EPOCH, "leavesIsrs": True},
        ),
        7: (REMOVE_TOPIC, lambda data: {"topicId": data["name"]}),
    },
}

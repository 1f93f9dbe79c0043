import subprocess
import sys

import pytest

from kraftops.errors import DecodeError
from kraftops.wire.net.codec import decode_answer, definition, encode_request
from tests.helpers.wire.peers import answer

OF_OURS = ("AddRaftVoterRequest", "AddRaftVoterResponse", "FetchSnapshotRequest",
           "FetchSnapshotResponse", "RemoveRaftVoterRequest", "RemoveRaftVoterResponse",
           "UnregisterBrokerRequest", "UnregisterBrokerResponse")  # fmt: skip


def test_request_is_framed_with_its_header() -> None:
    frame = encode_request("UnregisterBroker", 0, 9, "me", {"broker_id": 102})

    assert frame.hex(" ") == (
        "00 00 00 12  00 40 00 00  00 00 00 09  00 02 6d 65  00  00 00 00 66  00".replace("  ", " ")
    )


def test_request_of_old_versions_has_no_tags() -> None:
    frame = encode_request("SaslHandshake", 1, 1, "", {"mechanism": "PLAIN"})

    assert frame[4:].hex() == "0011000100000001" + "0000" + "0005" + b"PLAIN".hex()


def test_fetch_shows_no_replica_id() -> None:
    """A controller lists the sender of an id as an observer."""
    frame = encode_request("Fetch", 18, 1, "", {"topics": []})

    body = definition("FetchRequest").encode(18, {"topics": []})
    assert frame.endswith(body)
    assert body.endswith(b"\x01\x01\x01\x00")  # no topics, none forgotten, no rack, no tags


@pytest.mark.parametrize("name", OF_OURS)
def test_our_definitions_load(name: str) -> None:
    assert definition(name).key in (59, 64, 80, 81)


def test_snapshot_answer_is_encoded_and_decoded() -> None:
    partition = {
        "index": 0, "error_code": 0, "snapshot_id": {"end_offset": 7, "epoch": 2},
        "size": 5, "position": 0, "unaligned_records": b"12345",
        "current_leader": {"leader_id": 3, "leader_epoch": 4},
    }  # fmt: skip
    frame = answer("FetchSnapshot", 0, 4, topics=[{"name": "t", "partitions": [partition]}])

    found = decode_answer("FetchSnapshot", 0, 4, frame[4:]).topics[0].partitions[0]

    assert (found.size, found.unaligned_records, found.snapshot_id.end_offset) == (5, b"12345", 7)
    assert (found.current_leader.leader_id, found.current_leader.leader_epoch) == (3, 4)


def test_null_in_a_non_nullable_field_is_refused() -> None:
    whole = answer("DescribeCluster", 2, 7, cluster_id="x", brokers=[])[4:]
    assert decode_answer("DescribeCluster", 2, 7, whole).brokers == []
    cluster_id, brokers = b"\x02x", b"\xff\xff\xff\xff\x01"  # behind the controller

    for part, null in ((cluster_id, b"\x00"), (brokers, b"\xff\xff\xff\xff\x00")):
        payload = whole.replace(part, null)
        assert payload != whole
        with pytest.raises(DecodeError, match="an answer to DescribeCluster that cannot be read"):
            decode_answer("DescribeCluster", 2, 7, payload)


def test_kafka_consumer_still_works_after_an_import_of_ours() -> None:
    """A program that imports kraftops may use KafkaConsumer, before and after."""
    program = """
from kraftops.wire.net.codec import encode_request, decode_answer, definition
encode_request("ApiVersions", 3, 1, "x", {})
definition("ApiVersionsResponse"), definition("FetchResponse")
from kafka import KafkaConsumer, KafkaAdminClient
from kafka.protocol.api_header import ResponseClassRegistry as registry
from kafka.protocol.metadata import ApiVersionsResponse
assert registry._response_class_registry[18].__module__ == ApiVersionsResponse.__module__
encode_request("Fetch", 17, 1, "x", {})
"""
    subprocess.run([sys.executable, "-c", program], check=True)

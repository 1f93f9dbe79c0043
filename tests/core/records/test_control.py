"""Control records."""

import struct

import pytest

from kraftops.errors import DecodeError, Underflow
from kraftops.records.control import control_text, control_type, control_type_name, decode
from kraftops.records.meaning import LARGEST_DECODED, Decoded, Unknown
from kraftops.schema.compile import compiled
from tests.helpers.logs.messages import Data, table

ZERO = "AAAAAAAAAAAAAAAAAAAAAA"


def key(kind: int, version: int = 0) -> bytes:
    return struct.pack(">hh", version, kind)


def value(name: str, data: Data, version: int = 0) -> bytes:
    return compiled(table("control")[name], version).write(data)


VOTER = {
    "voterId": 1,
    "endpoints": [{"name": "C", "host": "h", "port": 65535}],
    "kRaftVersionFeature": {"minSupportedVersion": 0, "maxSupportedVersion": 1},
}


@pytest.mark.parametrize(
    ("kind", "raw", "text"),
    [
        pytest.param(0, b"\0\0\0\0\0\x08", "endTxnMarker: ABORT coordinatorEpoch: 8", id="abort"),
        pytest.param(
            1, b"\0\0\xff\xff\xff\xff", "endTxnMarker: COMMIT coordinatorEpoch: -1", id="commit"
        ),
        pytest.param(
            1, b"\0\5\0\0\0\7rest", "endTxnMarker: COMMIT coordinatorEpoch: 7", id="newer marker"
        ),
        pytest.param(
            2,
            value("LeaderChangeMessage", {"leaderId": 1, "voters": [{"voterId": 1}]}),
            'LeaderChange: {"version":0,"leaderId":1,"voters":[{"voterId":1}],"grantingVoters":[]}',
            id="leader change",
        ),
        pytest.param(
            2,
            value("LeaderChangeMessage", {"version": 1, "voters": [{"voterId": 1}]}),
            f'LeaderChange: {{"version":1,"leaderId":0,"voters":[{{"voterId":1,'
            f'"voterDirectoryId":"{ZERO}"}}],"grantingVoters":[]}}',
            id="leader change that says version 1",
        ),
        pytest.param(
            3,
            value("SnapshotHeaderRecord", {"lastContainedLogTimestamp": 99}),
            'SnapshotHeader {"version":0,"lastContainedLogTimestamp":99}',
            id="snapshot header",
        ),
        pytest.param(
            4, value("SnapshotFooterRecord", {}), 'SnapshotFooter {"version":0}', id="footer"
        ),
        pytest.param(
            5,
            value("KRaftVersionRecord", {"kRaftVersion": 1}),
            'KRaftVersion {"version":0,"kRaftVersion":1}',
            id="kraft version",
        ),
        pytest.param(
            6,
            value("VotersRecord", {"voters": [VOTER]}),
            f'KRaftVoters {{"version":0,"voters":[{{"voterId":1,"voterDirectoryId":"{ZERO}",'
            '"endpoints":[{"name":"C","host":"h","port":65535}],"kRaftVersionFeature":'
            '{"minSupportedVersion":0,"maxSupportedVersion":1}}]}',
            id="voters",
        ),
        pytest.param(77, b"", "controlType: UNKNOWN(77)", id="unknown"),
        pytest.param(-1, b"", "controlType: UNKNOWN(-1)", id="negative"),
    ],
)
def test_text(kind: int, raw: bytes, text: str) -> None:
    assert control_text(key(kind), raw) == text


def test_unknown_type_needs_no_value() -> None:
    assert control_text(key(9), None) == "controlType: UNKNOWN(9)"


def test_longer_and_newer_keys_are_understood() -> None:
    assert control_type(key(5) + b"more") == 5
    assert control_type(key(5, version=3)) == 5


@pytest.mark.parametrize(
    ("raw_key", "raw_value"),
    [
        pytest.param(None, b"\0\0\0\0\0\0", id="null key"),
        pytest.param(b"\0\0\0", b"\0\0\0\0\0\0", id="short key"),
        pytest.param(key(1, version=-1), b"\0\0\0\0\0\0", id="key of a negative version"),
        pytest.param(key(1), None, id="null value"),
        pytest.param(key(1), b"", id="empty value"),
        pytest.param(key(1), b"\0", id="version cut short"),
        pytest.param(key(1), b"\0\0\0\0\0", id="marker cut short"),
        pytest.param(key(1), b"\xff\xff\0\0\0\0", id="marker of a negative version"),
        pytest.param(key(3), b"\0\0\0", id="header cut short"),
        pytest.param(key(2), b"\0\0\0\0\0\1\x7f", id="voters that are not there"),
    ],
)
def test_damage_is_an_error(raw_key: bytes | None, raw_value: bytes | None) -> None:
    with pytest.raises(DecodeError):
        control_text(raw_key, raw_value)


def test_every_cut_of_a_value_is_an_error() -> None:
    raw = value("VotersRecord", {"voters": [VOTER]})
    for cut in range(len(raw)):
        with pytest.raises(DecodeError):
            control_text(key(6), raw[:cut])


def test_bytes_behind_a_value_do_not_count() -> None:
    raw = value("SnapshotFooterRecord", {}) + b"more"

    assert control_text(key(4), raw) == 'SnapshotFooter {"version":0}'


def test_short_key_is_an_underflow() -> None:
    with pytest.raises(Underflow):
        control_type(b"\0")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *enumerate(["ABORT", "COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER"]),
        *[(5, "KRAFT_VERSION"), (6, "KRAFT_VOTERS"), (7, "UNKNOWN(7)"), (-1, "UNKNOWN(-1)")],
    ],
)
def test_type_has_kafkas_name(kind: int, name: str) -> None:
    assert control_type_name(key(kind)) == name


@pytest.mark.parametrize("kind", [-1, 7, 77])
def test_record_of_an_unknown_type_is_unknown(kind: int) -> None:
    found = decode(key(kind), bytes(6))

    assert isinstance(found, Unknown)
    assert found.reason == f"unknown control record type {kind}"


@pytest.mark.parametrize("version", [0, 1, 256, 0x7FFF, -1])
def test_marker_of_any_version_is_decoded_as_the_first(version: int) -> None:
    raw = struct.pack(">hi", version, 8)

    assert decode(key(0), raw) == Decoded("ABORT", version, {"coordinatorEpoch": 8})


@pytest.mark.parametrize("version", [1, 256])
def test_leader_change_of_a_newer_version_is_decoded_as_the_newest_known(version: int) -> None:
    voter = {"voterId": 1, "voterDirectoryId": bytes(range(16))}
    data = {"version": version, "leaderId": 1, "voters": [voter], "grantingVoters": []}

    found = decode(key(2), value("LeaderChangeMessage", data, version=1))

    assert found == Decoded("LEADER_CHANGE", version, data)


@pytest.mark.parametrize("raw", [None, b"\0", b"\0\0\0\0\0"])
def test_value_that_is_not_whole_is_unknown(raw: bytes | None) -> None:
    assert isinstance(decode(key(0), raw), Unknown)
    assert isinstance(decode(key(6), raw), Unknown)


def test_record_that_is_too_large_is_unknown() -> None:
    raw = value("SnapshotFooterRecord", {})
    largest = raw + bytes(LARGEST_DECODED - len(raw) - len(key(4)))

    assert isinstance(decode(key(4), largest), Decoded)
    found = decode(key(4), largest + b"\0")

    assert isinstance(found, Unknown)
    assert found.reason == "a record of 8388609 bytes is not decoded, only up to 8388608"


def test_voters_are_left_out_where_nobody_looks_at_them() -> None:
    raw = value("VotersRecord", {"voters": [VOTER]})

    whole, outline = decode(key(6), raw), decode(key(6), raw, whole=False)

    assert isinstance(whole, Decoded)
    assert isinstance(outline, Decoded)
    assert outline == whole._replace(data={**whole.data, "voters": []})

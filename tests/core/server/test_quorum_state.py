"""A quorum-state that Kafka refuses is found, and no other."""

import json
from pathlib import Path

import pytest

from kraftops.server.quorum_state import leader_epoch, problem

STATIC = {
    "clusterId": "",
    "leaderId": 1,
    "leaderEpoch": 1,
    "votedId": -1,
    "appliedOffset": 0,
    "currentVoters": [{"voterId": 1}],
    "data_version": 0,
}
DYNAMIC = {
    "leaderId": 1,
    "leaderEpoch": 1,
    "votedId": -1,
    "votedDirectoryId": "AAAAAAAAAAAAAAAAAAAAAA",
    "data_version": 1,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "quorum-state"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps(STATIC), id="static"),
        pytest.param(json.dumps(DYNAMIC), id="dynamic"),
        pytest.param(json.dumps({**STATIC, "more": 1, "currentVoters": None}), id="unknown key"),
        pytest.param(json.dumps({**STATIC, "data_version": "x"}), id="text for version 0"),
        pytest.param(json.dumps(STATIC) + "rest", id="rest of the line"),
        pytest.param(json.dumps(STATIC) + "\nmore", id="second line"),
    ],
)
def test_good_file_is_accepted(path: Path, text: str) -> None:
    path.write_text(text)

    assert problem(str(path)) is None


def test_missing_file_is_not_refused(path: Path) -> None:
    assert problem(str(path)) is None


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "it is not JSON"),
        (b"\n{}", "it is not JSON"),
        (b"hello", "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        (b"\xff", "it is not JSON"),
        (b"[]", "it is not a JSON object with a data_version"),
        (b"{}", "it is not a JSON object with a data_version"),
        (b'{"data_version":2}', "its data_version is 2, Kafka 4.3 reads 0 and 1"),
        (b'{"data_version":0}', "it has no leaderId"),
        (json.dumps({**STATIC, "leaderEpoch": "x"}).encode(), "its leaderEpoch is not a number"),
        (json.dumps({**STATIC, "clusterId": 1}).encode(), "its clusterId is not text"),
        (
            json.dumps({**STATIC, "leaderEpoch": 2147483647}).encode(),
            "its leaderEpoch 2147483647 has none after it",
        ),
    ],
)
def test_bad_file_is_refused_as_by_kafka(path: Path, data: bytes, expected: str) -> None:
    path.write_bytes(data)

    assert problem(str(path)) == expected


def test_invalid_directory_id_is_refused(path: Path) -> None:
    path.write_text(json.dumps({**DYNAMIC, "votedDirectoryId": "AAAA"}))

    found = problem(str(path))

    assert found
    assert found.startswith("its votedDirectoryId: Input string `AAAA` decoded as 3 bytes")


def test_directory_in_its_place(path: Path) -> None:
    path.mkdir()

    assert problem(str(path)) == "cannot read it: Is a directory"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (json.dumps({**DYNAMIC, "leaderEpoch": 7}), 7),
        (json.dumps({**DYNAMIC, "leaderEpoch": 7}) + "\n{}", 7),
        (json.dumps({**DYNAMIC, "leaderEpoch": 99_999_999_999}), None),
        (json.dumps({**DYNAMIC, "leaderEpoch": None}), None),
        ("{", None),
    ],
)
def test_leader_epoch(path: Path, data: str, expected: int | None) -> None:
    assert leader_epoch(str(path)) == 0

    path.write_text(data)

    assert leader_epoch(str(path)) == expected

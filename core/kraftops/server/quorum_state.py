"""File quorum-state of a metadata directory: the vote of a controller (KIP-595, KIP-853)."""

import json
from typing import Any

from kraftops.errors import DecodeError
from kraftops.fileio.reading import read_small
from kraftops.uuids import from_text

FILE_NAME = "quorum-state"

_LAST_EPOCH = 0x7FFFFFFF  # an int in Kafka
_INTS = {
    0: ("leaderId", "leaderEpoch", "votedId", "appliedOffset"),
    1: ("leaderId", "leaderEpoch", "votedId"),
}
_MANDATORY = {0: (*_INTS[0], "clusterId", "currentVoters"), 1: (*_INTS[1], "votedDirectoryId")}


def problem(path: str) -> str | None:
    """Return why Kafka's `FileQuorumStateStore` refuses a file; None if it does not.

    A file that does not exist is not refused.
    """
    try:
        state = _state(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"cannot read it: {error.strerror}"
    except (ValueError, RecursionError):
        return "it is not JSON"
    if not isinstance(state, dict) or "data_version" not in state:
        return "it is not a JSON object with a data_version"
    return _field_problem(state)


def leader_epoch(path: str) -> int | None:
    """Return the epoch in a file, 0 where there is no file; None if it has no valid epoch."""
    if problem(path):
        return None
    try:
        epoch = _state(path)["leaderEpoch"]
    except FileNotFoundError:
        return 0
    return epoch if type(epoch) is int and epoch <= _LAST_EPOCH else None


def elected(path: str) -> int | None:
    """Return the leader for which the node of a file has voted, and which it is not, if known.

    A node that is elected keeps no vote (`LeaderState.election`, 4.3.1).
    """
    if problem(path):
        return None
    try:
        state = _state(path)
    except FileNotFoundError:
        return None
    leader = state["leaderId"]
    return leader if type(leader) is int and leader == state["votedId"] >= 0 else None


def static_voters(path: str) -> frozenset[int]:
    """Return the ids of the voters in a quorum-state; only a static quorum has them there."""
    if problem(path):
        return frozenset()
    try:
        voters = _state(path).get("currentVoters") or ()
        return frozenset(int(voter["voterId"]) for voter in voters)
    except (FileNotFoundError, TypeError, KeyError, ValueError):
        return frozenset()


def _state(path: str) -> Any:
    """Return the first value in the first line, as Kafka reads it."""
    lines = read_small(path).decode().splitlines()
    return json.JSONDecoder().raw_decode(lines[0].strip() if lines else "")[0]


def _field_problem(state: dict[str, object]) -> str | None:
    number = state["data_version"]
    version = number if isinstance(number, int) and not isinstance(number, bool) else 0
    if version not in _MANDATORY:
        return f"its data_version is {version}, Kafka 4.3 reads 0 and 1"
    if missing := [name for name in _MANDATORY[version] if name not in state]:
        return f"it has no {missing[0]}"
    if texts := [name for name in _INTS[version] if isinstance(state[name], str)]:
        return f"its {texts[0]} is not a number"
    if state["leaderEpoch"] == _LAST_EPOCH:
        return f"its leaderEpoch {_LAST_EPOCH} has none after it"
    return _identity_problem(state, version)


def _identity_problem(state: dict[str, object], version: int) -> str | None:
    if version == 0:
        return None if isinstance(state["clusterId"], str) else "its clusterId is not text"
    text = state["votedDirectoryId"]
    try:
        from_text(text if isinstance(text, str) else "")
    except DecodeError as error:
        return f"its votedDirectoryId: {error.message}"
    return None

"""The small files of a log directory, such as checkpoints of offsets, in the form of JSON.

Formats from Kafka's `CheckpointFile`, `LeaderEpochCheckpointFile`, `OffsetCheckpointFile`,
`PartitionMetadataFile`, `CleanShutdownFileHandler` and `FileQuorumStateStore`.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable
from typing import Any

from kraftops.errors import DecodeError
from kraftops.java.properties import properties
from kraftops.log.log_file import LogFile
from kraftops.uuids import ZERO, from_text, to_text

_MOST_BYTES = 16 * 1024 * 1024  # a checkpoint of some 400000 partitions
_INT32, _INT64 = 1 << 31, 1 << 63
_LINE_END = re.compile(r"\r\n|\r|\n")
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_TOPIC_ID_LINES = tuple((key, re.compile(rf"{key}:\s+(.+)")) for key in ("version", "topic_id"))

SmallFile = dict[str, Any]
"""`file`, `kind` (its name), `version` (or None), `data`, and `damage` if there is any."""


def is_small_file(path: str) -> bool:
    """Tell whether a file is one of the small files, by its name."""
    return os.path.basename(path) in _READERS


def small_file(path: str) -> SmallFile | None:
    """Return the content of a small file as data for JSON; None for a file of another name.

    `damage` is the reason why the content is bad; `data` has the part that could be read before.

    Raises:
        SourceError: the file cannot be read.
    """
    if not is_small_file(path):
        return None
    with LogFile(path) as file:
        return content_of(file)


def content_of(file: LogFile) -> SmallFile:
    """Return the content of an open small file, like `small_file`.

    Raises:
        SourceError: it cannot be read.
    """
    name = os.path.basename(file.path)
    content: SmallFile = {"file": file.path, "kind": name, "version": None, "data": {}}
    raw = file.read_at(0, min(file.size, _MOST_BYTES + 1))
    try:
        _READERS[name](_text(raw), content)
    except DecodeError as error:
        content["damage"] = error.message
    return content


def _text(raw: bytes) -> str:
    if len(raw) > _MOST_BYTES:
        raise DecodeError(f"more than {_MOST_BYTES} bytes")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise DecodeError(f"position {error.start}: no UTF-8") from None


def _quorum_state(text: str, content: SmallFile) -> None:
    _object(text, content, "data_version", _QUORUM_STATE_FIELDS)


def _clean_shutdown(text: str, content: SmallFile) -> None:
    if text:  # earlier releases write an empty file
        _object(text, content, "version", {0: {"brokerEpoch": (int,)}})


def _meta_properties(text: str, content: SmallFile) -> None:
    properties_by_key = {key: prop.value for key, prop in properties(text).items()}
    version = properties_by_key.pop("version", "0").strip()
    content["data"] = properties_by_key
    if not re.fullmatch(r"\d{1,9}", version):
        raise DecodeError(f"Invalid meta.properties version string '{version}'")
    content["version"] = int(version)


def _partition_metadata(text: str, content: SmallFile) -> None:
    lines = _lines(text)
    values = []
    for number, (key, pattern) in enumerate(_TOPIC_ID_LINES):
        line = lines[number] if number < len(lines) else ""
        match = pattern.fullmatch(line)
        if not match:
            raise DecodeError(f"line {number + 1}: {line[:80]!r} instead of {key}: …")
        values.append(match[1])
    content["version"] = _number(values[0], _INT32, 1)
    if content["version"] < 0:
        raise DecodeError(f"line 1: version {content['version']}")
    try:
        topic_id = from_text(values[1])
    except DecodeError as error:
        raise DecodeError(f"line 2: {error.message}") from None
    content["data"] = {"topicId": to_text(topic_id)}
    if topic_id == ZERO:
        raise DecodeError("line 2: a topic id of zeros")


def _leader_epochs(text: str, content: SmallFile) -> None:
    def entry(fields: list[str], line: int) -> dict[str, object]:
        epoch, offset = fields
        return {"epoch": _number(epoch, _INT32, line), "startOffset": _number(offset, _INT64, line)}

    _checkpoint(text, content, 2, entry)


def _offsets(text: str, content: SmallFile) -> None:
    def entry(fields: list[str], line: int) -> dict[str, object]:
        topic, partition, offset = fields
        return {
            "topic": topic,
            "partition": _number(partition, _INT32, line),
            "offset": _number(offset, _INT64, line),
        }

    _checkpoint(text, content, 3, entry)


def _checkpoint(
    text: str,
    content: SmallFile,
    width: int,
    entry: Callable[[list[str], int], dict[str, object]],
) -> None:
    """Read lines: a version, the number of entries, and the entries with *width* fields each."""
    entries: list[dict[str, object]] = []
    content["data"] = {"entries": entries}
    lines = _lines(text)
    if not lines:  # a new file
        return
    content["version"] = _number(lines[0], _INT32, 1)
    if content["version"] != 0:
        raise DecodeError(f"line 1: version {content['version']}, not 0")
    expected = _number(lines[1], _INT32, 2) if len(lines) > 1 else 0
    for number, line in enumerate(lines[2:], 3):
        fields = line.split()
        if len(fields) != width:
            raise DecodeError(f"line {number}: {line[:80]!r} where {width} fields are due")
        entries.append(entry(fields, number))
    if len(entries) != expected:
        raise DecodeError(f"{len(entries)} entries, where line 2 has {expected}")


def _lines(text: str) -> list[str]:
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def _number(text: str, limit: int, line: int) -> int:
    digits = text.strip()
    number = int(digits) if _INTEGER.fullmatch(digits) else limit
    if not -limit <= number < limit:
        raise DecodeError(f"line {line}: {text[:80]!r} is not a number")
    return number


def _object(text: str, content: SmallFile, version_field: str, versions: Versions) -> None:
    data = _json(text)
    content["data"] = data
    version = content["version"] = data.pop(version_field, None)
    if type(version) is not int or version not in versions:
        supported = " or ".join(map(str, versions))
        raise DecodeError(f"{version_field} is {_json_text(version)}, not {supported}")
    for name, types in versions[version].items():
        if name not in data:
            raise DecodeError(f"{name} is missing")
        if type(data[name]) not in types:
            raise DecodeError(f"{name} is {_json_text(data[name])}")


def _json(text: str) -> dict[str, Any]:
    import json

    try:
        data = json.loads(text, parse_constant=_refuse_constant)
        # Half of a surrogate pair, and 1e999, cannot be written again.
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise DecodeError(f"no JSON: {error}") from None
    if not isinstance(data, dict):
        raise DecodeError("no JSON object")
    return data


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _json_text(value: object) -> str:
    import json

    return json.dumps(value)[:80]


Versions = dict[int, dict[str, tuple[type, ...]]]
"""The required fields of a JSON object and their types, by version."""

_STATE_FIELDS = {"leaderId": (int,), "leaderEpoch": (int,), "votedId": (int,)}
_QUORUM_STATE_FIELDS: Versions = {
    0: {
        "clusterId": (str,),
        **_STATE_FIELDS,
        "appliedOffset": (int,),
        "currentVoters": (list, type(None)),
    },
    1: {**_STATE_FIELDS, "votedDirectoryId": (str,)},
}
_READERS: dict[str, Callable[[str, SmallFile], None]] = {
    "quorum-state": _quorum_state,
    "partition.metadata": _partition_metadata,
    "leader-epoch-checkpoint": _leader_epochs,
    "recovery-point-offset-checkpoint": _offsets,
    "log-start-offset-checkpoint": _offsets,
    "replication-offset-checkpoint": _offsets,
    "cleaner-offset-checkpoint": _offsets,
    ".kafka_cleanshutdown": _clean_shutdown,
    "meta.properties": _meta_properties,
}

"""Records of `__remote_log_metadata` (KIP-405), as `toString` of Kafka's classes shows them.

The texts, and what Kafka's classes refuse, are data by record type.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kraftops.records.dialects import Dialect
from kraftops.records.meaning import Unknown
from kraftops.records.metadata import read_body
from kraftops.uuids import to_text

SEGMENT_STATES = (
    "COPY_SEGMENT_STARTED",
    "COPY_SEGMENT_FINISHED",
    "DELETE_SEGMENT_STARTED",
    "DELETE_SEGMENT_FINISHED",
)
PARTITION_STATES = (
    "DELETE_PARTITION_MARKED",
    "DELETE_PARTITION_STARTED",
    "DELETE_PARTITION_FINISHED",
)

Piece = str | tuple[tuple[str, ...], str]
"""Text as it is, or the path of a field and how it is shown.

That is `plain` (numbers, texts, and booleans in lower case), `uuid`, `epochs`, `custom`, `segment
state` or `partition state`.
"""


class Refusal(NamedTuple):
    """A value that Kafka's class refuses, with the message of the refusal.

    *test* says of *field*: `negative`, `less` than *other*, `empty`, `no segment state`, `no
    partition state`.
    """

    test: str
    field: str
    other: str | None
    reason: tuple[Piece, ...]


def _plain(*path: str) -> Piece:
    return path, "plain"


def _partition(*path: str) -> tuple[Piece, ...]:
    at = (*path, "topicIdPartition")
    return ((*at, "id"), "uuid"), ":", _plain(*at, "name"), "-", _plain(*at, "partition")


_SEGMENT_ID: tuple[Piece, ...] = (
    "remoteLogSegmentId=RemoteLogSegmentId{topicIdPartition=",
    *_partition("remoteLogSegmentId"),
    ", id=",
    (("remoteLogSegmentId", "id"), "uuid"),
    "}",
)
_EPOCHS: Piece = (("segmentLeaderEpochs",), "epochs")
_CUSTOM: Piece = (("customMetadata",), "custom")
_SEGMENT_STATE: Piece = (("remoteLogSegmentState",), "segment state")
_OFFSETS: tuple[Piece, ...] = (
    ", startOffset=",
    _plain("startOffset"),
    ", endOffset=",
    _plain("endOffset"),
)
_END: tuple[Piece, ...] = (
    ", segmentLeaderEpochs=",
    _EPOCHS,
    ", segmentSizeInBytes=",
    _plain("segmentSizeInBytes"),
    ", customMetadata=",
    _CUSTOM,
    ", state=",
    _SEGMENT_STATE,
    ", txnIdxEmpty=",
    _plain("txnIndexEmpty"),
    "}",
)
_EVENT: tuple[Piece, ...] = (
    ", eventTimestampMs=",
    _plain("eventTimestampMs"),
    ", brokerId=",
    _plain("brokerId"),
    "}",
)
TEXTS: dict[int, tuple[Piece, ...]] = {
    0: (
        "RemoteLogSegmentMetadata{",
        *_SEGMENT_ID,
        *_OFFSETS,
        ", brokerId=",
        _plain("brokerId"),
        ", maxTimestampMs=",
        _plain("maxTimestampMs"),
        ", eventTimestampMs=",
        _plain("eventTimestampMs"),
        *_END,
    ),
    1: (
        "RemoteLogSegmentMetadataUpdate{",
        *_SEGMENT_ID,
        ", customMetadata=",
        _CUSTOM,
        ", state=",
        _SEGMENT_STATE,
        *_EVENT,
    ),
    2: (
        "RemotePartitionDeleteMetadata{topicPartition=",
        *_partition(),
        ", state=",
        (("remotePartitionDeleteState",), "partition state"),
        *_EVENT,
    ),
    3: (
        "RemoteLogSegmentMetadataSnapshot{segmentId=",
        (("segmentId",), "uuid"),
        *_OFFSETS,
        ", maxTimestampMs=",
        _plain("maxTimestampMs"),
        *_END,
    ),
}
"""What is shown, by record type."""

_NO_EPOCHS = Refusal(
    "empty",
    "segmentLeaderEpochs",
    None,
    ("segmentLeaderEpochs can not be null or empty",),
)
_NO_STATE = Refusal("no segment state", "remoteLogSegmentState", None, ("state can not be null",))
REFUSALS: dict[int, tuple[Refusal, ...]] = {
    0: (
        Refusal(
            "negative",
            "startOffset",
            None,
            (
                "Unexpected start offset = ",
                _plain("startOffset"),
                ". StartOffset for a remote segment cannot be negative",
            ),
        ),
        Refusal(
            "less",
            "endOffset",
            "startOffset",
            (
                "Unexpected end offset = ",
                _plain("endOffset"),
                ". EndOffset for a remote segment cannot be less than startOffset = ",
                _plain("startOffset"),
            ),
        ),
        _NO_EPOCHS,
        _NO_STATE,
    ),
    1: (_NO_STATE,),
    2: (Refusal("no partition state", "remotePartitionDeleteState", None, ("null",)),),
    3: (_NO_STATE, _NO_EPOCHS),
}
"""By record type; the first that holds is the reason."""

_Fields = dict[str, Any]


def payload_text(value: bytes | None, offset: int, framing: Dialect) -> str:
    """Return what Kafka's tool prints of a value."""
    if value is None:
        return f"Error at offset {offset}, skipping. the record has no value"
    found = read_body(value, framing)
    if isinstance(found, Unknown):
        return f"Error at offset {offset}, skipping. {found.reason}"
    number, _, data = found
    for refusal in REFUSALS[number]:
        if _holds(refusal, data):
            return f"Error at offset {offset}, skipping. {_joined(refusal.reason, data)}"
    return _joined(TEXTS[number], data)


def text_templates() -> dict[int, tuple[list[Any], list[Any]]]:
    """Return the pieces of the text of each type, and the refusals, for the compiled engine."""
    states = {
        "segment state": ",".join(SEGMENT_STATES),
        "partition state": ",".join(PARTITION_STATES),
    }

    def named(form: str) -> str:
        return f"{form}:{states[form]}" if form in states else form

    def pieces(text: tuple[Piece, ...]) -> list[Any]:
        return [
            piece if isinstance(piece, str) else (list(piece[0]), named(piece[1])) for piece in text
        ]

    return {
        number: (
            pieces(text),
            [
                (named(test.removeprefix("no ")), field, other, pieces(reason))
                for test, field, other, reason in REFUSALS[number]
            ],
        )
        for number, text in TEXTS.items()
    }


def _holds(refusal: Refusal, data: _Fields) -> bool:
    value = data[refusal.field]
    match refusal.test:
        case "negative":
            return bool(value < 0)
        case "less":
            return bool(value < data[refusal.other or ""])
        case "empty":
            return not value
        case "no segment state":
            return not 0 <= value < len(SEGMENT_STATES)
        case _:
            return not 0 <= value < len(PARTITION_STATES)


def _joined(pieces: tuple[Piece, ...], data: _Fields) -> str:
    return "".join(piece if isinstance(piece, str) else _shown(data, *piece) for piece in pieces)


def _shown(data: _Fields, path: tuple[str, ...], shown_as: str) -> str:
    value: Any = data
    for name in path:
        value = value[name]
    match shown_as:
        case "uuid":
            return to_text(value)
        case "epochs":  # Kafka keeps them in a sorted map
            epochs = {epoch["leaderEpoch"]: epoch["offset"] for epoch in value}
            return f"{{{', '.join(f'{epoch}={epochs[epoch]}' for epoch in sorted(epochs))}}}"
        case "custom":
            if value is None:
                return "Optional.empty"
            return f"Optional[CustomMetadata{{{len(value)} bytes}}]"
        case "segment state" | "partition state":
            names = SEGMENT_STATES if shown_as == "segment state" else PARTITION_STATES
            return names[value] if 0 <= value < len(names) else "null"
        case _:
            return str(value).lower() if isinstance(value, bool) else str(value)

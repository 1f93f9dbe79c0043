"""The decoder of `__remote_log_metadata` (KIP-405), with the texts of Kafka's classes (`toString`).

The texts and the checks of Kafka's constructors are tables by record type.
"""

import re
from typing import Any, NamedTuple

from kraftops.records.decoders.framed import FramedDecoder
from kraftops.records.dialects import REMOTE_LOG_METADATA, Dialect
from kraftops.records.meaning import Unknown
from kraftops.records.metadata import read_body
from kraftops.uuids import to_text

_SEGMENT_STATES = (
    "COPY_SEGMENT_STARTED",
    "COPY_SEGMENT_FINISHED",
    "DELETE_SEGMENT_STARTED",
    "DELETE_SEGMENT_FINISHED",
)
_PARTITION_STATES = (
    "DELETE_PARTITION_MARKED",
    "DELETE_PARTITION_STARTED",
    "DELETE_PARTITION_FINISHED",
)

_Piece = str | tuple[tuple[str, ...], str]
"""Literal text, or the path of a field and its form.

The forms are `plain` (numbers, texts, and booleans in lower case), `uuid`, `epochs`, `custom`,
`segment state` and `partition state`.
"""


def _pieces(text: str) -> tuple[_Piece, ...]:
    """Read a text with fields in it: `<PATH>`, or `<PATH:FORM>`."""
    pieces: list[_Piece] = []
    for index, part in enumerate(re.split("<([^>]+)>", text)):
        if index % 2:
            path, _, form = part.partition(":")
            pieces.append((tuple(path.split(".")), form or "plain"))
        elif part:
            pieces.append(part)
    return tuple(pieces)


class _FieldCheck(NamedTuple):
    """A check of a field by Kafka's class, and the message of its exception.

    The check fails if *field* is what *test* says: `negative`, `less` than *other*, `empty`, `no
    segment state`, `no partition state`.
    """

    test: str
    field: str
    other: str | None
    reason: tuple[_Piece, ...]


_SEGMENT_ID = (
    "remoteLogSegmentId=RemoteLogSegmentId{topicIdPartition="
    "<remoteLogSegmentId.topicIdPartition.id:uuid>:<remoteLogSegmentId.topicIdPartition.name>"
    "-<remoteLogSegmentId.topicIdPartition.partition>, id=<remoteLogSegmentId.id:uuid>}"
)
_OFFSETS = ", startOffset=<startOffset>, endOffset=<endOffset>"
_END = (
    ", segmentLeaderEpochs=<segmentLeaderEpochs:epochs>, segmentSizeInBytes=<segmentSizeInBytes>"
    ", customMetadata=<customMetadata:custom>, state=<remoteLogSegmentState:segment state>"
    ", txnIdxEmpty=<txnIndexEmpty>}"
)
_EVENT = ", eventTimestampMs=<eventTimestampMs>, brokerId=<brokerId>}"
TEXTS = {
    0: _pieces(
        f"RemoteLogSegmentMetadata{{{_SEGMENT_ID}{_OFFSETS}, brokerId=<brokerId>"
        f", maxTimestampMs=<maxTimestampMs>, eventTimestampMs=<eventTimestampMs>{_END}"
    ),
    1: _pieces(
        f"RemoteLogSegmentMetadataUpdate{{{_SEGMENT_ID}, customMetadata=<customMetadata:custom>"
        f", state=<remoteLogSegmentState:segment state>{_EVENT}"
    ),
    2: _pieces(
        "RemotePartitionDeleteMetadata{topicPartition=<topicIdPartition.id:uuid>"
        ":<topicIdPartition.name>-<topicIdPartition.partition>"
        f", state=<remotePartitionDeleteState:partition state>{_EVENT}"
    ),
    3: _pieces(
        f"RemoteLogSegmentMetadataSnapshot{{segmentId=<segmentId:uuid>{_OFFSETS}"
        f", maxTimestampMs=<maxTimestampMs>{_END}"
    ),
}
"""The text by record type."""

_NO_EPOCHS = _FieldCheck(
    "empty", "segmentLeaderEpochs", None, ("segmentLeaderEpochs can not be null or empty",)
)
_NO_STATE = _FieldCheck(
    "no segment state", "remoteLogSegmentState", None, ("state can not be null",)
)
_BAD_START = (
    "Unexpected start offset = <startOffset>. StartOffset for a remote segment cannot be negative"
)
_BAD_END = (
    "Unexpected end offset = <endOffset>. EndOffset for a remote segment cannot be less than"
    " startOffset = <startOffset>"
)
_CHECKS: dict[int, tuple[_FieldCheck, ...]] = {
    0: (
        _FieldCheck("negative", "startOffset", None, _pieces(_BAD_START)),
        _FieldCheck("less", "endOffset", "startOffset", _pieces(_BAD_END)),
        _NO_EPOCHS,
        _NO_STATE,
    ),
    1: (_NO_STATE,),
    2: (_FieldCheck("no partition state", "remotePartitionDeleteState", None, ("null",)),),
    3: (_NO_STATE, _NO_EPOCHS),
}
"""By record type; the first check that fails gives the reason."""

_Fields = dict[str, Any]


def payload_text(value: bytes | None, offset: int, framing: Dialect) -> str:
    """Return the text by `RemoteLogMetadataFormatter`, or the error that Kafka's tool prints."""
    if value is None:
        return f"Error at offset {offset}, skipping. the record has no value"
    body = read_body(value, framing)
    if isinstance(body, Unknown):
        return f"Error at offset {offset}, skipping. {body.reason}"
    number, _, data = body
    for check in _CHECKS[number]:
        if _fails(check, data):
            return f"Error at offset {offset}, skipping. {_joined(check.reason, data)}"
    return _joined(TEXTS[number], data)


def _text_templates() -> dict[int, tuple[list[Any], list[Any]]]:
    """Describe texts and checks of each record type for the crate."""
    states = {
        "segment state": ",".join(_SEGMENT_STATES),
        "partition state": ",".join(_PARTITION_STATES),
    }

    def named(form: str) -> str:
        return f"{form}:{states[form]}" if form in states else form

    def pieces(text: tuple[_Piece, ...]) -> list[Any]:
        return [
            piece if isinstance(piece, str) else (list(piece[0]), named(piece[1])) for piece in text
        ]

    return {
        number: (
            pieces(text),
            [
                (named(test.removeprefix("no ")), field, other, pieces(reason))
                for test, field, other, reason in _CHECKS[number]
            ],
        )
        for number, text in TEXTS.items()
    }


def _fails(check: _FieldCheck, data: _Fields) -> bool:
    value = data[check.field]
    match check.test:
        case "negative":
            return bool(value < 0)
        case "less":
            return bool(value < data[check.other or ""])
        case "empty":
            return not value
        case "no segment state":
            return not 0 <= value < len(_SEGMENT_STATES)
        case _:
            return not 0 <= value < len(_PARTITION_STATES)


def _joined(pieces: tuple[_Piece, ...], data: _Fields) -> str:
    return "".join(piece if isinstance(piece, str) else _text(data, *piece) for piece in pieces)


def _text(data: _Fields, path: tuple[str, ...], form: str) -> str:
    value: Any = data
    for name in path:
        value = value[name]
    match form:
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
            names = _SEGMENT_STATES if form == "segment state" else _PARTITION_STATES
            return names[value] if 0 <= value < len(names) else "null"
        case _:
            return str(value).lower() if isinstance(value, bool) else str(value)


DECODER = FramedDecoder(
    "remote",
    dialect=REMOTE_LOG_METADATA,
    payload_text=payload_text,
    error_lead="Error at offset",
    templates=_text_templates,
)

"""Records of `__remote_log_metadata` (KIP-405), as `toString` of Kafka's classes shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kraftops.records.dialects import dialect
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

_Fields = dict[str, Any]


def payload_text(value: bytes | None, offset: int) -> str:
    """Return what Kafka's tool prints of a value."""
    if value is None:
        return f"Error at offset {offset}, skipping. the record has no value"
    found = read_body(value, dialect("remote-log-metadata"))
    if isinstance(found, Unknown):
        return f"Error at offset {offset}, skipping. {found.reason}"
    number, _, data = found
    if reason := _refusal(number, data):
        return f"Error at offset {offset}, skipping. {reason}"
    return _TEXTS[number](data)


def _refusal(number: int, data: _Fields) -> str | None:
    """Return why Kafka's class does not take these values, in its words."""
    if number == 2:
        return None if 0 <= data["remotePartitionDeleteState"] < len(_PARTITION_STATES) else "null"
    state_is_known = 0 <= data["remoteLogSegmentState"] < len(_SEGMENT_STATES)
    if number == 0:
        start, end = data["startOffset"], data["endOffset"]
        if start < 0:
            return (
                f"Unexpected start offset = {start}. "
                "StartOffset for a remote segment cannot be negative"
            )
        if end < start:
            return (
                f"Unexpected end offset = {end}. "
                f"EndOffset for a remote segment cannot be less than startOffset = {start}"
            )
    if number == 3 and not state_is_known:
        return "state can not be null"
    if number != 1 and not data["segmentLeaderEpochs"]:
        return "segmentLeaderEpochs can not be null or empty"
    return None if state_is_known else "state can not be null"


def _segment(data: _Fields) -> str:
    return (
        f"RemoteLogSegmentMetadata{{remoteLogSegmentId={_segment_id(data['remoteLogSegmentId'])}, "
        f"startOffset={data['startOffset']}, endOffset={data['endOffset']}, "
        f"brokerId={data['brokerId']}, maxTimestampMs={data['maxTimestampMs']}, "
        f"eventTimestampMs={data['eventTimestampMs']}, segmentLeaderEpochs={_epochs(data)}, "
        f"segmentSizeInBytes={data['segmentSizeInBytes']}, customMetadata={_custom(data)}, "
        f"state={_state(data['remoteLogSegmentState'], _SEGMENT_STATES)}, "
        f"txnIdxEmpty={_bool(data['txnIndexEmpty'])}}}"
    )


def _segment_update(data: _Fields) -> str:
    return (
        "RemoteLogSegmentMetadataUpdate{"
        f"remoteLogSegmentId={_segment_id(data['remoteLogSegmentId'])}, "
        f"customMetadata={_custom(data)}, "
        f"state={_state(data['remoteLogSegmentState'], _SEGMENT_STATES)}, "
        f"eventTimestampMs={data['eventTimestampMs']}, brokerId={data['brokerId']}}}"
    )


def _partition_delete(data: _Fields) -> str:
    return (
        f"RemotePartitionDeleteMetadata{{topicPartition={_partition(data['topicIdPartition'])}, "
        f"state={_state(data['remotePartitionDeleteState'], _PARTITION_STATES)}, "
        f"eventTimestampMs={data['eventTimestampMs']}, brokerId={data['brokerId']}}}"
    )


def _segment_snapshot(data: _Fields) -> str:
    return (
        f"RemoteLogSegmentMetadataSnapshot{{segmentId={to_text(data['segmentId'])}, "
        f"startOffset={data['startOffset']}, endOffset={data['endOffset']}, "
        f"maxTimestampMs={data['maxTimestampMs']}, segmentLeaderEpochs={_epochs(data)}, "
        f"segmentSizeInBytes={data['segmentSizeInBytes']}, customMetadata={_custom(data)}, "
        f"state={_state(data['remoteLogSegmentState'], _SEGMENT_STATES)}, "
        f"txnIdxEmpty={_bool(data['txnIndexEmpty'])}}}"
    )


_TEXTS: dict[int, Callable[[_Fields], str]] = {
    0: _segment,
    1: _segment_update,
    2: _partition_delete,
    3: _segment_snapshot,
}


def _segment_id(data: _Fields) -> str:
    partition = _partition(data["topicIdPartition"])
    return f"RemoteLogSegmentId{{topicIdPartition={partition}, id={to_text(data['id'])}}}"


def _partition(data: _Fields) -> str:
    return f"{to_text(data['id'])}:{data['name']}-{data['partition']}"


def _epochs(data: _Fields) -> str:
    # Kafka keeps them in a sorted map.
    epochs = {epoch["leaderEpoch"]: epoch["offset"] for epoch in data["segmentLeaderEpochs"]}
    return f"{{{', '.join(f'{epoch}={epochs[epoch]}' for epoch in sorted(epochs))}}}"


def _custom(data: _Fields) -> str:
    custom = data["customMetadata"]
    if custom is None:
        return "Optional.empty"
    return f"Optional[CustomMetadata{{{len(custom)} bytes}}]"


def _state(number: int, names: Sequence[str]) -> str:
    return names[number] if 0 <= number < len(names) else "null"


def _bool(value: bool) -> str:
    return "true" if value else "false"

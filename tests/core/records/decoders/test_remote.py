"""Records of the remote log metadata."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.records.decoders.remote import payload_text
from kraftops.records.dialects import REMOTE_LOG_METADATA, dialect
from kraftops.schema.compile import compiled
from tests.helpers.logs.messages import Data, table, uvarint

ZERO = "AAAAAAAAAAAAAAAAAAAAAA"
PARTITION = {"name": "name", "id": bytes(16), "partition": 3}
SEGMENT_ID = {"topicIdPartition": PARTITION, "id": bytes(16)}

FRAMING = dialect(REMOTE_LOG_METADATA)


def value(name: str, data: Data) -> bytes:
    message = table("remote")[name]
    assert message.key is not None
    return b"\1" + uvarint(message.key) + b"\0" + compiled(message, 0).write(data)


def segment(**data: object) -> str:
    known = {"remoteLogSegmentId": SEGMENT_ID, "startOffset": 10, "endOffset": 99, "brokerId": 1}
    return payload_text(value("RemoteLogSegmentMetadataRecord", {**known, **data}), 7, FRAMING)


def test_segment() -> None:
    epochs = [{"leaderEpoch": 0, "offset": 10}, {"leaderEpoch": 2, "offset": 50}]

    text = segment(
        segmentLeaderEpochs=epochs, segmentSizeInBytes=4096, maxTimestampMs=5, eventTimestampMs=6
    )

    assert text == (
        "RemoteLogSegmentMetadata{remoteLogSegmentId=RemoteLogSegmentId{topicIdPartition="
        f"{ZERO}:name-3, id={ZERO}}}, startOffset=10, endOffset=99, brokerId=1, "
        "maxTimestampMs=5, eventTimestampMs=6, segmentLeaderEpochs={0=10, 2=50}, "
        "segmentSizeInBytes=4096, customMetadata=Optional.empty, state=COPY_SEGMENT_STARTED, "
        "txnIdxEmpty=false}"
    )


@pytest.mark.parametrize(
    ("number", "state"),
    [
        (0, "COPY_SEGMENT_STARTED"),
        (1, "COPY_SEGMENT_FINISHED"),
        (2, "DELETE_SEGMENT_STARTED"),
        (3, "DELETE_SEGMENT_FINISHED"),
    ],
)
def test_states_of_a_segment(number: int, state: str) -> None:
    epochs = [{"leaderEpoch": 0, "offset": 10}]

    assert f"state={state}, " in segment(remoteLogSegmentState=number, segmentLeaderEpochs=epochs)


@pytest.mark.parametrize(
    ("number", "state"),
    [
        (0, "DELETE_PARTITION_MARKED"),
        (1, "DELETE_PARTITION_STARTED"),
        (2, "DELETE_PARTITION_FINISHED"),
    ],
)
def test_states_of_a_partition(number: int, state: str) -> None:
    data = {
        "topicIdPartition": PARTITION,
        "remotePartitionDeleteState": number,
        "brokerId": 1,
        "eventTimestampMs": 6,
    }

    text = payload_text(value("RemotePartitionDeleteMetadataRecord", data), 7, FRAMING)

    assert text == (
        f"RemotePartitionDeleteMetadata{{topicPartition={ZERO}:name-3, state={state}, "
        "eventTimestampMs=6, brokerId=1}"
    )


def test_epochs_are_sorted_and_the_last_of_each_counts() -> None:
    """As in the sorted map that Kafka keeps them in."""
    pairs = [(5, 50), (1, 10), (5, 55)]
    epochs = [{"leaderEpoch": epoch, "offset": offset} for epoch, offset in pairs]

    assert "segmentLeaderEpochs={1=10, 5=55}, " in segment(segmentLeaderEpochs=epochs)


@pytest.mark.parametrize("custom", [b"", b"abc"])
def test_custom_metadata_is_shown_by_its_size(custom: bytes) -> None:
    epochs = [{"leaderEpoch": 0, "offset": 10}]

    text = segment(customMetadata=custom, segmentLeaderEpochs=epochs, txnIndexEmpty=True)

    assert f"customMetadata=Optional[CustomMetadata{{{len(custom)} bytes}}], " in text
    assert text.endswith("txnIdxEmpty=true}")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        pytest.param(b"", "Error while reading frame version", id="empty"),
        pytest.param(
            b"\1\x09\0",
            "org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata id 9",
            id="unknown type",
        ),
        pytest.param(b"\1\0\0\0", "Failed to deserialize record with type 0", id="cut short"),
        pytest.param(
            value("RemotePartitionDeleteMetadataRecord", {"topicIdPartition": PARTITION}) + b"?",
            "Found 1 byte(s) of garbage after 2",
            id="garbage",
        ),
    ],
)
def test_value_that_is_no_record_has_kafkas_reason(raw: bytes, reason: str) -> None:
    """The words before it are others than those of the metadata log."""
    assert payload_text(raw, 7, FRAMING).startswith(f"Error at offset 7, skipping. {reason}")


def test_null_has_no_reason_of_kafkas() -> None:
    assert payload_text(None, 7, FRAMING).startswith("Error at offset 7, skipping. ")


@given(st.integers(0, 4), st.binary(max_size=60))
def test_any_bytes_have_a_text(number: int, body: bytes) -> None:
    text = payload_text(b"\1" + bytes([number, 0]) + body, 7, FRAMING)

    assert text.startswith(("Error at offset 7, skipping. ", "Remote"))

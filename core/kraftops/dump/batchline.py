"""The line that Kafka's tool prints of a batch."""

from kraftops.errors import DecodeError
from kraftops.log import batch as v2
from kraftops.log import legacy
from kraftops.log.batch import Batch
from kraftops.log.codecs import CODECS

_BOOL = ("false", "true")


class UndecodableBatch(DecodeError):
    """A batch whose line Kafka's tool cannot finish; *partial* is what it prints."""

    def __init__(self, partial: str, reason: str) -> None:
        super().__init__(reason)
        self.partial = partial


def batch_line(batch: Batch) -> str:
    """Return the line of a batch of any magic, with its end.

    Raises:
        UndecodableBatch: it has a negative magic, an unknown codec, or no whole header.
    """
    return _legacy_line(batch) if batch.magic < 2 else _line(batch)


def _line(batch: Batch) -> str:
    position, size, data, _ = batch
    if len(data) < v2.HEADER_SIZE:
        raise UndecodableBatch("", f"a batch header where {len(data)} bytes are left")
    (
        base_offset, _, leader_epoch, magic, crc, attributes, last_delta, base_timestamp,
        max_timestamp, producer_id, producer_epoch, base_sequence, count,
    ) = v2.HEADER.unpack_from(data)  # fmt: skip
    last_sequence = -1 if base_sequence == -1 else add_sequence(base_sequence, last_delta)
    horizon = f"[{base_timestamp}]" if attributes & v2.DELETE_HORIZON else ".empty"
    start = (
        f"baseOffset: {base_offset} lastOffset: {v2.int64(base_offset + last_delta)} count: {count} "
        f"baseSequence: {base_sequence} lastSequence: {last_sequence} producerId: {producer_id} "
        f"producerEpoch: {producer_epoch} partitionLeaderEpoch: {leader_epoch} isTransactional: "
        f"{_BOOL[attributes >> 4 & 1]} isControl: {_BOOL[attributes >> 5 & 1]} "
        f"deleteHorizonMs: OptionalLong{horizon}"
    )
    codec = attributes & v2.CODEC_MASK
    if codec >= len(CODECS):
        raise UndecodableBatch(start, f"unknown codec {codec}")
    return (
        f"{start} position: {position} "
        f"{'LogAppendTime' if attributes & v2.LOG_APPEND_TIME else 'CreateTime'}: {max_timestamp} "
        f"size: {size} magic: {magic} compresscodec: {CODECS[codec]} crc: {crc} "
        f"isvalid: {_BOOL[v2.is_valid(batch)]}\n"
    )


def _legacy_line(batch: Batch) -> str:
    head = legacy.header(batch)
    if head.magic < 0:
        raise UndecodableBatch(f"offset: {head.offset}", f"magic {head.magic}")
    if head.codec >= len(CODECS):
        raise UndecodableBatch(f"offset: {head.offset}", f"unknown codec {head.codec}")
    return (
        f"offset: {head.offset} position: {batch.position} {timestamp_type(head)}: "
        f"{head.timestamp} size: {batch.size} magic: {head.magic} "
        f"compresscodec: {CODECS[head.codec]} crc: {head.crc} "
        f"isvalid: {_BOOL[legacy.is_valid(batch)]}\n"
    )


def timestamp_type(head: legacy.LegacyHeader) -> str:
    """Return Kafka's name of what the timestamps of a message or wrapper are."""
    if head.magic == 0:
        return "NoTimestampType"
    return "LogAppendTime" if head.attributes & v2.LOG_APPEND_TIME else "CreateTime"


def add_sequence(sequence: int, increment: int) -> int:
    """Return a producer's sequence number *increment* later (`incrementSequence`), in int32."""
    if sequence > _int32(0x7FFFFFFF - increment):
        return _int32(increment - (0x7FFFFFFF - sequence) - 1)
    return _int32(sequence + increment)


def subtract_sequence(sequence: int, decrement: int) -> int:
    """Return a producer's sequence number *decrement* earlier (`decrementSequence`), in int32."""
    if sequence < decrement:
        return _int32(0x7FFFFFFF - (decrement - sequence) + 1)
    return _int32(sequence - decrement)


def _int32(value: int) -> int:
    return (value & 0xFFFFFFFF ^ 0x80000000) - 0x80000000

"""The line that Kafka's tool prints of a batch."""

from functools import lru_cache

from kraftops.errors import DecodeError
from kraftops.java.numbers import to_int32
from kraftops.log import batch as v2
from kraftops.log import legacy
from kraftops.log.batch import Batch, Header
from kraftops.log.codecs import CODECS

BOOL = ("false", "true")
_LARGEST = 0x7FFFFFFFFFFFFFFF  # `Long.MAX_VALUE`


class UndecodableBatch(DecodeError):
    """A batch that Kafka's tool dies of in the middle of its line; *partial* is the line so far."""

    def __init__(self, partial: str, reason: str) -> None:
        super().__init__(reason)
        self.partial = partial


def batch_line(batch: Batch, header: Header) -> str:
    """Return the line of a batch of magic 2 or later, with its end.

    Raises:
        UndecodableBatch: it has an unknown codec.
    """
    (
        base_offset, _, leader_epoch, magic, crc, attributes, last_delta, base_timestamp,
        max_timestamp, producer_id, producer_epoch, base_sequence, count,
    ) = header  # fmt: skip
    last_sequence = -1 if base_sequence == -1 else add_sequence(base_sequence, last_delta)
    horizon = base_timestamp if attributes & v2.DELETE_HORIZON else None
    producer = producer_id, producer_epoch, base_sequence, last_sequence
    middle, time_type, codec = _middle(producer, leader_epoch, attributes, horizon)
    last_offset = base_offset + last_delta
    if not -_LARGEST <= last_offset <= _LARGEST:
        last_offset = v2.int64(last_offset)
    start = f"baseOffset: {base_offset} lastOffset: {last_offset} count: {count} {middle}"
    if codec is None:
        raise UndecodableBatch(start, f"unknown codec {attributes & v2.CODEC_MASK}")
    return (
        f"{start} position: {batch[0]} {time_type}: {max_timestamp} size: {batch[1]} "
        f"magic: {magic} compresscodec: {codec} crc: {crc} isvalid: "
        f"{BOOL[v2.is_valid(batch, crc)]}\n"
    )


@lru_cache(1024)
def _middle(
    producer: tuple[int, int, int, int], leader_epoch: int, attributes: int, horizon: int | None
) -> tuple[str, str, str | None]:
    """Return the middle of a line, the time type and the codec: many lines have the same.

    *producer* is its id and epoch, and the base and last sequence.
    """
    producer_id, producer_epoch, base_sequence, last_sequence = producer
    codec = attributes & v2.CODEC_MASK
    return (
        (
            f"baseSequence: {base_sequence} lastSequence: {last_sequence} "
            f"producerId: {producer_id} producerEpoch: {producer_epoch} "
            f"partitionLeaderEpoch: {leader_epoch} "
            f"isTransactional: {BOOL[bool(attributes & v2.TRANSACTIONAL)]} "
            f"isControl: {BOOL[bool(attributes & v2.CONTROL)]} deleteHorizonMs: "
            f"OptionalLong{'.empty' if horizon is None else f'[{horizon}]'}"
        ),
        "LogAppendTime" if attributes & v2.LOG_APPEND_TIME else "CreateTime",
        CODECS[codec] if codec < len(CODECS) else None,
    )


def legacy_batch_line(batch: Batch) -> str:
    """Return the line of a batch of magic 0 or 1, with its end.

    Raises:
        UndecodableBatch: it has a negative magic or an unknown codec.
    """
    head = legacy.header(batch)
    if head.magic < 0:
        raise UndecodableBatch(f"offset: {head.offset}", f"magic {head.magic}")
    if head.codec >= len(CODECS):
        raise UndecodableBatch(f"offset: {head.offset}", f"unknown codec {head.codec}")
    return (
        f"offset: {head.offset} position: {batch.position} {head.timestamp_type}: "
        f"{head.timestamp} size: {batch.size} magic: {head.magic} "
        f"compresscodec: {CODECS[head.codec]} crc: {head.crc} "
        f"isvalid: {BOOL[legacy.is_valid(batch)]}\n"
    )


def add_sequence(sequence: int, increment: int) -> int:
    """Return a producer's sequence number after *increment* records (`incrementSequence`)."""
    if sequence > to_int32(0x7FFFFFFF - increment):
        return to_int32(increment - (0x7FFFFFFF - sequence) - 1)
    return to_int32(sequence + increment)


def subtract_sequence(sequence: int, decrement: int) -> int:
    """Return a producer's sequence number *decrement* records before (`decrementSequence`)."""
    if sequence < decrement:
        return to_int32(0x7FFFFFFF - (decrement - sequence) + 1)
    return to_int32(sequence - decrement)

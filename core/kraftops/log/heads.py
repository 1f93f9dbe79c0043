"""Heads of batches: their places, offsets and epochs, without reading records."""

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from kraftops.log.batch import HEADER_SIZE, LOG_OVERHEAD, SMALLEST_LENGTH
from kraftops.log.log_file import LogFile

_BLOCK = 64 << 10  # one read has the headers of several batches; larger ones read many records, too
_HEAD = Struct(">qiibIhi")  # base offset, length, epoch, magic, CRC, attributes, last offset delta
_LEGACY_CRC_AT = 12  # after the offset and the size


class Head(NamedTuple):
    """Place and header of a batch; of magic 0 and 1, base offset and epoch are -1."""

    position: int
    size: int
    base_offset: int
    last_offset: int
    epoch: int
    crc: int

    @property
    def end(self) -> int:
        """The position after the batch."""
        return self.position + self.size


def heads(log: LogFile, start: int, stop: int) -> Iterator[Head]:
    """Yield the heads of whole batches from *start*, a batch's first byte, up to *stop*.

    They end before a batch that is not whole, or a length that none can have.

    Raises:
        SourceError: the file cannot be read.
    """
    log.expect(start, stop)
    base = start
    while base + LOG_OVERHEAD + SMALLEST_LENGTH <= stop:
        block = log.read_at(base, min(_BLOCK, stop - base))
        index = 0
        while index + HEADER_SIZE <= len(block) or base + len(block) == stop:
            head = head_in(block, index, base)
            if head is None or head.end > stop:
                return
            yield head
            index += head.size
            if index >= len(block):
                break
        if not index:
            return  # the file has become shorter
        base += index


def head_in(block: bytes, index: int, base: int) -> Head | None:
    if index + _HEAD.size > len(block):
        return None
    offset, length, epoch, magic, crc, _, delta = _HEAD.unpack_from(block, index)
    if length < SMALLEST_LENGTH:
        return None
    size = LOG_OVERHEAD + length
    if magic > 1:
        return Head(
            position=base + index,
            size=size,
            base_offset=offset,
            last_offset=offset + delta,
            epoch=epoch,
            crc=crc,
        )
    crc_at = index + _LEGACY_CRC_AT
    return Head(
        position=base + index,
        size=size,
        base_offset=-1,
        last_offset=offset,
        epoch=-1,
        crc=int.from_bytes(block[crc_at : crc_at + 4]),
    )

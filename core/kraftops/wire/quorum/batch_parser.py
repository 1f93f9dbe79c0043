"""Batches from the bytes of a log that arrive in parts."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from kraftops.errors import WireError
from kraftops.log.batch import LOG_OVERHEAD, SMALLEST_LENGTH, Batch
from kraftops.log.reader import LARGEST_BATCH
from kraftops.wire.net.addresses import Address

_HEADER = Struct(">qii")  # base offset, length, leader epoch
_LAST_OFFSET_DELTA = Struct(">i")
_LAST_OFFSET_DELTA_AT = 23
_HEADER_SIZE = 27


class BatchParser:
    """Parser of one stream of bytes; *rest* is the begun batch at the end of the last part."""

    def __init__(self, endpoint: Address) -> None:
        """Begin with nothing; *endpoint* is for errors."""
        self._endpoint = endpoint
        self.rest = b""

    def batches(self, data: bytes, position: int) -> Iterator[Batch]:
        """Yield the batches that are complete now; *position* is the position of *data*, or -1.

        Raises:
            WireError: a batch has an impossible size.
        """
        pos = 0
        if self.rest:
            # Only the begun batch is joined: to join all of them would copy every byte.
            joined = self.rest + data[:_HEADER_SIZE]
            size = self._size(joined, 0) if len(joined) >= _HEADER_SIZE else len(joined) + 1
            pos = size - len(self.rest)
            if pos > len(data):
                self.rest += data
                return
            yield Batch(position - len(self.rest), size, self.rest + data[:pos])
        while pos + _HEADER_SIZE <= len(data):
            size = self._size(data, pos)
            if pos + size > len(data):
                break
            yield Batch(position + pos if position >= 0 else -1, size, data[pos : pos + size])
            pos += size
        self.rest = data[pos:]

    def _size(self, data: bytes, pos: int) -> int:
        size = LOG_OVERHEAD + int(_HEADER.unpack_from(data, pos)[1])
        if not LOG_OVERHEAD + SMALLEST_LENGTH < size <= LARGEST_BATCH:
            raise WireError.at(
                self._endpoint, f"a batch of {size} bytes, which none can have", code="server-error"
            )
        return size


def next_offset_and_epoch(batch: Batch) -> tuple[int, int]:
    """Return the offset after a batch, and the batch's leader epoch."""
    base_offset, _, epoch = _HEADER.unpack_from(batch.data)
    delta = _LAST_OFFSET_DELTA.unpack_from(batch.data, _LAST_OFFSET_DELTA_AT)[0]
    return base_offset + delta + 1, epoch

"""Read the batches of a source, in large blocks and never all of it."""

from collections.abc import Callable, Iterator
from enum import Enum
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from google_crc32c import extend as crc32c_extend

from kraftops.errors import SourceError
from kraftops.log.batch import CRC_START, HEADER_SIZE, LOG_OVERHEAD, SMALLEST_LENGTH, Batch
from kraftops.log.zeros import are_zeros
from kraftops.memory import LEAST, Meter

BLOCK = 1 << 20  # one read has many batches: producers' batch.size is 16 KiB
LARGEST_BATCH = 256 * 1024 * 1024
"""Batches beyond this, or beyond the memory budget, are checked on the way but not held.

Kafka's default limit is 1 MiB.
"""

_LENGTH = Struct(">i").unpack_from
_HEADER_LENGTH = HEADER_SIZE - LOG_OVERHEAD
_SMALLEST_BATCH = 18  # Kafka reads no fewer bytes: a header up to the magic and one more

NOT_READ = "not read, as the batches before it inflate to too much"
"""Why bytes after the batch that has spent the budget of a source are left out."""


class EndReason(Enum):
    """Reason for the end of a read."""

    END = "end"  # nothing is left
    PARTIAL = "partial"  # fewer bytes are left than the next batch says, or than any batch has
    PADDING = "padding"  # only zeros are left
    BAD_LENGTH = "bad length"  # a length that no batch can have
    DAMAGED_ARCHIVE = "damaged archive"  # what follows cannot be inflated
    SPENT = "spent"  # the budget of the source; the last batch is refused for it


class LogEnd(NamedTuple):
    """Position and reason of the end of a read: *position* is the end of the last batch.

    *left* counts the bytes after it, in a damaged archive only the inflated ones.
    """

    reason: EndReason
    position: int
    left: int
    detail: str = ""


class DamagedArchive(SourceError):
    """An archive cannot be inflated further; the message has the position and the reason."""


_UNKNOWN_END = 1 << 63


class LogReader:
    """Batches of a source that gives its bytes in order.

    Iterate once; `end` then has the reason. Bad data is not an error: the iteration ends.
    """

    def __init__(
        self,
        read: Callable[[int], bytes],
        start: int,
        stop: int | None,
        seek_data: Callable[[int], int] | None = None,
        meter: Meter | None = None,
    ) -> None:
        """Make a reader of the bytes from *start* to *stop*, within the budget of *meter*.

        *read* returns the next bytes, at most as many as it is asked for, and none at the end of
        the source. Without *stop* the iteration ends there. *seek_data* moves a sparse file from a
        position past the hole that begins there, and returns where it then is.
        """
        self._source = read
        self._seek_data = seek_data
        self._buffer = b""
        self._pos = 0  # of the next batch in the buffer
        self._base = start  # position of the buffer's first byte
        self._stop = _UNKNOWN_END if stop is None else stop
        self._archive_damage = ""
        self._meter = meter or LEAST.meter()
        self._largest = min(LARGEST_BATCH, self._meter.budget.batch)
        self.lost = 0
        """Bytes before *stop* that the source did not have."""
        self.end: LogEnd | None = None

    def __iter__(self) -> Iterator[Batch]:
        while True:
            window = self.window()
            if window is None:
                batch = self.next_batch()
                if batch is None:
                    return
                yield batch
                continue
            # Whole batches, as fast as possible.
            buffer, pos, position = window
            base, last = position - pos, len(buffer) - HEADER_SIZE
            while pos <= last:
                length: int = _LENGTH(buffer, pos + 8)[0]
                end = pos + LOG_OVERHEAD + length
                if length < _HEADER_LENGTH or end > len(buffer):
                    break
                self._pos = end
                yield Batch(base + pos, end - pos, buffer[pos:end])
                pos = end

    def window(self) -> tuple[bytes, int, int] | None:
        """Return a buffer with the whole next batch, its index and its position in the source.

        The buffer has also the bytes after the batch that were read so far. None, if there is no
        next batch, or it is shorter than a header, or very large: see `next_batch`.
        """
        return (
            (self._buffer, self._pos, self._base + self._pos) if self._has_plain_batch() else None
        )

    def advance(self, to: int) -> None:
        """Skip the batches before *to*, an index in the buffer of the last window."""
        self._pos = to
        if to == len(self._buffer):  # not to be held while rows of a large batch are written
            self._base, self._pos, self._buffer = self._base + to, 0, b""

    def stop_short(self) -> None:
        """End here: the source has spent its budget."""
        self._end_at(self._base + self._pos, EndReason.SPENT, NOT_READ)

    def _has_plain_batch(self) -> bool:
        """Fill the buffer with the next batch, if its size is usual; tell whether it is."""
        if self.end or not self._find():
            return False
        size: int = _LENGTH(self._buffer, self._pos + 8)[0] + LOG_OVERHEAD
        if not HEADER_SIZE <= size <= min(self._largest, self._left()):
            return False
        return len(self._buffer) - self._pos >= size or self._fill(size)

    def _find(self) -> bool:
        """Fill the buffer with the next length; False, with the end set, if there is none."""
        while (remaining := self._left()) >= _SMALLEST_BATCH:
            if len(self._buffer) - self._pos >= _SMALLEST_BATCH or self._fill(_SMALLEST_BATCH):
                return True
        self._end_at(self._base + self._pos, EndReason.PARTIAL if remaining else EndReason.END)
        return False

    def next_batch(self) -> Batch | None:
        """Return the next batch, whatever its size; None, with the end set, if there is none."""
        while not self.end and self._find():
            length: int = _LENGTH(self._buffer, self._pos + 8)[0]
            size, remaining = length + LOG_OVERHEAD, self._left()
            if length < SMALLEST_LENGTH:
                self._end_at_bad_length(length)
                return None
            if size > remaining:
                self._end_at(self._base + self._pos, EndReason.PARTIAL)
                return None
            position = self._base + self._pos
            if size > self._largest:
                return self._pass_large(position, size)
            size_to_buffer = size if size > HEADER_SIZE else min(HEADER_SIZE, remaining)
            if len(self._buffer) - self._pos < size_to_buffer and not self._fill(size_to_buffer):
                continue
            pos = self._pos
            self._pos += size
            return Batch(position, size, self._buffer[pos : pos + size_to_buffer])
        return None

    def _left(self) -> int:
        return self._stop - self._base - self._pos

    def _fill(self, size: int) -> bool:
        """Fill the buffer with *size* bytes of the next batch; False if the source lost them."""
        if size > self._meter.free:
            self._meter.await_turn()
        parts = [self._buffer[self._pos :]]
        self._base += self._pos
        self._pos = 0
        have = len(parts[0])
        while have < size:
            block = self._read(min(max(BLOCK, size - have), self._stop - self._base - have))
            if not block:
                self._stop_at(self._base + have)
                break
            parts.append(block)
            have += len(block)
        self._buffer = b"".join(parts)
        return have >= size

    def _pass_large(self, position: int, size: int) -> Batch | None:
        """Skip a batch that is too large for memory, computing its checksum."""
        if not self._fill(HEADER_SIZE):
            self._end_at(position, EndReason.PARTIAL)
            return None
        head = self._buffer[:HEADER_SIZE]
        pos, extend = (CRC_START, crc32c_extend) if 1 < head[16] < 128 else (16, _crc32_extend)
        crc, remaining = 0, size - pos
        while True:
            block = self._buffer[pos : pos + remaining]
            crc = extend(crc, block)
            remaining -= len(block)
            self._pos = pos + len(block)
            if not remaining:
                return Batch(position, size, head, crc)
            pos = 0
            if not self._fill(1):
                self._end_at(position, EndReason.PARTIAL)
                return None

    def _end_at_bad_length(self, length: int) -> None:
        position = self._base + self._pos
        rest = self._buffer[self._pos :]
        seen, is_padding = 0, True
        # Where the end is unknown, everything is read, to count it.
        while is_padding or self._stop == _UNKNOWN_END:
            is_padding = is_padding and are_zeros(rest)
            seen += len(rest)
            if position + seen < self._stop and self._seek_data:
                seen = min(self._seek_data(position + seen), self._stop) - position
            if position + seen >= self._stop:
                break
            rest = self._read(min(BLOCK, self._stop - position - seen))
            if not rest:
                self._stop_at(position + seen)
                break
        if is_padding:
            padding = self._stop - position
            self._end_at(position, EndReason.PADDING, f"{padding} bytes of zero padding")
        else:
            detail = f"a batch length of {length}, smaller than any batch's"
            self._end_at(position, EndReason.BAD_LENGTH, detail)

    def _end_at(self, position: int, reason: EndReason, detail: str = "") -> None:
        if self._archive_damage and reason is EndReason.BAD_LENGTH:
            detail = f"{detail}; {self._archive_damage}"
        elif self._archive_damage:
            reason, detail = EndReason.DAMAGED_ARCHIVE, self._archive_damage
        self.end = LogEnd(reason, position, self._stop - position, detail)

    def _read(self, size: int) -> bytes:
        """Return the next bytes of the source; the damage of an archive ends it."""
        try:
            return self._source(size)
        except DamagedArchive as error:
            self._archive_damage = error.message
            return b""

    def _stop_at(self, position: int) -> None:
        """Note that the source ends here."""
        if self._stop < _UNKNOWN_END:
            self.lost += self._stop - position
        self._stop = position


def _crc32_extend(crc: int, data: bytes) -> int:
    return crc32(data, crc)

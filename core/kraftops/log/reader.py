"""Walk the batches of a source, in large blocks and never all of it."""

import os
import stat
from collections.abc import Callable, Iterator
from enum import Enum
from struct import Struct
from typing import NamedTuple, Self
from zlib import crc32

from google_crc32c import extend as crc32c_extend

from kraftops.errors import SourceError
from kraftops.log.batch import CRC_START, HEADER_SIZE, LOG_OVERHEAD, SMALLEST_LENGTH, Batch

BLOCK = 1 << 20
LARGEST_BATCH = 256 * 1024 * 1024
"""Batches beyond this are checked on the way but not held; Kafka's default limit is 1 MiB."""

_LENGTH = Struct(">i").unpack_from
_HEADER_LENGTH = HEADER_SIZE - LOG_OVERHEAD
_SMALLEST_BATCH = (
    18  # Kafka looks at no fewer bytes than this: a header up to the magic and one more
)


class EndReason(Enum):
    """Why a walk over batches ended."""

    END = "end"  # nothing is left
    PARTIAL = "partial"  # fewer bytes are left than the next batch says, or than any batch has
    PADDING = "padding"  # only zeros are left
    BAD_LENGTH = "bad length"  # a length that no batch can have


class LogEnd(NamedTuple):
    """Where and why a walk ended: *position* is the end of the last batch that was found."""

    reason: EndReason
    position: int
    left: int
    detail: str = ""


class LogReader:
    """The batches of a source, which is anything that gives its bytes in order.

    Iterate once; `end` then tells why it was over. Bad data is no error: the walk ends.
    """

    def __init__(self, read: Callable[[int], bytes], start: int, stop: int) -> None:
        """Make a reader of the bytes from *start*, where *read* stands, to *stop*."""
        self._read = read
        self._buffer = b""
        self._pos = 0  # of the next batch in the buffer
        self._base = start  # position of the buffer's first byte
        self._stop = stop
        self.lost = 0
        """Bytes that the source should have had and did not give."""
        self.end: LogEnd | None = None

    def __iter__(self) -> Iterator[Batch]:
        while self._find():
            # Batches that the buffer holds whole, without a look at anything else.
            buffer, pos, base = self._buffer, self._pos, self._base
            whole = len(buffer) - HEADER_SIZE
            while pos <= whole:
                length: int = _LENGTH(buffer, pos + 8)[0]
                end = pos + LOG_OVERHEAD + length
                if length < _HEADER_LENGTH or end > len(buffer):
                    break
                self._pos = end
                yield Batch(base + pos, end - pos, buffer[pos:end])
                pos = end
            batch = self._next()
            if batch is None:
                return
            yield batch

    def _find(self) -> bool:
        """Have the next batch's length in the buffer; False, with the end set, if there is none."""
        while (left := self._left()) >= _SMALLEST_BATCH:
            if len(self._buffer) - self._pos >= _SMALLEST_BATCH or self._fill(_SMALLEST_BATCH):
                return True
        self._end(EndReason.PARTIAL if left else EndReason.END)
        return False

    def _next(self) -> Batch | None:
        """Return the next batch, whatever its size; None, with the end set, if there is none."""
        while self._find():
            length: int = _LENGTH(self._buffer, self._pos + 8)[0]
            size, left = length + LOG_OVERHEAD, self._left()
            if length < SMALLEST_LENGTH:
                self._end_at_bad_length(length, left)
                return None
            if size > left:
                self._end(EndReason.PARTIAL)
                return None
            position = self._base + self._pos
            if size > LARGEST_BATCH:
                return self._pass_large(position, size)
            wanted = size if size > HEADER_SIZE else min(HEADER_SIZE, left)
            if len(self._buffer) - self._pos < wanted and not self._fill(wanted):
                continue
            pos = self._pos
            self._pos += size
            return Batch(position, size, self._buffer[pos : pos + wanted])
        return None

    def _left(self) -> int:
        return self._stop - self._base - self._pos

    def _fill(self, wanted: int) -> bool:
        """Have *wanted* bytes of the next batch in the buffer; False if the source lost them."""
        parts = [self._buffer[self._pos :]]
        self._base += self._pos
        self._pos = 0
        have = len(parts[0])
        while have < wanted:
            block = self._read(min(max(BLOCK, wanted - have), self._stop - self._base - have))
            if not block:
                self.lost += self._stop - self._base - have
                self._stop = self._base + have
                break
            parts.append(block)
            have += len(block)
        self._buffer = b"".join(parts)
        return have >= wanted

    def _pass_large(self, position: int, size: int) -> Batch | None:
        """Read over a batch too large to hold, computing its checksum."""
        if not self._fill(HEADER_SIZE):
            self.end = LogEnd(EndReason.PARTIAL, position, self._stop - position)
            return None
        head = self._buffer[:HEADER_SIZE]
        pos, extend = (CRC_START, crc32c_extend) if 1 < head[16] < 128 else (16, _crc32_extend)
        crc, left = 0, size - pos
        while True:
            block = self._buffer[pos : pos + left]
            crc = extend(crc, block)
            left -= len(block)
            self._pos = pos + len(block)
            if not left:
                return Batch(position, size, head, crc)
            pos = 0
            if not self._fill(1):
                self.end = LogEnd(EndReason.PARTIAL, position, self._stop - position)
                return None

    def _end(self, reason: EndReason) -> None:
        self.end = LogEnd(reason, self._base + self._pos, self._left())

    def _end_at_bad_length(self, length: int, left: int) -> None:
        position = self._base + self._pos
        rest = self._buffer[self._pos :]
        seen = 0
        while rest and rest.count(0) == len(rest):
            seen += len(rest)
            if seen >= left:
                break
            rest = self._read(min(BLOCK, left - seen))
        if seen and (seen >= left or not rest):
            self.end = LogEnd(EndReason.PADDING, position, left, f"{left} bytes of zero padding")
            return
        detail = f"a batch length of {length}, smaller than any batch's"
        self.end = LogEnd(EndReason.BAD_LENGTH, position, left, detail)


def _crc32_extend(crc: int, data: bytes) -> int:
    return crc32(data, crc)


class LogFile:
    """A log or snapshot file, open for reading only; a context manager."""

    def __init__(self, path: str) -> None:
        """Open the file.

        Raises:
            SourceError: it cannot be opened.
        """
        self.path = path
        try:
            self._file = open(path, "rb", buffering=0, opener=_open_at_once)  # noqa: SIM115 - see __exit__
        except OSError as error:
            raise _unreadable(path, error) from None
        status = os.fstat(self._file.fileno())
        if not stat.S_ISREG(status.st_mode):
            self._file.close()
            raise SourceError(f"cannot read {path}: it is no regular file")
        self.size = status.st_size
        """Bytes when it was opened; what is appended later is not read."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def batches(self, start: int = 0, stop: int | None = None) -> LogReader:
        """Return the batches from byte *start*, a batch's first, up to byte *stop* or the end.

        Only one such walk at a time: they share the file's position.

        Raises:
            SourceError: while iterating, the file cannot be read.
        """
        stop = self.size if stop is None else min(stop, self.size)
        self._file.seek(start)
        return LogReader(self._read, start, stop)

    def read_at(self, position: int, size: int) -> bytes:
        """Return up to *size* bytes at *position*, fewer only at the end of the file.

        Raises:
            SourceError: the file cannot be read.
        """
        self._file.seek(position)
        parts: list[bytes] = []
        while size > 0 and (part := self._read(min(size, BLOCK))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _read(self, size: int) -> bytes:
        try:
            return self._file.read(size) or b""
        except OSError as error:
            raise _unreadable(self.path, error) from None


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for a writer, as a FIFO would."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _unreadable(path: str, error: OSError) -> SourceError:
    return SourceError(f"cannot read {path}: {error.strerror}")

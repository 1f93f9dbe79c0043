"""Read a damaged log: skip each gap to the next batch with a right length and checksum.

A wrong length leads nowhere, so the search looks for a batch of magic 0, 1 or 2 at each byte after
the damage. (Where lengths do lead, a higher magic is read as 2, as by `LogReader` and Kafka: the
byte is outside the checksum.) Three rules keep the search right and quick:

- A payload may contain whole batches. So only gaps are searched, and a batch in a gap must have
  offsets above the offsets before the gap. If the stated length of the damaged batch leads to a
  whole batch, they must also be below the offsets of that batch. Offsets are outside the checksum:
  of the last two batches the smaller offset counts. If no batch up to the end has a greater one,
  the first whole batch outside the damaged batch is taken, and later offsets are not checked.
- The longer a batch claims to be, the more of its header must be plausible before its checksum is
  computed (`kraftops.log.damage.candidates`); none beyond `LARGEST_BATCH` is looked for.
- Checksums of false candidates have a budget. Only bytes that imitate many large batches on purpose
  can use it up; large batches are then no longer looked for.
"""

from collections.abc import Generator, Iterator, Sequence
from functools import partial
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from google_crc32c import extend as crc32c_extend
from google_crc32c import value as crc32c

from kraftops.display.sizes import many
from kraftops.errors import DecodeError
from kraftops.log import legacy
from kraftops.log.batch import (
    CRC_START,
    HEADER_SIZE,
    LOG_OVERHEAD,
    SMALLEST_LENGTH,
    Batch,
)
from kraftops.log.damage.candidates import MAGIC_AT, SMALLEST_SIZES, candidates, read_start
from kraftops.log.log_file import LogFile
from kraftops.log.reader import BLOCK, LARGEST_BATCH
from kraftops.log.zeros import are_zeros
from kraftops.memory import LEAST, Meter

_QUICK = Struct(">qi4xbI2xi").unpack_from  # base offset, length, magic, CRC, last offset delta
_PADDING = 18  # zeros at the end; `LogReader` too takes fewer for the rest of a batch

_FIRST_CHUNK, _CHUNK = 1 << 10, 1 << 18  # bytes that are searched at a time, few at first
_SMALL = 1 << 16  # bytes of a batch that is always checked
# Bytes of checksums of false candidates, in total and per byte searched: bytes made to look like
# batches everywhere would otherwise cost the square of their number.
_BUDGET, _BUDGET_PER_BYTE = 1 << 32, 64


class Gap(NamedTuple):
    """Bytes without a whole batch.

    *last_offset* is before it and *next_offset* after it; None is unknown.
    """

    position: int
    size: int
    reason: str
    last_offset: int | None
    next_offset: int | None

    @property
    def missing(self) -> int | None:
        """Number of offsets between the batches around the gap, if both are known."""
        if self.last_offset is None or self.next_offset is None:
            return None
        return max(self.next_offset - self.last_offset - 1, 0)


def salvaged(
    log: LogFile,
    start: int = 0,
    stop: int | None = None,
    meter: Meter | None = None,
    before: Sequence[int] = (),
) -> Iterator[Batch | Gap]:
    """Yield the whole batches of a log from byte *start* to byte *stop*, and the gaps among them.

    They follow each other without a hole, up to zeros at the end, if there are any. Batches are
    as from `LogReader`, with right checksums. *start* should be the first byte of a batch. A batch
    that is only partly in the range is a gap: read a damaged file as one range. *meter* counts what
    batches of the log inflate to. *before* are the last offsets of the last two batches before
    *start*, as far as these were read.

    Raises:
        SourceError: while iterating, the file cannot be read.
    """
    stop = log.size if stop is None else min(stop, log.size)
    log.expect(start, stop)
    return _Salvage(log, start, stop, meter or LEAST.meter(), before).walk()


class _Window:
    """Bytes of a log from a position on, which seldom moves back."""

    def __init__(self, log: LogFile, start: int, stop: int) -> None:
        self._log = log
        self.stop = stop
        self.base = start  # position of the first byte of *data*
        self.data = b""

    def reach(self, position: int, size: int) -> None:
        """Fill *data* with *size* bytes from *position* on, or fewer where the log ends."""
        index = position - self.base
        if index >= 0 and index + size <= len(self.data):
            return
        have = self.data[index:] if index >= 0 else b""
        size_to_read = min(max(size, BLOCK), self.stop - position)
        self.data = have + self._log.read_at(position + len(have), size_to_read - len(have))
        self.base = position
        if len(self.data) < size_to_read:  # the file has shrunk
            self.stop = position + len(self.data)

    def read(self, position: int, size: int) -> bytes:
        """Return bytes at any position, fewer where the log ends."""
        size = min(size, self.stop - position)
        index = position - self.base
        if index >= 0 and index + size <= len(self.data):
            return self.data[index : index + size]
        return self._log.read_at(position, size)

    def hole_end(self, position: int) -> int:
        """Return the end of the hole at a position of a sparse file; the position if it is data."""
        return min(self._log.next_data(position), self.stop)

    def crc(self, position: int, size: int, magic: int) -> int:
        """Return the checksum of a batch at any position, one block in memory at a time."""
        crc, end = 0, position + size
        for index in range(position + (CRC_START if magic > 1 else MAGIC_AT), end, BLOCK):
            block = self.read(index, min(BLOCK, end - index))
            crc = int(crc32c_extend(crc, block)) if magic > 1 else crc32(block, crc)
        return crc


class _Salvage:
    """Reader of a damaged log."""

    def __init__(
        self, log: LogFile, start: int, stop: int, meter: Meter, before: Sequence[int]
    ) -> None:
        self._window = _Window(log, start, stop)
        self._start, self._meter = start, meter
        # Offset of the last batch and of the one before it.
        self._last, self._before = (*reversed(before), None, None)[:2]
        self._checks_offsets = True
        self._budget = _BUDGET
        self._largest = min(LARGEST_BATCH, meter.budget.batch)  # that is held, as by `LogReader`

    def walk(self) -> Iterator[Batch | Gap]:
        """Yield batches and gaps; iterate once."""
        window, position = self._window, self._start
        while position < window.stop:
            window.reach(position, HEADER_SIZE)
            position = yield from self._whole_batches(position)
            if position >= window.stop:
                return
            batch = self._batch(position)
            if isinstance(batch, Batch):
                self._before, self._last = self._last, last_offset(batch)
                yield batch
                position += batch.size
                continue
            gap = self._gap(position, batch)
            if not gap.size:
                return
            yield gap
            position += gap.size

    def _whole_batches(self, position: int) -> Generator[Batch, None, int]:
        """Yield whole batches in the window, as fast as possible; return the position after."""
        data, base = self._window.data, self._window.base
        pos, last = position - base, len(data) - HEADER_SIZE
        while pos <= last:
            offset, length, magic, crc, delta = _QUICK(data, pos)
            end = pos + LOG_OVERHEAD + length
            if magic != 2 or length < HEADER_SIZE - LOG_OVERHEAD or end > len(data):
                break
            batch = data[pos:end]
            if crc32c(batch[CRC_START:]) != crc:
                break
            self._before, self._last = self._last, offset + delta
            yield Batch(base + pos, end - pos, batch)
            pos = end
        return base + pos

    def _batch(self, position: int) -> Batch | str:
        """Return the batch at *position*, or the reason why there is none."""
        window = self._window
        size = _stated_size(window.read(position, HEADER_SIZE))
        if size <= min(self._largest, window.stop - position):
            window.reach(position, size)
        problem = self._problem(position)
        if problem:
            return problem
        if size > self._largest:
            head = window.read(position, HEADER_SIZE)
            return Batch(position, size, head, window.crc(position, size, head[MAGIC_AT]))
        # `LogReader` too gives what lies after a batch that is smaller than a header of magic 2.
        return Batch(position, size, window.read(position, max(size, HEADER_SIZE)))

    def _problem(self, position: int) -> str:
        """Return the reason why there is no whole batch at *position*; empty if there is one."""
        window = self._window
        remaining = window.stop - position
        head = window.read(position, HEADER_SIZE)
        if len(head) <= MAGIC_AT:
            return f"{many(remaining, 'byte')}, fewer than any batch has"
        problem = _size_problem(head, remaining)
        if problem:
            return problem
        _, length, _, magic = read_start(head)
        is_right = window.crc(position, length + LOG_OVERHEAD, magic) == _stored_crc(head, 0, magic)
        return "" if is_right else "a wrong checksum"

    def _gap(self, position: int, reason: str) -> Gap:
        """Return the gap that begins at *position*, of no bytes if only padding is left."""
        window = self._window
        end = position + _stated_size(window.read(position, HEADER_SIZE))
        if end > window.stop:
            end = position
        follower = end if position < end < window.stop and not self._problem(end) else None
        follower_position, used = self._search(position, end, follower)
        if follower_position is None:
            end = max(end, used)
            if window.stop - end < _PADDING:
                end = window.stop
            return Gap(
                position=position,
                size=end - position,
                reason=reason,
                last_offset=self._last,
                next_offset=None,
            )
        batch = self._batch(follower_position)
        offset = _first_offset(batch, self._meter) if isinstance(batch, Batch) else None
        return Gap(
            position=position,
            size=follower_position - position,
            reason=reason,
            last_offset=self._last,
            next_offset=offset,
        )

    def _search(self, start: int, end: int, follower: int | None) -> tuple[int | None, int]:
        """Return the position of the next batch after *start*, and the end of all non-zero bytes.

        The stated length of the damaged batch at *start* leads to *end*; *follower* is the position
        of a whole batch there, or None.
        """
        window, used = self._window, start
        doubtful: int | None = None
        floor, ceiling = self._offsets_between(follower)
        position, chunk = start, _FIRST_CHUNK
        while position < (limit := window.stop if follower is None else follower):
            window.reach(position, chunk + HEADER_SIZE)
            data, base = window.data, window.base
            first = position - base
            last = min(first + chunk, limit - base, len(data))
            searched = data[first:last]
            searched_zeros = are_zeros(searched)
            if not searched_zeros:
                used = position + len(searched.rstrip(b"\0"))
            read_far = partial(self._read_from, base)
            for index, size, magic, offset in candidates(data, first, last, limit - base, read_far):
                candidate = base + index
                in_order = floor < offset < ceiling
                if candidate == start or (size > _SMALL and self._budget < 0):
                    continue
                if not in_order and (candidate < end or doubtful is not None):
                    continue
                if window.crc(candidate, size, magic) != _stored_crc(data, index, magic):
                    self._budget -= size
                elif in_order:
                    return candidate, used
                else:
                    doubtful = candidate
            position, chunk = base + last, min(4 * chunk, _CHUNK)
            if searched_zeros:  # a batch begins at most with its header in a hole
                position = max(position, window.hole_end(position) - HEADER_SIZE)
            self._budget += _BUDGET_PER_BYTE * (position - base - first)
        if follower is None and doubtful is not None:
            self._checks_offsets = False
            return doubtful, used
        return follower, used

    def _read_from(self, base: int, index: int, size: int) -> bytes:
        return self._window.read(base + index, size)

    def _offsets_between(self, follower: int | None) -> tuple[float, float]:
        """Return exclusive bounds of the offset of a batch in a gap."""
        floor, ceiling = float("-inf"), float("inf")
        if self._checks_offsets:
            if self._last is not None:
                floor = self._last if self._before is None else min(self._last, self._before)
            if follower is not None:
                ceiling = read_start(self._window.read(follower, HEADER_SIZE))[0]
        return floor, ceiling


def _size_problem(head: bytes, remaining: int) -> str:
    """Return the reason why the stated size of a batch is impossible; empty if it is possible."""
    _, length, _, magic = read_start(head)
    size = length + LOG_OVERHEAD
    if length < SMALLEST_LENGTH:
        return f"a batch length of {length}, smaller than any batch's"
    if magic < 0:
        return f"a batch of magic {magic}"
    if size < SMALLEST_SIZES[min(magic, 2)]:
        return f"a batch of {size} bytes, smaller than its header"
    return f"a batch of {size} bytes where {remaining} are left" if size > remaining else ""


def _stored_crc(data: bytes, index: int, magic: int) -> int:
    """Return the checksum in the header of the batch at an index."""
    start = index + (17 if magic > 1 else 12)
    return int.from_bytes(data[start : start + 4])


def _stated_size(head: bytes) -> int:
    """Return the stated size of a batch, or 0 if it is impossible."""
    length = int.from_bytes(head[8:LOG_OVERHEAD], signed=True)
    return length + LOG_OVERHEAD if length >= SMALLEST_LENGTH else 0


def last_offset(batch: Batch) -> int:
    return legacy.header(batch).offset if batch.is_legacy else batch.header.last_offset


def _first_offset(batch: Batch, meter: Meter) -> int | None:
    """Return the first offset of a batch; None if its wrapper has a damaged content."""
    if not batch.is_legacy:
        return batch.header.base_offset
    try:
        return next(legacy.records(batch, meter)).record.offset
    except DecodeError:
        return None

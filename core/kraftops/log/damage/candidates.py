"""Find possible batches in damaged bytes, before their checksums are computed."""

import re
from collections.abc import Callable, Iterator
from struct import Struct
from typing import NamedTuple

from kraftops.log.batch import HEADER, HEADER_SIZE, LOG_OVERHEAD, SMALLEST_LENGTH
from kraftops.log.codecs import CODECS
from kraftops.log.zeros import zeros_end

MAGIC_AT = 16  # `Records.MAGIC_OFFSET`, the same in all formats
SMALLEST_SIZES = {
    0: SMALLEST_LENGTH + LOG_OVERHEAD,
    1: SMALLEST_LENGTH + LOG_OVERHEAD,
    2: HEADER_SIZE,
}
"""Smallest size of a batch by its magic (`LegacyRecord`, `DefaultRecordBatch`)."""

read_start = Struct(">qiib").unpack_from
"""(bytes, index) to base offset, length, leader epoch (of magic 2) and magic."""

_INT32 = Struct(">i").unpack_from
_USUAL_LARGEST = 1 << 20  # bytes; Kafka's default for `message.max.bytes`
_UNUSED_ATTRIBUTES = (
    ~0x7F
)  # Kafka 4.3 has seven bits (`DefaultRecordBatch`) and leaves the others 0
_ZEROS = bytes(64)
_NO_ZERO = re.compile(rb"[^\0]")
# A magic where the length before it is below 256 MiB (`kraftops.log.reader.LARGEST_BATCH`).
_MAGIC = re.compile(rb"[\0-\2](?<=[\0-\x0f].{8})", re.DOTALL)


class Candidate(NamedTuple):
    """Possible batch from index *start* on; *offset* is of its first record or its wrapper."""

    start: int
    size: int
    magic: int
    offset: int


def candidates(
    data: bytes, first: int, last: int, limit: int, read_far: Callable[[int, int], bytes]
) -> Iterator[Candidate]:
    """Yield possible batches that begin at an index from *first* to before *last*.

    Behind *last*, *data* must have the bytes of a header, unless the source ends. *limit* is the
    index where the last batch must end, in or after *data*. *read_far* returns bytes from any
    index on.
    """
    for begin, end in _between_zeros(data, first + MAGIC_AT, min(last + MAGIC_AT, len(data))):
        for match in _MAGIC.finditer(data, begin, end):
            start = match.start() - MAGIC_AT
            offset, length, _, magic = read_start(data, start)
            size = length + LOG_OVERHEAD
            if not SMALLEST_SIZES[magic] <= size <= limit - start:
                continue
            if magic < 2:
                is_likely = _adds_up(data, start, length, magic, read_far)
            else:
                is_likely = size <= _USUAL_LARGEST or _is_plausible(data, start)
            if is_likely:
                yield Candidate(start, size, magic, offset)


def _adds_up(
    data: bytes, start: int, length: int, magic: int, read_far: Callable[[int, int], bytes]
) -> bool:
    """Tell whether the lengths inside a message or wrapper of magic 0 or 1 add up to its length."""
    unclaimed = length - 14 - 8 * magic  # crc, magic, attributes, (timestamp), two lengths
    key_at = start + 18 + 8 * magic
    if unclaimed < 0 or key_at + 4 > len(data):
        return False
    (key_size,) = _INT32(data, key_at)
    value_at = key_at + 4
    if key_size > 0:
        unclaimed -= key_size
        value_at += key_size
    if unclaimed < 0 or key_size < -1:
        return False
    if value_at + 4 <= len(data):
        (value_size,) = _INT32(data, value_at)
    else:
        value_size = int.from_bytes(read_far(value_at, 4), signed=True)
    return bool(unclaimed == max(value_size, 0) and value_size >= -1)


def _is_plausible(data: bytes, start: int) -> bool:
    """Tell whether a header of magic 2 has values that clients write."""
    offset, _, _, _, _, attributes, delta, *_, count = HEADER.unpack_from(data, start)
    is_known = not attributes & _UNUSED_ATTRIBUTES and attributes & 0x07 < len(CODECS)
    return is_known and offset >= 0 <= count <= delta + 1


def _between_zeros(data: bytes, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a range that may have magics, without the long runs of zeros.

    Inside a run each magic is 0, but the length of its batch, which is before it, is 0 too.
    """
    while begin < end:
        run = data.find(_ZEROS, begin, end)
        if run < 0:
            yield begin, end
            return
        yield begin, min(run + 8, end)  # a length lies eight bytes before a magic
        match = _NO_ZERO.search(data, zeros_end(data, run + len(_ZEROS), end), end)
        begin = match.start() if match else end

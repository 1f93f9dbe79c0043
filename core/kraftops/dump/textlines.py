"""The lines of records whose keys and values are text, straight from a batch's bytes.

Records of one length mostly have parts of the same lengths: the first record of a length is walked
step by step and leaves a layout behind, by which one `Struct` takes the next ones apart. What is
not as producers write it (no headers, consecutive offsets, times that do not go back, UTF-8) is
left to the general code, record by record: this loop need not be right about odd input, it only
has to notice.
"""

import struct
from collections.abc import Callable
from typing import NamedTuple

from kraftops.log import batch as v2
from kraftops.log.batch import Header
from kraftops.varint import varint_bytes

_SAFE = 1 << 62  # no sum of a smaller number with a delta leaves int64
_LAST_SEQUENCE = 0x7FFFFFFF
_ONE_BYTE_DELTAS = 64
_TWO_BYTE_DELTAS = 8192
_KEPT_LAYOUTS = 4096


class _Layout(NamedTuple):
    """How the parts of a record lie in it.

    *parts* gives time delta and offset delta (raw), key length, key, value length, value, headers.
    """

    parts: Callable[[bytes, int], tuple[int, bytes, bytes, bytes, bytes, bytes, int]]
    key_length: bytes
    value_length: bytes
    sizes: str
    key_label: str
    size: int


class TextLines:
    """Prints runs of plain records with keys and values as text."""

    def __init__(self) -> None:
        # By a record's first two bytes, which have its length: for offset deltas of one byte and
        # of two.
        self._layouts: tuple[dict[bytes, _Layout], dict[bytes, _Layout]] = ({}, {})
        self._deltas = [varint_bytes(number) for number in range(_ONE_BYTE_DELTAS)]

    def add(
        self, b: bytes, p: int, done: int, header: Header, append: Callable[[str], None]
    ) -> tuple[int, int]:
        """Append lines of records from number *done*, which begins at *p*, on.

        Return where the first record begins that was not printed, and its number.
        """
        (
            base_offset, _, _, _, _, attributes, _, base_time, max_time, _, _, sequence, count,
        ) = header  # fmt: skip
        if (
            attributes & v2.CONTROL
            or not (-_SAFE < base_offset < _SAFE and -_SAFE < base_time < _SAFE)
            or sequence > _LAST_SEQUENCE - count
        ):
            return p, done
        appended_at = f"LogAppendTime: {max_time}" if attributes & v2.LOG_APPEND_TIME else ""
        sequence_step = 1 if sequence >= 0 else 0
        sequence = sequence + done if sequence >= 0 else -1
        if count > len(self._deltas):
            self._deltas += map(
                varint_bytes, range(len(self._deltas), min(count, _TWO_BYTE_DELTAS))
            )
        offset, last_t, time, misses = base_offset + done, -1, "", 0
        try:
            for layouts, start, stop in (
                (self._layouts[0], done, min(count, _ONE_BYTE_DELTAS)),
                (self._layouts[1], max(done, _ONE_BYTE_DELTAS), count),
            ):
                for delta in self._deltas[start:stop]:
                    layout = layouts.get(b[p : p + 2])
                    if layout:
                        parts, key_length, value_length, sizes, key_label, size = layout
                        t, d, k, key, v, value, headers = parts(b, p)
                    if not layout or d != delta or k != key_length or v != value_length or headers:
                        misses += 1
                        walked = _walk(b, p, delta)
                        if walked is None:
                            return p, offset - base_offset
                        t, key, value, sizes, key_label, size = walked
                        if not layout and len(layouts) < _KEPT_LAYOUTS:
                            layouts[b[p : p + 2]] = _layout(b, p, walked)
                    if t != last_t:
                        last_t = t
                        is_longer = t & 128
                        if t > 255:
                            t = (t >> 8 & 127) | (t & 127) << 7
                        if is_longer or t & 1:
                            return p, offset - base_offset
                        time = appended_at or f"CreateTime: {base_time + (t >> 1)}"
                    append(
                        f"| offset: {offset} {time} {sizes} sequence: {sequence} headerKeys: []"
                        f"{key_label}{key.decode()} payload: {value.decode()}\n"
                    )
                    p += size
                    sequence += sequence_step
                    offset += 1
        except (IndexError, UnicodeDecodeError, struct.error):
            pass
        if 2 * misses > count:  # what was learned does not help: learn from the next batch
            self._layouts[0].clear()
            self._layouts[1].clear()
        return p, offset - base_offset


class _Walked(NamedTuple):
    """The parts of a record that was walked; the time delta is raw."""

    time_delta: int
    key: bytes
    value: bytes
    sizes: str
    key_label: str
    size: int


def _walk(b: bytes, p: int, delta: bytes) -> _Walked | None:
    """Return the parts of the record at *p*, or None where it is not plain."""
    start = p
    n = b[p]
    p += 1
    if n > 127:
        n = n & 127 | b[p] << 7
        p += 1
    end = p + (n >> 1)
    t = b[p + 1]
    p += 2
    if t > 127:
        t = t << 8 | b[p]
        p += 1
    if b[p : p + len(delta)] != delta:
        return None
    p += len(delta)
    k = b[p]
    p += 1
    key_size = -1 if k == 1 else k >> 1
    key = b"" if k == 1 else b[p : p + key_size]
    p += len(key)
    v = b[p]
    p += 1
    if v > 127:
        v = v & 127 | b[p] << 7
        p += 1
    value_size = v >> 1
    value = b[p : p + value_size]
    p += value_size
    # Odd numbers are negative, and these are the highest that one or two bytes have.
    is_plain = not (n | v) & 1 and (k == 1 or not k & 1) and k < 128 and n < 16384 and v < 16384
    if not is_plain or p + 1 != end or b[p]:
        return None
    sizes = f"keySize: {key_size} valueSize: {value_size}"
    return _Walked(t, key, value, sizes, "" if k == 1 else " key: ", end - start)


def _layout(b: bytes, p: int, walked: _Walked) -> _Layout:
    """Return the layout of a record that was walked."""
    length_width = 1 if b[p] < 128 else 2
    time_width = 1 if walked.time_delta < 256 else 2
    key_size, value_size = len(walked.key), len(walked.value)
    value_width = 1 if value_size < 64 else 2
    fixed = length_width + 1 + time_width + 1 + key_size + value_width + value_size + 1
    delta_width = walked.size - fixed
    parts = struct.Struct(
        f">{length_width}xx{'B' if time_width == 1 else 'H'}{delta_width}ss{key_size}s"
        f"{value_width}s{value_size}sB"
    )
    key_at = p + length_width + 1 + time_width + delta_width
    value_at = key_at + 1 + key_size
    return _Layout(
        parts.unpack_from,
        b[key_at : key_at + 1],
        b[value_at : value_at + value_width],
        walked.sizes,
        walked.key_label,
        walked.size,
    )

"""The lines of records whose keys and values are text, straight from a batch's bytes.

Records of one length mostly have parts of the same lengths: the first record of a length is walked
step by step and leaves a layout behind, by which one `Struct` takes the next ones apart. What is
not as producers write it (no headers, consecutive offsets, short time deltas, UTF-8) is left to the
general code, record by record: this loop need not be right about odd input, it only has to notice.
"""

import struct
from collections.abc import Callable
from typing import NamedTuple

from kraftops.dump.runs import Run
from kraftops.errors import DecodeError
from kraftops.log import batch as v2
from kraftops.memo import Memo
from kraftops.varint import read_varlong, varint_bytes

_SAFE = 1 << 62  # no sum of a smaller number with a delta leaves int64
_LAST_SEQUENCE = 0x7FFFFFFF
ONE_BYTE_DELTAS = 64
TWO_BYTE_DELTAS = 8192
KEPT_LAYOUTS = 4096


class Layout(NamedTuple):
    """How the parts of a record lie in it.

    *parts* gives time delta, offset delta and key length (raw), key, value length (raw), value, and
    the number of headers.
    """

    parts: Callable[[bytes, int], tuple[bytes, bytes, bytes, bytes, bytes, bytes, int]]
    key_length: bytes
    value_length: bytes
    sizes: str
    label: str
    size: int


class TextLines:
    """Prints runs of plain records with keys and values as text."""

    def __init__(self) -> None:
        # By a record's first two bytes, which have its length: for offset deltas of one byte and
        # of two.
        self._layouts: tuple[dict[bytes, Layout], dict[bytes, Layout]] = ({}, {})
        self._deltas = [varint_bytes(number) for number in range(ONE_BYTE_DELTAS)]
        self._times: Memo[int] = Memo(time_delta_of)

    def add(self, run: Run, append: Callable[[str], None]) -> tuple[int, int]:
        """Do what `FastLines.add` says."""
        b, p, done, stop, header = run
        (
            base_offset, _, _, _, _, attributes, _, base_time, max_time, _, _, sequence, count,
        ) = header  # fmt: skip
        if (
            attributes & v2.CONTROL
            or not (-_SAFE < base_offset < _SAFE and -_SAFE < base_time < _SAFE)
            or sequence > _LAST_SEQUENCE - count
        ):
            return p, done
        is_appended = attributes & v2.LOG_APPEND_TIME
        time_type = "LogAppendTime" if is_appended else "CreateTime"
        has_sequence = sequence >= 0
        sequence += done
        if stop > len(self._deltas):
            kept = range(len(self._deltas), min(stop, TWO_BYTE_DELTAS))
            self._deltas += map(varint_bytes, kept)
        times = self._times
        offset, time, last_t, misses = base_offset + done, max_time, b"", 0
        try:
            for layouts, first, last in (
                (self._layouts[0], done, min(stop, ONE_BYTE_DELTAS)),
                (self._layouts[1], max(done, ONE_BYTE_DELTAS), stop),
            ):
                for delta in self._deltas[first:last]:
                    layout = layouts.get(b[p : p + 2])
                    if layout:
                        parts, key_length, value_length, sizes, label, size = layout
                        t, d, k, key, v, value, headers = parts(b, p)
                    if not layout or d != delta or k != key_length or v != value_length or headers:
                        misses += 1
                        walked = walk(b, p, delta)
                        if walked is None:
                            return p, offset - base_offset
                        t, key, value, sizes, label, size = walked
                        if not layout and len(layouts) < KEPT_LAYOUTS:
                            layouts[b[p : p + 2]] = layout_of(b, p, walked)
                    if t != last_t:
                        last_t = t
                        elapsed = times[t]  # fails where the layout cut a longer number
                        if not is_appended:
                            time = base_time + elapsed
                    if has_sequence:
                        sizes = f"{sizes[:-2]}{sequence}"
                        sequence += 1
                    append(
                        f"| offset: {offset} {time_type}: {time} {sizes}{label}{key.decode()}"
                        f" payload: {value.decode()}\n"
                    )
                    p += size
                    offset += 1
        except (IndexError, UnicodeDecodeError, DecodeError, struct.error):
            pass
        if 2 * misses > stop - done:  # what was learned does not help: learn from the next batch
            self._layouts[0].clear()
            self._layouts[1].clear()
        return p, offset - base_offset


class Walked(NamedTuple):
    """The parts of a record that was walked; *sizes* ends in the sequence of no producer."""

    time_delta: bytes
    key: bytes
    value: bytes
    sizes: str
    label: str
    size: int


def walk(b: bytes, p: int, delta: bytes) -> Walked | None:
    """Return the parts of the record at *p*, or None where it is not plain."""
    start = p
    n = b[p]
    p += 1
    if n > 127:
        n = n & 127 | b[p] << 7
        p += 1
    end = p + (n >> 1)
    p += 1
    time_delta = b[p : p + 1] if b[p] < 128 else b[p : p + 2]
    p += len(time_delta)
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
    sizes = f"keySize: {key_size} valueSize: {value_size} sequence: -1"
    label = " headerKeys: []" if k == 1 else " headerKeys: [] key: "
    return Walked(time_delta, key, value, sizes, label, end - start)


def layout_of(b: bytes, p: int, walked: Walked) -> Layout:
    """Return the layout of a record that was walked."""
    length_width = 1 if b[p] < 128 else 2
    time_width = len(walked.time_delta)
    key_size, value_size = len(walked.key), len(walked.value)
    value_width = 1 if value_size < 64 else 2
    fixed = length_width + 1 + time_width + 1 + key_size + value_width + value_size + 1
    delta_width = walked.size - fixed
    parts = struct.Struct(
        f">{length_width}xx{time_width}s{delta_width}ss{key_size}s{value_width}s{value_size}sB"
    )
    key_at = p + length_width + 1 + time_width + delta_width
    value_at = key_at + 1 + key_size
    return Layout(
        parts.unpack_from,
        b[key_at : key_at + 1],
        b[value_at : value_at + value_width],
        walked.sizes,
        walked.label,
        walked.size,
    )


def time_delta_of(raw: bytes) -> int:
    """Return the number that *raw*, all of it, holds as a varint.

    Raises:
        DecodeError: it holds less, or more.
    """
    delta, end = read_varlong(raw, 0)
    if end != len(raw):
        raise DecodeError("no varint")
    return delta

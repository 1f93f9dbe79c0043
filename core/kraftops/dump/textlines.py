"""The lines of records whose keys and values are text, straight from a batch's bytes.

The loop follows what producers write: lengths, time and offset deltas of up to two bytes, no
headers, consecutive offsets, UTF-8. What does not fit is left to the general code, record by
record: this loop need not be right about odd input, it only has to notice.
"""

from __future__ import annotations

from collections.abc import Callable

from kraftops.log import batch as v2
from kraftops.log.batch import Header

_SAFE = 1 << 62  # no sum of a smaller number with a delta leaves int64
_LAST_SEQUENCE = 0x7FFFFFFF


class TextLines:
    """Prints runs of plain records with keys and values as text."""

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
        expected = 2 * done  # the offset delta, as a varint has it
        offset = first = base_offset + done
        cached, time = -1, ""
        try:
            for offset in range(first, base_offset + count):
                n = b[p]
                if n < 128:
                    q = p + 1
                    e = q + (n >> 1)
                else:
                    m = b[p + 1]
                    if m > 127:
                        break
                    q = p + 2
                    e = q + ((n & 127 | m << 7) >> 1)
                t = b[q + 1]
                if t > 127:
                    m = b[q + 2]
                    if m > 127:
                        break
                    t = t & 127 | m << 7
                    q += 3
                else:
                    q += 2
                d = b[q]
                if d > 127:
                    m = b[q + 1]
                    if m > 127:
                        break
                    d = d & 127 | m << 7
                    q += 2
                else:
                    q += 1
                if d != expected:
                    break
                if t != cached:
                    cached = t
                    time = appended_at or f"CreateTime: {base_time + (t >> 1)}"
                k = b[q]
                q += 1
                if k == 1:
                    key_size, key = -1, ""
                elif k < 128 and not k & 1:
                    key_size = k >> 1
                    q += key_size
                    key = f" key: {b[q - key_size : q].decode()}"
                else:
                    break
                n = b[q]
                q += 1
                if n > 127:
                    m = b[q]
                    if m > 127:
                        break
                    n = n & 127 | m << 7
                    q += 1
                size = n >> 1
                r = q + size
                if (
                    r + 1 != e or b[r] or (n | t) & 1
                ):  # headers; a null value, a time that goes back
                    break
                append(
                    f"| offset: {offset} {time} keySize: {key_size} valueSize: {size} "
                    f"sequence: {sequence} headerKeys: []{key} payload: {b[q:r].decode()}\n"
                )
                sequence += sequence_step
                expected += 2
                p = e
            else:
                return p, count
        except (IndexError, UnicodeDecodeError):
            pass
        return p, offset - base_offset

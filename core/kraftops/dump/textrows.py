"""Rows of records whose keys and values are text, as JSON, straight from a batch's bytes.

The loop is that of `kraftops.dump.textlines`, with the line of a row in the place of Kafka's: a
function between them would cost each line a tenth.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from json.encoder import encode_basestring as json_string

from kraftops.dump.runs import Run
from kraftops.dump.textlines import (
    KEPT_LAYOUTS,
    ONE_BYTE_DELTAS,
    TWO_BYTE_DELTAS,
    Layout,
    Walked,
    layout_of,
    time_delta_of,
    walk,
)
from kraftops.errors import DecodeError
from kraftops.log import batch as v2
from kraftops.memo import Memo
from kraftops.varint import varint_bytes

_SAFE = 1 << 62  # no sum of a smaller number with a delta leaves int64
_LAST_SEQUENCE = 0x7FFFFFFF
_END = (
    ',"topicId":null,"partitionId":null,"brokerId":null,'
    '"keyEncoding":null,"valueEncoding":null,"error":null}\n'
)


class TextRows:
    """Prints runs of plain records with keys and values as text, as rows."""

    def __init__(self, *, in_order: bool = False) -> None:
        """Make one that has learned nothing; *in_order*, it leaves records before the first."""
        self._layouts: tuple[dict[bytes, Layout], dict[bytes, Layout]] = ({}, {})
        self._deltas = [varint_bytes(number) for number in range(ONE_BYTE_DELTAS)]
        self._times: Memo[int] = Memo(_later_delta_of if in_order else time_delta_of)

    def add(
        self, run: Run, append: Callable[[str], None], head: str, middle: str
    ) -> tuple[int, int]:
        """Do what `FastRows.add` says; in *middle* stands `"sequence":null`."""
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
        before, _, after = middle.partition('null,"transactional"')
        after = f',"transactional"{after}'
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
                        walked = _in_json(walked)
                        t, key, value, sizes, label, size = walked
                        if not layout and len(layouts) < KEPT_LAYOUTS:
                            layouts[b[p : p + 2]] = layout_of(b, p, walked)
                    if t != last_t:
                        last_t = t
                        elapsed = times[t]  # fails where the layout cut a longer number
                        if not is_appended:
                            time = base_time + elapsed
                    shown_key = json_string(key.decode()) if label else "null"
                    number: object = "null"
                    if has_sequence:
                        number = sequence
                        sequence += 1
                    append(
                        f'{head}{offset},"timestamp":{time}{before}{number}{after}{sizes}'
                        f'{shown_key},"value":{json_string(value.decode())}{_END}'
                    )
                    p += size
                    offset += 1
        except (IndexError, UnicodeDecodeError, DecodeError, struct.error):
            pass
        if 2 * misses > stop - done:  # what was learned does not help: learn from the next batch
            self._layouts[0].clear()
            self._layouts[1].clear()
        return p, offset - base_offset


def _later_delta_of(raw: bytes) -> int:
    """Return the number in the bytes of a time delta.

    Raises:
        DecodeError: there is none, or it is negative.
    """
    delta = time_delta_of(raw)
    if delta < 0:
        raise DecodeError("a record that is earlier than the first of its batch")
    return delta


def _in_json(walked: Walked) -> Walked:
    """Return the parts with what a row says of the sizes, and a label if there is a key."""
    has_key = walked.label.endswith("key: ")
    key_size = len(walked.key) if has_key else "null"
    sizes = (
        f'"keySize":{key_size},"valueSize":{len(walked.value)},"headers":[],"kind":"user",'
        '"type":null,"version":null,"key":'
    )
    return walked._replace(sizes=sizes, label="key" if has_key else "")

"""Go over the records of a batch, of which the common ones are not decoded, as in a replay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kraftops.image import frames
from kraftops.image.store import Held
from kraftops.log.batch import Record, read_record
from kraftops.memo import Memo

_PAD = bytes(64)  # behind a batch, so that its last record can be looked at like all others
_LOOK_AHEAD = 7  # as in a replay


class Seen(NamedTuple):
    """*total* records from byte *start* to *end*, of which the first is *number* of the batch.

    *sort* is as in `kraftops.image.frames`; where that is `ODD`, there is one *record*, else *body*
    is where the first one's begins.
    """

    number: int
    total: int
    start: int
    end: int
    sort: int
    body: int
    record: Record | None


class BatchScan:
    """Knows how common records of a dialect look."""

    def __init__(self, dialect: str) -> None:
        """Make one for records of a dialect."""
        self._frames = Memo(frames.kafka_frame if dialect == "kafka" else frames.odd_frame)
        self._shapes = Memo(frames.partition_shape)

    def records(
        self, inside: Held, p: int, first: int, stop: int, *, is_odd: bool = False
    ) -> Iterator[Seen]:
        """Yield the records of a batch from the one at *p*, number *first*, up to number *stop*.

        Several at a time are partitions of one topic whose numbers have all but the last byte in
        common. Where *is_odd*, no record is taken for a common one.

        Raises:
            DecodeError: there is none where one should be.
        """
        b, end = inside.data + _PAD, len(inside.data)
        look_up, shapes, number = self._frames, self._shapes, first
        while number < stop:
            n = b[p]
            if n < 128:
                q, twice = p + 2, p + p + 2 + n
            else:
                q, twice = p + 3, p + p + 4 + (n & 127 | b[p + 1] << 7)
            if b[q] < 128 and b[q + 2] < 128:
                q += 2 if b[q + 1] < 128 else 3
            else:
                for _ in range(2):  # the time and the offset
                    while b[q] > 127:
                        q += 1
                    q += 1
            body, size, sort = look_up[b[q : q + frames.FRAME]]
            e = q + size
            if sort and not is_odd and e + e == twice and e <= end and not b[e - 1]:
                count, body = 1, body + q
                a = body + frames.KEY
                if sort == frames.PARTITIONS and b[body + 3] & _LOOK_AHEAD == _LOOK_AHEAD:
                    at, length = shapes[b[a : a + frames.ARRAYS]]
                    if a + length == e - 1 and b[a + at] == b[a] and not b[e - 2]:
                        most = min(stop - number, (end - p) // (e - p))
                        count = frames.partition_run(b, p, q, e, most)
                after = p + count * (e - p)
                yield Seen(number, count, p, after, sort, body, None)
                p = after
                number += count
                continue
            record, e = read_record(inside.data, p, inside.base_offset, inside.base_timestamp)
            yield Seen(number, 1, p, e, frames.ODD, 0, record)
            p = e
            number += 1

"""Pass metadata records of types that nobody asked for, by as few bytes as can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kraftops.dump.filters import normal_type
from kraftops.errors import DecodeError
from kraftops.records.dialects import Dialect, type_name
from kraftops.varint import read_varint

_DELTA_SIZES = ((64, 2), (8192, 3), (1 << 20, 4))
"""Up to which record a time delta of one byte and the offset delta take how many bytes."""


def odd_types(spoken: Dialect, types: Iterable[str]) -> bytes:
    """Return, by record type, 1 for each of *types* and for numbers of more than one byte."""
    asked = {
        number
        for number, message in spoken.messages.items()
        if normal_type(type_name(message)) in types
    }
    return bytes(number > 127 or number in asked for number in range(256))


def pass_others(b: bytes, p: int, done: int, stop: int, odd: bytes) -> tuple[int, int]:
    """Pass plain records in Kafka's framing from number *done*, at *p*, up to number *stop*.

    Return where the first one begins that is not plain, or whose type is one of the *odd*, and its
    number. Of that one, nothing is sure.
    """
    at = done
    try:
        for end, size in _DELTA_SIZES:
            for at in range(done, min(stop, end)):
                n = b[p]
                if n < 128:
                    q, e = p + 2, p + 1 + (n >> 1)
                else:
                    n = n & 127 | b[p + 1] << 7
                    q, e = p + 3, p + 2 + (n >> 1)
                q += size if b[q] < 128 else size + 1  # behind time delta and offset delta
                v = b[q + 1]
                if v < 128:
                    f = q + 2
                else:
                    f, v = q + 3, v & 127 | b[q + 2] << 7
                # The frame version, the type, no key, sizes that fit, no headers.
                if (
                    b[f] != 1
                    or odd[b[f + 1]]
                    or b[q] != 1
                    or n & 1
                    or f + (v >> 1) + 1 != e
                    or b[e - 1]
                ):
                    return p, at
                p = e
            done = max(done, min(stop, end))
    except IndexError:
        return p, at
    return p, done


def not_passed(b: bytes, p: int, count: int, odd: bytes) -> Iterator[tuple[int, int]]:
    """Yield number and position of the records that `pass_others` does not pass.

    *count* records begin at *p*. One whose length cannot be is the last, for the caller to see.
    """
    done = 0
    while True:
        p, done = pass_others(b, p, done, count, odd)
        if done == count:
            return
        yield done, p
        try:
            size, start = read_varint(b, p)
        except DecodeError:
            return
        if size < 0:
            return
        p, done = start + size, done + 1

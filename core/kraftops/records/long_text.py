"""Texts of long keys and values, made piece by piece."""

from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from typing import Self

from kraftops.log.batch import LARGE_PART

LONG = LARGE_PART
"""The smallest number of bytes of a long key or value."""
_PIECE = 3 << 16  # bytes: base64 can be cut after each three


class LongText(str):
    """A placeholder for a long text: the string is empty, and `pieces` yields the text.

    *raw* are the bytes, and *show* returns the text of a piece. UTF-8 is cut between characters.
    """

    __slots__ = ("_is_utf8", "_raw", "_show")

    _raw: memoryview
    _show: Callable[[bytes], str]
    _is_utf8: bool

    def __new__(
        cls, raw: memoryview, show: Callable[[bytes], str], *, is_utf8: bool = False
    ) -> Self:
        text = super().__new__(cls)
        text._raw, text._show, text._is_utf8 = raw, show, is_utf8
        return text

    def pieces(self) -> Iterator[str]:
        for piece in _cut(self._raw, is_utf8=self._is_utf8):
            yield self._show(piece)

    def beginning(self, size: int | None) -> str:
        """Return the first *size* characters, or some more; None: all."""
        parts, count = [], 0
        for piece in self.pieces():
            parts.append(piece)
            count += len(piece)
            if size is not None and count >= size:
                break
        return "".join(parts)


def is_utf8(raw: memoryview) -> bool:
    decoder = getincrementaldecoder("utf-8")()
    try:
        for piece in _cut(raw, is_utf8=False):
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _cut(raw: memoryview, *, is_utf8: bool) -> Iterator[bytes]:
    start = 0
    while start < len(raw):
        end = min(start + _PIECE, len(raw))
        if is_utf8 and end < len(raw):
            # Cut before no continuation byte; four in a row are not UTF-8.
            end = next((pos for pos in range(end, end - 4, -1) if raw[pos] & 0xC0 != 0x80), end)
        yield bytes(raw[start:end])
        start = end

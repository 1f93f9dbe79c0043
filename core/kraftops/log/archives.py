"""Inflate what lies in archives: .gz, .zst and .xz, of one member or frame or of many.

Of a damaged archive comes all that lies before the damage, to the byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from kraftops.log.log_file import LogFile
from kraftops.log.reader import BLOCK, DamagedArchive

_PACKED_BLOCK = 64 * 1024
_MOST_XZ_BYTES = 256 * 1024 * 1024  # of memory; what `xz -9` makes takes 65 MiB


class _Inflater(Protocol):
    """What inflates one member or frame."""

    @property
    def eof(self) -> bool:
        """Whether that was all of it."""

    @property
    def needs_input(self) -> bool:
        """Whether there is no more without more input."""

    @property
    def unused_data(self) -> bytes:
        """What was given of the next one."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return what comes out, at most *max_length* bytes; keep the input that is left."""


class _Format(NamedTuple):
    """A kind of archive: what makes its inflaters, and what those raise."""

    name: str
    inflater: Callable[[], _Inflater]
    error: type[Exception]


def inflated_blocks(file: LogFile, ending: str) -> Iterator[bytes]:
    """Yield what is in an archive, in blocks of at most `BLOCK` bytes.

    Args:
        file: read from its beginning on, and not closed.
        ending: of its name: `.gz`, `.zst` or `.xz`.

    Raises:
        DamagedArchive: it is damaged or cut short; all that could be inflated was yielded.
        SourceError: it cannot be read.
    """
    format_ = {".gz": _gzip, ".zst": _zstd, ".xz": _xz}[ending]()
    first = _Walk(file, format_)
    done = 0
    try:
        for block in first.blocks():
            done += len(block)
            yield block
        return
    except format_.error:
        # A call that fails drops what it inflated before. Single bytes of input lose nothing.
        second = _Walk(file, format_, careful_from=first.position)
    try:
        for block in second.blocks():
            if len(block) > done:
                yield block[done:]
            done = max(0, done - len(block))
    except format_.error as error:
        raise _damage(format_, second.position, str(error).rpartition(": ")[2]) from None


class _Walk:
    """One way through an archive; *position* is that of the input that was inflated last."""

    def __init__(self, file: LogFile, format_: _Format, careful_from: int | None = None) -> None:
        self.position = 0
        self._file = file
        self._format = format_
        self._careful_from = file.size if careful_from is None else careful_from

    def blocks(self) -> Iterator[bytes]:
        inflater: _Inflater | None = self._format.inflater()
        for data in self._input():
            while data:
                if not inflater:
                    # Zeros behind a member are padding, to a whole block of some device.
                    data = data.lstrip(b"\0")
                    if not data:
                        break
                    inflater = self._format.inflater()
                yield from _filled(inflater, data)
                data = b""
                if inflater.eof:
                    data, inflater = inflater.unused_data, None
        if inflater:
            raise _damage(self._format, self.position, "the archive is cut short")

    def _input(self) -> Iterator[bytes]:
        start = 0
        while block := self._file.read_at(start, _PACKED_BLOCK):
            step = len(block) if start < self._careful_from else 1
            for at in range(0, len(block), step):
                self.position = start + at
                yield block[at : at + step]
            start += len(block)
        self.position = start


def _filled(inflater: _Inflater, data: bytes) -> Iterator[bytes]:
    """Yield what comes out of *data*."""
    while True:
        block = inflater.decompress(data, BLOCK)
        if block:
            yield block
        if inflater.eof or inflater.needs_input:
            return
        data = b""


def _damage(format_: _Format, position: int, reason: str) -> DamagedArchive:
    return DamagedArchive(f"byte {position} of the archive: {format_.name}: {reason}")


class _GzipInflater:
    """A member of a .gz in the form that the other modules have."""

    def __init__(self) -> None:
        import zlib

        self._stream = zlib.decompressobj(31)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        block = self._stream.decompress(self._stream.unconsumed_tail + data, max_length)
        # A full block may have more behind it, without any input.
        self.needs_input = not self._stream.unconsumed_tail and len(block) < max_length
        return block


def _gzip() -> _Format:
    import zlib

    return _Format("gzip", _GzipInflater, zlib.error)


def _xz() -> _Format:
    import lzma

    def inflater() -> _Inflater:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_XZ_BYTES)

    return _Format("xz", inflater, lzma.LZMAError)


def _zstd() -> _Format:
    try:
        from compression import zstd  # Python 3.14
    except ImportError:
        from backports import zstd
    return _Format("zstd", zstd.ZstdDecompressor, zstd.ZstdError)

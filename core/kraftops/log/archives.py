"""Inflate archives: .gz, .zst, .xz and .bz2, with one member or frame or with many.

A damaged archive yields all bytes before the damage.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from kraftops.log.codecs import zstd_module
from kraftops.log.log_file import LogFile
from kraftops.log.reader import BLOCK, DamagedArchive

# Packed bytes that are read at once; they inflate to some MB at most usually.
_PACKED_BLOCK = 64 * 1024
_MOST_XZ_BYTES = 256 * 1024 * 1024  # of memory; the output of `xz -9` takes 65 MiB


class _Inflater(Protocol):
    """Inflates one member or frame."""

    @property
    def eof(self) -> bool:
        """Whether the member or frame has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether more output needs more input."""

    @property
    def unused_data(self) -> bytes:
        """Input after the end."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return at most *max_length* bytes of output; keep the input that is left."""


class _Format(NamedTuple):
    """Kind of archive: the factory of its inflaters, and the error that they raise."""

    name: str
    inflater: Callable[[], _Inflater]
    error: type[Exception]


def inflated_blocks(file: LogFile, ending: str) -> Iterator[bytes]:
    """Yield the content of an archive, in blocks of at most `BLOCK` bytes.

    Args:
        file: is read from its beginning on, and not closed.
        ending: end of its name: `.gz`, `.zst`, `.xz` or `.bz2`.

    Raises:
        DamagedArchive: it is damaged or cut short; everything before was yielded.
        SourceError: it cannot be read.
    """
    format_ = _FORMATS[ending]()
    first = _Pass(file, format_)
    done = 0
    try:
        for block in first.blocks():
            done += len(block)
            yield block
    except format_.error:
        # A call that fails drops what it inflated before. Single bytes of input lose nothing.
        second = _Pass(file, format_, single_bytes_from=first.position)
    else:
        return
    try:
        for block in second.blocks():
            if len(block) > done:
                yield block[done:]
            done = max(0, done - len(block))
    except format_.error as error:
        raise _damage(format_, second.position, str(error).rpartition(": ")[2]) from None


class _Pass:
    """Pass over an archive; *position* is the position of the latest input."""

    def __init__(
        self, file: LogFile, format_: _Format, single_bytes_from: int | None = None
    ) -> None:
        self.position = 0
        self._file = file
        self._format = format_
        self._single_bytes_from = file.size if single_bytes_from is None else single_bytes_from

    def blocks(self) -> Iterator[bytes]:
        inflater: _Inflater | None = self._format.inflater()
        for block in self._input():
            packed = block
            while packed:
                if not inflater:
                    # Zeros after a member are padding, to a whole block of some device.
                    packed = packed.lstrip(b"\0")
                    if not packed:
                        break
                    inflater = self._format.inflater()
                yield from _output(inflater, packed)
                packed = b""
                if inflater.eof:
                    packed, inflater = inflater.unused_data, None
        if inflater:
            raise _damage(self._format, self.position, "the archive is cut short")

    def _input(self) -> Iterator[bytes]:
        start = 0
        while block := self._file.read_at(start, _PACKED_BLOCK):
            step = len(block) if start < self._single_bytes_from else 1
            for index in range(0, len(block), step):
                self.position = start + index
                yield block[index : index + step]
            start += len(block)
        self.position = start


def _output(inflater: _Inflater, data: bytes) -> Iterator[bytes]:
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
    """Inflater of a member of a .gz, with the interface of the other formats."""

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
        # A full block may have more after it, without any input.
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
    zstd = zstd_module()
    return _Format("zstd", zstd.ZstdDecompressor, zstd.ZstdError)


def _bzip2() -> _Format:
    import bz2

    return _Format("bzip2", bz2.BZ2Decompressor, OSError)


_FORMATS = {".gz": _gzip, ".zst": _zstd, ".xz": _xz, ".bz2": _bzip2}

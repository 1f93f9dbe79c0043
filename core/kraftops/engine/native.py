"""The compiled engine: descriptions of decoders and queries for it, and its scans.

`_native` contains no messages: it interprets the tables of `kraftops.schema.tables` and
`kraftops.records`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from kraftops.engine import _native
from kraftops.engine.scan_contract import Column, Note, Outcome, Request
from kraftops.errors import DecodeError, KraftopsError
from kraftops.log.codecs import decompress
from kraftops.query.filters import Filter
from kraftops.query.record_rows import origin_of
from kraftops.query.row import COLUMNS
from kraftops.records.control import definitions
from kraftops.records.decoder import Decoder
from kraftops.records.secrets import PUBLIC_SUFFIXES, SECRET_WORDS

if TYPE_CHECKING:
    from kraftops.records.decoders.framed import FramedDecoder

_NO_UNTIL = 1 << 63


def scan(request: Request) -> NativeScan:
    """Return a scan of one file by the compiled engine."""
    return NativeScan(request)


def count_framed(
    decoder: FramedDecoder, buffer: bytes, pos: int, count: int
) -> list[tuple[int | None, int | None, int, int]] | None:
    """Count records of framed values; None if the reference has to report damage."""
    return _decoder(decoder).count(buffer, pos, count)


class NativeScan:
    """Reads the batches of one file; a `kraftops.engine.scan_contract.Scan`."""

    def __init__(self, request: Request) -> None:
        """Open the engine's scan for a request."""
        query = request.query
        limit = query.max_inflated_bytes

        def inflate(codec: int, data: bytes) -> bytes | None:
            try:
                return decompress(codec, data, limit)
            except (DecodeError, MemoryError):
                return None  # the reference reports the reason

        self._scan = _native.Scan(
            _decoder(query.record_decoder), _control(), inflate, _description(request)
        )

    @property
    def first_offset(self) -> int | None:
        """See `Scan`."""
        return self._scan.first_offset

    @first_offset.setter
    def first_offset(self, offset: int | None) -> None:
        self._scan.first_offset = offset

    @property
    def last_offset(self) -> int | None:
        """See `Scan`."""
        return self._scan.last_offset

    @last_offset.setter
    def last_offset(self, offset: int | None) -> None:
        self._scan.last_offset = offset

    def feed(self, data: bytes, start: int, position: int) -> Outcome:
        """Read the whole batches in *data*; see `Scan.feed`.

        Raises:
            KraftopsError: the engine failed, which is a bug of it.
        """
        try:
            made = self._scan.feed(data, start, position)
        except RuntimeError as error:
            raise KraftopsError(
                f"at byte {position}: {error}", hint="KRAFTOPS_ENGINE=reference reads it slower"
            ) from error
        out, following, why, notes, gaps, marks, rows, columns = made
        table = None
        if columns is not None:
            table = {name: Column(*buffers) for name, buffers in columns.items()}
        return Outcome(
            out, following, why, [Note(*note) for note in notes], gaps, marks, rows, table
        )


def _description(request: Request) -> dict[str, Any]:
    query = request.query
    columns = COLUMNS if query.columns is None else query.columns
    origin = origin_of(request.path)
    return {
        "form": query.output_format.layout,
        "deep": query.deep_iteration,
        "skip_metadata": query.skip_record_metadata,
        "payload": query.decoder is not None,
        "check": query.check,
        "notes_crc": query.notes_crc,
        "skip_invalid": query.skip_invalid,
        "chosen": request.is_chosen,
        "marks": request.marks,
        "file": origin.file.encode(),
        "log": None if origin.topic is None else (origin.topic.encode(), origin.partition),
        "columns": [name for name in COLUMNS if name in columns],
        "secrets": None if query.show_secrets else (list(SECRET_WORDS), list(PUBLIC_SUFFIXES)),
        **_conditions(query.filter),
    }


def _conditions(filter_: Filter) -> dict[str, Any]:
    until = None if filter_.until >= _NO_UNTIL else filter_.until
    return {
        "types": list(filter_.types),
        "offsets": (filter_.first_offset, filter_.last_offset),
        "times": (filter_.since, until),
        "keys": list(map(_bytes, filter_.keys)),
        "topics": list(map(_bytes, filter_.topics)),
        "topic_ids": list(map(_bytes, filter_.topic_ids)),
        "where": [(_bytes(path), _bytes(text)) for path, text in filter_.where],
    }


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@cache
def _decoder(decoder: Decoder) -> _native.Decoder:
    return _native.Decoder(decoder.native_description())


@cache
def _control() -> _native.Control:
    return _native.Control(definitions())

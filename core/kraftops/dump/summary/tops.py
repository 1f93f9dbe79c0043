"""The largest records and batches of a log, its most frequent keys and its largest producers."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest
from typing import NamedTuple

from kraftops.engine.count_contract import MOST_LARGEST, LargeBatch, LargeRecord, Tops, key_of
from kraftops.engine.heavy_hitters import HeavyHitters
from kraftops.errors import DecodeError
from kraftops.log.batch import Record
from kraftops.records.decoder import Decoder
from kraftops.records.meaning import BASE64, base64_of

MOST_TOP = 10
"""Keys and producers that are listed: of the 256 that are kept, their counts are about exact."""
_UTF8_MOST = 4  # bytes of a character


class TopKey(NamedTuple):
    """A key as in rows, of a long one its beginning, the whole size in bytes, and its records."""

    key: str
    key_encoding: str | None
    key_size: int
    records: int


class LogTops:
    """The largest records, batches and producers, and the most frequent keys, of a log.

    Parts can be merged in any order. Records and batches are exact; `HeavyHitters` has the error
    of keys and producers.
    """

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder
        self.records: list[tuple[str, LargeRecord]] = []  # with the file
        self.batches: list[tuple[str, LargeBatch]] = []
        self.keys: HeavyHitters[bytes] = HeavyHitters()
        self.keyless = 0
        self.producers: HeavyHitters[int] = HeavyHitters()  # bytes of records, uncompressed

    def add_found(self, path: str, tops: Tops) -> None:
        """Add what an engine found in a part of a file."""
        self.records = _largest_records([*self.records, *((path, top) for top in tops.largest)])
        self.batches = _largest_batches([*self.batches, *((path, top) for top in tops.batches)])
        self.keys.merge(tops.keys)
        self.keyless += tops.keyless
        self.producers.merge(tops.producers)

    def add_batch(self, path: str, batch: LargeBatch) -> None:
        least = self.batches[-1][1].size if len(self.batches) == MOST_LARGEST else -1
        if batch.size >= least:
            self.batches = _largest_batches([*self.batches, (path, batch)])

    def merge(self, other: LogTops) -> None:
        self.records = _largest_records([*self.records, *other.records])
        self.batches = _largest_batches([*self.batches, *other.batches])
        self.keys.merge(other.keys)
        self.keyless += other.keyless
        self.producers.merge(other.producers)

    def top_keys(self) -> list[TopKey]:
        """Return the most frequent keys as the decoder shows them."""
        return [_top_key(*top, self.decoder) for top in self.keys.largest(MOST_TOP)]


def _largest_records(records: Iterable[tuple[str, LargeRecord]]) -> list[tuple[str, LargeRecord]]:
    """Return the largest; of equal ones, those with the lowest offsets."""
    return nsmallest(
        MOST_LARGEST,
        records,
        key=lambda item: (-item[1].size, item[1].offset, item[0], item[1].position),
    )


def _largest_batches(batches: Iterable[tuple[str, LargeBatch]]) -> list[tuple[str, LargeBatch]]:
    return nsmallest(
        MOST_LARGEST,
        batches,
        key=lambda item: (-item[1].size, item[1].base_offset, item[0], item[1].position),
    )


def _top_key(counted: bytes, records: int, decoder: Decoder) -> TopKey:
    key, size = key_of(counted)
    read = decoder.meaning_reader(show_secrets=False)
    text, encoding = None, None
    for cut in range(1 if len(key) == size else _UTF8_MOST):  # not inside a character
        try:
            meaning = read(Record(0, 0, key[: len(key) - cut], None))
        except DecodeError:
            continue
        text, encoding = meaning.key, meaning.key_encoding
        if encoding is None:
            break
    if text is None or encoding is not None:
        text, encoding = base64_of(key), BASE64
    return TopKey(text, encoding, size, records)

"""The largest records and batches of a log, its most frequent keys and its largest producers."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest
from typing import Any

from kraftops.display.times import time_fields
from kraftops.engine.count_contract import MOST_LARGEST, LargeBatch, LargeRecord, Tops, key_of
from kraftops.engine.heavy_hitters import HeavyHitters
from kraftops.errors import DecodeError
from kraftops.log.batch import Record
from kraftops.records.decoder import Decoder
from kraftops.records.meaning import BASE64, base64_of

_MOST_SHOWN = 10  # keys, producers: of the 256 that are kept, the counts of these are about exact
_UTF8_MOST = 4  # bytes of a character


class LogTops:
    """The largest records, batches and producers, and the most frequent keys, of a log.

    Parts can be merged in any order. Records and batches are exact; `HeavyHitters` has the error
    of keys and producers.
    """

    def __init__(self) -> None:
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
        """Add those of another part of the log."""
        self.records = _largest_records([*self.records, *other.records])
        self.batches = _largest_batches([*self.batches, *other.batches])
        self.keys.merge(other.keys)
        self.keyless += other.keyless
        self.producers.merge(other.producers)

    def fields(self, decoder: Decoder) -> dict[str, Any]:
        """Return the fields of a summary, with keys as *decoder* shows them."""
        return {
            "largest": {
                "records": [
                    {
                        "file": path,
                        "position": None if record.position < 0 else record.position,
                        "offset": record.offset,
                        "bytes": record.size,
                        "keySize": record.key_size,
                        "valueSize": record.value_size,
                        "type": record.label.type,
                        "version": record.label.version,
                        **time_fields("timestamp", record.timestamp),
                    }
                    for path, record in self.records
                ],
                "batches": [
                    {
                        "file": path,
                        "position": None if batch.position < 0 else batch.position,
                        "baseOffset": batch.base_offset,
                        "bytes": batch.size,
                        "records": batch.records,
                        "codec": batch.codec,
                        "producerId": batch.producer_id,
                    }
                    for path, batch in self.batches
                ],
            },
            "keys": {
                "records": self.keys.total,
                "keyless": self.keyless,
                "error": self.keys.error,
                "top": [
                    {**_key_fields(key, decoder), "records": count}
                    for key, count in self.keys.largest(_MOST_SHOWN)
                ],
            },
            "largestProducers": {
                "bytes": self.producers.total,
                "error": self.producers.error,
                "top": [
                    {"producerId": producer_id, "bytes": size}
                    for producer_id, size in self.producers.largest(_MOST_SHOWN)
                ],
            },
        }


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


def _key_fields(counted: bytes, decoder: Decoder) -> dict[str, Any]:
    """Return a counted key as in rows; of a long one its begin, and the whole size in bytes."""
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
    return {"key": text, "keyEncoding": encoding, "keySize": size}

"""A snapshot and a segment of a metadata log, the whole batches in a file, and its damage."""

from collections.abc import Iterator
from typing import NamedTuple

from kraftops.errors import KraftopsError
from kraftops.log.batch import Batch, Header, Record, is_valid, records
from kraftops.log.log_file import LogFile
from kraftops.log.reader import EndReason
from kraftops.memory import Meter
from kraftops.records.meaning import size_error


class Snapshot(NamedTuple):
    """A snapshot: its end offset (exclusive), its epoch, and its size in bytes."""

    end_offset: int
    epoch: int
    path: str
    size: int


class Segment(NamedTuple):
    """A segment: its base offset and its size in bytes."""

    base_offset: int
    path: str
    size: int

    @property
    def index_path(self) -> str:
        return f"{self.path.removesuffix('.log')}.index"


class Damage(NamedTuple):
    """Damaged bytes of a file.

    With *lost* a server starts, but drops the log from there up to that offset. Without it the
    server stops, unless the damage *is_harmless*. An unfinished batch at the end of a log is not
    damage: a killed server leaves it.
    """

    path: str
    reason: str
    lost: int | None = None
    is_harmless: bool = False

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


def reason_of(error: KraftopsError, path: str) -> str:
    """Return the message of an error without the path of the file."""
    return error.message.removeprefix(f"cannot read {path}: ").removeprefix(f"{path}: ")


def metadata_records(batch: Batch, meter: Meter) -> Iterator[Record]:
    """Yield the records of a batch, of a log that *meter* counts, but those too large to decode.

    The limits are those of an image: 64 MiB a batch, 8 MiB a record.

    Raises:
        DecodeError: the batch does not hold exactly the records that it counts, or is too large.
    """
    for record in records(batch, meter):
        if size_error(record.key, record.value) is None:
            yield record


class WholeBatches:
    """Whole batches of a log or snapshot, also after damaged ones; iterated once.

    *damage* is the first damage so far, *rest* the unfinished batch at the end.
    """

    def __init__(
        self, path: str, meter: Meter, *, checked_from: int = 0, gives_damaged: bool = False
    ) -> None:
        """Make an iterable.

        Args:
            path: the path of the file.
            meter: counts what its batches inflate to.
            checked_from: the offset from which on checksums are verified.
            gives_damaged: whether batches with a wrong checksum are yielded, too.
        """
        self._path, self._meter = path, meter
        self._checked_from = checked_from
        self._gives_damaged = gives_damaged
        self.damage: str | None = None
        self.rest: str | None = None

    def __iter__(self) -> Iterator[tuple[Header, Batch]]:
        """Yield header and batch of each.

        Raises:
            SourceError: the file cannot be read.
            DecodeError: it ends within the header of a batch.
        """
        with LogFile(self._path) as log:
            reader = log.batches(meter=self._meter)
            for batch in reader:
                if batch.is_legacy:
                    self._add_damage(batch, f"a batch of magic {batch.data[16]}")
                    continue
                header = batch.header
                if header.last_offset >= self._checked_from and not is_valid(batch, header.crc):
                    self._add_damage(batch, "the CRC does not match")
                    if not self._gives_damaged:
                        continue
                yield header, batch
            end = reader.end
        assert end
        if end.reason is not EndReason.END:
            self.rest = f"position {end.position}: {end.left} bytes that are not a whole batch"
        elif not end.position:
            self.rest = "it is empty"

    def _add_damage(self, batch: Batch, what: str) -> None:
        self.damage = self.damage or f"position {batch.position}: {what}"

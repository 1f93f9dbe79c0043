"""Partitions at random, as a broker leaves them after a clean or an unclean stop."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from struct import Struct

from kraftops.log.batch import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL, Record
from kraftops.log.indexes import AbortedTxn, OffsetEntry, TimeEntry
from kraftops.log.producers import ProducerState
from kraftops.server.loader.contract import LoadRequest
from kraftops.uuids import to_text
from tests.helpers.logs.written import (
    batch_bytes,
    message_bytes,
    offset_index_bytes,
    producers_bytes,
    time_index_bytes,
    txn_index_bytes,
    wrapper_bytes,
)

TIME = 1_750_000_000_000
EPOCHS, METADATA = "leader-epoch-checkpoint", "partition.metadata"
MARKER_KEY = Struct(">hh")
MARKER_VALUE = Struct(">hi")
_MOST_SIZE = 10 << 20  # segment.index.bytes by default
_NAMES = ("t-0", *(f"t-0.{7:032x}-{suffix}" for suffix in ("delete", "future", "stray")))


@dataclass
class Partition:
    """A partition's directory in memory, and what its log directory says of it.

    *sizes* are of preallocated files, larger than their content.
    """

    request: LoadRequest
    files: dict[str, bytes]
    sizes: dict[str, int] = field(default_factory=dict)
    directories: set[str] = field(default_factory=set)

    def copy(self) -> "Partition":
        """Return a partition that can be changed."""
        return Partition(self.request, {**self.files}, {**self.sizes}, {*self.directories})

    def write(self, parent: Path) -> Path:
        """Make the directory."""
        path = parent / self.request.name
        path.mkdir(parents=True)
        for name in self.files.keys() - self.directories:
            file, content = path / name, self.files[name]
            file.write_bytes(content)
            if self.sizes.get(name, 0) > len(content):
                with file.open("r+b") as opened:
                    opened.truncate(self.sizes[name])
        for name in self.directories:
            (path / name).mkdir(exist_ok=True)
        return path

    @property
    def bases(self) -> list[int]:
        """The base offsets of the segments."""
        names = (name.removesuffix(".log") for name in self.files if name.endswith(".log"))
        return sorted(int(name) for name in names if name.isdigit() and len(name) == 20)


def named(offset: int, suffix: str) -> str:
    """Return the name of a file of a segment."""
    return f"{offset:020}{suffix}"


class _Writer:
    """A broker that writes a log."""

    def __init__(self, rng: Random, request: LoadRequest, first: int) -> None:
        self.rng, self.request = rng, request
        self.files: dict[str, bytes] = {}
        self.offset, self.epoch, self.time = first, rng.choice((0, 0, 3)), TIME
        self.epochs = [(self.epoch, first)]
        self.open: dict[int, int] = {}
        self.aborted: list[AbortedTxn] = []
        self.producers: dict[int, ProducerState] = {}
        self.base = first
        self.is_compacted = rng.random() < 0.2
        self.has_transactions = rng.random() < 0.5
        self.magic = rng.choices((2, 1, 0), (94, 3, 3))[0]  # of the first segment
        self.codecs = rng.choice(((0,), (0,), (0, 1, 2, 3, 4), (4,)))

    def segment(self, batches: int) -> None:
        """Write a segment, and begin the next one."""
        self.base, self.aborted = self.offset, []
        log = b""
        entries: list[OffsetEntry] = []
        times: list[TimeEntry] = []
        largest, largest_at, since = -1, self.base, 0
        for _ in range(batches):
            raw = self._batch()
            last = self.offset - 1
            if self.time > largest:
                largest, largest_at = self.time, last
            if since > self.request.index_interval_bytes:
                entries.append(OffsetEntry(last, len(log)))
                if not times or times[-1].timestamp < largest:
                    times.append(TimeEntry(largest, largest_at))
                since = 0
            since += len(raw)
            log += raw
        if largest >= 0 and (not times or times[-1].timestamp < largest):
            times.append(TimeEntry(largest, largest_at))
        self.magic = 2
        self.files[named(self.base, ".log")] = log
        self.files[named(self.base, ".index")] = offset_index_bytes(entries, self.base)
        self.files[named(self.base, ".timeindex")] = time_index_bytes(times, self.base)
        if self.aborted:
            self.files[named(self.base, ".txnindex")] = txn_index_bytes(self.aborted)

    def snapshot(self) -> None:
        """Write a producer snapshot at the end."""
        self.files[named(self.offset, ".snapshot")] = producers_bytes([*self.producers.values()])

    def _batch(self) -> bytes:
        rng = self.rng
        if rng.random() < 0.08:
            self.epoch += rng.randint(1, 3)
            self.epochs.append((self.epoch, self.offset))
        self.time += rng.choice((1, 1, 1000, 0, 7))
        if self.magic == 2 and self.open and rng.random() < 0.35:
            return self._marker(rng.choice(sorted(self.open)))
        gaps = (0, 0, 1, 4) if self.is_compacted else (0,)
        offsets = []
        for _ in range(rng.choice((1, 1, 2, 5))):
            self.offset += rng.choice(gaps)
            offsets.append(self.offset)
            self.offset += 1
        value = rng.randbytes(rng.choice((0, 5, 30, 100)))
        records = [Record(offset, self.time, b"k", value) for offset in offsets]
        if self.magic < 2 and len(records) > 1:
            return wrapper_bytes(records, self.magic, rng.choice((1, 2, 3)))
        if self.magic < 2:
            return message_bytes(records[0], self.magic)
        attributes = rng.choice(self.codecs) | rng.choice((0, 0, 0, LOG_APPEND_TIME))
        producer = -1
        if self.has_transactions and rng.random() < 0.6:
            producer = rng.choice((1, 2, 4000))
            attributes |= TRANSACTIONAL
            self.open.setdefault(producer, offsets[0])
            self._seen(producer, offsets[-1])
        elif rng.random() < 0.2:
            producer = 77
            self._seen(producer, offsets[-1])
        return batch_bytes(
            records,
            attributes=attributes,
            leader_epoch=self.epoch,
            producer_id=producer,
            producer_epoch=0 if producer >= 0 else -1,
            base_sequence=0 if producer >= 0 else -1,
        )

    def _marker(self, producer: int) -> bytes:
        is_commit = self.rng.random() < 0.6
        first = self.open.pop(producer)
        if not is_commit:
            stable = min(self.open.values(), default=self.offset + 1)
            self.aborted.append(AbortedTxn(0, producer, first, self.offset, stable))
        self._seen(producer, self.offset)
        raw = marker(producer, self.offset, self.epoch, int(is_commit), self.time)
        self.offset += 1
        return raw

    def _seen(self, producer: int, last: int) -> None:
        first = self.open.get(producer, -1)
        self.producers[producer] = ProducerState(producer, 0, 0, last, 0, self.time, -1, first)


def marker(producer: int, offset: int, epoch: int, number: int, time: int = TIME) -> bytes:
    """Return a control batch that ends a transaction."""
    record = Record(offset, time, MARKER_KEY.pack(0, number), MARKER_VALUE.pack(0, 5))
    return batch_bytes(
        [record],
        attributes=CONTROL | TRANSACTIONAL,
        leader_epoch=epoch,
        producer_id=producer,
        producer_epoch=0,
    )


def epochs_bytes(entries: Iterable[tuple[int, int]]) -> bytes:
    """Return a leader-epoch-checkpoint."""
    lines = [f"{epoch} {start}" for epoch, start in entries]
    return "\n".join(["0", str(len(lines)), *lines, ""]).encode()


def random_partition(rng: Random, release: str) -> Partition:
    """Return an undamaged partition of two to five segments."""
    was_clean = rng.random() < 0.5
    is_tiered = rng.random() < 0.1
    first = rng.choice((0, 0, 0, 17, 4_000_000_000))
    interval = rng.choice((0, 100, 100, 300, 4096))
    request = LoadRequest(
        name=rng.choices(_NAMES, (90, 4, 3, 3))[0],
        log_start_checkpoint=0,
        was_clean=was_clean,
        is_tiered=is_tiered,
        index_interval_bytes=interval,
        segment_index_bytes=rng.choice((2048, 4096, 65536, _MOST_SIZE)),
        release=release,
    )
    writer = _Writer(rng, request, first)
    starts = []
    for number in range(rng.randint(2, 5)):
        if number:
            writer.snapshot()
        starts.append(writer.offset)
        writer.segment(rng.randint(1, 14))
    if rng.random() < 0.1:
        writer.snapshot()
        starts.append(writer.offset)
        writer.segment(0)
    if was_clean:
        writer.snapshot()
    end = writer.offset
    files = writer.files
    if rng.random() < 0.15:  # retention and the cleaner delete old snapshots
        for start in starts[1:-2]:
            files.pop(named(start, ".snapshot"), None)
    files[EPOCHS] = epochs_bytes(writer.epochs)
    topic_id = to_text(rng.randbytes(16))
    files[METADATA] = f"version: 0\ntopic_id: {topic_id}".encode()
    sizes = {}
    if not was_clean:
        for kind, entry in ((".index", 8), (".timeindex", 12)):
            sizes[named(starts[-1], kind)] = request.segment_index_bytes // entry * entry
    checkpoint = rng.choice((0, first, first, rng.randint(first, end), starts[-1]))
    recovery = end if was_clean else rng.choice((0, starts[0], starts[-1], rng.randint(first, end)))
    request = replaced(request, log_start_checkpoint=checkpoint, recovery_point=recovery)
    return Partition(request, files, sizes)


def replaced(request: LoadRequest, **values: int) -> LoadRequest:
    """Return a request with other values."""
    return replace(request, **values)  # type: ignore[arg-type]

"""Faults of partitions, each of one kind: what disks, crashes, operators and copies do to them."""

from collections.abc import Callable
from random import Random
from struct import pack

from kraftops.log.batch import HEADER_SIZE, Record
from kraftops.log.indexes import AbortedTxn
from tests.helpers.kafka.cases.mutations import mutated, with_crc
from tests.helpers.kafka.loader.partitions import (
    EPOCHS,
    METADATA,
    TIME,
    Partition,
    epochs_bytes,
    marker,
    named,
    replaced,
)
from tests.helpers.logs.segments import batches_of
from tests.helpers.logs.written import batch_bytes, txn_index_bytes

Fault = Callable[[Random, Partition], None]

_INDEXES = (".index", ".timeindex")


# Parts of a partition


def _active(partition: Partition) -> str:
    return named(partition.bases[-1], ".log")


def _closed(rng: Random, partition: Partition) -> str:
    bases = partition.bases
    return named(rng.choice(bases[:-1] or bases), ".log")


def _any_log(rng: Random, partition: Partition) -> str:
    return rng.choice((_active(partition), _closed(rng, partition)))


def _batches(partition: Partition, name: str) -> list[bytes]:
    return [batch.data[: batch.size] for batch in batches_of(partition.files[name])]


def _rejoined(
    rng: Random, partition: Partition, name: str, change: Callable[[list[bytes]], None]
) -> None:
    batches = _batches(partition, name)
    if batches:
        change(batches)
        partition.files[name] = b"".join(batches)


def _append(partition: Partition, name: str, tail: bytes) -> None:
    partition.files[name] += tail


def _flip(rng: Random, raw: bytes, start: int, stop: int) -> bytes:
    index = rng.randrange(start, min(stop, len(raw)))
    return raw[:index] + bytes([raw[index] ^ 1 << rng.randrange(8)]) + raw[index + 1 :]


def _drop(partition: Partition, name: str) -> None:
    partition.files.pop(name, None)
    partition.sizes.pop(name, None)


def _segment_names(partition: Partition, base: int) -> list[str]:
    return [name for name in partition.files if name.startswith(f"{base:020}.")]


def _end(partition: Partition) -> int:
    for base in reversed(partition.bases):
        batches = batches_of(partition.files[named(base, ".log")])
        whole = [batch for batch in batches if len(batch.data) >= HEADER_SIZE]
        if whole:
            return min(max(whole[-1].header.last_offset + 1, 0), 1 << 62)
    return partition.bases[0] if partition.bases else 0


# Logs


def zeros_after_the_last_batch(rng: Random, partition: Partition) -> None:
    _append(partition, _active(partition), bytes(rng.choice((5, 17, 18, 100, 4096))))


def noise_after_the_last_batch(rng: Random, partition: Partition) -> None:
    _append(partition, _active(partition), rng.randbytes(rng.choice((3, 17, 30, 200))))


def torn_tail(rng: Random, partition: Partition) -> None:
    name = _active(partition)
    log = partition.files[name]
    partition.files[name] = log[: len(log) - rng.randint(1, max(1, min(len(log), 150)))]


def bit_in_the_active_log(rng: Random, partition: Partition) -> None:
    name = _active(partition)
    if partition.files[name]:
        partition.files[name] = _flip(rng, partition.files[name], 0, len(partition.files[name]))


def bit_in_a_closed_log(rng: Random, partition: Partition) -> None:
    name = _closed(rng, partition)
    if partition.files[name]:
        partition.files[name] = _flip(rng, partition.files[name], 0, len(partition.files[name]))


def bit_in_a_header(rng: Random, partition: Partition) -> None:
    def change(batches: list[bytes]) -> None:
        index = rng.randrange(len(batches))
        batches[index] = _flip(rng, batches[index], 0, HEADER_SIZE)

    _rejoined(rng, partition, _any_log(rng, partition), change)


def bytes_of_a_batch(rng: Random, partition: Partition) -> None:
    def change(batches: list[bytes]) -> None:
        index = rng.randrange(len(batches))
        batches[index] = mutated(rng, batches[index])

    _rejoined(rng, partition, _any_log(rng, partition), change)


def odd_field_with_a_right_checksum(rng: Random, partition: Partition) -> None:
    def change(batches: list[bytes]) -> None:
        index = rng.randrange(len(batches))
        raw = bytearray(batches[index])
        start, code, values = rng.choice(
            (
                (12, ">i", (0, 900, 5, 1 << 30)),
                (21, ">h", (0, 1, 4, 7, 16, 32, 48, 64)),
                (23, ">i", (0, 1, 9, 1000, -1)),
                (35, ">q", (0, -1, TIME * 2)),
                (43, ">q", (-1, 1, 9)),
                (57, ">i", (0, 1, 3, -1)),
            )
        )
        raw[start : start + len(pack(code, 0))] = pack(code, rng.choice(values))
        batches[index] = with_crc(bytes(raw))

    _rejoined(rng, partition, _any_log(rng, partition), change)


def duplicated_batch(rng: Random, partition: Partition) -> None:
    def change(batches: list[bytes]) -> None:
        index = rng.randrange(len(batches))
        batches.insert(rng.randint(index, len(batches)), batches[index])

    _rejoined(rng, partition, _active(partition), change)


def swapped_batches(rng: Random, partition: Partition) -> None:
    def change(batches: list[bytes]) -> None:
        first, second = rng.randrange(len(batches)), rng.randrange(len(batches))
        batches[first], batches[second] = batches[second], batches[first]

    _rejoined(rng, partition, _active(partition), change)


def reordered_closed_log(rng: Random, partition: Partition) -> None:
    def change(batches: list[bytes]) -> None:
        index = rng.randrange(len(batches))
        batch = batches[index] if rng.random() < 0.5 else batches.pop(index)
        batches.insert(rng.randint(0, len(batches)), batch)

    _rejoined(rng, partition, _closed(rng, partition), change)


def lost_batch(rng: Random, partition: Partition) -> None:
    def change(batches: list[bytes]) -> None:
        del batches[rng.randrange(len(batches))]

    _rejoined(rng, partition, _any_log(rng, partition), change)


def high_bit_in_a_base_offset(rng: Random, partition: Partition) -> None:
    def change(batches: list[bytes]) -> None:
        index = rng.randrange(len(batches))
        byte = rng.randrange(5)
        raw = bytearray(batches[index])
        raw[byte] ^= rng.choice((1, 0x40, 0x80))
        batches[index] = bytes(raw)

    _rejoined(rng, partition, _any_log(rng, partition), change)


def offsets_beyond_the_index(rng: Random, partition: Partition) -> None:
    """Let the last batches of a segment begin 2^31 later, as old brokers wrote them."""

    def change(batches: list[bytes]) -> None:
        start = rng.randrange(len(batches))
        shift = 1 << rng.choice((31, 31, 32))
        for index in range(start, len(batches)):
            raw = batches[index]
            offset = int.from_bytes(raw[:8], signed=True) + shift
            batches[index] = pack(">q", offset) + raw[8:]

    _rejoined(rng, partition, _active(partition), change)


def size_field(rng: Random, partition: Partition) -> None:
    def change(batches: list[bytes]) -> None:
        index = rng.randrange(len(batches))
        raw = batches[index]
        size = rng.choice((-1, 0, 13, 14, 30, 48, 49, len(raw) - 11, 1 << 20, (1 << 31) - 1))
        batches[index] = raw[:8] + pack(">i", size) + raw[12:]

    _rejoined(rng, partition, _any_log(rng, partition), change)


def magic(rng: Random, partition: Partition) -> None:
    def change(batches: list[bytes]) -> None:
        index = rng.randrange(len(batches))
        raw = batches[index]
        batches[index] = raw[:16] + bytes([rng.choice((0, 1, 3, 127, 128, 255))]) + raw[17:]

    _rejoined(rng, partition, _any_log(rng, partition), change)


def empty_log(rng: Random, partition: Partition) -> None:
    partition.files[_any_log(rng, partition)] = b""


def noise_for_a_log(rng: Random, partition: Partition) -> None:
    name = _any_log(rng, partition)
    partition.files[name] = rng.randbytes(len(partition.files[name]))


def zeros_in_a_log(rng: Random, partition: Partition) -> None:
    """A page that was not written."""
    name = _any_log(rng, partition)
    log = partition.files[name]
    start = rng.randint(0, len(log))
    size = rng.choice((64, 512))
    partition.files[name] = (log[:start] + bytes(size) + log[start + size :])[: len(log)]


# Segments


def renamed_segment(rng: Random, partition: Partition) -> None:
    base = partition.bases[-1]
    to = base + rng.choice((1, 100, 1 << 32))
    for name in _segment_names(partition, base):
        if rng.random() < 0.8 or name.endswith(".log"):
            partition.files[name.replace(f"{base:020}", f"{to:020}")] = partition.files.pop(name)


def renamed_lower(rng: Random, partition: Partition) -> None:
    base = rng.choice(partition.bases)
    if base > 3:
        to = base - rng.randint(1, 3)
        partition.files[named(to, ".log")] = partition.files.pop(named(base, ".log"))


def swapped_logs(rng: Random, partition: Partition) -> None:
    first, second = (named(rng.choice(partition.bases), ".log") for _ in range(2))
    files = partition.files
    files[first], files[second] = files[second], files[first]


def _gone(partition: Partition, base: int) -> None:
    for name in _segment_names(partition, base):
        if not name.endswith(".snapshot"):
            _drop(partition, name)


def first_segment_gone(rng: Random, partition: Partition) -> None:
    _gone(partition, partition.bases[0])


def middle_segment_gone(rng: Random, partition: Partition) -> None:
    bases = partition.bases
    _gone(partition, rng.choice(bases[1:-1] or bases))


def last_segment_gone(rng: Random, partition: Partition) -> None:
    _gone(partition, partition.bases[-1])


def all_segments_gone(rng: Random, partition: Partition) -> None:
    for base in partition.bases:
        _gone(partition, base)


def log_gone(rng: Random, partition: Partition) -> None:
    _drop(partition, _any_log(rng, partition))


# Indexes


def _index(rng: Random, partition: Partition, kinds: tuple[str, ...] = _INDEXES) -> str:
    return named(rng.choice(partition.bases), rng.choice(kinds))


def index_gone(rng: Random, partition: Partition) -> None:
    _drop(partition, _index(rng, partition, (".index",)))


def time_index_gone(rng: Random, partition: Partition) -> None:
    _drop(partition, _index(rng, partition, (".timeindex",)))


def noise_for_an_index(rng: Random, partition: Partition) -> None:
    name = _index(rng, partition)
    partition.files[name] = rng.randbytes(rng.choice((0, 4, 8, 12, 24, 80, 81)))


def odd_length_of_an_index(rng: Random, partition: Partition) -> None:
    name = _index(rng, partition)
    raw = partition.files.get(name, b"")
    partition.files[name] = raw[: max(0, len(raw) - rng.randint(1, 9))]


def bit_in_an_index(rng: Random, partition: Partition) -> None:
    name = _index(rng, partition)
    raw = partition.files.get(name)
    if raw:
        partition.files[name] = _flip(rng, raw, 0, len(raw))


def index_of_another_segment(rng: Random, partition: Partition) -> None:
    source = partition.files.get(_index(rng, partition, (".index",)), b"")
    partition.files[_index(rng, partition, (".index",))] = source


def preallocated_index(rng: Random, partition: Partition) -> None:
    name = _index(rng, partition)
    partition.files.setdefault(name, b"")
    most = partition.request.segment_index_bytes
    partition.sizes[name] = rng.choice((most, most // 8 * 8, 2 * most, 1 << 20))


def small_index(rng: Random, partition: Partition) -> None:
    size = rng.choice((8, 24, 40))
    partition.request = replaced(partition.request, segment_index_bytes=size)


def txn_index(rng: Random, partition: Partition) -> None:
    name = _index(rng, partition, (".txnindex",))
    partition.files[name] = rng.randbytes(rng.choice((1, 34, 40, 68, 100)))


def txn_index_of_before(rng: Random, partition: Partition) -> None:
    base = rng.choice(partition.bases)
    last = base + rng.choice((-5, -1, 0, 4))
    entries = [AbortedTxn(0, 1, max(0, base - 9), last, last)]
    partition.files[named(base, ".txnindex")] = txn_index_bytes(entries)


# Producer snapshots


def _snapshots(partition: Partition) -> list[str]:
    return sorted(name for name in partition.files if name.endswith(".snapshot"))


def snapshots_gone(rng: Random, partition: Partition) -> None:
    for name in _snapshots(partition):
        _drop(partition, name)


def last_snapshot_gone(rng: Random, partition: Partition) -> None:
    for name in _snapshots(partition)[-rng.randint(1, 2) :]:
        _drop(partition, name)


def damaged_snapshot(rng: Random, partition: Partition) -> None:
    names = _snapshots(partition)
    if names:
        name = rng.choice((names[-1], rng.choice(names)))
        raw = partition.files[name]
        whole = (mutated(rng, raw), raw[: rng.randint(0, len(raw))], rng.randbytes(30))
        partition.files[name] = rng.choice(whole)


def stray_snapshots(rng: Random, partition: Partition) -> None:
    names = _snapshots(partition)
    content = partition.files[rng.choice(names)] if names else b""
    end = _end(partition)
    for _ in range(rng.randint(1, 3)):
        offset = rng.choice((rng.randint(0, max(end, 1)), end + rng.randint(1, 50)))
        partition.files.setdefault(named(offset, ".snapshot"), content)


def open_transactions_of_nowhere(rng: Random, partition: Partition) -> None:
    """A snapshot of another log."""
    names = _snapshots(partition)
    donor = named(rng.choice(partition.bases), ".snapshot")
    if names and donor in partition.files:
        partition.files[rng.choice(names)] = partition.files[donor]


# Transactions


def write_outside_of_a_transaction(rng: Random, partition: Partition) -> None:
    end = _end(partition)
    for attributes in (16, 0):
        record = Record(end, TIME, b"k", b"v")
        batch = batch_bytes([record], attributes=attributes, leader_epoch=900, producer_id=5)
        _append(partition, _active(partition), batch)
        end += 1


def odd_marker(rng: Random, partition: Partition) -> None:
    end = _end(partition)
    record = Record(end, TIME, b"k", b"v")
    begin = batch_bytes([record], attributes=16, leader_epoch=900, producer_id=5)
    number = rng.choice((0, 1, 2, 6, -1, 77))
    end_marker = bytearray(marker(5, end + 1, 900, number))
    if rng.random() < 0.4:
        index = rng.randrange(HEADER_SIZE, len(end_marker))
        end_marker[index] = rng.choice((0, 1, 0x80, 0xFF, 3))
    _append(partition, _active(partition), begin + with_crc(bytes(end_marker)))


# Text files


def words_for_epochs(rng: Random, partition: Partition) -> None:
    partition.files[EPOCHS] = rng.choice(
        (b"garbage\n", b"1\n0\n", b"0\nx\n", b"0\n1\nx y\n", b"\xff\xfe\n", b"0\n1\n1 2 3\n")
    )


def wrong_count_of_epochs(rng: Random, partition: Partition) -> None:
    entries = partition.files.get(EPOCHS, b"").split(b"\n")[2:]
    count = rng.choice((b"77", b"0", b"-1", b"1 ", b"2147483647"))
    partition.files[EPOCHS] = b"\n".join([b"0", count, *entries])


def negative_epochs(rng: Random, partition: Partition) -> None:
    entries = rng.choice(([(-1, 0)], [(0, -5)], [(3, 1), (-2, 9)]))
    partition.files[EPOCHS] = epochs_bytes(entries)


def empty_epochs(rng: Random, partition: Partition) -> None:
    partition.files[EPOCHS] = rng.choice((b"", b"0\n", b"0\n0\n", b"\n", b"0\n0"))


def epochs_gone(rng: Random, partition: Partition) -> None:
    partition.files.pop(EPOCHS, None)


def epochs_of_another_log(rng: Random, partition: Partition) -> None:
    end = _end(partition)
    entries = [(rng.randint(0, 20), rng.randint(0, end + 20)) for _ in range(rng.randint(1, 4))]
    partition.files[EPOCHS] = epochs_bytes(entries)


def empty_metadata(rng: Random, partition: Partition) -> None:
    partition.files[METADATA] = rng.choice((b"", b"version: 0", b"version: 0\n"))


def odd_metadata(rng: Random, partition: Partition) -> None:
    good = partition.files.get(METADATA, b"version: 0\ntopic_id: " + b"A" * 22)
    partition.files[METADATA] = rng.choice(
        (
            good.replace(b"version: 0", b"version: -1"),
            good.replace(b"version: 0", b"version: 9"),
            good.replace(b"version: 0", b"version: x"),
            good.replace(b"version: 0", b"version:0"),
            good[:-1],
            good + b"AAAA",
            good[:-1] + b"!",
            good.replace(b"topic_id: ", b"topic_id "),
            b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA",
            b"\xff" + good,
            good + b"\nmore\n",
        )
    )


def metadata_gone(rng: Random, partition: Partition) -> None:
    partition.files.pop(METADATA, None)


# Files that are not whole yet, or not any more


def _as_swap(rng: Random, partition: Partition, base: int, suffix: str) -> None:
    for kind in (".log", ".index", ".timeindex", ".txnindex"):
        content = partition.files.get(named(base, kind))
        if content is not None and (kind == ".log" or rng.random() < 0.8):
            partition.files[named(base, kind + suffix)] = content


def swap_files(rng: Random, partition: Partition) -> None:
    base = rng.choice(partition.bases)
    _as_swap(rng, partition, base, ".swap")
    if rng.random() < 0.5:
        _drop(partition, named(base, ".log"))
    if rng.random() < 0.3:
        swap = named(base, ".log.swap")
        partition.files[swap] = b"".join(
            partition.files.get(named(other, ".log"), b"") for other in partition.bases
        )


def swapped_index_alone(rng: Random, partition: Partition) -> None:
    base = rng.choice(partition.bases)
    kind = rng.choice((".index", ".timeindex", ".txnindex"))
    content = partition.files.get(named(base, kind), b"")
    partition.files[named(base, kind + ".swap")] = content


def cleaned_files(rng: Random, partition: Partition) -> None:
    _as_swap(rng, partition, rng.choice(partition.bases), ".cleaned")
    if rng.random() < 0.5:
        _as_swap(rng, partition, rng.choice(partition.bases), ".swap")


def deleted_files(rng: Random, partition: Partition) -> None:
    _as_swap(rng, partition, rng.choice(partition.bases), ".deleted")
    partition.files[named(3, "-0000000001.checkpoint.deleted")] = b""


def odd_name(rng: Random, partition: Partition) -> None:
    name = rng.choice(
        (
            *("x.log", "x.index", "x.snapshot", "1x.txnindex", ".cleaned", "x.swap"),
            *("12.log", "7.snapshot", "+5.log", "notes.txt", ".DS_Store", "lost.deleted"),
        )
    )
    partition.files[name] = rng.choice((b"", b"noise"))


def directory_inside(rng: Random, partition: Partition) -> None:
    name = rng.choice(("old", "0.log", named(0, ".swap"), EPOCHS, METADATA, "x.snapshot"))
    partition.files.pop(name, None)
    partition.directories.add(name)


def compressed_log(rng: Random, partition: Partition) -> None:
    """A log that somebody has compressed to save room."""
    name = _closed(rng, partition)
    partition.files[name + ".gz"] = partition.files.pop(name)


# Checkpoints of the log directory


def start_after_the_end(rng: Random, partition: Partition) -> None:
    start = _end(partition) + rng.choice((1, 2, 1000))
    partition.request = replaced(partition.request, log_start_checkpoint=start)


def start_within(rng: Random, partition: Partition) -> None:
    start = rng.randint(partition.bases[0], max(_end(partition), partition.bases[0]))
    partition.request = replaced(partition.request, log_start_checkpoint=start)


def odd_recovery_point(rng: Random, partition: Partition) -> None:
    point = rng.choice((-1, 0, _end(partition) + 5, (1 << 63) - 1))
    partition.request = replaced(partition.request, recovery_point=point)


def other_interval(rng: Random, partition: Partition) -> None:
    interval = rng.choice((0, 1, 100, 1 << 20))
    partition.request = replaced(partition.request, index_interval_bytes=interval)


WEIGHTS: dict[Fault, int] = {
    zeros_after_the_last_batch: 5,
    noise_after_the_last_batch: 4,
    torn_tail: 3,
    bit_in_the_active_log: 4,
    bit_in_a_closed_log: 3,
    bit_in_a_header: 4,
    bytes_of_a_batch: 4,
    odd_field_with_a_right_checksum: 4,
    duplicated_batch: 4,
    swapped_batches: 4,
    reordered_closed_log: 3,
    lost_batch: 2,
    high_bit_in_a_base_offset: 5,
    offsets_beyond_the_index: 3,
    size_field: 4,
    magic: 3,
    empty_log: 2,
    noise_for_a_log: 3,
    zeros_in_a_log: 4,
    renamed_segment: 4,
    renamed_lower: 2,
    swapped_logs: 4,
    first_segment_gone: 2,
    middle_segment_gone: 2,
    last_segment_gone: 2,
    all_segments_gone: 1,
    log_gone: 2,
    index_gone: 2,
    time_index_gone: 1,
    noise_for_an_index: 4,
    odd_length_of_an_index: 2,
    bit_in_an_index: 3,
    index_of_another_segment: 2,
    preallocated_index: 3,
    small_index: 4,
    txn_index: 5,
    txn_index_of_before: 3,
    snapshots_gone: 2,
    last_snapshot_gone: 3,
    damaged_snapshot: 3,
    stray_snapshots: 3,
    open_transactions_of_nowhere: 2,
    write_outside_of_a_transaction: 5,
    odd_marker: 5,
    words_for_epochs: 5,
    wrong_count_of_epochs: 5,
    negative_epochs: 5,
    empty_epochs: 2,
    epochs_gone: 1,
    epochs_of_another_log: 3,
    empty_metadata: 4,
    odd_metadata: 5,
    metadata_gone: 1,
    swap_files: 4,
    swapped_index_alone: 2,
    cleaned_files: 2,
    deleted_files: 2,
    odd_name: 5,
    directory_inside: 3,
    compressed_log: 2,
    start_after_the_end: 3,
    start_within: 2,
    odd_recovery_point: 2,
    other_interval: 2,
}
"""How often each kind comes; those that keep a partition from starting come more often."""

"""What Kafka's loader makes of a partition, rule by rule; `tests/kafka/server` asks Kafka itself."""

from dataclasses import replace
from pathlib import Path
from struct import pack

import pytest
from google_crc32c import value as crc32c

from kraftops.errors import SourceError
from kraftops.log.batch import CONTROL, CRC_START, HEADER_SIZE, TRANSACTIONAL, Record
from kraftops.log.indexes import AbortedTxn, OffsetEntry
from kraftops.log.producers import ProducerState
from kraftops.server.loader.contract import (
    Consequence,
    DiskFolder,
    LoadOutcome,
    LoadRequest,
)
from kraftops.server.loader.partition import foretell_partition
from tests.helpers.logs.written import (
    batch_bytes,
    message_bytes,
    producers_bytes,
    txn_index_bytes,
    wrapper_bytes,
)
from tests.helpers.nodes.partition_folders import (
    METADATA,
    MemoryFolder,
    batch,
    named,
    partition,
    segment,
)

CLEAN = LoadRequest("t-0", was_clean=True)
UNCLEAN = LoadRequest("t-0")
SNAPPY = 2  # the codec in the attributes of a batch
EPOCHS, TOPIC_ID = "leader-epoch-checkpoint", "partition.metadata"
FIRST, SECOND, THIRD = named(0, ".log"), named(10, ".log"), named(20, ".log")


def three_segments() -> dict[str, bytes]:
    """Return a partition of the offsets 0 to 29, after a clean stop."""
    return partition(
        *(
            segment(base, [batch(base, base + 4), batch(base + 5, base + 9)])
            for base in (0, 10, 20)
        ),
        end=30,
    )


def load(
    files: dict[str, bytes], request: LoadRequest, sizes: dict[str, int] | None = None
) -> LoadOutcome:
    return foretell_partition(MemoryFolder(files, sizes=sizes), request)


def test_whole_partition_stays_as_it_is() -> None:
    files = three_segments()

    outcome = load(files, CLEAN)

    assert outcome.consequence is Consequence.LOADS
    assert (outcome.log_start_offset, outcome.end_offset) == (0, 30)
    assert outcome.segments == (0, 10, 20)
    assert outcome.latest_epoch == 0
    assert list(outcome.files) == sorted(files)
    assert (outcome.cuts, outcome.removed, outcome.rebuilt) == ((), (), ())


def test_empty_directory_becomes_a_partition() -> None:
    outcome = load({}, CLEAN)

    assert (outcome.starts, outcome.end_offset, outcome.segments) == (True, 0, (0,))
    assert {FIRST, EPOCHS} <= set(outcome.files)


# The end of the log


@pytest.mark.parametrize("tail", [bytes(100), bytes(5000)], ids=["short", "long"])
def test_zeros_after_the_last_batch_are_cut_only_after_an_unclean_stop(tail: bytes) -> None:
    files = three_segments()
    files[THIRD] += tail

    clean, unclean = load(files, CLEAN), load(files, UNCLEAN)

    assert clean.consequence is Consequence.BROKER_DIES
    assert clean.refusal is not None
    assert "Found record size 0 smaller than minimum record overhead" in clean.refusal.message
    assert (clean.refusal.file, clean.refusal.position) == (THIRD, len(files[THIRD]) - len(tail))
    assert (unclean.starts, unclean.end_offset, unclean.lost_bytes) == (True, 30, len(tail))
    assert unclean.cuts[0].first_offset == 30


def test_incomplete_batch_at_the_end_is_left_out_after_a_clean_stop() -> None:
    files = three_segments()
    files[THIRD] = files[THIRD][:-3]

    assert load(files, CLEAN).end_offset == 25
    assert load(files, UNCLEAN).end_offset == 25


def test_damage_cuts_the_log_and_all_later_segments_go() -> None:
    files = three_segments()
    log = bytearray(files[SECOND])
    log[-1] ^= 1
    files[SECOND] = bytes(log)

    outcome = load(files, UNCLEAN)

    assert (outcome.end_offset, outcome.segments) == (15, (0, 10))
    assert (outcome.cuts[0].file, outcome.cuts[0].first_offset) == (SECOND, 15)
    assert [gone.end_offset for gone in outcome.deleted_segments] == [30]
    assert THIRD in outcome.removed
    assert f"{THIRD}.deleted" in outcome.files
    assert named(15, ".snapshot") in outcome.files


def test_damage_before_the_recovery_point_stays() -> None:
    files = three_segments()
    log = bytearray(files[FIRST])
    log[-1] ^= 1
    files[FIRST] = bytes(log)

    assert load(files, replace(UNCLEAN, recovery_point=20)).end_offset == 30
    assert load(files, replace(UNCLEAN, recovery_point=9)).end_offset == 5


@pytest.mark.parametrize(("interval", "end"), [(10, 20), (4096, 25)], ids=["indexed", "unnoticed"])
def test_duplicate_batch_empties_the_segment_where_an_index_entry_falls_due(
    interval: int, end: int
) -> None:
    files = three_segments()
    first = batch(20, 24)
    files[THIRD] = files[THIRD] + first

    outcome = load(files, replace(UNCLEAN, index_interval_bytes=interval))

    assert outcome.end_offset == end
    assert bool(outcome.cuts) == (interval == 10)


def test_end_offset_is_read_where_the_last_index_entry_leads() -> None:
    log = [batch(0, 9), batch(2, 3)]
    files = partition(segment(0, log, [OffsetEntry(5, 0)]), end=4)

    assert load(files, replace(CLEAN, release="3.9.1")).end_offset == 4
    assert load(files, replace(CLEAN, release="4.0.0")).end_offset == 4
    assert load(files, replace(CLEAN, release="4.1.1")).end_offset == 0


def test_index_entry_behind_the_log_empties_it_after_a_clean_stop() -> None:
    files = partition(segment(0, [batch(0, 9)], [OffsetEntry(5, 1 << 20)]), end=10)

    assert load(files, CLEAN).end_offset == 0
    assert load(files, UNCLEAN).end_offset == 10


# Names and places of segments


def test_segment_renamed_to_a_higher_offset_keeps_the_partition_from_starting() -> None:
    files = three_segments()
    files[named(25, ".log")] = files.pop(THIRD)

    outcome = load(files, UNCLEAN)

    assert outcome.refusal is not None
    assert "Split operation is only permitted" in outcome.refusal.message
    assert outcome.consequence is Consequence.BROKER_DIES


def test_high_bit_in_a_base_offset_keeps_the_partition_from_starting() -> None:
    files = three_segments()
    first = len(batch(20, 24))
    log = files[THIRD]
    files[THIRD] = b"\x80" + log[1:first] + log[first:]

    assert load(files, UNCLEAN).refusal is not None


def test_offsets_beyond_the_index_split_the_segment() -> None:
    far = 1 << 31
    files = partition(segment(0, [batch(0, 4), batch(far, far + 1)]))

    outcome = load(files, UNCLEAN)

    assert (outcome.segments, outcome.end_offset) == ((0, far), far + 2)
    assert f"{FIRST}.deleted" in outcome.files


def test_split_into_two_parts_of_one_name_fails_and_leaves_none() -> None:
    files = partition(segment(0, [batch(0, 4), batch(1 << 31)] * 2))

    outcome = load(files, UNCLEAN)

    assert outcome.refusal is not None
    assert outcome.refusal.reason.startswith("NoSuchFileException")
    assert outcome.consequence is Consequence.DIRECTORY_OFFLINE
    assert not [name for name in outcome.files if name.endswith((".cleaned", ".swap"))]


def test_lost_first_segment_is_not_missed() -> None:
    files = three_segments()
    for suffix in (".log", ".index", ".timeindex"):
        del files[named(0, suffix)]

    outcome = load(files, CLEAN)

    assert (outcome.log_start_offset, outcome.end_offset) == (10, 30)


def test_tiered_partition_starts_where_the_checkpoint_says() -> None:
    files = three_segments()
    del files[FIRST], files[named(0, ".index")]

    outcome = load(files, replace(CLEAN, is_tiered=True, log_start_checkpoint=3))

    assert (outcome.log_start_offset, outcome.local_start_offset) == (3, 10)


def test_start_after_the_end_deletes_everything() -> None:
    outcome = load(three_segments(), replace(CLEAN, log_start_checkpoint=31))

    assert (outcome.log_start_offset, outcome.end_offset, outcome.segments) == (31, 31, (31,))
    assert [gone.base_offset for gone in outcome.deleted_segments] == [0, 10, 20]


def test_index_without_a_log_goes_and_a_missing_index_is_made() -> None:
    files = three_segments()
    del files[SECOND], files[named(20, ".index")], files[named(0, ".timeindex")]

    outcome = load(files, CLEAN)

    assert named(10, ".index") in outcome.removed
    assert {named(20, ".index"), named(0, ".timeindex")} <= set(outcome.rebuilt)
    assert outcome.recovered_segments == (20,)


def test_swap_completes_and_replaces_the_segments_in_it() -> None:
    files = three_segments()
    files[f"{FIRST}.swap"] = files[FIRST] + files[SECOND]
    files[named(0, ".index.swap")] = b""

    outcome = load(files, CLEAN)

    assert (outcome.segments, outcome.end_offset) == ((0, 20), 30)
    assert not [name for name in outcome.files if name.endswith(".swap")]


def test_swap_of_an_unfinished_split_goes_with_the_cleaned_file() -> None:
    files = three_segments()
    files |= {f"{SECOND}.swap": b"", f"{FIRST}.cleaned": b"", f"{THIRD}.deleted": b""}

    outcome = load(files, CLEAN)

    assert outcome.segments == (0, 10, 20)
    assert outcome.removed == (f"{FIRST}.cleaned", f"{SECOND}.swap", f"{THIRD}.deleted")


@pytest.mark.parametrize("name", ["x.log", "x.index", "x.snapshot", "x.swap"])
def test_name_without_an_offset_keeps_the_partition_from_starting(name: str) -> None:
    outcome = load({**three_segments(), name: b""}, CLEAN)

    assert outcome.refusal is not None
    assert outcome.refusal.java_class == "java.lang.NumberFormatException"


def test_partition_that_waits_for_its_deletion_is_not_recovered() -> None:
    files = three_segments()
    files[THIRD] += bytes(100)

    outcome = load(files, replace(UNCLEAN, name=f"t-0.{'0' * 32}-delete"))

    assert (outcome.starts, outcome.end_offset, outcome.cuts) == (True, 0, ())


# Indexes of transactions, and producers


def test_noise_for_a_transaction_index_keeps_the_partition_from_starting() -> None:
    outcome = load({**three_segments(), named(10, ".txnindex"): b"\x07" * 40}, UNCLEAN)

    assert outcome.refusal is not None
    assert "Unexpected aborted transaction version 7" in outcome.refusal.message
    assert outcome.consequence is Consequence.BROKER_DIES


def test_transactions_before_the_segment_have_it_recovered() -> None:
    index = txn_index_bytes([AbortedTxn(0, 1, 0, 5, 6)])

    outcome = load({**three_segments(), named(10, ".txnindex"): index}, CLEAN)

    assert (outcome.starts, outcome.recovered_segments) == (True, (10,))


def transaction(first: int, number: int) -> bytes:
    """Return a batch of a transaction and the marker that ends it."""
    marker = Record(first + 1, 2000, pack(">hh", 0, number), pack(">hi", 0, 1))
    return batch(first, attributes=TRANSACTIONAL, producer_id=9) + batch_bytes(
        [marker], attributes=CONTROL | TRANSACTIONAL, producer_id=9
    )


@pytest.mark.parametrize(("number", "has_index"), [(0, True), (1, False)], ids=["abort", "commit"])
def test_recovery_indexes_aborted_transactions(number: int, *, has_index: bool) -> None:
    outcome = load(partition(segment(0, [transaction(0, number)])), UNCLEAN)

    assert outcome.end_offset == 2
    assert (named(0, ".txnindex") in outcome.files) == has_index


def test_odd_control_record_keeps_the_partition_from_starting() -> None:
    files = partition(segment(0, [transaction(0, 4)]))

    outcome = load(files, UNCLEAN)

    assert outcome.refusal is not None
    assert "Invalid control record type" in outcome.refusal.message


def test_negative_block_of_snappy_ends_the_broker_also_after_an_unclean_stop() -> None:
    marker = Record(0, 2000, pack(">hh", 0, 0), pack(">hi", 0, 1))
    log = bytearray(batch_bytes([marker], attributes=CONTROL | SNAPPY, producer_id=9))
    size = HEADER_SIZE + 16  # after the header of the stream (`SnappyOutputStream`)
    log[size : size + 4] = pack(">i", -1)
    log[CRC_START - 4 : CRC_START] = crc32c(bytes(log[CRC_START:])).to_bytes(4)

    outcome = load(partition(segment(0, [bytes(log)])), UNCLEAN)

    assert outcome.refusal is not None
    assert outcome.refusal.reason.startswith("SnappyError")
    assert outcome.consequence is Consequence.BROKER_DIES


def test_plain_write_in_a_transaction_keeps_the_partition_from_starting() -> None:
    log = [batch(0, attributes=TRANSACTIONAL, producer_id=9), batch(1, producer_id=9)]

    outcome = load(partition(segment(0, log)), UNCLEAN)

    assert outcome.refusal is not None
    assert outcome.refusal.java_class.endswith("InvalidTxnStateException")


def test_clean_partition_without_snapshots_gets_empty_ones() -> None:
    files = three_segments()
    del files[named(30, ".snapshot")]

    outcome = load(files, CLEAN)

    assert outcome.snapshots_written == (10, 20, 30)


def test_damaged_snapshot_is_made_anew_from_the_log() -> None:
    files = three_segments()
    files[named(30, ".snapshot")] = b"noise"

    outcome = load(files, CLEAN)

    assert 30 in outcome.snapshots_written


def test_snapshots_of_no_segment_go() -> None:
    files = three_segments()
    good = files[named(30, ".snapshot")]
    files |= {named(offset, ".snapshot"): good for offset in (5, 10, 15, 40)}

    outcome = load(files, CLEAN)

    assert set(outcome.removed) == {named(offset, ".snapshot") for offset in (5, 15, 40)}
    assert 30 in outcome.snapshots_written


def test_transaction_that_a_snapshot_opens_ends_in_the_log() -> None:
    open_txn = producers_bytes([ProducerState(9, 0, 0, 3, 0, 1000, -1, 3)])
    end_of_it = transaction(20, 1)[len(batch(20, attributes=TRANSACTIONAL, producer_id=9)) :]
    files = partition(segment(0, [batch(0, 19)]), segment(20, [batch(20), end_of_it]))
    files[named(20, ".snapshot")] = open_txn

    assert load(files, CLEAN).starts


# Text files


@pytest.mark.parametrize(
    ("content", "consequence"),
    [
        (b"words\n", Consequence.DIRECTORY_OFFLINE),
        (b"1\n0\n", Consequence.DIRECTORY_OFFLINE),
        (b"0\n7\n0 0\n", Consequence.DIRECTORY_OFFLINE),
        (b"0\n1\n0 0 0\n", Consequence.DIRECTORY_OFFLINE),
        (b"\xff\n", Consequence.DIRECTORY_OFFLINE),
        (b"0\n1\n0 x\n", Consequence.BROKER_DIES),
        (b"0\n1\n-1 0\n", Consequence.BROKER_DIES),
        (b"0\n1\n0 -5\n", Consequence.BROKER_DIES),
        (b"0\n-1\n", Consequence.BROKER_DIES),
        (b"0\n2147483647\n", Consequence.BROKER_DIES),
        (b"", Consequence.LOADS),
        (b"0\n", Consequence.LOADS),
        (b"0\r\n1\r\n0\t0", Consequence.LOADS),
        (b"0\n2\n5 99\n3 1\n", Consequence.LOADS),
    ],
)
def test_leader_epochs(content: bytes, consequence: Consequence) -> None:
    outcome = load({**three_segments(), EPOCHS: content}, CLEAN)

    assert outcome.consequence is consequence


@pytest.mark.parametrize(
    ("content", "consequence"),
    [
        (b"", Consequence.BROKER_DIES),
        (b"version: 0", Consequence.BROKER_DIES),
        (METADATA + b"AAAA", Consequence.BROKER_DIES),
        (METADATA[:-1] + b"!", Consequence.BROKER_DIES),
        (METADATA.replace(b" 0", b" -1"), Consequence.DIRECTORY_OFFLINE),
        (METADATA.replace(b" 0", b" x"), Consequence.DIRECTORY_OFFLINE),
        (b"noise", Consequence.DIRECTORY_OFFLINE),
        (b"version: 0\ntopic_id: " + b"A" * 22, Consequence.DIRECTORY_OFFLINE),
        (METADATA.replace(b" 0", b" 9"), Consequence.LOADS),
        (METADATA + b"\nmore", Consequence.LOADS),
    ],
)
def test_partition_metadata(content: bytes, consequence: Consequence) -> None:
    outcome = load({**three_segments(), TOPIC_ID: content}, CLEAN)

    assert outcome.consequence is consequence


@pytest.mark.parametrize("name", [EPOCHS, TOPIC_ID])
def test_directory_in_the_place_of_a_text_file(name: str) -> None:
    files = three_segments()
    del files[name]

    outcome = foretell_partition(MemoryFolder(files, [name]), CLEAN)

    assert outcome.consequence is Consequence.DIRECTORY_OFFLINE


def test_recovery_corrects_the_leader_epochs() -> None:
    log = [batch(0, 4, epoch=3), batch(5, epoch=7)]
    files = {**partition(segment(0, log)), EPOCHS: b"0\n1\n5 90\n"}

    outcome = load(files, UNCLEAN)

    assert outcome.latest_epoch == 7
    assert EPOCHS in outcome.rebuilt


# Logs of before Kafka 0.11


def test_log_of_old_messages_loads() -> None:
    records = [Record(offset, 1000, None, b"v") for offset in range(4)]
    log = [message_bytes(records[0], 0), message_bytes(records[1], 1)]
    log.append(wrapper_bytes(records[2:], 1, 1))
    files = partition(segment(0, log), end=4)

    assert load(files, CLEAN).end_offset == 4
    assert load(files, UNCLEAN).end_offset == 4


# What is read


def test_idle_partition_is_read_at_its_end_alone() -> None:
    batches = [batch(offset, offset + 99) for offset in range(0, 100_000, 100)]
    size = len(batches[0])
    entries = [OffsetEntry(offset + 99, offset // 100 * size) for offset in range(0, 100_000, 300)]
    log = b"".join(batches)
    files = partition(segment(0, [log], entries), end=100_000)
    folder = MemoryFolder(files)

    outcome = foretell_partition(folder, CLEAN)

    assert outcome.end_offset == 100_000
    assert folder.bytes_read < 5000 < len(log)


def test_hole_of_a_preallocated_index_is_not_read() -> None:
    files = three_segments()
    sizes = {named(20, ".index"): 10 << 20, named(20, ".timeindex"): 10 << 20}
    folder = MemoryFolder(files, sizes=sizes)

    outcome = foretell_partition(folder, CLEAN)

    assert outcome.end_offset == 30
    assert folder.bytes_read < 5000


@pytest.mark.parametrize("size", [4, 40])
def test_load_after_a_clean_stop_reads_few_bytes_of_the_last_segment(
    size: int, tmp_path: Path
) -> None:
    """The index has *size* KiB, the last batch 40: 4,000 such partitions are to cost 50 MB."""
    count = size * 1024 // 8
    log = [batch(offset) for offset in range(count - 1)]
    entries = [OffsetEntry(offset, offset * len(log[0])) for offset in range(count)]
    log.append(batch_bytes([Record(count - 1, 0, None, bytes(40 << 10))]))
    for name, content in partition(segment(0, log, entries), end=count).items():
        (tmp_path / name).write_bytes(content)

    def bytes_read() -> int:
        return int(Path("/proc/self/io").read_text().split()[1])

    before = bytes_read()
    outcome = foretell_partition(DiskFolder(str(tmp_path)), CLEAN)

    assert outcome.end_offset == count
    assert bytes_read() - before < 8000


# Hostile files


def test_log_of_two_gibibytes_is_refused() -> None:
    files = three_segments()

    outcome = load(files, CLEAN, {FIRST: 1 << 31})

    assert outcome.refusal is not None
    assert outcome.refusal.java_class == "org.apache.kafka.common.KafkaException"


def test_huge_text_file_is_an_error() -> None:
    with pytest.raises(SourceError, match="leader-epoch-checkpoint"):
        load(three_segments(), CLEAN, {EPOCHS: 1 << 40})


@pytest.mark.parametrize("length", [-1, 13, 14, 48, (1 << 31) - 1])
def test_impossible_length_ends_the_log_after_an_unclean_stop(length: int) -> None:
    files = three_segments()
    first = len(batch(20, 24))
    log = files[THIRD]
    files[THIRD] = log[: first + 8] + pack(">i", length) + log[first + 12 :]

    assert load(files, UNCLEAN).end_offset == 25


def test_index_that_is_larger_than_the_topic_allows_is_refused() -> None:
    entries = [OffsetEntry(9, 0)] * 20
    files = partition(segment(0, [batch(0, 9)], entries), end=10)

    outcome = load(files, replace(CLEAN, segment_index_bytes=80))

    assert outcome.refusal is not None
    assert "newPosition > limit" in outcome.refusal.message


def test_small_indexes_are_full_before_the_end_of_the_log() -> None:
    log = [batch(offset) for offset in range(20)]
    request = replace(UNCLEAN, index_interval_bytes=0, segment_index_bytes=80)

    outcome = load(partition(segment(0, log)), request)

    assert outcome.refusal is not None
    assert "full index" in outcome.refusal.message

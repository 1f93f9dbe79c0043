"""The text of indexes and producer snapshots."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from kraftops.log.batch import Record
from kraftops.log.indexes import AbortedTxn, OffsetEntry, OffsetIndex, TimeEntry
from kraftops.log.log_file import LogFile
from kraftops.log.producers import ProducerState
from kraftops.query.query import Query
from tests.helpers.logs.segments import COUNT_AT, IN, patched, resealed
from tests.helpers.logs.written import (
    batch_bytes,
    message_bytes,
    offset_index_bytes,
    producers_bytes,
    time_index_bytes,
    txn_index_bytes,
)
from tests.helpers.tools.dump_file import Dump, dump

BASE = 100
BATCHES = [
    batch_bytes(
        [Record(BASE + 2 * n, 1_000 + n, None, b"v"), Record(BASE + 2 * n + 1, 5, None, b"w")]
    )
    for n in range(4)
]
SIZE = len(BATCHES[0])
OFFSETS = [OffsetEntry(BASE + 2 * n + 1, SIZE * n) for n in range(4)]
TIMES = [TimeEntry(1_000 + n, BASE + 2 * n + 1) for n in range(4)]
PLAIN = Query()
SANITY, VERIFY = Query(index_sanity_check=True), Query(verify_index_only=True)


@dataclass(frozen=True, slots=True)
class Segment:
    """The files of a segment."""

    directory: Path

    def path(self, suffix: str) -> Path:
        return self.directory / f"{BASE:020}{suffix}"

    def dump(self, suffix: str, data: bytes, query: Query = PLAIN) -> Dump:
        """Write the file and dump it."""
        self.path(suffix).write_bytes(data)
        return dump(self.path(suffix), query)


@pytest.fixture
def segment(tmp_path: Path) -> Segment:
    files = Segment(tmp_path)
    files.path(".log").write_bytes(b"".join(BATCHES))
    files.path(".index").write_bytes(offset_index_bytes(OFFSETS, BASE))
    return files


def body(found: Dump) -> list[str]:
    """Return the lines behind the first, which names the file."""
    return found.text.splitlines()[1:]


def index(entries: list[OffsetEntry]) -> bytes:
    return offset_index_bytes(entries, BASE)


def times(entries: list[TimeEntry]) -> bytes:
    return time_index_bytes(entries, BASE)


# Offset indexes


def test_entries_that_fit_their_log(segment: Segment) -> None:
    found = segment.dump(".index", index(OFFSETS))

    assert body(found) == [f"offset: {o} position: {p}" for o, p in OFFSETS]
    assert (found.notes, found.summary, found.has_failed) == ([], [], False)


def test_verifying_prints_no_entries(segment: Segment) -> None:
    assert body(segment.dump(".index", index(OFFSETS), VERIFY)) == []


def test_entry_of_another_offset_is_a_mismatch(segment: Segment) -> None:
    wrong = [OFFSETS[0], OFFSETS[1]._replace(offset=BASE + 2)]
    for query in (Query(), VERIFY):
        found = segment.dump(".index", index(wrong), query)

        assert found.summary == [
            f"Mismatches in :{segment.path('.index')}",
            f"  Index offset: {BASE + 2}, log offset: {BASE + 3}",
        ]
        assert not found.has_failed


def test_zeros_behind_the_entries_are_space(segment: Segment) -> None:
    found = segment.dump(".index", index(OFFSETS) + bytes(800))

    assert len(body(found)) == 4
    assert not found.has_failed


@pytest.mark.parametrize(
    "position",
    [SIZE * 4, SIZE * 4 - 10, SIZE * 40, -1],
    ids=["end", "nearly the end", "beyond", "negative"],
)
def test_entry_without_a_batch_is_reported_and_the_next_is_read(
    position: int, segment: Segment
) -> None:
    """Kafka's tool ends with an exception."""
    entries = [OFFSETS[0], OFFSETS[1]._replace(position=position), OFFSETS[2]]

    found = segment.dump(".index", index(entries))

    assert [line.split()[1] for line in body(found)] == [str(entry.offset) for entry in entries]
    assert len(found.notes) == 1
    assert found.notes[0].startswith(f"{segment.path('.index')}: position 8: offset {BASE + 3}: ")
    assert found.has_failed


def test_entry_amid_a_batch_is_no_crash(segment: Segment) -> None:
    for position in range(SIZE * 4 + 20):
        found = segment.dump(".index", index([OFFSETS[1]._replace(position=position)]))

        assert len(body(found)) == 1


def test_batch_larger_than_the_message_size_is_not_found(segment: Segment) -> None:
    found = segment.dump(".index", index(OFFSETS[:1]), Query(max_message_size=SIZE - 1))

    assert found.has_failed
    assert not segment.dump(".index", index(OFFSETS[:1]), Query(max_message_size=SIZE)).has_failed


def test_empty_index_is_reported(segment: Segment) -> None:
    path = segment.path(".index")

    assert body(segment.dump(".index", b"")) == [f"{path} is empty."]


def test_index_without_its_log_is_an_error(segment: Segment) -> None:
    segment.path(".log").unlink()

    found = segment.dump(".index", index(OFFSETS))

    assert found.notes == [f"cannot read {segment.path('.log')}: No such file or directory"]
    assert found.has_failed


def test_sanity_check_reports_a_damaged_offset_index(segment: Segment) -> None:
    path = segment.path(".index")

    assert body(segment.dump(".index", index(OFFSETS), SANITY)) == [f"{path} passed sanity check."]
    assert not segment.dump(".index", index(OFFSETS) + bytes(80), SANITY).has_failed
    for bad in (index(OFFSETS) + b"abc", index([OffsetEntry(BASE - 1, 0)])):
        found = segment.dump(".index", bad, SANITY)
        assert (body(found), found.has_failed) == ([], True)
        assert found.notes[0].startswith(f"{path}: position ")


def test_index_of_old_messages(segment: Segment) -> None:
    first, second = (message_bytes(Record(BASE + n, 50 + n, None, b"v"), 1) for n in range(2))
    segment.path(".log").write_bytes(first + second)

    found = segment.dump(".index", index([OffsetEntry(BASE, 0), OffsetEntry(BASE + 1, len(first))]))

    assert (found.summary, found.has_failed) == ([], False)


def test_log_that_shrinks_under_its_index_is_no_crash(
    segment: Segment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For any rest of the batch of an entry."""
    real = LogFile.read_at
    for left in range(SIZE):

        def read_at(self: LogFile, position: int, size: int, left: int = left) -> bytes:
            data = real(self, position, size)
            return data[:left] if self.path.endswith(".log") else data

        monkeypatch.setattr(LogFile, "read_at", read_at)
        for suffix, data in ((".index", index(OFFSETS[:1])), (".timeindex", times(TIMES[:1]))):
            found = segment.dump(suffix, data)

            assert len(body(found)) == 1


# Time indexes


def test_times_that_fit_their_log(segment: Segment) -> None:
    found = segment.dump(".timeindex", times(TIMES))

    assert body(found) == [f"timestamp: {t} offset: {o}" for t, o in TIMES]
    assert (found.notes, found.summary, found.has_failed) == ([], [], False)


def test_wrong_timestamp_is_a_mismatch(segment: Segment) -> None:
    found = segment.dump(".timeindex", times([TIMES[0], TIMES[1]._replace(timestamp=1_009)]))

    assert found.summary == [
        f"Found timestamp mismatch in :{segment.path('.timeindex')}",
        "  Index timestamp: 1009, log timestamp: 1001",
    ]
    assert not found.has_failed


def test_timestamps_that_go_back_are_reported(segment: Segment) -> None:
    found = segment.dump(".timeindex", times([TIMES[1], TIMES[0]]))

    assert found.summary == [
        f"Found out of order timestamp in :{segment.path('.timeindex')}",
        "  Index timestamp: 1000, Previously indexed timestamp: 1001",
    ]


@pytest.mark.parametrize(
    ("offset", "log_offset"), [(BASE + 2, BASE + 3), (BASE + 50, -1)], ids=["amid", "beyond"]
)
def test_offset_that_ends_no_batch_is_not_found(
    offset: int, log_offset: int, segment: Segment
) -> None:
    found = segment.dump(".timeindex", times([TIMES[0], TIMES[1]._replace(offset=offset)]))

    assert found.summary == [
        f"The following indexed offsets are not found in :{segment.path('.timeindex')}",
        f"Indexed offset: {offset}, found log offset: {log_offset}",
    ]


def test_damaged_batch_is_reported_and_the_next_entry_is_read(segment: Segment) -> None:
    bad = patched(BATCHES[1], 61, b"\xff" * 10)
    segment.path(".log").write_bytes(BATCHES[0] + bad + BATCHES[2] + BATCHES[3])

    found = segment.dump(".timeindex", times(TIMES))

    assert len(body(found)) == 4
    assert len(found.notes) == 1
    assert found.notes[0].startswith(f"{segment.path('.timeindex')}: position 12: ")
    assert found.has_failed


def test_time_index_without_an_offset_index_is_read_all_the_same(segment: Segment) -> None:
    """Kafka's tool creates an empty file, and ends with an exception."""
    segment.path(".index").unlink()

    found = segment.dump(".timeindex", times(TIMES))

    assert len(body(found)) == 4
    assert len(found.notes) == 1
    assert found.notes[0].endswith("; the log is searched from its start")
    assert not segment.path(".index").exists()


def test_zeros_of_a_running_server_are_space(segment: Segment) -> None:
    assert len(body(segment.dump(".timeindex", times(TIMES) + bytes(120)))) == 4
    assert segment.dump(".timeindex", times(TIMES) + bytes(120), SANITY).has_failed
    assert not segment.dump(".timeindex", times(TIMES), SANITY).has_failed


def test_files_are_closed(segment: Segment, monkeypatch: pytest.MonkeyPatch) -> None:
    """All opened files, including the log beside the index."""
    opened: list[LogFile] = []
    real = LogFile.__init__

    def init(self: LogFile, path: str) -> None:
        real(self, path)
        opened.append(self)

    monkeypatch.setattr(LogFile, "__init__", init)
    for suffix, data in ((".timeindex", times(TIMES)), (".index", index(OFFSETS))):
        segment.dump(suffix, data)

    assert len(opened) == 5
    assert [file.path for file in opened if not file._file.closed] == []


def test_index_that_a_broker_trims_while_it_is_searched_is_no_crash(
    segment: Segment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The active segment's index is preallocated until the segment rolls."""
    segment.path(".index").write_bytes(index(OFFSETS) + bytes(80_000))
    real = OffsetIndex.position_below

    def trimmed(self: OffsetIndex, offset: int) -> int:
        segment.path(".index").write_bytes(index(OFFSETS))
        return real(self, offset)

    monkeypatch.setattr(OffsetIndex, "position_below", trimmed)

    found = segment.dump(".timeindex", times(TIMES))

    assert found.text.startswith("Dumping ")


def test_every_flipped_bit_of_an_index_is_survived(segment: Segment) -> None:
    for suffix, data in ((".index", index(OFFSETS)), (".timeindex", times(TIMES))):
        for bit in range(len(data) * 8):
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            for query in (Query(), SANITY):
                assert segment.dump(suffix, bytes(flipped), query).text.startswith("Dumping ")


def test_every_cut_of_an_index_is_survived(segment: Segment) -> None:
    for suffix, data in ((".index", index(OFFSETS)), (".timeindex", times(TIMES))):
        size = 8 if suffix == ".index" else 12
        for cut in range(1, len(data)):
            found = segment.dump(suffix, data[:cut])

            entries = [line for line in body(found) if ": " in line]
            assert len(entries) == cut // size


# Transaction indexes


def test_aborted_transactions(segment: Segment) -> None:
    txns = [AbortedTxn(0, 7, 10, 20, 30), AbortedTxn(0, 1 << 40, 40, 50, 60)]

    found = segment.dump(".txnindex", txn_index_bytes(txns) + b"rest")

    assert body(found) == [
        "version: 0 producerId: 7 firstOffset: 10 lastOffset: 20 lastStableOffset: 30",
        f"version: 0 producerId: {1 << 40} firstOffset: 40 lastOffset: 50 lastStableOffset: 60",
    ]
    assert not found.has_failed


def test_aborted_transaction_of_another_version_is_reported(segment: Segment) -> None:
    txns = [AbortedTxn(256, 7, 10, 20, 30), AbortedTxn(0, 8, 40, 50, 60)]

    found = segment.dump(".txnindex", txn_index_bytes(txns))

    assert len(body(found)) == 2
    assert found.has_failed


# Producer snapshots


def test_producers(segment: Segment) -> None:
    producers = [
        ProducerState(7, 1, 9, 120, 4, 1_000, 3, 118),
        ProducerState(8, 0, -1, -1, 0, 2_000, 5, -1),
        ProducerState(9, 0, 2, 50, 4, 3_000, -1, -1),
    ]

    found = segment.dump(".snapshot", producers_bytes(producers))

    assert body(found) == [
        (
            "producerId: 7 producerEpoch: 1 coordinatorEpoch: 3 "
            "currentTxnFirstOffset: OptionalLong[118] lastTimestamp: 1000 firstSequence: 5 "
            "lastSequence: 9 lastOffset: 120 offsetDelta: 4 timestamp: 1000"
        ),
        (
            "producerId: 8 producerEpoch: 0 coordinatorEpoch: 5 "
            "currentTxnFirstOffset: OptionalLong.empty lastTimestamp: 2000"
        ),
        (
            "producerId: 9 producerEpoch: 0 coordinatorEpoch: -1 "
            "currentTxnFirstOffset: OptionalLong.empty lastTimestamp: 3000 "
            "firstSequence: 2147483646 lastSequence: 2 lastOffset: 50 offsetDelta: 4 "
            "timestamp: 3000"
        ),
    ]


def test_damaged_producers_are_reported_in_kafkas_words(segment: Segment) -> None:
    """They do not change the exit code."""
    good = producers_bytes([ProducerState(7, 1, 9, 120, 4, 1_000, 3, 118)])
    stored = int.from_bytes(good[2:6])
    flipped = segment.dump(".snapshot", patched(good, 12, b"\xff"))
    cut = segment.dump(".snapshot", good[:-1])
    newer = segment.dump(".snapshot", patched(good, 0, b"\0\2"))

    assert flipped.notes[0].startswith(
        f"Snapshot is corrupt (CRC is no longer valid). Stored crc: {stored}. Computed crc: "
    )
    assert cut.notes == ["Snapshot failed schema validation: null"]
    assert newer.notes == [
        "Snapshot failed schema validation: Snapshot contained an unknown file version 2"
    ]
    assert not (flipped.has_failed)
    assert not (cut.has_failed)
    assert not (newer.has_failed)


@pytest.mark.parametrize("suffix", [".index", ".timeindex", ".txnindex", ".snapshot"])
def test_missing_file_is_one_line(suffix: str, tmp_path: Path) -> None:
    (tmp_path / "5.log").touch()

    found = dump(tmp_path / f"5{suffix}")

    assert f"cannot read {tmp_path / f'5{suffix}'}: No such file or directory" in found.notes
    assert len(found.text.splitlines()) == 1
    assert found.has_failed


def test_real_indexes_fit_their_logs() -> None:
    for path in sorted((IN / "user").glob("*/*.timeindex")):
        for suffix in (".index", ".timeindex"):
            found = dump(path.with_suffix(suffix))

            assert not found.has_failed


# Files of a healthy broker, in which Kafka's tool finds mismatches and `--check` must not

CHECK = Query(check=True)
EMPTIED = resealed(patched(BATCHES[2][:61], 8, (49).to_bytes(4)))
EMPTIED = resealed(patched(EMPTIED, COUNT_AT, bytes(4)))
HEALTHY = {
    "an offset index without entries yet": (".index", bytes(8 * 100)),
    "a time index without entries yet": (".timeindex", bytes(12 * 100)),
    "an entry for batches appended at once": (".index", index([OffsetEntry(BASE + 3, 0)])),
    "a time of compacted records": (".timeindex", times([TIMES[0], TIMES[2]])),
    "the offset of a record": (".timeindex", times([TimeEntry(1_001, BASE + 2)])),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_index_of_a_healthy_broker_has_no_findings(segment: Segment, name: str) -> None:
    """Such files ended a check of a running broker with 2, and 53 lines."""
    suffix, data = HEALTHY[name]
    log = [*BATCHES[:2], EMPTIED]
    segment.path(".log").write_bytes(b"".join(log))

    plain = segment.dump(suffix, data)
    found = segment.dump(suffix, data, CHECK)

    assert plain.summary or plain.notes
    assert (found.text, found.notes, found.summary) == (plain.text, [], [])


WRONG = {
    "a single zero": (".index", bytes(8)),
    "an offset in a batch": (".index", index([OffsetEntry(BASE + 2, 0)])),
    "an offset behind the log": (".index", index([OffsetEntry(BASE + 9, 0)])),
    "a position in a batch": (".index", index([OffsetEntry(BASE + 3, 1)])),
    "a position behind its batch": (".index", index([OffsetEntry(BASE + 3, 2 * SIZE)])),
    "another time": (".timeindex", times([TimeEntry(1_002, BASE + 3)])),
    "another offset": (".timeindex", times([TimeEntry(1_001, BASE + 1)])),
    "times out of order": (".timeindex", times([TIMES[1], TIMES[0]])),
    "an offset without batch": (".timeindex", times([TimeEntry(1_001, BASE + 9)])),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_entry_is_found_by_a_check(segment: Segment, name: str) -> None:
    suffix, data = WRONG[name]

    found = segment.dump(suffix, data, CHECK)

    assert len(found.notes) + len(found.summary[1:]) == 1

"""Copies of partitions are read from real log directories, and from those of killed brokers."""

from pathlib import Path

import pytest

from kraftops.log.indexes import OffsetEntry
from kraftops.recovery.partitions import disk
from kraftops.recovery.partitions.copies import PartitionCopy
from kraftops.server.loader.text_files import EpochEntry
from kraftops.server.log_directory import read_log_directory
from tests.helpers.logs.log_directories import REAL
from tests.helpers.logs.written import offset_index_bytes
from tests.helpers.nodes.broker_disks import TOPIC_ID, broker_disk
from tests.helpers.nodes.partition_folders import batch, named


def copies(directory: Path) -> dict[str, PartitionCopy]:
    """Return the copies in a log directory by name."""
    return {copy.name: copy for copy, _ in disk.read_copies(read_log_directory(str(directory)), 7)}


@pytest.mark.parametrize("state", ["running", "stopped"])
def test_real_directory(state: str) -> None:
    found = copies(REAL / state)

    assert sorted(found) == [
        *("__transaction_state-0", "cut-0", "kept-0", "plain-0", "plain-1", "txn-0")
    ]
    plain = found["plain-0"]
    assert (plain.start, plain.end, plain.high_watermark) == (0, 24, 24)
    assert plain.epochs == (EpochEntry(0, 0), EpochEntry(2, 12))
    assert (plain.next_producer_id, plain.is_end_exact) == (1001, True)
    assert {copy.broker for copy in found.values()} == {7}


def test_end_of_a_preallocated_log(tmp_path: Path) -> None:
    directory = broker_disk(tmp_path, 7, {"orders-0": [(0, 5), (3, 9)]})
    with (directory / "orders-0" / named(0, ".log")).open("ab") as log:
        log.write(bytes(5000))

    copy = copies(directory)["orders-0"]

    assert (copy.end, copy.time, copy.topic_id) == (9, 1008, TOPIC_ID)


def test_epochs_of_batches_that_the_checkpoint_lacks(tmp_path: Path) -> None:
    """The checkpoint of a killed broker may be older than its log, or damaged."""
    directory = broker_disk(tmp_path, 7, {"orders-0": [(0, 5), (3, 9)]})
    checkpoint = directory / "orders-0" / "leader-epoch-checkpoint"
    for text in ("0\n1\n0 0\n", "words"):
        checkpoint.write_text(text)

        assert copies(directory)["orders-0"].epochs == (EpochEntry(0, 0), EpochEntry(3, 5))


@pytest.mark.parametrize(("batches", "end"), [([(0, 5)], 5), ([], 0)])
def test_epochs_after_the_end_make_no_copy_newer(
    tmp_path: Path, batches: list[tuple[int, int]], end: int
) -> None:
    """A start drops them: the checkpoint was flushed, and the records of its epoch were not."""
    directory = broker_disk(tmp_path, 7, {"orders-0": batches})
    checkpoint = directory / "orders-0" / "leader-epoch-checkpoint"
    checkpoint.write_text("0\n2\n0 0\n7 60\n")

    copy = copies(directory)["orders-0"]

    assert copy.end == end
    assert copy.rank < (7, 0)


def test_copy_that_lost_all_segments_begins_anew(tmp_path: Path) -> None:
    """What its checkpoints know of is gone: if it leads, the others are cut to nothing."""
    directory = broker_disk(tmp_path, 7, {"orders-0": [(0, 5)], "orders-1": [(3, 9)]}, noted=9)
    (directory / "orders-1" / named(0, ".log")).unlink()

    copy = copies(directory)["orders-1"]

    assert (copy.end, copy.epochs, copy.is_end_exact, copy.high_watermark) == (0, (), True, 9)


def test_packed_copy_without_epochs_and_snapshots_has_lost_its_files(tmp_path: Path) -> None:
    """Archives have no logs of topics, but all else: its recovery point is then no end."""
    names = ("lost-0", "whole-0")
    directory = broker_disk(tmp_path, 1, {name: [(0, 90)] for name in names})
    for name in names:
        (directory / name / f"{0:020}.log").unlink()
    (directory / "lost-0/leader-epoch-checkpoint").unlink()
    (directory / ".kafka_cleanshutdown").touch()
    lines = ["0", "2", "lost 0 90", "whole 0 90", ""]
    (directory / "recovery-point-offset-checkpoint").write_text("\n".join(lines))

    ends = {name: (copy.end, copy.is_end_exact) for name, copy in copies(directory).items()}

    assert ends == {"lost-0": (0, False), "whole-0": (90, True)}


def test_copy_ends_where_a_start_ends_it(tmp_path: Path) -> None:
    """The end of a killed broker's log, after a batch that is damaged, is cut when it starts."""
    directory = broker_disk(tmp_path, 7, {"orders-0": [(0, 5), (3, 9), (4, 30)]}, noted=5)
    log = directory / "orders-0" / named(0, ".log")
    damaged = bytearray(log.read_bytes())
    damaged[len(damaged) // 3] ^= 1
    log.write_bytes(damaged)
    ((copy, (finding,)),) = disk.read_copies(read_log_directory(str(directory)), 7)

    assert (copy.end, copy.epochs, copy.time) == (5, (EpochEntry(0, 0),), 1004)
    assert (copy.is_end_exact, finding.code) == (True, "start-cuts-log")
    assert finding.text == "a start ends the log at offset 5: offsets 5 to 29 are lost"


def test_torn_end_is_no_loss(tmp_path: Path) -> None:
    directory = broker_disk(tmp_path, 7, {"orders-0": [(0, 5), (3, 9)]}, noted=5)
    log = directory / "orders-0" / named(0, ".log")
    log.write_bytes(log.read_bytes()[:-3])

    ((copy, findings),) = disk.read_copies(read_log_directory(str(directory)), 7)

    assert (copy.end, findings) == (5, [])


def test_copy_that_no_start_takes_is_told(tmp_path: Path) -> None:
    directory = broker_disk(tmp_path, 7, {"orders-0": [(0, 5)]})
    (directory / "orders-0" / "leader-epoch-checkpoint").write_text("words")

    ((copy, (finding,)),) = disk.read_copies(read_log_directory(str(directory)), 7)

    assert (copy.is_loaded, copy.is_end_exact, finding.code) == (False, True, "start-refused")


@pytest.mark.parametrize("is_stale", [False, True])
def test_long_segment_is_read_from_its_last_index_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_stale: bool
) -> None:
    monkeypatch.setattr(disk, "_LARGEST_WHOLE", 100)
    directory = broker_disk(tmp_path, 7, {"orders-0": []})
    folder = directory / "orders-0"
    batches = [batch(0, 3, producer_id=9), batch(4, 6), batch(7, 8, epoch=2)]
    (folder / named(0, ".log")).write_bytes(b"".join(batches))
    entry = OffsetEntry(5 if is_stale else 6, len(batches[0]))
    (folder / named(0, ".index")).write_bytes(offset_index_bytes([entry], 0))

    copy = copies(directory)["orders-0"]

    assert (copy.end, copy.epoch) == (9, 2)
    assert copy.next_producer_id == (10 if is_stale else 0)  # only then all of it was read


@pytest.mark.parametrize(("cleaned", "lacking"), [("0\n0\n", [range(4)]), (None, [])])
def test_empty_segment_before_others_is_missing_unless_it_was_cleaned(
    tmp_path: Path, cleaned: str | None, lacking: list[range]
) -> None:
    directory = broker_disk(tmp_path, 7, {"orders-0": []})
    (directory / "orders-0" / named(4, ".log")).write_bytes(batch(4, 6))
    if cleaned:
        (directory / "cleaner-offset-checkpoint").write_text(cleaned)

    assert [hole.offsets for hole in copies(directory)["orders-0"].holes] == lacking


def test_copies_that_are_not_in_their_place_are_left_out(tmp_path: Path) -> None:
    suffix = "0" * 32
    names = (f"a-0.{suffix}-delete", f"b-0.{suffix}-future", f"c-0.{suffix}-stray", "d-0")
    directory = broker_disk(tmp_path, 7, {name: [(0, 3)] for name in names})

    assert list(copies(directory)) == ["d-0"]

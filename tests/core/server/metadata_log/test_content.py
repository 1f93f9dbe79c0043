"""A metadata log is recovered from snapshot and segments as by a server."""

from pathlib import Path
from random import Random

import pytest

from kraftops.log.batch import Record
from kraftops.memory import LEAST
from kraftops.server.loader.contract import DiskFolder
from kraftops.server.loader.metadata_log import foretell_metadata_log
from kraftops.server.metadata_log.content import LogContent
from kraftops.server.metadata_log.files import Damage
from kraftops.server.metadata_log.log import MetadataLog, read_metadata_log
from tests.helpers.logs.metadata_logs import (
    feature,
    kraft_version_batch,
    no_ops,
    records_batch,
    snapshot_bytes,
    voters_batch,
    write_log,
)
from tests.helpers.logs.written import batch_bytes

ONE, TWO, THREE = (bytes([number]) * 16 for number in (1, 2, 3))


def read(directory: Path) -> MetadataLog:
    found = read_metadata_log(directory.as_posix())
    assert found
    return found


def content(directory: Path, *, thorough: bool = True) -> LogContent:
    log = read(directory)
    return log.read(is_thorough=thorough)


def voters(directory: Path) -> list[tuple[int, bytes]] | None:
    found = read(directory).quorum.voters
    return None if found is None else [voter[:2] for voter in found]


def flip(path: Path, position: int = -1) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)


# Voters


def test_first_snapshot_has_the_voters(tmp_path: Path) -> None:
    snapshot = snapshot_bytes(kraft_version_batch(0, 1, 0), voters_batch(1, (1, ONE), epoch=0))
    folder = write_log(tmp_path, {}, {(0, 0): snapshot})

    log = read(tmp_path)

    assert voters(tmp_path) == [(1, ONE)]
    assert log.quorum.kraft_version == 1
    assert log.quorum.source == str(folder / f"{0:020}-{0:010}.checkpoint")
    assert log.end_offset == 0


def test_voters_in_the_log_replace_voters_of_the_snapshot(tmp_path: Path) -> None:
    """Also in the segment in which the snapshot ends."""
    write_log(
        tmp_path,
        {0: [no_ops(0, 4), voters_batch(4, (1, ONE), (2, TWO))], 5: [no_ops(5, 2)]},
        {(3, 1): snapshot_bytes(voters_batch(0, (1, ONE)))},
    )

    assert voters(tmp_path) == [(1, ONE), (2, TWO)]
    assert read(tmp_path).end_offset == 7


def test_voters_before_the_snapshot_are_old(tmp_path: Path) -> None:
    write_log(
        tmp_path,
        {0: [voters_batch(0, (1, ONE), (2, TWO)), no_ops(1, 4)]},
        {(3, 1): snapshot_bytes(voters_batch(0, (1, ONE)))},
    )

    assert voters(tmp_path) == [(1, ONE)]


def test_log_behind_its_snapshot_does_not_count(tmp_path: Path) -> None:
    """A server drops it: it fetched the snapshot, and stopped before the log was cleared."""
    write_log(
        tmp_path,
        {0: [no_ops(0, 2, epoch=1), voters_batch(2, (3, THREE), epoch=1)]},
        {(2, 5): snapshot_bytes(voters_batch(0, (1, ONE)))},
    )

    assert voters(tmp_path) == [(1, ONE)]
    assert read(tmp_path).end_offset == 2


def test_damage_of_a_dropped_log_has_no_effect(tmp_path: Path) -> None:
    folder = write_log(
        tmp_path,
        {0: [no_ops(0, 2), no_ops(2, 2)], 8: [no_ops(8, 1)]},
        {(2, 5): snapshot_bytes()},
    )
    flip(folder / f"{0:020}.log", 65)

    assert content(tmp_path).missing == range(0)
    assert content(tmp_path).damage == ()


# Damage


def test_bytes_after_the_last_batch_are_no_damage(tmp_path: Path) -> None:
    folder = write_log(tmp_path, {0: [no_ops(0, 3), no_ops(3, 2)[:-4]]})

    assert content(tmp_path).damage == ()
    assert content(tmp_path).end_offset == 3

    (folder / f"{0:020}.log").write_bytes(no_ops(0, 3) + b"\xff" * 100)
    assert content(tmp_path).damage == ()


def test_damaged_last_batch_is_dropped_without_damage(tmp_path: Path) -> None:
    folder = write_log(tmp_path, {0: [no_ops(0, 3), no_ops(3, 2)]})
    flip(folder / f"{0:020}.log")

    assert content(tmp_path).damage == ()
    assert content(tmp_path).end_offset == 3


def test_whole_batches_after_a_damaged_one_are_lost(tmp_path: Path) -> None:
    folder = write_log(tmp_path, {0: [no_ops(0, 3), no_ops(3, 2), no_ops(5, 1)], 6: [no_ops(6, 4)]})
    path = folder / f"{0:020}.log"
    path.with_suffix(".index").touch()
    position = len(no_ops(0, 3))
    flip(path, position + 65)

    found = content(tmp_path)

    reason = f"position {position}: the CRC does not match"
    assert found.damage == (Damage(str(path), reason, lost=10),)
    assert found.end_offset == 3


def test_segments_after_a_damaged_one_without_an_index_stay(tmp_path: Path) -> None:
    folder = write_log(tmp_path, {0: [no_ops(0, 3), no_ops(3, 2), no_ops(5, 1)], 6: [no_ops(6, 4)]})
    path = folder / f"{0:020}.log"
    flip(path, len(no_ops(0, 3)) + 65)

    log = content(tmp_path)

    assert [damage.lost for damage in log.damage] == [6]
    assert (log.missing, log.end_offset) == (range(3, 6), 10)


def test_end_and_snapshot_are_those_that_a_start_leaves(tmp_path: Path) -> None:
    """The loader foretells them from the same files, by its own reading."""
    for seed in range(60):
        random, directory = Random(seed), tmp_path / str(seed)
        folder = mutated_log(random, directory)
        start = foretell_metadata_log(DiskFolder(str(folder)))
        if not start.starts:
            continue

        log = read(directory)

        snapshot = log.latest_snapshot and log.latest_snapshot[:2]
        newest = start.snapshots[-1] if start.snapshots else None
        end = content(directory).end_offset or 0
        assert (end, snapshot) == (start.end_offset, newest), f"seed {seed}"


def mutated_log(random: Random, directory: Path) -> Path:
    """Write a log with snapshots, and damage some of its files; return their folder."""
    segments: dict[int, list[bytes]] = {}
    end = 0
    for _ in range(random.randint(1, 4)):
        base, counts = end, random.choices(range(1, 5), k=random.randint(1, 4))
        segments[base] = []
        for count in counts:
            segments[base].append(no_ops(end, count, epoch=1 + end // 8))
            end += count
    snapshots = {
        (random.randint(0, end + 2), random.randint(1, 2 + end // 8)): snapshot_bytes(no_ops(0, 1))
        for _ in range(random.choice((0, 0, 1, 2)))
    }
    folder = write_log(directory, segments, snapshots)
    for path in folder.glob("*.log"):
        if random.random() < 0.8:
            path.with_suffix(".index").touch()
    for _ in range(random.choice((0, 1, 1, 2))):
        path = folder / f"{random.choice([*segments]):020}.log"
        data = path.read_bytes() if path.exists() else b""
        position = random.randrange(len(data) + 1)
        rest = data[position + random.randint(1, 100) :]
        damaged = [data[:position] + rest, data[:position], data * 2, data + bytes(position)]
        path.write_bytes(random.choice(damaged))
    return folder


def test_segment_after_a_torn_segment_is_lost(tmp_path: Path) -> None:
    folder = write_log(tmp_path, {0: [no_ops(0, 3), b"\0" * 7], 3: [no_ops(3, 4)]})
    (folder / f"{0:020}.index").touch()

    (found,) = content(tmp_path).damage

    assert found.path == str(folder / f"{0:020}.log")
    assert "7 bytes that are not a whole batch" in found.reason
    assert found.lost == 7


def test_damage_before_the_end_of_the_snapshot_has_no_effect(tmp_path: Path) -> None:
    folder = write_log(
        tmp_path, {0: [no_ops(0, 3), no_ops(3, 2)]}, {(5, 1): snapshot_bytes(no_ops(0, 1))}
    )
    flip(folder / f"{0:020}.log", 65)

    assert content(tmp_path).damage == ()
    assert content(tmp_path).end_offset == 5


def test_only_a_thorough_reading_verifies_what_the_snapshot_replaces(tmp_path: Path) -> None:
    folder = write_log(
        tmp_path, {0: [no_ops(0, 3), no_ops(3, 4)]}, {(3, 1): snapshot_bytes(no_ops(0, 1))}
    )
    flip(folder / f"{0:020}.log", 65)

    assert content(tmp_path, thorough=False).damage == ()
    assert [damage.lost for damage in content(tmp_path).damage] == [7]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"", "it is empty", id="empty"),
        pytest.param(b"\xff" * 90, "position 0: 90 bytes that are not a whole batch", id="garbage"),
        pytest.param(
            snapshot_bytes(no_ops(0, 2))[:-5], "bytes that are not a whole batch", id="truncated"
        ),
        pytest.param(no_ops(0, 2), "it has no footer: its end is missing", id="no footer"),
    ],
)
def test_damaged_snapshot_stops_a_server(tmp_path: Path, data: bytes, reason: str) -> None:
    write_log(tmp_path, {}, {(5, 1): data})

    (found,) = content(tmp_path).damage

    assert reason in found.reason
    assert (found.lost, found.is_harmless) == (None, False)


def test_first_snapshot_needs_no_footer(tmp_path: Path) -> None:
    write_log(tmp_path, {}, {(0, 0): snapshot_bytes(voters_batch(0, (1, ONE)))[:-5]})

    (found,) = content(tmp_path).damage

    assert found.is_harmless
    assert voters(tmp_path) == [(1, ONE)]


def test_segment_that_is_a_directory_cannot_be_read(tmp_path: Path) -> None:
    folder = write_log(tmp_path)
    (folder / f"{0:020}.log").mkdir()

    (found,) = content(tmp_path).damage

    assert found == Damage(str(folder / f"{0:020}.log"), "Is a directory")


# Offsets that are missing


def test_gap_in_the_log_is_found(tmp_path: Path) -> None:
    write_log(tmp_path, {0: [no_ops(0, 3)], 7: [no_ops(7, 1)]})

    assert content(tmp_path).missing == range(3, 7)


def test_gap_before_the_end_of_the_snapshot_is_none(tmp_path: Path) -> None:
    write_log(
        tmp_path, {0: [no_ops(0, 3)], 7: [no_ops(7, 1)]}, {(7, 1): snapshot_bytes(no_ops(0, 1))}
    )

    assert content(tmp_path).missing == range(0)


@pytest.mark.parametrize("batches", [[no_ops(7, 1)], []], ids=["written", "empty"])
def test_log_without_its_beginning_is_found(tmp_path: Path, batches: list[bytes]) -> None:
    write_log(tmp_path, {7: batches})

    assert content(tmp_path).missing == range(7)


# What the records say


def broker(number: int, *directory_ids: bytes) -> tuple[str, dict[str, object]]:
    return "RegisterBrokerRecord", {
        "brokerId": number,
        "incarnationId": ONE,
        "brokerEpoch": 1,
        "endPoints": [],
        "features": [],
        "rack": None,
        "fenced": True,
        "isMigratingZkBroker": False,
        "inControlledShutdown": False,
        "logDirs": [*directory_ids],
    }


def test_features_come_from_snapshot_and_log(tmp_path: Path) -> None:
    snapshot = records_batch(0, feature("metadata.version", 20), feature("group.version", 1))
    write_log(
        tmp_path,
        {0: [records_batch(0, feature("metadata.version", 7)), no_ops(1, 4)],
         5: [records_batch(5, feature("metadata.version", 30))]},
        {(5, 1): snapshot_bytes(snapshot)},
    )  # fmt: skip

    assert content(tmp_path).features == {"metadata.version": 30, "group.version": 1}
    assert content(tmp_path, thorough=False).features == {}


def test_directories_of_registered_brokers_are_known(tmp_path: Path) -> None:
    write_log(
        tmp_path,
        {
            0: [
                records_batch(0, broker(1, ONE), broker(2, TWO), broker(3, THREE), version=3),
                records_batch(3, ("UnregisterBrokerRecord", {"brokerId": 3, "brokerEpoch": 1})),
                records_batch(4, broker(1, ONE, THREE), version=3),
            ]
        },
    )

    assert content(tmp_path).directories == {1: (ONE, THREE), 2: (TWO,)}


# Limits


@pytest.mark.parametrize("codec", range(1, 5))
def test_batch_that_inflates_without_end_is_damage(tmp_path: Path, codec: int) -> None:
    record = Record(2, 0, None, bytes(LEAST.batch))
    write_log(tmp_path, {0: [no_ops(0, 2), batch_bytes([record], attributes=codec)]})

    (damage,) = content(tmp_path).damage

    assert damage.reason == f"the batch inflates beyond {LEAST.batch} bytes"


def test_record_that_is_too_large_is_not_decoded(tmp_path: Path) -> None:
    large = records_batch(1, feature("f" * (9 << 20), 1))
    write_log(tmp_path, {0: [no_ops(0, 1), large, records_batch(2, feature("g", 1))]})

    found = content(tmp_path)

    assert (found.features, found.damage) == ({"g": 1}, ())

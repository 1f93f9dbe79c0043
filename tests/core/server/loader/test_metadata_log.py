"""What a start makes of the metadata log; `tests/kafka/server` starts real controllers."""

import pytest

from kraftops.server.loader.metadata_log import (
    MetadataLogOutcome,
    SnapshotId,
    foretell_metadata_log,
)
from tests.helpers.nodes.partition_folders import MemoryFolder, batch, named, partition, segment

TOPIC_ID = b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"


def metadata_log(*bases: int, snapshots: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Return segments of ten offsets each, of epoch 2, and snapshots by name."""
    files = partition(*(segment(base, [batch(base, base + 9, epoch=2)]) for base in bases))
    files |= {"partition.metadata": TOPIC_ID, "leader-epoch-checkpoint": b"0\n1\n2 0\n"}
    return files | {f"{name}.checkpoint": b"" for name in snapshots}


def snapshot(offset: int, epoch: int = 2) -> str:
    return f"{offset:020}-{epoch:010}"


def foretell(files: dict[str, bytes]) -> MetadataLogOutcome:
    return foretell_metadata_log(MemoryFolder(files))


def test_log_with_its_snapshots_stays() -> None:
    outcome = foretell(metadata_log(0, 10, snapshots=(snapshot(5), snapshot(15))))

    assert outcome.starts
    assert (outcome.start_offset, outcome.end_offset) == (0, 20)
    assert outcome.snapshots == (SnapshotId(5, 2), SnapshotId(15, 2))
    assert outcome.removed_snapshots == ()


def test_damage_cuts_the_log_although_the_server_stopped_cleanly() -> None:
    files = metadata_log(0, 10)
    files[named(10, ".log")] += bytes(50)

    outcome = foretell(files)

    assert (outcome.end_offset, outcome.log.lost_bytes) == (20, 50)


@pytest.mark.parametrize(
    ("snapshots", "starts"), [((), False), ((5,), False), ((10,), True), ((5, 15), True)]
)
def test_lost_first_segment_needs_a_snapshot(snapshots: tuple[int, ...], *, starts: bool) -> None:
    outcome = foretell(metadata_log(10, 20, snapshots=tuple(map(snapshot, snapshots))))

    assert outcome.starts == starts
    assert starts or "Inconsistent snapshot state" in str(outcome.refusal)


def test_snapshot_that_is_newer_than_the_log_replaces_it() -> None:
    outcome = foretell(metadata_log(0, snapshots=(snapshot(5), snapshot(40))))

    assert outcome.restarted_at == SnapshotId(40, 2)
    assert (outcome.start_offset, outcome.end_offset) == (40, 40)
    assert outcome.removed_snapshots == (f"{snapshot(5)}.checkpoint",)


def test_snapshot_of_a_later_epoch_replaces_a_longer_log() -> None:
    outcome = foretell(metadata_log(0, snapshots=(snapshot(7), snapshot(3, 9))))

    assert outcome.restarted_at == SnapshotId(3, 9)
    assert outcome.end_offset == 3


def test_snapshot_of_an_earlier_epoch_stays_beside_a_shorter_log() -> None:
    assert foretell(metadata_log(0, snapshots=(snapshot(40, 1),))).restarted_at is None


def test_unfinished_and_deleted_snapshots_go() -> None:
    files = metadata_log(0, snapshots=(snapshot(5),))
    gone = (f"{snapshot(6)}.checkpoint.deleted", f"{snapshot(7)}.checkpoint.part")
    files |= dict.fromkeys(gone, b"")

    outcome = foretell(files)

    assert outcome.snapshots == (SnapshotId(5, 2),)
    assert outcome.removed_snapshots == gone


@pytest.mark.parametrize("name", ["x", f"{'x' * 20}-0000000001", f"{0:020}-000000000x"])
def test_name_that_is_not_of_a_snapshot_ends_the_server(name: str) -> None:
    assert foretell(metadata_log(0, snapshots=(name,))).refusal is not None


def test_log_of_another_topic_ends_the_server() -> None:
    files = metadata_log(0)
    files["partition.metadata"] = b"version: 0\ntopic_id: WmCtq1ycVk9dBfdep1ym9A"

    assert foretell(files).refusal is not None


def test_log_that_a_partition_could_not_load_ends_the_server() -> None:
    outcome = foretell({**metadata_log(0), "leader-epoch-checkpoint": b"words\n"})

    assert outcome.refusal is not None
    assert not outcome.starts

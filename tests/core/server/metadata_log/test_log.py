"""Files of a metadata directory are read, with their damage."""

from pathlib import Path

import pytest

from kraftops.log.batch import CONTROL, Record
from kraftops.server.metadata_log.log import (
    BootstrapFile,
    MetadataLog,
    read_bootstrap,
    read_metadata_log,
)
from kraftops.server.voters import Voter
from kraftops.storage.bootstrap.records import Bootstrap, bootstrap_bytes, voters_snapshot_bytes
from kraftops.storage.bootstrap.releases import by_name
from kraftops.storage.bootstrap.scram import Credential
from tests.helpers.logs.metadata_logs import no_ops, snapshot_bytes, write_log
from tests.helpers.logs.segments import patched
from tests.helpers.logs.written import batch_bytes

NOW = 1_763_720_000_123
USERS = tuple(Credential(name, 1, 4096, b"s", b"k", b"k") for name in ("alice", "zoë"))
BOOTSTRAP = bootstrap_bytes(Bootstrap(by_name("4.0"), {"group.version": 1}, USERS), NOW)
ONE = Voter(1, bytes([1] * 16), "a", 9093)
TWO = Voter(2, bytes([2] * 16), "b", 9094)
FIRST = "00000000000000000000-0000000000.checkpoint"


def batch(first: int, count: int = 1, epoch: int = 1) -> bytes:
    """Return a batch of a metadata log whose records nobody here looks at."""
    records = [Record(first + at, NOW, None, b"\x01\x02\x00\x00") for at in range(count)]
    return batch_bytes(records, leader_epoch=epoch)


def voters_batch(offset: int, *voters: Voter) -> bytes:
    """Return a batch that says who votes, at an offset."""
    body = voters_snapshot_bytes(voters, "CONTROLLER", NOW)
    first = body[: 12 + int.from_bytes(body[8:12])]
    return offset.to_bytes(8) + first[8:]


def partition(root: Path, **files: bytes) -> str:
    """Make a metadata partition; `_0` is the segment at 0, `_7_1` the snapshot of end 7, epoch 1."""
    folder = root / "__cluster_metadata-0"
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        offset, *epoch = map(int, name.strip("_").split("_"))
        known = f"{offset:020}-{epoch[0]:010}.checkpoint" if epoch else f"{offset:020}.log"
        (folder / known).write_bytes(data)
    return str(root)


class TestBootstrap:
    def test_features_and_users_are_read(self, tmp_path: Path) -> None:
        (tmp_path / "bootstrap.checkpoint").write_bytes(BOOTSTRAP)

        found = read_bootstrap(str(tmp_path))

        assert isinstance(found, BootstrapFile)
        assert found.features == {"metadata.version": 25, "group.version": 1}
        assert found.scram_users == ("alice", "zoë")
        assert found.damage is None

    def test_missing_bootstrap_file_is_none(self, tmp_path: Path) -> None:
        assert read_bootstrap(str(tmp_path)) is None

    @pytest.mark.parametrize(
        ("data", "damage"),
        [
            pytest.param(b"", "empty", id="empty"),
            pytest.param(BOOTSTRAP[:-1], "not a whole batch", id="cut"),
            pytest.param(BOOTSTRAP[:50], "position 0", id="cut at once"),
            pytest.param(BOOTSTRAP + b"\0", "not a whole batch", id="a byte more"),
            pytest.param(b"not a log at all, but some text of a few more bytes", "", id="text"),
            pytest.param(
                patched(BOOTSTRAP, 200, bytes([BOOTSTRAP[200] ^ 1])), "the CRC does not", id="a bit"
            ),
            pytest.param(
                batch_bytes([Record(0, NOW, None, b"\x09\x09")]),
                "offset 0",
                id="no record of Kafka",
            ),
        ],
    )
    def test_damage_is_reported(self, data: bytes, damage: str, tmp_path: Path) -> None:
        (tmp_path / "bootstrap.checkpoint").write_bytes(data)

        found = read_bootstrap(str(tmp_path))

        assert found
        assert found.damage
        assert damage in found.damage

    @pytest.mark.parametrize("kind", ["directory", "link to nothing"])
    def test_unreadable_file_is_damage(self, kind: str, tmp_path: Path) -> None:
        path = tmp_path / "bootstrap.checkpoint"
        path.mkdir() if kind == "directory" else path.symlink_to("nothing")

        found = read_bootstrap(str(tmp_path))

        assert found
        assert found.damage


class TestLog:
    def test_directory_without_partition_has_no_log(self, tmp_path: Path) -> None:
        assert read_metadata_log(str(tmp_path)) is None

    def test_empty_partition_has_nothing(self, tmp_path: Path) -> None:
        found = read_metadata_log(partition(tmp_path))

        assert found
        assert (found.snapshots, found.segments, found.end_offset) == ((), (), None)
        assert found.quorum.source is None
        assert not found.is_used

    def test_snapshot_of_a_format_has_its_voters(self, tmp_path: Path) -> None:
        data = voters_snapshot_bytes((ONE, TWO), "CONTROLLER", NOW)

        found = read_metadata_log(partition(tmp_path, _0_0=data))

        assert found
        assert found.quorum.voters == (ONE, TWO)
        assert found.quorum.kraft_version == 1
        assert (found.quorum.source or "").endswith(FIRST)
        assert [(one.end_offset, one.epoch, one.size) for one in found.snapshots] == [
            (0, 0, len(data))
        ]
        assert (found.damage, found.end_offset) == ((), 0)
        assert not found.is_used

    def test_log_without_voters_is_of_a_static_quorum(self, tmp_path: Path) -> None:
        found = read_metadata_log(partition(tmp_path, _0=batch(0, 3)))

        assert found
        assert (found.quorum.voters, found.quorum.kraft_version) == (None, 0)
        assert found.end_offset == 3
        assert found.is_used

    def test_newest_voters_count(self, tmp_path: Path) -> None:
        root = partition(
            tmp_path,
            _0_0=voters_snapshot_bytes((ONE,), "CONTROLLER", NOW),
            _0=batch(0, 2) + voters_batch(2, ONE, TWO),
            _5=batch(5, 2),
        )

        found = read_metadata_log(root)

        assert found
        assert found.quorum.voters == (ONE, TWO)
        assert (found.quorum.source or "").endswith("/00000000000000000000.log")
        assert [(one.base_offset, one.size > 0) for one in found.segments] == [(0, True), (5, True)]
        assert (found.end_offset, found.damage) == (7, ())

    def test_latest_snapshot_counts(self, tmp_path: Path) -> None:
        snapshot = voters_snapshot_bytes((TWO,), "CONTROLLER", NOW)
        root = partition(
            tmp_path,
            _0_0=voters_snapshot_bytes((ONE,), "CONTROLLER", NOW),
            _9_1=snapshot,
            _9=batch(9),
        )

        found = read_metadata_log(root)

        assert found
        assert found.quorum.voters == (TWO,)
        assert found.end_offset == 10
        assert found.is_used

    def test_other_files_are_left_alone(self, tmp_path: Path) -> None:
        root = partition(tmp_path)
        for name in (
            f"{FIRST}.part",
            f"{FIRST}.deleted",
            "00000000000000000000.log.deleted",
            "00000000000000000000.index",
            "quorum-state",
            "partition.metadata",
            "leader-epoch-checkpoint",
            "7.log",
            "99999999999999999999.log",
        ):
            (tmp_path / "__cluster_metadata-0" / name).write_bytes(b"x")

        found = read_metadata_log(root)

        assert found
        assert (found.snapshots, found.segments, found.damage) == ((), (), ())

    @pytest.mark.parametrize("cut", [1, 30, 100])
    def test_snapshot_that_is_not_whole_is_damage(self, cut: int, tmp_path: Path) -> None:
        data = voters_snapshot_bytes((ONE,), "CONTROLLER", NOW)

        found = read_metadata_log(partition(tmp_path, _0_0=data[:-cut]))

        assert found
        (damage,) = found.damage
        assert FIRST in str(damage)

    def test_unfinished_end_of_a_log_is_no_damage(self, tmp_path: Path) -> None:
        found = read_metadata_log(partition(tmp_path, _0=batch(0, 3) + batch(3)[:-5]))

        assert found
        assert (found.damage, found.end_offset) == ((), 3)

    def test_flipped_bit_in_a_log_is_damage(self, tmp_path: Path) -> None:
        data = batch(0) + batch(1) + batch(2)
        flipped = patched(data, len(batch(0)) + 70, bytes([data[len(batch(0)) + 70] ^ 1]))

        found = read_metadata_log(partition(tmp_path, _0=flipped))

        assert found
        (damage,) = found.damage
        assert "the CRC does not match" in str(damage)


def test_control_batches_are_made_as_servers_make_them() -> None:
    """What the tests above are built from."""
    assert voters_batch(2, ONE)[:8] == (2).to_bytes(8)
    assert int.from_bytes(voters_batch(2, ONE)[21:23]) & CONTROL


def read(directory: Path) -> MetadataLog:
    found = read_metadata_log(directory.as_posix())
    assert found
    return found


def test_empty_log_has_no_end(tmp_path: Path) -> None:
    write_log(tmp_path)

    log = read(tmp_path)

    assert (log.end_offset, log.quorum.voters, log.damage, log.is_used) == (None, None, (), False)


def test_other_files_are_skipped(tmp_path: Path) -> None:
    folder = write_log(tmp_path, {0: [no_ops(0, 1)]}, {(0, 0): snapshot_bytes()})
    for name in ("x.log", "1.log", f"{7:020}-{1:010}.checkpoint.part", f"{9:020}.log.deleted"):
        (folder / name).write_bytes(b"")

    log = read(tmp_path)

    assert [segment.base_offset for segment in log.segments] == [0]
    assert [(each.end_offset, each.epoch) for each in log.snapshots] == [(0, 0)]


@pytest.mark.parametrize(
    ("segments", "snapshots", "is_used"),
    [
        pytest.param({}, {(0, 0): b""}, False, id="formatted"),
        pytest.param({0: []}, {(0, 0): b""}, False, id="started without a leader"),
        pytest.param({0: [no_ops(0, 1)]}, {}, True, id="written"),
        pytest.param({}, {(5, 1): b""}, True, id="fetched"),
    ],
)
def test_log_is_used_once_a_server_has_written_to_it(
    tmp_path: Path,
    segments: dict[int, list[bytes]],
    snapshots: dict[tuple[int, int], bytes],
    is_used: bool,
) -> None:
    write_log(tmp_path, segments, snapshots)

    assert read(tmp_path).is_used is is_used


def test_latest_snapshot_has_the_highest_epoch(tmp_path: Path) -> None:
    write_log(tmp_path, {}, dict.fromkeys([(5, 3), (7, 2), (6, 3)], snapshot_bytes()))

    found = read(tmp_path).latest_snapshot

    assert found
    assert (found.end_offset, found.epoch) == (6, 3)


def test_snapshot_from_before_the_log_is_ignored(tmp_path: Path) -> None:
    write_log(tmp_path, {8: [no_ops(8, 1)]}, {(7, 1): snapshot_bytes()})

    assert read(tmp_path).latest_snapshot is None

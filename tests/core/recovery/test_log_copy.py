"""A copy of the metadata log has an end, voters and damage."""

from pathlib import Path

import pytest

from kraftops.recovery.log_copy import LogCopy, partition_folder, read_log
from kraftops.recovery.refusal import RecoveryRefused
from tests.helpers.logs.metadata_logs import no_ops, snapshot_bytes, write_log
from tests.helpers.nodes.lost_quorums import BEGINNING, IDS, MORE, write_meta


def read(folder: Path) -> LogCopy:
    return read_log("log", str(folder))


def test_log_has_its_end_epoch_and_voters(tmp_path: Path) -> None:
    log = read(write_log(tmp_path, {0: [*BEGINNING, *MORE]}))

    assert (log.start, log.end, log.epoch, log.damage) == (0, 10, 2, None)
    assert log.quorum.kraft_version == 1
    assert log.quorum.voters
    assert [voter.node_id for voter in log.quorum.voters] == [1, 2, 3]


def test_owner_is_read_from_the_meta_properties_beside_it(tmp_path: Path) -> None:
    write_meta(tmp_path, 2)

    log = read(write_log(tmp_path, {0: BEGINNING}))

    assert (log.owner.node_id, log.owner.directory_id) == (2, IDS[2])


def test_newer_snapshot_replaces_the_segments(tmp_path: Path) -> None:
    snapshot = snapshot_bytes(*BEGINNING, end=5)

    log = read(write_log(tmp_path, {0: BEGINNING}, {(60, 4): snapshot}))

    assert log.is_snapshot_newer
    assert (log.start, log.end, log.epoch) == (60, 60, 4)


def test_gap_is_damage(tmp_path: Path) -> None:
    log = read(write_log(tmp_path, {0: BEGINNING, 9: [no_ops(9, 1)]}))

    assert log.damage == "offsets 5 to 8 are neither in it nor in a snapshot"


def test_whole_batch_behind_damage_is_damage_and_counts_for_the_highest_epoch(
    tmp_path: Path,
) -> None:
    damaged = no_ops(5, 1)[:-1] + b"?"

    log = read(write_log(tmp_path, {0: [*BEGINNING, damaged, no_ops(6, 1, epoch=7)]}))

    assert "whole batches after it: 1" in (log.damage or "")
    assert (log.epoch, log.highest_epoch) == (1, 7)


def test_missing_folder_is_an_empty_log(tmp_path: Path) -> None:
    assert read(tmp_path / "missing").is_empty


def test_folder_is_the_partition_or_has_it(tmp_path: Path) -> None:
    folder = write_log(tmp_path / "d", {0: BEGINNING})
    (tmp_path / "empty").mkdir()

    assert partition_folder(str(folder)) == str(folder)
    assert partition_folder(str(tmp_path / "d")) == str(folder)
    with pytest.raises(RecoveryRefused, match="holds no metadata log"):
        partition_folder(str(tmp_path / "empty"))
    with pytest.raises(RecoveryRefused, match="is not a directory"):
        partition_folder(str(tmp_path / "missing"))

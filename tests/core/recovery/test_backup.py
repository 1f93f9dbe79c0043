"""A backup has the files of a log and the planned steps, and is found again."""

import json
from pathlib import Path

import pytest

from kraftops.recovery.execute import (
    STEPS_FILE,
    Backup,
    backup_folder,
    find_backups,
    make_backup,
    remove_unfinished,
)
from kraftops.recovery.file_steps import TEMPORARY
from kraftops.recovery.plan import RecoveryPlan
from kraftops.recovery.refusal import RecoveryRefused
from tests.helpers.nodes.lost_quorums import Planner, log_files, survivor, write_meta

NOW = 1_763_720_000_123


def make(plan: RecoveryPlan, now: int = NOW) -> Backup:
    path = backup_folder(plan.own.folder, None, now)
    return make_backup(plan.directory, plan.own.folder, plan.steps, None, path)


def test_newest_backup_is_found_as_it_was_made(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node")
    planned = plan(node)
    make(planned)
    newest = make(planned, NOW + 1)

    found = find_backups(planned.directory, planned.own.folder, None)[0]

    assert found == newest
    assert found.files == planned.files
    assert found.removed_names == set()
    for name, data in log_files(node).items():
        assert Path(found.folder, name).read_bytes() == data


def test_path_has_the_time_in_utc() -> None:
    assert backup_folder("log", "to", NOW) == "to/before-recover-20251121T101320.123Z"


def test_backup_of_another_directory_is_refused(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node")
    make(plan(node))
    write_meta(node / "meta", 1, directory_id="JEXY6aqzQY-32P5TStzaFg")
    planned = plan(node)

    with pytest.raises(RecoveryRefused) as refused:
        find_backups(planned.directory, planned.own.folder, None)

    assert refused.value.code == "other-backup"


def test_path_in_a_log_directory_is_refused(tmp_path: Path) -> None:
    node = survivor(tmp_path / "node")
    log = node / "meta/__cluster_metadata-0"

    for parent in (node / "meta", node / "meta/new/folder"):
        with pytest.raises(RecoveryRefused) as refused:
            backup_folder(str(log), str(parent), NOW)
        assert refused.value.code == "in-log-directory"
    assert backup_folder(str(log), str(log), NOW) == backup_folder(str(log), None, NOW)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"version": 99}, id="version"),
        pytest.param({"files": ["x"]}, id="files"),
        pytest.param({"steps": [1]}, id="steps"),
        pytest.param({"files": {"x": 1}}, id="state"),
    ],
)
def test_backup_of_another_form_is_refused(
    tmp_path: Path, plan: Planner, changes: dict[str, object]
) -> None:
    planned = plan(survivor(tmp_path / "node"))
    path = Path(make(planned).folder, STEPS_FILE)
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    with pytest.raises(RecoveryRefused) as refused:
        find_backups(planned.directory, planned.own.folder, None)

    assert refused.value.code == "unreadable"


@pytest.mark.parametrize("text", ["", "[]", '{"version": 1}', "[" * 100_000])
def test_damaged_backup_is_refused(tmp_path: Path, plan: Planner, text: str) -> None:
    planned = plan(survivor(tmp_path / "node"))
    Path(make(planned).folder, STEPS_FILE).write_text(text)

    with pytest.raises(RecoveryRefused) as refused:
        find_backups(planned.directory, planned.own.folder, None)

    assert refused.value.code == "unreadable"


def test_unfinished_backups_and_files_are_removed(tmp_path: Path) -> None:
    (tmp_path / f"before{TEMPORARY}").mkdir()
    (tmp_path / f"0.log{TEMPORARY}").touch()
    (tmp_path / "0.log").touch()

    remove_unfinished(str(tmp_path))

    assert [path.name for path in tmp_path.iterdir()] == ["0.log"]

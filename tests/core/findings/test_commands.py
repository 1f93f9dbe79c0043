"""The commands of a finding mend what it tells of, run by a shell on a copy of a broker's disk."""

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kraftops.dump.check.directories import CheckRequest, check_directories
from kraftops.findings.catalogue import catalogue, with_cure
from kraftops.findings.finding import Finding, Place, Severity
from tests.helpers.findings.check_faults import FAULTS, Faulty
from tests.helpers.logs.log_directories import REAL

COPIES = {"start-cuts-log", "bad-batch"}
"""Codes whose commands keep a copy, and mend nothing."""
MENDED = (
    *("bad-batch", "start-cuts-log", "producers-differ"),
    *("index-differs", "time-index-differs", "time-index-missing", "no-producers", "torn-tail"),
    "bad-checkpoint",
)
"""Codes with each of the commands in the catalogue, for files of each kind."""
OF_OTHER_TESTS = {"unknown-directory", "file-for-partition", "bad-epochs"}
"""Codes whose commands are run by `tests.helpers.kafka.cases.cures` on a real node; or as those of a
refusal, below."""


def severe(folder: Path, code: str) -> list[Finding]:
    checks, common = check_directories(CheckRequest([str(folder)]))
    findings = [*common, *(finding for check in checks for finding in check.findings)]
    return [finding for finding in findings if finding.code == code and finding.is_severe]


def made(code: str, folder: Path) -> Path:
    """Return a log directory with the fault of a code, in a folder whose name needs quotes."""
    fault = FAULTS[code]
    assert isinstance(fault, Faulty)
    copy = Path(shutil.copytree(REAL / fault.name, folder / "a disk" / "data"))
    fault.make(copy)
    return copy


def test_commands_of_the_catalogue_are_run_here() -> None:
    rows = [row for row in catalogue().values() if "doctor" not in row.tools]  # of disks
    commands = {row.commands for row in rows if row.commands and row.code not in OF_OTHER_TESTS}

    assert commands == {catalogue()[code].commands for code in MENDED}


def test_no_command_takes_its_replica_from_a_broker_that_may_lead() -> None:
    """It would lead with an empty log, and the others cut theirs (tried on Kafka 4.3.1)."""
    assert not [row.code for row in catalogue().values() if "mv {partition}" in str(row.commands)]
    assert catalogue()["txn-index-torn"].action == catalogue()["epochs-differ"].action != ""


@pytest.mark.parametrize("code", MENDED)
def test_commands_mend_what_is_told(code: str, tmp_path: Path) -> None:
    folder = made(code, tmp_path)
    commands = dict.fromkeys(
        command for finding in severe(folder, code) for command in finding.commands
    )

    assert commands
    for command in commands:
        subprocess.run(["sh", "-c", command], check=True, cwd=tmp_path)

    if code in COPIES:
        assert list((tmp_path / "a disk/data.aside").iterdir())
    else:
        assert not severe(folder, code)


def test_file_that_a_start_refuses_is_mended_where_it_is(tmp_path: Path) -> None:
    folder = made("bad-epochs", tmp_path)
    (refusal,) = severe(folder, "start-refused")

    (command,) = refusal.commands
    subprocess.run(["sh", "-c", command], check=True, cwd=tmp_path)

    assert command.startswith("mv ")
    assert not severe(folder, "start-refused")


def test_copy_without_its_log_directory_has_no_commands() -> None:
    finding = Finding("bad-epochs", Severity.RISK, "", Place(file="d/t-0/leader-epoch-checkpoint"))

    assert with_cure(finding, "d/t-0").commands == ()


def test_note_needs_no_commands() -> None:
    place = Place(directory="d", file="d/t-0/leader-epoch-checkpoint")

    assert with_cure(Finding("bad-epochs", Severity.NOTE, "", place), "d/t-0").commands == ()


def test_own_cure_keeps_its_words() -> None:
    place = Place(directory="d", file="d/x y")
    finding = Finding("bad-checkpoint", Severity.STOPS, "", place, "remove it: it is small")

    cured = with_cure(finding, "d/x y")

    assert (cured.cure, cured.commands) == ("remove it: it is small", ("rm 'd/x y'",))


@pytest.mark.parametrize("spelling", ["{}", "{}/", "{}//", "{}/orders-1/..", "."])
def test_folder_for_copies_is_beside_a_log_directory_of_any_spelling(
    spelling: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made("start-cuts-log", tmp_path)
    monkeypatch.chdir(folder)

    commands = {
        command
        for finding in severe(Path(), "start-cuts-log")
        for command in with_cure(
            replace(finding.moved(directory=spelling.format(folder)), commands=()), "t-0"
        ).commands
    }

    assert commands == {
        f"mkdir -p '{folder}.aside' && cp -aL t-0 \"$(mktemp -d '{folder}.aside/t-0'.XXXXXX)\""
    }


def test_metadata_log_with_a_lost_end_is_not_emptied(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(REAL / "stopped", tmp_path / "data"))
    log = folder / f"__cluster_metadata-0/{0:020}.log"
    os.truncate(log, log.stat().st_size // 3)

    (finding,) = severe(folder, "missing-end")

    assert finding.commands == ()
    assert finding.cure.startswith("start the other controllers first: this server fetches the log")


def test_copy_of_a_partition_that_is_linked_has_its_data(tmp_path: Path) -> None:
    folder = made("bad-batch", tmp_path)
    (finding,) = severe(folder, "bad-batch")
    partition = Path(finding.place.path).parent
    partition.rename(tmp_path / "disk")
    partition.symlink_to("../../disk")

    (command,) = finding.commands
    subprocess.run(["sh", "-c", command], check=True)

    shutil.rmtree(tmp_path / "disk")
    assert list((tmp_path / "a disk/data.aside").glob(f"{partition.name}.*/*/*.log"))


def test_copy_needs_room_beside_its_log_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a mount point, that is on another file system."""
    folder = made("bad-batch", tmp_path)
    full = os.statvfs_result((4096, 4096, 1000, 0, 0, 0, 0, 0, 0, 255))
    with monkeypatch.context() as patched:
        patched.setattr(os, "statvfs", lambda _: full)
        (finding,) = severe(folder, "bad-batch")

    assert finding.commands == ()
    assert re.search(r"to a disk with more room: .*/a disk has 0 B for [\d.]+ ", finding.cure)


def test_index_is_moved_on_a_full_disk_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = os.statvfs_result((4096, 4096, 1000, 0, 0, 0, 0, 0, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: full)

    assert all(
        finding.commands for finding in severe(made("index-differs", tmp_path), "index-differs")
    )


@pytest.mark.parametrize("name", ["-data", "a\nb", "~", "$HOME 'x'"])
def test_commands_reach_log_directories_of_any_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made("bad-batch", tmp_path).rename(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    checks, _ = check_directories(CheckRequest([name]))

    (command,) = {
        command
        for check in checks
        for finding in check.findings
        if finding.code == "bad-batch"
        for command in finding.commands
    }
    subprocess.run(["sh", "-c", command], check=True)

    assert list((tmp_path / f"{name}.aside").glob("*/*/*.log"))

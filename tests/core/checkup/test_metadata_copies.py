"""Metadata directories without configurations: a log that lacks its end is not called healthy."""

import os
from pathlib import Path

import pytest

from kraftops.checkup.checks import CHECKS, run_checks
from kraftops.checkup.examination import Examination
from kraftops.findings.finding import Finding
from kraftops.recovery.node_copies import LogSource
from tests.helpers.logs.metadata_logs import (
    kraft_version_batch,
    no_ops,
    snapshot_bytes,
    voters_batch,
    write_log,
)
from tests.helpers.nodes.example_cluster import example_cluster
from tests.helpers.nodes.lost_quorums import VOTERS, controller

CODES = {"metadata-log-lost", "behind", "rival-history", "torn-tail"}


def controllers(folder: Path, ends: dict[int, int]) -> list[Path]:
    """Make metadata directories of nodes whose logs end at *ends*; long ones have a snapshot."""
    directories = []
    for node_id, end in ends.items():
        directory = controller(folder / f"n{node_id}", node_id) / "meta"
        batches = [kraft_version_batch(0, 1), voters_batch(1, *VOTERS), no_ops(2, end - 2)]
        snapshots = {(300, 1): snapshot_bytes(voters_batch(0, *VOTERS))} if end > 300 else {}
        write_log(directory, {0: batches}, snapshots)
        directories.append(directory)
    return directories


def examined(*folders: Path) -> list[tuple[str, str, str]]:
    """Return code, severity and directory of the findings about metadata logs."""
    return sorted(
        (finding.code, str(finding.severity), str(finding.place.directory))
        for finding in findings_about(*folders)
    )


def findings_about(*folders: Path) -> list[Finding]:
    examination = Examination(sources=[LogSource(str(folder), str(folder)) for folder in folders])
    checks = [check for check in CHECKS if check.name in ("start", "cluster")]
    runs = run_checks(examination, checks)
    return [finding for run in runs for finding in run.findings if finding.code in CODES]


def test_voter_without_the_snapshot_of_the_others_is_behind(tmp_path: Path) -> None:
    first, *others = controllers(tmp_path, {1: 100, 2: 400, 3: 400})

    assert examined(first, *others) == [("behind", "note", str(first))]
    assert examined(*others) == []


def test_majority_without_the_snapshot_of_the_last_voter_would_lose_records(tmp_path: Path) -> None:
    first, second, last = controllers(tmp_path, {1: 100, 2: 100, 3: 400})

    assert examined(first, second, last) == [
        ("rival-history", "loss", str(first)),
        ("rival-history", "loss", str(second)),
    ]


@pytest.mark.parametrize(("node_id", "severity"), [(1, "risk"), (9, "note")])
def test_end_that_other_files_of_a_log_prove_is_missing(
    node_id: int, severity: str, tmp_path: Path
) -> None:
    """A voter would vote without these records; a broker fetches them."""
    (directory,) = controllers(tmp_path, {node_id: 100})
    (directory / "__cluster_metadata-0" / f"{300:020}.snapshot").write_bytes(b"\0" * 10)

    assert examined(directory) == [("metadata-log-lost", severity, str(directory))]


def test_end_that_all_voters_lack_is_fetched_from_none_of_them(tmp_path: Path) -> None:
    directories = controllers(tmp_path, {1: 100, 2: 110, 3: 100})
    for directory in directories:
        (directory / "__cluster_metadata-0" / f"{300:020}.snapshot").write_bytes(b"\0" * 10)

    cures = {finding.cure for finding in findings_about(*directories)}
    (of_two,) = {finding.cure for finding in findings_about(*directories[:2])}

    (cure,) = cures
    assert f"newest log that is named, {directories[1]}, which ends at offset 110" in cure
    assert of_two.startswith("start the other controllers first")


def test_voters_of_a_static_quorum_are_known_without_configurations(tmp_path: Path) -> None:
    directories = sorted(example_cluster(tmp_path).glob("node-?/data"))
    for directory in directories[:2]:
        os.truncate(directory / "__cluster_metadata-0" / f"{0:020}.log", 3000)

    rivals = [finding for finding in examined(*directories) if finding[0] == "rival-history"]
    assert rivals == [("rival-history", "loss", str(directory)) for directory in directories[:2]]


def test_broker_that_was_down_in_the_log_of_one_stopped_node_is_not_repaired(
    tmp_path: Path,
) -> None:
    """The cluster may have gone on without that node; without most of its voters it has not."""
    cluster = example_cluster(tmp_path)

    def down(*node_ids: int) -> list[tuple[str, str]]:
        folders = [str(cluster / f"node-{node_id}/data") for node_id in node_ids]
        examination = Examination(sources=[LogSource(folder, folder) for folder in folders])
        checks = [check for check in CHECKS if check.name == "problems"]
        return [
            (str(finding.severity), finding.commands[0].split()[1])
            for run in run_checks(examination, checks)
            for finding in run.findings
            if finding.code == "broker-down"
        ]

    assert down(1) == down(101) == [("note", "problems")]
    assert down(1, 2) == [("risk", "repair")]

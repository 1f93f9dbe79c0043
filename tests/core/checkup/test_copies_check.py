"""Copies of one partition that several brokers have damaged: the best is named, with one cure."""

import shutil
import tarfile
from pathlib import Path

import pytest

from kraftops.checkup.checks import CHECKS, run_checks
from kraftops.checkup.diagnosis import Selection, diagnosis_of
from kraftops.checkup.examination import Examination
from kraftops.findings.finding import Finding
from kraftops.recovery.node_copies import LogSource


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """Brokers 101 and 103 are in sync for orders-1 up to 724, broker 102 has it up to 602."""
    with tarfile.open("docs/cluster.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / "cluster"


def damage(cluster: Path, broker: int, share: float) -> None:
    log = cluster / f"node-{broker}/data/orders-1/{0:020}.log"
    content = bytearray(log.read_bytes())
    content[int(len(content) * share)] ^= 1
    log.write_bytes(content)


def losses(cluster: Path, *brokers: int) -> list[Finding]:
    folders = [str(cluster / f"node-{broker}/data") for broker in brokers]
    examination = Examination(sources=[LogSource(folder, folder) for folder in folders])
    diagnosis = diagnosis_of(examination, run_checks(examination, CHECKS), Selection())
    return [finding for finding in diagnosis.findings if finding.severity == "loss"]


def test_two_damaged_copies_are_one_finding_with_the_longer_one_to_keep(
    cluster: Path,
) -> None:
    damage(cluster, 101, 0.5)
    damage(cluster, 103, 0.3)

    (finding,) = losses(cluster, 101, 103)

    assert finding.code == "damaged-copies"
    assert "2 of the 2 copies" in finding.text
    assert "the best is that of broker 101: it ends at offset 362, epoch 0" in finding.text
    assert "copy orders-1 of broker 101 over that of broker 103" in finding.cure
    assert {fact.source for fact in finding.evidence} >= {"start-cuts-log", "records-cut"}


def test_the_sound_copy_of_a_broker_that_may_not_lead_replaces_those_of_others(
    cluster: Path,
) -> None:
    damage(cluster, 101, 0.5)
    shutil.rmtree(cluster / "node-103/data/orders-1")

    (finding,) = losses(cluster, 101, 102, 103)

    assert "the best is that of broker 102: it ends at offset 602" in finding.text
    assert "copy orders-1 of broker 102 over that of brokers 101 and 103" in finding.cure


def test_one_damaged_copy_is_told_with_the_one_to_copy_over_it(cluster: Path) -> None:
    """To start 101 first does not keep its records: it was killed, and may not lead (ELR)."""
    damage(cluster, 103, 0.3)

    first, second = losses(cluster, 101, 102, 103)

    assert (first.code, second.code) == ("start-cuts-log", "records-cut")
    assert second.cure.endswith("copy orders-1 of broker 101 over that of broker 103")


def test_partition_whose_copies_are_all_missing_is_to_be_restored(cluster: Path) -> None:
    for broker in (101, 103):
        shutil.rmtree(cluster / f"node-{broker}/data/orders-1")

    (finding,) = losses(cluster, 101, 103)

    assert finding.text == "2 of the 2 copies of orders-1 here are damaged"
    assert finding.cure == "restore one of them from a backup before any of these brokers starts"

"""Directories of one node id: copies of a directory are told from two servers with one id."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from kraftops.checkup.checks import CHECKS, run_checks
from kraftops.checkup.examination import Examination
from kraftops.findings.finding import Finding
from kraftops.library.questions import doctor
from kraftops.recovery.node_copies import LogSource
from kraftops.storage.config.host import LocalKafka
from kraftops.storage.logdirs.node import Node
from tests.helpers.nodes.example_cluster import example_cluster
from tests.helpers.nodes.node_directories import storage

OTHER_ID = "AAAAAAAAAAAAAAAAAAAAAg"


@pytest.fixture
def brokers(tmp_path: Path) -> Path:
    """The small cluster of the documentation, with a copy of the disk of broker 101."""
    top = example_cluster(tmp_path)
    shutil.copytree(top / "node-101/data", top / "copy")
    return top


IDENTITIES = ("directory-id-twice", "node-id-twice", "partition-twice", "records-cut")


def examined(
    *folders: Path, config: str | None = None, codes: Sequence[str] = IDENTITIES
) -> tuple[list[Node], list[Finding]]:
    """Return the nodes, and the findings about identities and partitions that are twice."""
    sources = [LogSource(str(folder), str(folder)) for folder in folders]
    examination = Examination([LocalKafka(config)] if config else [], sources)
    names = ("directories", "start", "cluster", "copies")
    runs = run_checks(examination, [check for check in CHECKS if check.name in names])
    findings = [finding for run in runs for finding in run.findings]
    return examination.nodes, [finding for finding in findings if finding.code in codes]


def shorten_metadata(folder: Path) -> None:
    log = folder / f"__cluster_metadata-0/{0:020}.log"
    log.write_bytes(log.read_bytes()[:5000])


@pytest.mark.parametrize("is_shortened", [False, True])
def test_the_newest_of_two_copies_of_a_directory_is_examined(
    is_shortened: bool, brokers: Path
) -> None:
    disk, copy = brokers / "node-101/data", brokers / "copy"
    if is_shortened:
        shorten_metadata(disk)
    newer, older = (copy, disk) if is_shortened else (disk, copy)

    nodes, (finding,) = examined(disk, copy)

    assert [node.config.log_dirs for node in nodes] == [(str(newer),)]
    assert (finding.code, finding.severity, finding.place.path) == (
        "directory-id-twice", "note", str(older),
    )  # fmt: skip
    state = "older" if is_shortened else "as old as that"
    assert finding.text == f"it is a copy of {newer}, and {state}: it is not examined"


def test_directory_of_a_configuration_stands_before_a_newer_copy(
    brokers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(brokers)
    shorten_metadata(brokers / "node-101/data")

    nodes, (finding,) = examined(brokers / "copy", config="node-101.properties")

    assert [node.config.path for node in nodes] == ["node-101.properties"]
    assert finding.text.endswith(", and newer: it is not examined")


def test_two_directories_with_metadata_logs_are_two_servers(brokers: Path) -> None:
    meta = brokers / "copy/meta.properties"
    meta.write_text(meta.read_text().replace("CgD6gR6QSTa7psiKRP1z4Q", OTHER_ID))

    # In either order, the metadata tells which one has registered.
    for folders in (
        [brokers / "node-101/data", brokers / "copy"],
        [meta.parent, brokers / "node-101/data"],
    ):
        nodes, (finding,) = examined(*folders)

        assert len(nodes) == 2
        assert (finding.code, finding.place.path) == ("node-id-twice", str(brokers / "copy"))
        assert finding.text.endswith(": by the metadata that one is node 101")


def test_nodes_of_several_clusters_are_told_and_compared_with_those_of_their_own(
    brokers: Path,
) -> None:
    meta = brokers / "copy/meta.properties"
    text = meta.read_text().replace("CgD6gR6QSTa7psiKRP1z4Q", OTHER_ID)
    meta.write_text(re.sub("cluster.id=.*", f"cluster.id={OTHER_ID}", text))

    diagnosis = doctor([str(brokers / "copy"), str(brokers / "node-101/data")])

    assert diagnosis.verdict.startswith("these are 2 clusters, to name apart: ")
    assert not any(finding.code == "node-id-twice" for finding in diagnosis.findings)


@pytest.mark.parametrize("wrong_id", [103, 107])
def test_disk_with_the_id_of_another_node_is_that_of_its_registration(
    wrong_id: int, brokers: Path
) -> None:
    disk = brokers / "node-101/data"
    meta = disk / "meta.properties"
    meta.write_text(meta.read_text().replace("node.id=101", f"node.id={wrong_id}"))

    nodes, (finding, *others) = examined(
        disk, brokers / "node-103/data", codes=("other-node-id", "other-broker", *IDENTITIES)
    )

    assert [node.config.node_id for node in nodes] == [101, 103]
    assert (finding.place.path, others) == (str(disk), [])
    assert finding.commands == ("kafka-storage rewrite -c server.properties --node-id 101",)
    config = "node-101.properties"
    (line,) = storage(brokers, "verify", "-c", config).text.splitlines()
    assert "the metadata has it for node 101: give it the id 101 again: kafka-st" in line
    assert storage(brokers, "rewrite", "-c", config, "--node-id", "101").code == 0
    assert storage(brokers, "verify", "-c", config).code == 0


def test_two_directories_of_which_one_has_the_metadata_log_are_one_server(brokers: Path) -> None:
    meta = brokers / "copy/meta.properties"
    meta.write_text(meta.read_text().replace("CgD6gR6QSTa7psiKRP1z4Q", OTHER_ID))
    shutil.rmtree(brokers / "copy/__cluster_metadata-0")

    nodes, findings = examined(brokers / "node-101/data", brokers / "copy")

    assert len(nodes) == 1
    assert {finding.code for finding in findings} == {"partition-twice"}

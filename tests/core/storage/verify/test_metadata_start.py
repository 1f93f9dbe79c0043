"""A metadata log that a server refuses, or that has lost what other files prove."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftops.findings.finding import Finding, Severity
from tests.helpers.logs.log_directories import REAL
from tests.helpers.nodes.node_directories import format_node, make_node
from tests.helpers.nodes.verified_nodes import verified

ALONE = {"controller.quorum.voters": "1@localhost:29093"}
OF_TWO = {"controller.quorum.voters": "1@localhost:29093,2@elsewhere:29093"}


@pytest.fixture
def voter(tmp_path: Path) -> Path:
    """The only voter, with the metadata log of a real server that was stopped."""
    node = make_node(tmp_path / "node", ALONE)
    assert format_node(node).code == 0
    shutil.rmtree(node / "d1/__cluster_metadata-0", ignore_errors=True)
    shutil.copytree(REAL / "stopped/__cluster_metadata-0", node / "d1/__cluster_metadata-0")
    return node


def lost(node: Path) -> list[Finding]:
    codes = ("metadata-log-lost", "start-refused")
    return [finding for finding in verified(node) if finding.code in codes]


def test_whole_log_has_no_finding(voter: Path) -> None:
    assert lost(voter) == []


def test_epoch_that_began_as_the_server_stopped_proves_no_record(voter: Path) -> None:
    epochs = voter / "d1/__cluster_metadata-0/leader-epoch-checkpoint"
    epochs.write_text("0\n2\n1 0\n2 71\n")

    assert lost(voter) == []


def without_log(log: Path) -> None:
    log.unlink()


def without_its_begin(log: Path) -> None:
    log.write_bytes(log.read_bytes()[200:])


@pytest.mark.parametrize("damage", [without_log, without_its_begin])
def test_empty_log_beside_proof_is_a_loss_for_the_only_voter(
    damage: Callable[[Path], None], voter: Path
) -> None:
    damage(voter / f"d1/__cluster_metadata-0/{0:020}.log")

    (finding,) = lost(voter)

    assert (finding.code, finding.severity) == ("metadata-log-lost", Severity.LOSS)
    assert not finding.is_possible
    sources = {fact.source for fact in finding.evidence}
    assert sources >= {"quorum-state", "leader-epoch-checkpoint", f"{71:020}.snapshot"}


def test_one_of_several_voters_is_at_risk(voter: Path) -> None:
    (voter / f"d1/__cluster_metadata-0/{0:020}.log").unlink()
    make_node(voter, OF_TWO)

    (finding,) = lost(voter)

    assert (finding.code, finding.severity) == ("metadata-log-lost", Severity.RISK)


def test_vote_alone_proves_nothing_for_sure(voter: Path) -> None:
    """A voter that was stopped within its first election has an epoch, and no log yet."""
    for path in (voter / "d1/__cluster_metadata-0").iterdir():
        if path.name != "quorum-state":
            path.unlink()

    (finding,) = lost(voter)

    assert finding.is_possible
    assert [fact.source for fact in finding.evidence] == ["quorum-state"]


def test_log_with_the_id_of_another_topic_is_refused(voter: Path) -> None:
    text = "version: 0\ntopic_id: vOKEv8VrQAyGbyFDxfFCwA\n"
    (voter / "d1/__cluster_metadata-0/partition.metadata").write_text(text)

    (finding,) = lost(voter)

    assert (finding.code, finding.severity) == ("start-refused", Severity.STOPS)

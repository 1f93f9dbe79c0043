"""Directories with partitions of other brokers are not given to a node."""

from pathlib import Path

import pytest

from kraftops.errors import SourceError
from kraftops.findings.finding import Finding, Place, Severity
from kraftops.image.verify.losses import refusal, takeover_by
from kraftops.storage.config.server_config import load_config
from kraftops.storage.format.rewrite import RewriteRequest, plan_rewrite
from tests.helpers.nodes.assigned_partitions import (
    D1,
    D2,
    D9,
    assigned,
    broker,
    partition,
    topic,
    write_meta,
    write_metadata,
)

RECORDS = (topic(), assigned(0, {1: D2}), assigned(1, {9: D9}))


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return broker 9 with a directory of broker 1, which has t-0."""
    made = broker(tmp_path / "node", 9, {"e": D9, "d2": D2}, *RECORDS)
    write_meta(made / "d2", 1, D2)
    partition(made / "e", "t-1")
    partition(made / "d2", "t-0", records=300)
    monkeypatch.chdir(made)
    return made


def lost(request: RewriteRequest, *metadata: Path) -> list[tuple[str, str]]:
    planned = plan_rewrite(load_config("server.properties"), request)
    found, unchecked = takeover_by(planned, [str(path) for path in metadata])
    assert all(finding.code == "other-broker" for finding in found)
    assert not unchecked
    return [(finding.place.path, finding.place.partition_name) for finding in found]


def test_partitions_of_another_broker_would_be_lost(node: Path) -> None:
    assert lost(RewriteRequest(node_id=9)) == [("d2/t-0", "t-0")]
    assert lost(RewriteRequest(node_id=7)) == [("e/t-1", "t-1"), ("d2/t-0", "t-0")]


def test_ids_that_stay_lose_nothing(node: Path) -> None:
    assert lost(RewriteRequest(cluster_id="x")) == []


def test_node_gets_its_own_directory_back(node: Path) -> None:
    write_meta(node / "e", 7, D9)

    assert lost(RewriteRequest(node_id=9)) == [("d2/t-0", "t-0")]
    write_meta(node / "d2", 9, D2)
    assert lost(RewriteRequest(node_id=9)) == []


def test_newest_of_the_given_logs_counts(node: Path, tmp_path: Path) -> None:
    """After a move of t-0 to broker 9, the directory may go there."""
    given = tmp_path / "controller"
    write_metadata(given, topic(), assigned(0, {9: D2}), assigned(1, {9: D9}), topic("u", D1))

    assert lost(RewriteRequest(node_id=9), given) == []


def test_given_directory_without_a_log_is_an_error(node: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    with pytest.raises(SourceError, match="there is no metadata log"):
        lost(RewriteRequest(node_id=9), tmp_path / "empty")


def test_partitions_cannot_be_checked_without_metadata(node: Path) -> None:
    (node / "e/__cluster_metadata-0" / f"{0:020}.log").unlink()
    planned = plan_rewrite(load_config("server.properties"), RewriteRequest(node_id=9))

    assert takeover_by(planned, []) == ((), ["d2"])


def test_refusal_names_directories_and_partitions() -> None:
    findings = [
        Finding(
            "other-broker",
            Severity.LOSS,
            "",
            Place(directory=f"d{number + 1}", topic="t", partition=number),
        )
        for number in range(2)
    ]

    refused = refusal(findings)

    assert (refused.exit_code, refused.code) == (3, "other-broker")
    assert refused.message.startswith("the metadata has partitions in d1 and 1 more on other")
    assert refused.message.endswith("sets them aside: t-0, t-1 (0 records, 0 bytes)")

"""The metadata log of a node lets it have a quorum, or there is a finding."""

import json
import os
import shutil
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import pytest

from kraftops.server.log_directory import read_log_directory
from kraftops.storage.bootstrap.records import Bootstrap, bootstrap_bytes
from kraftops.storage.bootstrap.releases import LATEST_PRODUCTION
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.node import read_node
from kraftops.storage.verify.quorum import quorum_findings
from kraftops.uuids import to_text
from tests.helpers.logs.metadata_logs import (
    feature,
    kraft_version_batch,
    no_ops,
    records_batch,
    snapshot_bytes,
    voters_batch,
    write_log,
)
from tests.helpers.nodes.node_directories import (
    OTHER_ID,
    PROPERTIES,
    format_node,
    make_node,
)
from tests.helpers.nodes.verified_nodes import (
    CONTROLLER,
    OTHER,
    TWO_SERVERS,
    identity,
    notes,
    stopping,
    used,
    verified,
)


def bootstrapped(node: Path, level: int) -> None:
    """Write a bootstrap.checkpoint of a level of metadata.version."""
    version = LATEST_PRODUCTION._replace(level=level)
    (node / "d1/bootstrap.checkpoint").write_bytes(bootstrap_bytes(Bootstrap(version, {}, ()), 0))


def test_features_that_are_not_known(static: Path) -> None:
    bootstrapped(static, 31)

    assert stopping(static) == [
        "d1/bootstrap.checkpoint: Kafka 4.3 does not know metadata.version=31"
    ]
    make_node(static, unstable_feature_versions_enable="true")
    assert stopping(static) == []


def test_features_of_the_log_count_once_it_has_some(static: Path) -> None:
    bootstrapped(static, 99)
    used(static, records_batch(2, feature("metadata.version", 30)))
    assert stopping(static) == []

    used(static, records_batch(2, feature("metadata.version", 30), feature("new.version", 1)))
    assert stopping(static) == ["d1/__cluster_metadata-0: Kafka 4.3 does not know new.version=1"]


def test_kraft_version_that_is_not_known(standalone: Path) -> None:
    used(standalone, kraft_version_batch(2, 2), voters_batch(3, (1, identity(standalone))))

    assert stopping(standalone) == [
        "d1/__cluster_metadata-0: Kafka 4.3 does not know kraft.version=2"
    ]


def test_loss_of_records_stops_the_only_voter(static: Path) -> None:
    used(static, no_ops(2, 1), no_ops(3, 1))
    path = static / f"d1/__cluster_metadata-0/{0:020}.log"
    data = bytearray(path.read_bytes())
    data[65] ^= 1
    path.write_bytes(data)

    problem = (
        f"{path.relative_to(static)}: position 0: the CRC does not match; "
        "a server drops the log from there up to offset 4"
    )
    assert stopping(static) == [problem]
    make_node(static, {"controller.quorum.voters": "1@localhost:29093,2@elsewhere:29093"})
    assert notes(static) == [problem]


def test_missing_offsets(static: Path) -> None:
    used(static, no_ops(9, 1))

    assert stopping(static) == [
        "d1/__cluster_metadata-0: offsets 2 to 8 are neither in the log nor in a snapshot"
    ]


def test_lost_metadata_log(static: Path) -> None:
    """The partitions that are left would be set aside, unless there are other controllers."""
    (static / "d2/t-0").mkdir()
    topic = static / "d2/t-0/partition.metadata"
    topic.write_text(f"version: 0\ntopic_id: {OTHER_ID}\n")

    expected = [
        "d1: its metadata log is empty, but there are topics in d2: a new cluster sets them aside"
    ]
    assert stopping(static) == expected
    make_node(static, {"controller.quorum.voters": "1@localhost:29093,2@elsewhere:29093"})
    assert notes(static) == expected


def registration(node: Path, broker_id: int, directory: str) -> tuple[str, dict[str, object]]:
    return "RegisterBrokerRecord", {
        "brokerId": broker_id,
        "incarnationId": OTHER,
        "brokerEpoch": 1,
        "endPoints": [],
        "features": [],
        "rack": None,
        "fenced": True,
        "isMigratingZkBroker": False,
        "inControlledShutdown": False,
        "logDirs": [identity(node, directory)],
    }


def test_directories_that_the_cluster_knows_of_another_broker(static: Path) -> None:
    used(static, records_batch(2, registration(static, 5, "d2"), version=3))

    assert stopping(static) == [
        "d2: the cluster knows it as of broker 5, and refuses it of broker 1"
    ]


def test_directory_of_another_broker_beside_own_ones_is_given_back(static: Path) -> None:
    """A rewrite would give the own directories away, too."""
    records = [registration(static, 5, "d2"), registration(static, 1, "d1")]
    used(static, records_batch(2, *records, version=3))

    (finding,) = verified(static)

    assert finding.code == "registered-elsewhere"
    assert finding.cure == "take it out of log.dirs, and give it back to broker 5"


def test_directory_that_was_copied_from_another_broker_gets_no_command(static: Path) -> None:
    """With its id, two servers would be one broker."""
    used(static, records_batch(2, registration(static, 5, "d2"), version=3))
    with chdir(static):
        shutil.copytree("d2", "original")
        node = read_node(load_config(PROPERTIES))
        config = replace(node.config, node_id=5)
        other = replace(node, config=config, directories=(read_log_directory("original"),))
        findings = [*quorum_findings(node, [node, other])]
    (finding,) = [finding for finding in findings if finding.code == "registered-elsewhere"]
    assert finding.cure.startswith("it is a copy of original, which is right: put the directory of")
    assert not finding.commands


def test_damaged_quorum_state(static: Path) -> None:
    used(static)
    (static / "d1/__cluster_metadata-0/quorum-state").write_text("")

    assert stopping(static) == ["d1/__cluster_metadata-0/quorum-state: it is not JSON"]


WAITS = "controller.quorum.bootstrap.servers names no other controller: it would wait forever"


def test_lone_controller_without_voters_waits_for_ever(standalone: Path) -> None:
    shutil.rmtree(standalone / "d1/__cluster_metadata-0")

    assert stopping(standalone) == [f"d1: it has no voters, and {WAITS}"]


@pytest.mark.parametrize(
    ("servers", "is_alone"),
    [
        ("localhost:29093", True),
        ("127.0.0.1:29093,localhost:29093", True),
        (f"{os.uname().nodename}:29093", True),
        ("[::1]:29093", True),
        ("localhost:29094", False),
        ("elsewhere:29093", False),
        ("localhost:29093,elsewhere:29093", False),
    ],
)
def test_controller_is_alone_if_it_asks_only_itself(
    tmp_path: Path, servers: str, is_alone: bool
) -> None:
    node = make_node(
        tmp_path / "node",
        {"controller.quorum.bootstrap.servers": servers},
        **{**CONTROLLER, "listeners": "CONTROLLER://:29093"},
    )
    format_node(node, "-N")

    assert bool(stopping(node)) == is_alone


def vote(node: Path, *voters: tuple[int, bytes]) -> None:
    """Give a node the snapshot of other voters."""
    snapshot = snapshot_bytes(kraft_version_batch(0, 1), voters_batch(1, *voters))
    folder = node / "d1/__cluster_metadata-0"
    shutil.rmtree(folder)
    write_log(node / "d1", {}, {(0, 0): snapshot})


def test_only_voter_with_another_directory_id_does_not_vote(standalone: Path) -> None:
    own = to_text(identity(standalone))
    vote(standalone, (1, OTHER))

    assert stopping(standalone) == [
        f"d1: its directory id is {own}, the voters have node 1 with {OTHER_ID}: it would not vote"
    ]


def test_one_of_several_voters_with_another_directory_id_is_noted(standalone: Path) -> None:
    """So it is after a disk was replaced: it joins, and can be made a voter again."""
    vote(standalone, (1, OTHER), (2, OTHER))

    note, _ = notes(standalone)

    assert note.endswith("it would not vote")


def test_voters_without_this_node(standalone: Path) -> None:
    vote(standalone, (2, OTHER))

    assert stopping(standalone) == [
        f"d1: this node is not one of its voters 2@localhost:29093:{OTHER_ID}, and {WAITS}"
    ]
    make_node(standalone, TWO_SERVERS)
    assert [note[:25] for note in notes(standalone)] == ["d1: its metadata log is e"]


def test_voter_that_was_formatted_may_wait_for_the_other_and_tells_nothing_of_the_cluster(
    standalone: Path,
) -> None:
    vote(standalone, (1, identity(standalone)), (2, OTHER))

    (finding,) = verified(standalone)

    assert (finding.code, finding.severity) == ("behind", "note")
    assert finding.text.startswith("its metadata log is empty")
    assert "start those first" in finding.cure


def test_static_voters_that_are_ignored_are_noted(standalone: Path) -> None:
    make_node(standalone)

    assert notes(standalone) == [
        "d1: it has voters of its own: controller.quorum.voters is ignored"
    ]


def test_damaged_voters_have_a_single_finding(standalone: Path) -> None:
    path = standalone / f"d1/__cluster_metadata-0/{0:020}-{0:010}.checkpoint"
    path.chmod(0o600)
    path.write_bytes(b"")

    assert stopping(standalone) == [f"{path.relative_to(standalone)}: it is empty"]


@pytest.mark.parametrize(
    ("last", "now", "is_told"),
    [
        ("1,2,3", "1", True),
        ("1,2,3", "1,2,4", True),
        ("1", "1,2,3", True),
        ("1,2,3", "1,2,3,4", False),
        ("1,2,3,4", "1,2,3", False),
        ("1,2,3", "1,2,3", False),
        ("", "1", False),
    ],
)
def test_voters_that_elect_without_most_of_the_last_ones_are_told(
    tmp_path: Path, last: str, now: str, is_told: bool
) -> None:
    voters = ",".join(f"{number}@localhost:{29092 + int(number)}" for number in now.split(","))
    node = make_node(tmp_path / "node", **CONTROLLER, controller_quorum_voters=voters)
    assert format_node(node).code == 0
    used(node)
    states = [{"voterId": int(number)} for number in last.split(",") if number]
    state = {"clusterId": "", "leaderId": -1, "leaderEpoch": 3, "votedId": -1, "appliedOffset": 0}
    state |= {"currentVoters": states, "data_version": 0}
    (node / "d1/__cluster_metadata-0/quorum-state").write_text(json.dumps(state))

    lines = stopping(node)

    assert lines == [] if not is_told else "most of those are not asked" in lines[0]

"""Voters that would elect a leader without committed records are found, and lost majorities."""

import shlex
import shutil
from pathlib import Path

import pytest

from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.inspector import Finding
from kraftops.storage.logdirs.node import read_node
from kraftops.storage.verify.voter_logs import voter_log_findings
from tests.helpers.logs.metadata_logs import (
    kraft_version_batch,
    no_ops,
    snapshot_bytes,
    voters_batch,
    write_log,
)
from tests.helpers.nodes.lost_quorums import VOTERS, controller, write_meta
from tests.helpers.nodes.node_directories import PROPERTIES

BEGINNING = [kraft_version_batch(0, 1), voters_batch(1, *VOTERS)]


def node(folder: Path, node_id: int, *batches: bytes, **changes: str) -> Path:
    """Make a controller of three voters; without batches its log is as formatted."""
    made = controller(
        folder / f"n{node_id}", node_id, log_dirs=f"{folder}/n{node_id}/meta", **changes
    )
    if batches:
        write_log(made / "meta", {0: [*BEGINNING, *batches]})
    else:
        write_log(made / "meta", {}, {(0, 0): snapshot_bytes(voters_batch(0, *VOTERS))})
    return made


def found_in(*nodes: Path) -> list[Finding]:
    read = [read_node(load_config(str(path / PROPERTIES))) for path in nodes]
    return list(voter_log_findings(read))


def codes(*nodes: Path) -> list[str]:
    return [finding.code for finding in found_in(*nodes)]


def test_equal_logs_are_sound(tmp_path: Path) -> None:
    nodes = [node(tmp_path, number, no_ops(2, 398)) for number in (1, 2, 3)]

    assert found_in(*nodes) == []
    assert found_in(nodes[0]) == []


def test_voters_that_were_only_formatted_are_sound(tmp_path: Path) -> None:
    assert found_in(*[node(tmp_path, number) for number in (1, 2, 3)]) == []


def test_two_of_three_formatted_again_could_win_an_election(tmp_path: Path) -> None:
    nodes = [node(tmp_path, 1, no_ops(2, 398)), node(tmp_path, 2), node(tmp_path, 3)]

    found = found_in(*nodes)

    assert [(each.code, each.stops) for each in found] == [("rival-history", True)] * 2
    assert [each.path for each in found] == [f"{tmp_path}/n{number}/meta" for number in (2, 3)]
    assert found[0].problem == (
        f"its metadata log is empty, {tmp_path}/n1/meta ends at offset 400: with the voters 2, 3 "
        "it could win an election, and the records of 400 offsets would be lost"
    )
    command = f"kafka-storage recover -c {tmp_path}/n1/{PROPERTIES} --voters self --dry-run"
    assert command in found[0].cure


def test_one_empty_log_of_three_is_a_note(tmp_path: Path) -> None:
    nodes = [
        node(tmp_path, 1, no_ops(2, 398)),
        node(tmp_path, 2, no_ops(2, 398)),
        node(tmp_path, 3),
    ]

    (finding,) = found_in(*nodes)

    assert (finding.code, finding.stops) == ("behind", False)
    assert finding.path == f"{tmp_path}/n3/meta"


def test_logs_below_a_snapshot_lack_committed_records(tmp_path: Path) -> None:
    nodes = [node(tmp_path, number, no_ops(2, 8)) for number in (1, 2)]
    made = node(tmp_path, 3, no_ops(2, 398))
    snapshot = snapshot_bytes(voters_batch(0, *VOTERS), end=300)
    write_log(made / "meta", {}, {(300, 1): snapshot})

    assert codes(*nodes, made) == ["rival-history", "rival-history"]
    assert codes(nodes[0], made) == ["behind"]


def test_short_end_that_may_be_uncommitted_is_a_note(tmp_path: Path) -> None:
    nodes = [
        node(tmp_path, 1, no_ops(2, 3)),
        node(tmp_path, 2, no_ops(2, 3)),
        node(tmp_path, 3, no_ops(2, 4)),
    ]

    (finding,) = found_in(*nodes)

    assert (finding.code, finding.stops) == ("ends-differ", False)
    assert "the voters 1, 2 could go on without the end of" in finding.problem
    assert finding.problem.endswith("from offset 5 to 6")
    assert found_in(nodes[0], nodes[2]) == []


def test_higher_epoch_wins_over_a_longer_log(tmp_path: Path) -> None:
    nodes = [
        node(tmp_path, 1, no_ops(2, 3), no_ops(5, 1, epoch=2)),
        node(tmp_path, 2, no_ops(2, 9)),
        node(tmp_path, 3, no_ops(2, 9)),
    ]

    (finding,) = found_in(*nodes)

    assert finding.code == "ends-differ"
    assert f"{tmp_path}/n1/meta" in finding.problem


def test_log_of_a_broker_is_newer_than_all_controllers(tmp_path: Path) -> None:
    nodes = [node(tmp_path, number) for number in (1, 2, 3)]
    broker = node(
        tmp_path,
        7,
        no_ops(2, 98),
        process_roles="broker",
        listeners="PLAINTEXT://localhost:29092",
    )

    found = found_in(*nodes, broker)

    assert {finding.code for finding in found} == {"rival-history"}
    assert f"kafka-storage recover -c {nodes[0]}/{PROPERTIES} --from {broker}/meta/__cl" in (
        found[0].cure
    )


def test_lost_majority_is_found_with_its_cure(tmp_path: Path) -> None:
    folder = tmp_path / "it's here"
    nodes = [node(folder, number, no_ops(2, 8)) for number in (1, 2, 3)]
    write_meta(nodes[1] / "meta", 2, directory_id="vOKEv8VrQAyGbyFDxfFCwA")
    shutil.rmtree(nodes[2] / "meta")

    found = found_in(*nodes)

    assert [(each.code, each.path) for each in found] == [("quorum-lost", "")]
    assert found[0].problem.startswith("the quorum is lost: 2, 3 of the voters 1, 2, 3 have not")
    command = found[0].cure.removeprefix("go on from the newest log: ").split(", then")[0]
    assert shlex.split(command) == [
        "kafka-storage",
        "recover",
        "-c",
        f"{nodes[0]}/{PROPERTIES}",
        "--from",
        f"{nodes[1]}/meta/__cluster_metadata-0",
        "--voters",
        "self",
        "--dry-run",
    ]


def test_one_lost_voter_of_three_is_no_lost_quorum(tmp_path: Path) -> None:
    nodes = [node(tmp_path, number, no_ops(2, 8)) for number in (1, 2, 3)]
    shutil.rmtree(nodes[2] / "meta")

    assert found_in(*nodes) == []


@pytest.mark.parametrize("count", [1, 2])
def test_static_voters_count_without_directory_ids(tmp_path: Path, count: int) -> None:
    static = {"controller_quorum_bootstrap_servers": "", "controller_quorum_voters": VOTER_LIST}
    full = node(tmp_path, 1, **static)
    write_log(full / "meta", {0: [no_ops(0, 100)]})
    (full / "meta/__cluster_metadata-0" / f"{0:020}-{0:010}.checkpoint").unlink()
    empty = [node(tmp_path, number, **static) for number in (2, 3)[:count]]
    for each in empty:
        shutil.rmtree(each / "meta/__cluster_metadata-0")

    assert codes(full, *empty) == (["behind"] if count == 1 else ["rival-history"] * 2)


VOTER_LIST = ",".join(f"{number}@localhost:29093" for number in (1, 2, 3))

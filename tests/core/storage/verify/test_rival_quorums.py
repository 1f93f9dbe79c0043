"""Two recoveries of one cluster are found, whatever epochs they count."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.logs.metadata_logs import no_ops, records_batch, voters_batch, write_log
from tests.helpers.logs.random_logs import leader_change
from tests.helpers.nodes.lost_quorums import (
    BEGINNING,
    IDS,
    MORE,
    VOTERS,
    controller,
    recovery_data,
)
from tests.helpers.nodes.node_directories import PROPERTIES, storage


def node(folder: Path, node_id: int, *batches: bytes) -> Path:
    made = controller(folder / f"n{node_id}", node_id, log_dirs=f"{folder}/n{node_id}/meta")
    write_log(made / "meta", {0: [*BEGINNING, *batches]})
    return made


def go_on(made: Path, end: int, epoch: int) -> None:
    """Have the leader of a recovered quorum write."""
    write_log(made / "meta", {end: [no_ops(end, 9, epoch=epoch)]})


def losses(*nodes: Path, code: int = 2) -> list[dict[str, Any]]:
    named = [word for made in nodes for word in ("-c", str(made / PROPERTIES))]
    done = storage(nodes[0], "verify", *named, "--format", "json")
    assert done.code == code, done.text + done.err
    findings: list[dict[str, Any]] = json.loads(done.text)["findings"]
    return [finding for finding in findings if finding["severity"] == "loss"]


@pytest.mark.parametrize("ends", [(5, 5), (10, 5), (5, 10)])
def test_two_old_disks_that_were_recovered_each_to_itself(
    tmp_path: Path, ends: tuple[int, int]
) -> None:
    nodes = []
    for node_id, end in zip((1, 3), ends, strict=True):
        made = node(tmp_path, node_id, *(MORE if end == 10 else ()))
        recovery_data(made, "--voters", "self")
        nodes.append(made)

    (rival,) = losses(*nodes)

    assert rival["code"] == "rival-quorums"
    assert "two histories of one cluster from offset 5 on" in rival["text"]
    for made in nodes:
        assert losses(made, code=0) == []


def test_old_voters_that_are_enough_to_lead_know_nothing_of_a_recovery(tmp_path: Path) -> None:
    """Their logs are beginnings of the recovered one, and elect a leader of their own."""
    first, second, third = (node(tmp_path, node_id) for node_id in (1, 2, 3))
    recovery_data(first, "--voters", "self")

    (rival,) = losses(first, second, third)

    assert (rival["code"], rival["node"]) == ("rival-quorums", 1)
    assert f"{second}/meta and {third}/meta are two histories" in rival["text"]


@pytest.mark.parametrize("end", [5, 10])
def test_recovered_quorum_has_added_a_voter_since(tmp_path: Path, end: int) -> None:
    olds = [node(tmp_path, node_id, *(MORE if end == 10 else ())) for node_id in (2, 3)]
    recovered = node(tmp_path, 1)
    recovery_data(recovered, "--voters", "self")
    joined = voters_batch(6, VOTERS[0], (4, IDS[4]), epoch=2)
    write_log(recovered / "meta", {6: [joined, no_ops(7, 9, epoch=3)]})

    rivals = [loss for loss in losses(recovered, *olds) if loss["code"] == "rival-quorums"]

    assert rivals
    assert all("two histories of one cluster from offset 5 on" in loss["text"] for loss in rivals)


def test_old_voters_of_a_static_quorum_are_named(tmp_path: Path) -> None:
    """By the newest election, since controller.quorum.voters is gone."""
    nodes = [
        controller(tmp_path / f"n{number}", number, log_dirs=f"{tmp_path}/n{number}/meta")
        for number in (3, 1, 2)
    ]
    feature = ("FeatureLevelRecord", {"name": "metadata.version", "featureLevel": 21})
    for folder in nodes:
        write_log(folder / "meta", {0: [leader_change(0, 2), records_batch(1, feature)]})
    recovery_data(nodes[0], "--voters", "self")

    (rival,) = losses(*nodes)

    assert rival["code"] == "rival-quorums"
    assert rival["text"].endswith("and the other has 1, 2")


def test_recovery_of_a_recovered_log_is_a_rival_of_it(tmp_path: Path) -> None:
    first, second = node(tmp_path, 1), node(tmp_path, 2)
    recovery_data(first, "--voters", "self")
    base = str(first / "meta")
    recovery_data(second, "--voters", "self", "--from", base, "--choose", base)

    (rival,) = losses(first, second)

    assert (rival["code"], rival["node"]) == ("rival-quorums", 2)


def test_both_have_led_in_the_same_epoch(tmp_path: Path) -> None:
    nodes = [node(tmp_path, node_id, *MORE) for node_id in (1, 3)]
    for made in nodes:
        recovery_data(made, "--voters", "self")
        go_on(made, 11, 4)

    (rival,) = losses(*nodes)

    assert (rival["code"], "from offset 10 on" in rival["text"]) == ("rival-quorums", True)


def test_recovered_log_and_a_copy_of_it_are_one_history(tmp_path: Path) -> None:
    first, copy = node(tmp_path, 1), node(tmp_path, 3)
    recovery_data(first, "--voters", "self")
    segment = "meta/__cluster_metadata-0/00000000000000000005.log"
    (copy / segment).write_bytes((first / segment).read_bytes())
    go_on(first, 6, 2)

    assert losses(first, copy) == []  # the copy is not a voter, and waits


def test_old_disk_with_records_that_were_given_up(tmp_path: Path) -> None:
    first, old = node(tmp_path, 1), node(tmp_path, 3, *MORE)
    recovery_data(first, "--voters", "self")

    found = losses(first, old)

    assert "rival-quorums" in [finding["code"] for finding in found]


def test_old_disk_without_other_records_is_no_rival(tmp_path: Path) -> None:
    first, old = node(tmp_path, 1, *MORE), node(tmp_path, 3)
    recovery_data(first, "--voters", "self")

    assert "rival-quorums" not in [finding["code"] for finding in losses(first, old, code=0)]

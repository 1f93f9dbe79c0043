"""`kafka-storage format` refuses empty voters beside others, and names what would be lost."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from kraftops.uuids import to_text
from tests.helpers.logs.metadata_logs import no_ops, records_batch, voters_batch, write_log
from tests.helpers.nodes.assigned_partitions import (
    D1,
    D2,
    D9,
    assigned,
    broker,
    partition,
    write_metadata,
)
from tests.helpers.nodes.assigned_partitions import topic as topic_record
from tests.helpers.nodes.lost_quorums import IDS, VOTERS, controller, topic, write_meta
from tests.helpers.nodes.node_directories import (
    CLUSTER_ID,
    META,
    OTHER_ID,
    entries,
    format_node,
)

LIST = ",".join(f"{number}@localhost:29093:{to_text(IDS[number])}" for number in (1, 2, 3))
STATIC = {
    "controller_quorum_bootstrap_servers": "",
    "controller_quorum_voters": "1@localhost:29093,2@localhost:2,3@localhost:3",
}


def wiped(folder: Path, node_id: int = 1, **changes: str) -> Path:
    """Make a controller with an empty disk."""
    node = controller(folder / f"n{node_id}", node_id, **changes)
    shutil.rmtree(node / "meta")
    return node


def full(folder: Path, node_id: int, cluster_id: str = CLUSTER_ID) -> str:
    """Make the metadata directory of a controller that has run; return its path."""
    path = folder / f"disk-{node_id}"
    path.mkdir()
    write_meta(path, node_id, cluster_id)
    names = [records_batch(2 + number, topic(f"t{number}", number)) for number in range(7)]
    write_log(path, {0: [no_ops(0, 1), voters_batch(1, *VOTERS), *names]})
    return str(path)


def refused(node: Path, *args: str) -> dict[str, Any]:
    """Return the JSON of a format that is refused; nothing is written, in text neither."""
    before = entries(node)
    done = format_node(node, *args, "--format", "json")
    assert (done.code, format_node(node, *args).code) == (3, 3), done.err
    assert entries(node) == before
    found: dict[str, Any] = json.loads(done.text)
    assert found["changed"] is False
    return found


def test_voter_that_lost_its_log_is_not_formatted_with_the_same_list(tmp_path: Path) -> None:
    node, disk = wiped(tmp_path), full(tmp_path, 3)

    found = refused(node, "-I", LIST, "--metadata", disk)

    assert found["error"] == "empty-voter"
    assert found["message"] == (
        f"meta would be an empty voter, and {disk} has metadata to offset 8: topics t0, t1, t2, "
        "t3, t4 and 2 more; partitions 0"
    )
    assert found["hint"].startswith("let this node join with --no-initial-controllers")
    assert refused(node, "-s", "-g", "--metadata", f"{disk}/__cluster_metadata-0")["error"]
    forced = format_node(node, "-I", LIST, "--metadata", disk, "--force")
    assert forced.code == 0
    assert "kafka-storage: warning: meta would be an empty voter" in forced.err


def test_voter_may_be_formatted_to_join(tmp_path: Path) -> None:
    node, disk = wiped(tmp_path), full(tmp_path, 3)

    assert format_node(node, "-N", "--metadata", disk).code == 0


def test_log_of_a_new_quorum_is_no_other_one(tmp_path: Path) -> None:
    nodes = [wiped(tmp_path, number) for number in (1, 2)]
    assert format_node(nodes[0], "-I", LIST).code == 0

    assert format_node(nodes[1], "-I", LIST, "--metadata", str(nodes[0] / "meta")).code == 0


def test_observer_is_no_empty_voter(tmp_path: Path) -> None:
    node, disk = wiped(tmp_path, 7), full(tmp_path, 3)

    assert format_node(node, "-I", LIST, "--metadata", disk).code == 0


@pytest.mark.parametrize(("given", "code"), [((), 0), ((2,), 3), ((2, 3), 0)])
def test_static_voter_is_formatted_where_most_have_their_logs(
    tmp_path: Path, given: tuple[int, ...], code: int
) -> None:
    node = wiped(tmp_path, **STATIC)
    args = [arg for number in given for arg in ("--metadata", full(tmp_path, number))]

    done = format_node(node, *args, "--format", "json")

    assert done.code == code
    if code:
        message = json.loads(done.text)["message"]
        assert message.startswith("meta would be an empty voter: if the voters 3 are empty too")
        assert "disk-2 has: metadata to offset 8: topics t0" in message


def test_metadata_of_another_cluster_is_refused(tmp_path: Path) -> None:
    done = format_node(wiped(tmp_path), "-N", "--metadata", full(tmp_path, 3, OTHER_ID))

    assert done.code == 3
    assert f"disk-3 is of the cluster {OTHER_ID}, not of {CLUSTER_ID}" in done.err


@pytest.mark.parametrize(("name", "code"), [("none", 1), ("empty", 1)])
def test_metadata_that_is_not_there_is_an_error(tmp_path: Path, name: str, code: int) -> None:
    (tmp_path / "empty").mkdir()
    path = str(tmp_path / name)
    node = wiped(tmp_path)

    done = format_node(node, "-N", "--metadata", path)
    in_json = format_node(node, "-N", "--metadata", path, "--format", "json")

    assert (done.code, in_json.code) == (code, 4 if name == "none" else 1)
    assert path in done.err


def test_forced_format_names_the_partitions_of_others(tmp_path: Path) -> None:
    """Without --force the directory is refused, since it holds data."""
    node = broker(tmp_path / "node", 1, {"d1": D1, "d2": D2})
    partition(node / "d2", "t-0", records=300)
    (node / "d1" / META).unlink()
    (node / "d2" / META).unlink()
    other = tmp_path / "other"
    write_metadata(other, topic_record(), assigned(0, {9: D9}))

    held = format_node(node, "--metadata", str(other))
    forced = format_node(node, "--metadata", str(other), "--force")

    assert (held.code, forced.code) == (1, 0)
    assert "d2 is not formatted, but holds data: t-0" in held.err
    assert "warning: the metadata has partitions in d2 on other brokers" in forced.err
    assert "t-0 (300 records, " in forced.err


def test_metadata_log_in_a_data_directory_counts(tmp_path: Path) -> None:
    """As after metadata.log.dir was set to a new directory."""
    node = controller(tmp_path / "node", metadata_log_dir="new")
    write_log(node / "meta", {0: [no_ops(0, 1), voters_batch(1, *VOTERS)]})

    found = refused(node, "-I", LIST, "-g")

    assert found["error"] == "empty-voter"
    assert found["message"].startswith("new would be an empty voter, and meta has metadata")


def test_forced_format_beside_a_metadata_log_says_what_has_no_effect(tmp_path: Path) -> None:
    node = controller(tmp_path / "node", log_dirs="meta,d2")
    write_log(node / "meta", {0: [voters_batch(0, *VOTERS), no_ops(1, 3)]})
    (node / "meta" / META).unlink()
    (node / "d2").mkdir()
    write_meta(node / "d2", 1, directory_id=OTHER_ID)
    partition(node / "d2", "t-0")

    done = format_node(node, "-I", LIST, "-r", "4.0", "--force", "-g")

    assert done.code == 0
    reason = "has no effect: meta has a metadata log, which counts"
    assert f"warning: --release-version {reason}" in done.err
    assert f"warning: --initial-controllers {reason}" in done.err
    assert "meta is new" not in done.err


def test_forced_format_of_all_directories_names_their_partitions(tmp_path: Path) -> None:
    node = controller(tmp_path / "node", log_dirs="meta,d2")
    (node / "meta" / META).unlink()
    partition(node / "d2", "t-0", records=300)

    done = format_node(node, "-I", LIST, "--force")

    assert done.code == 0
    assert "a new quorum sets them aside: t-0 (300 records, " in done.err

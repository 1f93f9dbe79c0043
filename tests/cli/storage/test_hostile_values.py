"""Values that a terminal or a shell would take for commands are shown, and are in no command."""

import json
import re
import shlex
from pathlib import Path

import pytest

from kraftops.uuids import to_text
from tests.helpers.logs.metadata_logs import control_batch, no_ops, snapshot_bytes, write_log
from tests.helpers.nodes.assigned_partitions import D1, D2, assigned, partition, topic
from tests.helpers.nodes.assigned_partitions import broker as broker_node
from tests.helpers.nodes.lost_quorums import IDS, controller, write_meta
from tests.helpers.nodes.node_directories import CLUSTER_ID, META, PROPERTIES, make_node, storage
from tests.helpers.tools.console import Done

HOSTILE = {
    "shell": "x; touch z $(id) `id`",
    "quotes": 'it\'s "so"',
    "escape": "a\x1b[31mred\x1b]0;title\x07",
    "lines": "one\ntwo\r",
    "option": "--force",
    "bidi": "abc\u202ecba",
    "c1": "a\x9b31m",
}
UNSHOWN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(params=HOSTILE.values(), ids=HOSTILE)
def hostile(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def check_shown(done: Done) -> None:
    """Nothing reaches the terminal that it would obey; no command has a part that is not quoted."""
    assert not UNSHOWN.search(done.text + done.err), done.text + done.err
    assert "Traceback" not in done.err


def check_commands(done: Done, *hostile: str) -> None:
    """The cures have no hostile text in their commands, but quoted."""
    found = json.loads(done.text)
    assert found["findings"]
    for finding in found["findings"]:
        for command in finding["commands"]:
            for text in hostile:
                bare = command.replace(shlex.quote(text), "")
                assert text not in re.sub(r"'[^']*'", "", bare), finding


def test_cluster_ids(tmp_path: Path, hostile: str) -> None:
    node = controller(tmp_path / "node", log_dirs="meta,d2,d3")
    (node / "d2").mkdir()
    (node / "d3").mkdir()
    write_meta(node / "meta", 1, hostile)
    write_meta(node / "d2", 1, CLUSTER_ID, directory_id=to_text(D2))

    done = storage(node, "verify", "-c", PROPERTIES)
    expected = storage(node, "verify", "-c", PROPERTIES, f"--cluster-id={hostile}")
    found = storage(node, "verify", "-c", PROPERTIES, "--format", "json")

    assert (done.code, expected.code) == (2, 2)
    for each in (done, expected):
        check_shown(each)
        severe = [one for one in json.loads(found.text)["findings"] if one["severity"] != "note"]
        assert len(each.text.splitlines()) == len(severe)
    check_commands(found, hostile)
    command = f"format it: kafka-storage format -c {PROPERTIES} --cluster-id=--force -g -N"
    advice = command if hostile == "--force" else "format it (kafka-storage format -g -N): take"
    assert f"d3: it is not formatted; {advice}" in done.text
    check_shown(storage(node, "info", "-c", PROPERTIES, "--format", "table"))
    check_shown(storage(node, "rewrite", "-c", PROPERTIES, f"--cluster-id={hostile}", "--dry-run"))
    check_shown(storage(node, "rewrite", "-c", PROPERTIES, "--cluster-id", CLUSTER_ID, "-n"))


@pytest.mark.parametrize("node_id", ["-5", "-2147483648"])
def test_impossible_node_id_is_not_proposed(tmp_path: Path, node_id: str) -> None:
    node = controller(tmp_path / "node")
    write_meta(node / "meta", 1)
    path = node / "meta" / META
    path.write_text(path.read_text().replace("node.id=1", f"node.id={node_id}"))

    done = storage(node, "verify", "-c", PROPERTIES)
    formatted = storage(node, "format", "-c", PROPERTIES, "-t", CLUSTER_ID, "-N", "-g")

    assert (
        f"meta: it is of node {node_id}, the configuration of node 1; give it the id 1: "
        "kafka-storage " in done.text
    )
    assert f"node.id={node_id}" not in done.text
    assert f"node.id={node_id}" not in formatted.err


def test_names_of_files(tmp_path: Path, hostile: str) -> None:
    name = hostile.replace(",", "").replace("/", "")
    node = make_node(tmp_path / name, log_dirs=f"d1,d {name}".strip())
    storage(node, "format", "-c", PROPERTIES, "-t", CLUSTER_ID)
    (data,) = node.glob("d ?*")
    (data / name).mkdir()
    partition(data, f"{name}-0")
    (data / f"{name}-0" / f"{name}.log").touch()
    (data / "__cluster_metadata-0").mkdir()
    (data / META).write_text(f"version={name!r}\n")

    done = storage(node, "verify", "-c", str(node / PROPERTIES))
    found = storage(node, "verify", "-c", str(node / PROPERTIES), "--format", "json")

    assert done.code == 2
    check_shown(done)
    check_commands(found, name)
    check_shown(storage(node, "info", "-c", PROPERTIES, "--format", "table"))


def test_names_in_the_metadata(tmp_path: Path, hostile: str) -> None:
    """Topics, and hosts of voters of a lost quorum, in commands for nodes with such names."""
    records = (topic(hostile), assigned(0, {1: D1}))
    disk = broker_node(tmp_path / "broker", 1, {str(tmp_path / "broker/d1"): D1}, *records)
    partition(disk / "d1", "t-0")
    folder = tmp_path / hostile
    nodes = []
    data = [
        {
            "voterId": number,
            "voterDirectoryId": IDS[number],
            "endpoints": [{"name": "CONTROLLER", "host": hostile, "port": 29093}],
            "kRaftVersionFeature": {"minSupportedVersion": 0, "maxSupportedVersion": 1},
        }
        for number in (1, 2, 3)
    ]
    for number in (1, 2, 3):
        nodes.append(controller(folder / str(number), number, log_dirs=f"{folder}/{number}/meta"))
        batch = control_batch(0, 6, {"version": 0, "voters": data})
        log = {0: [no_ops(0, 400)]} if number == 1 else {}
        write_log(nodes[-1] / "meta", log, {(0, 0): snapshot_bytes(batch)})
    paths = [arg for node in nodes for arg in ("-c", str(node / PROPERTIES))]

    for args in (["-c", str(disk / PROPERTIES)], [*paths, "--resolve"]):
        done = storage(tmp_path, "verify", *args)
        found = storage(tmp_path, "verify", *args, "--format", "json")

        assert done.code == 2
        check_shown(done)
        check_commands(found, hostile, str(folder))

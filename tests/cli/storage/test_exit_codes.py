"""Exit codes of `kafka-storage`: Kafka's under its names, in JSON those of the table of errors."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.nodes.assigned_partitions import D1, D2, D9, assigned, broker, partition, topic
from tests.helpers.nodes.node_directories import (
    CLUSTER_ID,
    DYNAMIC,
    META,
    OTHER_ID,
    format_node,
    locked,
    make_node,
    storage,
)
from tests.helpers.tools.console import KRAFTOPS, run_here

FORMAT = ("format", "-c", "server.properties", "-t", CLUSTER_ID)
REWRITE = ("rewrite", "-c", "server.properties")
RECOVER = ("recover", "-c", "server.properties", "--voters", "self")


def empty(folder: Path) -> Path:
    return make_node(folder / "node", DYNAMIC)


def formatted(folder: Path) -> Path:
    node = empty(folder)
    assert format_node(node, "-s").code == 0
    return node


def with_data(folder: Path) -> Path:
    node = empty(folder)
    partition(node / "d2", "t-0")
    return node


def with_lost_metadata(folder: Path) -> Path:
    node = formatted(folder)
    partition(node / "d2", "t-0")
    shutil.rmtree(node / "d1")
    return node


def with_partition_of_another(folder: Path) -> Path:
    records = (topic(), assigned(0, {9: D9}))
    node = broker(folder / "node", 1, {"d1": D1, "d2": D2}, *records)
    partition(node / "d2", "t-0")
    return node


def without_meta_of_another(folder: Path) -> Path:
    node = with_partition_of_another(folder)
    (node / "d2" / META).unlink()
    return node


CASES = [
    ("verify", formatted, ("verify", "-c", "server.properties"), 0, 0),
    ("findings", empty, ("verify", "-c", "server.properties"), 2, 2),
    ("verify without configuration", empty, ("verify",), 1, 1),
    ("verify of nothing", empty, ("verify", "-c", "none"), 4, 4),
    ("info of nothing", empty, ("info", "-c", "none"), 1, 4),
    ("info of an empty node", empty, ("info", "-c", "server.properties"), 1, 1),
    ("format of nothing", empty, ("format", "-c", "none", "-t", CLUSTER_ID), 1, 4),
    ("format twice", formatted, (*FORMAT, "-s"), 1, 1),
    ("format of another cluster", formatted, (*FORMAT[:-1], OTHER_ID, "-s", "-g"), 1, 1),
    ("format without voters", empty, FORMAT, 1, 1),
    ("format over partitions", with_data, (*FORMAT, "-s"), 1, 3),
    ("format without metadata", with_lost_metadata, (*FORMAT, "-s", "-g"), 3, 3),
    ("format of another's directory", without_meta_of_another, (*FORMAT, "-g"), 3, 3),
    ("ensure of another quorum", formatted, (*FORMAT, "-N", "--ensure"), 3, 3),
    ("format beside nothing", empty, (*FORMAT, "-s", "--metadata", "none"), 1, 4),
    ("rewrite of nothing", empty, ("rewrite", "-c", "none", "--to-v1"), 4, 4),
    ("rewrite to nothing", formatted, REWRITE, 1, 1),
    ("rewrite of empty directories", empty, (*REWRITE, "--to-v1"), 1, 1),
    ("rewrite of another's", with_partition_of_another, (*REWRITE, "--node-id", "7"), 3, 3),
    (
        "rewrite beside nothing",
        formatted,
        (*REWRITE, "--node-id", "7", "--metadata", "none"),
        4,
        4,
    ),
    ("recover of nothing", empty, ("recover", "-c", "none", "--voters", "self"), 4, 4),
    ("recover of an empty node", empty, RECOVER, 3, 3),
    ("recover without voters", formatted, RECOVER[:3], 1, 1),
    ("recover from nothing", formatted, (*RECOVER, "--from", "none"), 4, 4),
]


@pytest.mark.parametrize(
    ("make", "args", "code", "json_code"), [pytest.param(*rest, id=name) for name, *rest in CASES]
)
def test_exit_code(
    tmp_path: Path,
    make: Callable[[Path], Path],
    args: tuple[str, ...],
    code: int,
    json_code: int,
) -> None:
    node = make(tmp_path)

    done = storage(node, *args)
    in_json = storage(node, *args, "--format", "json")
    ours = run_here("storage", *args, cwd=node, program=KRAFTOPS)

    assert (done.code, in_json.code, ours.code) == (code, json_code, json_code)
    answer = json.loads(in_json.text)
    assert answer["command"] == args[0]
    if json_code in (1, 3, 4) and args[0] != "info":
        assert answer["error"]
        assert answer["message"] in done.err


@pytest.mark.parametrize("args", [(*FORMAT, "-s", "-g"), (*REWRITE, "--cluster-id", OTHER_ID)])
def test_node_that_runs_is_left_alone(tmp_path: Path, args: tuple[str, ...]) -> None:
    node = formatted(tmp_path)
    (node / "d2" / META).unlink()

    with locked(node / "d1"):
        done = storage(node, *args, "--format", "json")

    assert (done.code, json.loads(done.text)["error"]) == (3, "in-use")

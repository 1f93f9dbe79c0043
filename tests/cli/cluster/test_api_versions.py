"""`kafka-cluster api-versions`: the APIs of all nodes, and the differences between them."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from kraftops.findings.finding import HAS_FINDINGS
from kraftops.wire.net.addresses import Address
from kraftops_cli.cluster.api_versions import api_name
from tests.helpers.tools.console import Done
from tests.helpers.tools.fake_cluster import cluster, serving
from tests.helpers.wire.peers import APIS, free_port

NEWER = APIS | {1: (4, 19), 75: (0, 0)}


@contextmanager
def brokers(*apis: dict[int, tuple[int, int]]) -> Iterator[list[Address]]:
    """Start brokers 1, 2, … of a cluster, which serve these APIs."""
    nodes: list[dict[str, Any]] = []
    with ExitStack() as stack:
        peers = [stack.enter_context(serving(nodes, each)) for each in apis]
        for number, peer in enumerate(peers, 1):
            host, port = peer.address
            rest = {"rack": None, "is_fenced": False}
            nodes.append({"broker_id": number, "host": host, "port": port, **rest})
        yield [peer.address for peer in peers]


def run(address: Address, *options: str) -> Done:
    return cluster("api-versions", "-b", str(address), *options)


def test_nodes_with_the_same_answer_share_a_table() -> None:
    with brokers(APIS, NEWER, APIS) as (first, *_):
        done = run(first)

    assert (done.code, done.err) == (0, "")
    assert [line for line in done.text.splitlines() if line.startswith("node")] == [
        "nodes 1, 3", "node 2",
    ]  # fmt: skip
    fetches = [line.split() for line in done.text.splitlines() if " FETCH " in line.upper()]
    assert [row[-2:] for row in fetches] == [["4", "18"], ["4", "19"]]


def test_comparison_has_only_the_differences() -> None:
    with brokers(APIS, NEWER) as (first, _):
        done = run(first, "--compare")

    assert done.code == HAS_FINDINGS
    head, *rows = done.text.splitlines()
    assert head.split() == ["API", "node", "1", "node", "2"]
    assert [row.split()[-2:] for row in rows] == [["4-18", "4-19"], ["-", "0-0"]]


def test_comparison_has_a_column_for_all_nodes_with_the_same_answer() -> None:
    with brokers(APIS, NEWER, APIS, APIS) as (first, *_):
        done = run(first, "--compare")

    assert done.text.splitlines()[0].split("  ")[-2:] == [" nodes 1, 3, 4", "node 2"]


def test_nodes_without_differences_are_all_the_same() -> None:
    with brokers(APIS, APIS) as (first, _):
        done = run(first, "--compare")

    assert (done.code, done.text) == (0, "nodes 1, 2: all the same\n")


@pytest.mark.parametrize(("apis", "differs"), [(APIS, False), (NEWER, True)])
def test_json_says_whether_nodes_differ(apis: dict[int, tuple[int, int]], differs: bool) -> None:
    with brokers(APIS, apis) as (first, _):
        compared = json.loads(run(first, "--compare", "--format", "json").text)
        plain = json.loads(run(first, "--format", "json").text)

    assert compared["differs"] is differs
    assert "differs" not in plain
    assert [node["id"] for node in plain["nodes"]] == [1, 2]
    assert {"key": 1, "name": api_name(1), "min": 4, "max": 18} in plain["nodes"][0]["apis"]


def test_node_without_an_answer_is_an_error_and_the_others_are_shown() -> None:
    nodes: list[dict[str, Any]] = []
    with serving(nodes) as peer, free_port() as port:
        for number, (host, at) in enumerate((peer.address, ("localhost", port)), 1):
            rest = {"rack": None, "is_fenced": False}
            nodes.append({"broker_id": number, "host": host, "port": at, **rest})
        done = run(peer.address)

    assert done.code == 5
    assert done.text.startswith("node 1\n")
    assert done.errors[0].startswith(f"kafka-cluster: node 2: localhost:{port}: ")


def test_unknown_api_has_its_number() -> None:
    assert api_name(1).upper() == "FETCH"
    assert api_name(9999) == "api-9999"

"""`kafka-dump-log --check` beside a real broker under load: no false finding."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.kafka.nodes.configs import BROKER, CLUSTER_ID, combined
from tests.helpers.kafka.nodes.load import SETTINGS, loaded
from tests.helpers.kafka.nodes.nodes import Node, running
from tests.helpers.tools.console import run_here

pytestmark = pytest.mark.kafka

_RUNS = 100


@pytest.fixture(scope="module")
def node(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """A node that rolls, compacts and deletes segments all the time."""
    config = combined(tmp_path_factory.mktemp("loaded"), static=True).changed(SETTINGS)
    for directory in config.log_dirs:
        directory.mkdir(parents=True)
        text = f"version=1\nnode.id=1\ncluster.id={CLUSTER_ID}\n"
        (directory / "meta.properties").write_text(text)
    with running(jars, config) as node:
        node.wait_ready()
        yield node


def test_broker_under_load_has_no_findings(node: Node) -> None:
    """But for the ends of preallocated logs; then it is killed, and a start would mend the rest."""
    folder = str(node.config.log_dirs[0])
    states: set[str] = set()
    with loaded(f"localhost:{node.config.ports[BROKER]}"):
        for _ in range(_RUNS):
            done = run_here("--check", "--format", "json", folder)
            rows = [json.loads(line) for line in done.text.splitlines()]
            told = [row for row in rows if row["kind"] == "finding" and row["code"] != "zero-tail"]
            assert (done.code, done.errors, told) == (0, [], [])
            states |= {row["topic"] for row in rows if row["kind"] == "partition"}
        node.kill()

    killed = run_here("--check", folder)

    assert {"plain", "transactions", "keyed", "short", "preallocated"} <= states
    assert killed.code == 0, killed.text

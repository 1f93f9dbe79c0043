"""`kafka-dump-log --check` beside a real broker under load: no false finding.

A few looks belong to the tests; `KRAFTOPS_LIVE_LOOKS=100` makes it a hundred.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.kafka.nodes.configs import BROKER, CLUSTER_ID, combined
from tests.helpers.kafka.nodes.load import SETTINGS, loaded
from tests.helpers.kafka.nodes.nodes import Node, running
from tests.helpers.tools.console import run_here

pytestmark = pytest.mark.kafka

_LOOKS = int(os.environ.get("KRAFTOPS_LIVE_LOOKS", "6"))


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
    """None worse than a note; then it is killed, and a start would mend the rest."""
    folder = str(node.config.log_dirs[0])
    topics: set[str] = set()
    with loaded(f"localhost:{node.config.ports[BROKER]}"):
        for _ in range(_LOOKS):
            done = run_here("--check", "--format", "json", folder)
            answer = json.loads(done.text)
            worse = [finding for finding in answer["findings"] if finding["severity"] != "note"]
            unreadable = [row["reason"] for row in answer["partitions"] if row["reason"]]
            assert (worse, unreadable, done.errors, done.code) == ([], [], [], 0)
            topics |= {partition["topic"] for partition in answer["partitions"]}
        node.kill()

    killed = run_here("--check", folder)

    assert {"plain", "transactions", "keyed", "short", "preallocated", "again"} <= topics
    assert killed.code == 0, killed.text

"""Two controllers of a lost quorum are never both recovered to themselves without a word."""

import json
from pathlib import Path

import pytest

from tests.helpers.kafka.nodes.clusters import Shape, running_cluster
from tests.helpers.kafka.nodes.configs import CONTROLLER
from tests.helpers.kafka.nodes.recoveries import kill, leads, recover, tried

pytestmark = pytest.mark.kafka


def test_second_recovery_is_refused_while_the_first_leads(jars: Path, tmp_path: Path) -> None:
    with running_cluster(jars, tmp_path, Shape(controllers=3, is_dynamic=True)) as cluster:
        first, third = (cluster.nodes[node_id] for node_id in (1, 3))
        done = tried(first.config, "--voters", "self", "--dry-run")
        assert json.loads(done.text)["error"] == "running"
        kill(cluster, 1)
        live = json.loads(tried(first.config, "--voters", "self").text)
        kill(cluster, 2, 3)
        recover(third.config, "--voters", "self")
        third.start()
        assert leads(third).voters == {3}

        refused = json.loads(tried(first.config, "--voters", "self").text)

        address = f"localhost:{third.config.ports[CONTROLLER]}"
        assert (live["error"], live["leader"] in (2, 3)) == ("quorum-alive", True)
        assert len(live["voters"]) == 3
        assert (refused["error"], refused["address"]) == ("quorum-alive", address)
        assert (refused["leader"], refused["voters"]) == (3, [f"3@{address}"])
        assert refused["epoch"] > live["epoch"]

"""Two controllers of a lost quorum are never both recovered to themselves without a word."""

import json
from pathlib import Path

import pytest

from tests.helpers.kafka.nodes.clusters import (
    FIRST_BROKER,
    Shape,
    running_cluster,
    wait_for_leader,
)
from tests.helpers.kafka.nodes.configs import CONTROLLER, Config
from tests.helpers.kafka.nodes.recoveries import kill, leads, log_of, recover, tried
from tests.helpers.tools.console import STORAGE, run_command

pytestmark = pytest.mark.kafka


def losses(*configs: Config) -> list[str]:
    """Return the codes of the losses that verify finds in nodes, and their exit code."""
    named = [f"--config={config.path}" for config in configs]
    done = run_command("verify", *named, "--format", "json", program=STORAGE)
    findings = json.loads(done.text)["findings"]
    lost = [finding["code"] for finding in findings if finding["severity"] == "loss"]
    assert done.code == (2 if lost else 0), done.text
    return lost


def test_second_recovery_is_refused_or_found(jars: Path, tmp_path: Path) -> None:
    """Live, the leader that answers refuses it; on old disks both histories are compared."""
    shape = Shape(controllers=3, brokers=1, is_dynamic=True)
    with running_cluster(jars, tmp_path, shape) as cluster:
        first, third = (cluster.nodes[node_id] for node_id in (1, 3))
        done = tried(first.config, "--voters", "self", "--dry-run")
        assert json.loads(done.text)["error"] == "running"
        kill(cluster, 1)
        wait_for_leader(cluster)
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
        cluster.nodes[FIRST_BROKER].wait_ready(1)
        kill(cluster, 3, FIRST_BROKER)
        configs = [cluster.nodes[node_id].config for node_id in (1, 3, FIRST_BROKER)]
        assert losses(*configs[1:]) == []
        source = f"--from={log_of(third.config)}"
        again = json.loads(tried(first.config, "--voters", "self", source).text)
        assert again["error"] == "already-recovered"

        recover(first.config, "--voters", "self")

        assert losses(*configs[:2]) == ["rival-quorums"]
        assert losses(*configs) == ["rival-quorums"]
        first.start()
        assert leads(first).voters == {1}
        kill(cluster, 1)
        assert losses(*configs[:2]) == ["rival-quorums"]
        assert losses(*configs) == ["rival-quorums"]

"""The commands of the guide "A quorum is lost" recover a real cluster, in their order."""

import re
from pathlib import Path

import pytest

from tests.helpers.kafka.nodes.clusters import FIRST_BROKER, Shape, running_cluster
from tests.helpers.kafka.nodes.configs import CLUSTER_ID, CONTROLLER
from tests.helpers.kafka.nodes.contents import AUTHORIZED, contents, fill
from tests.helpers.kafka.nodes.nodes import Node
from tests.helpers.kafka.nodes.recoveries import (
    kill,
    leads,
    patiently,
    votes,
    with_tools,
)

pytestmark = pytest.mark.kafka

PAGE = Path(__file__).parents[3] / "docs/guides/quorum-lost.md"


def blocks() -> list[list[str]]:
    """Return the commands of the page, by block."""
    page = PAGE.read_text()
    return [
        text.splitlines()
        for text in re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    ]


class Hosts:
    """The hosts of nodes: each has its own server.properties, and all see one folder of archives."""

    def __init__(self, folder: Path, leader_port: int) -> None:
        self._folder = folder / "host"
        self._port = leader_port
        self._folder.mkdir()
        self._environment = {**with_tools(), "CLUSTER_ID": CLUSTER_ID}

    def run(self, node: Node, commands: list[str]) -> str:
        """Run commands on the host of a node; return what they print."""
        properties = self._folder / "server.properties"
        properties.unlink(missing_ok=True)
        properties.symlink_to(node.config.path)
        printed = ""
        for command in commands:
            if command == "kafka-server-start.sh server.properties":
                node.start()
                continue
            line = command.replace("localhost:9093", f"localhost:{self._port}")
            line = line.replace("/var/lib/kafka", str(node.config.log_dirs[0]))
            line = line.replace("/etc/kafka/server.properties", str(node.config.path))
            environment = {**self._environment, "NODE_ID": str(node.config.node_id)}
            printed += patiently(line, self._folder, environment)
        return printed


@pytest.mark.long
def test_commands_recover_a_quorum(jars: Path, tmp_path: Path) -> None:
    copy, plan, look, do, undo, check, rejoin = blocks()
    shape = Shape(controllers=2, brokers=1, is_dynamic=True, settings=AUTHORIZED)
    with running_cluster(jars, tmp_path, shape) as cluster:
        first, second, broker = (cluster.nodes[node_id] for node_id in (1, 2, FIRST_BROKER))
        hosts = Hosts(tmp_path, first.config.ports[CONTROLLER])
        fill(cluster.brokers)
        before = contents(cluster.brokers)
        kill(cluster, 2, 1, FIRST_BROKER)

        hosts.run(first, copy)
        hosts.run(broker, copy)
        planned = hosts.run(first, plan)
        looked = hosts.run(first, look)
        hosts.run(first, do)
        undone = hosts.run(first, undo)
        hosts.run(first, do)
        checked = hosts.run(first, check)

        assert "1. Stop all controllers and brokers" in planned
        assert "Nothing was written.\n" in looked
        assert undone.startswith("the metadata log is as it was before")
        assert re.match(r"leader 1, .*dynamic voters\n", checked)
        assert leads(first).voters == {1}
        broker.start()
        broker.wait_ready(1)
        hosts.run(second, rejoin)
        assert votes(first, {1, 2})
        assert contents(cluster.brokers) == before

"""The scripts and the page of `kafka-storage recover-plan`, followed to the letter on real nodes.

One shape is run; others by hand, a minute each: KRAFTOPS_RECOVER_SHAPES=five,combined,lost,static.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from kraftops.recovery.archives import PACK
from tests.helpers.kafka.cases.damaged_directories import format_node
from tests.helpers.kafka.nodes.clusters import Cluster, Shape, running_cluster
from tests.helpers.kafka.nodes.configs import BROKER
from tests.helpers.kafka.nodes.contents import AUTHORIZED, contents, fill
from tests.helpers.kafka.nodes.recoveries import (
    dynamic,
    kill,
    patiently,
    votes,
    with_tools,
)
from tests.helpers.tools.console import STORAGE, run_command

pytestmark = pytest.mark.kafka


@dataclass(frozen=True)
class Case:
    """A cluster, the controllers whose disks are lost, and the voters of the plan."""

    shape: Shape
    lost: tuple[int, ...]
    voters: tuple[int, ...]


def dynamic_shape(controllers: int, brokers: int, *, is_combined: bool = False) -> Shape:
    return Shape(controllers, brokers, is_combined, is_dynamic=True, settings=AUTHORIZED)


CASES = {
    "three": Case(dynamic_shape(3, 1), (2,), (1, 3)),
    "five": Case(dynamic_shape(5, 2), (2, 3, 5), (1, 4)),
    "combined": Case(dynamic_shape(3, 0, is_combined=True), (2, 3), (1,)),
    "lost": Case(dynamic_shape(3, 1), (1, 2, 3), (1,)),
    "static": Case(Shape(3, 1, settings=AUTHORIZED), (2,), (1, 3)),
}
SHAPES = ["three", *filter(None, os.environ.get("KRAFTOPS_RECOVER_SHAPES", "").split(","))]


def packed(cluster: Cluster, case: Case, folder: Path) -> list[str]:
    """Pack each node as the page says, with the paths of its host."""
    names = []
    for node_id, node in cluster.nodes.items():
        config = node.config
        directory = config.log_dirs[0]
        if node_id in case.lost:
            for name in ("__cluster_metadata-0", "bootstrap.checkpoint", "meta.properties"):
                if case.shape.is_combined and name == "meta.properties":
                    continue  # its partitions are left
                place = directory / name
                shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
            if node_id in case.voters:
                format_node(config, no_initial_controllers=True)
        name = str(folder / f"node-{node_id}.tar.gz")
        command = PACK.replace("/var/lib/kafka", str(directory)).replace("node-N.tar.gz", name)
        command = command.replace("/etc/kafka/server.properties", str(config.path))
        subprocess.run(["sh", "-c", command], check=True, capture_output=True)
        names.append(name)
    return names


class Follower:
    """Somebody who has nothing but the page."""

    def __init__(self, cluster: Cluster, folder: Path, environment: Mapping[str, str]) -> None:
        self.nodes = {str(node.config.path): node for node in cluster.nodes.values()}
        self.folder = folder
        self.environment = environment

    def do(self, command: str) -> str:
        if not command.startswith("kafka-server-start.sh "):
            return patiently(command, self.folder, self.environment)
        self.nodes[command.split()[1]].start()
        return ""

    def script(self, node_id: int) -> int:
        command = ["sh", f"node-{node_id}.sh"]
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, check=False
        ).returncode


@pytest.mark.parametrize("name", SHAPES)
def test_page_recovers_a_cluster(jars: Path, tmp_path: Path, name: str) -> None:
    case = CASES[name]
    with running_cluster(jars, tmp_path, case.shape) as cluster:
        fill(cluster.brokers, replicas=min(len(cluster.nodes), case.shape.brokers) or 3)
        before = contents(cluster.brokers)
        others = [node_id for node_id in cluster.nodes if node_id not in case.voters]
        kill(cluster, *others, *case.voters)
        copies = [f"--from={path}" for path in packed(cluster, case, tmp_path)]
        voters = ",".join(map(str, case.voters))
        folder = tmp_path / "plan"

        done = run_command(
            *("recover-plan", *copies, "--voters", voters, "--output-dir", str(folder)),
            program=STORAGE,
        )
        assert done.code == 0, done.err
        page = (folder / "README.txt").read_text()
        follower = Follower(cluster, folder, with_tools())
        if not case.shape.is_dynamic:
            servers = re.findall(
                r"^ +controller.quorum.bootstrap.servers=(.*)$", page, re.MULTILINE
            )
            assert follower.script(1) == 3
            for node in cluster.nodes.values():
                dynamic(node.config, servers[0])
        for command in re.findall(r"^ {7}((?:sh|kafka-|kraftops).*)$", page, re.MULTILINE):
            if command.endswith("--undo"):
                continue
            printed = follower.do(command)
            if command.startswith("kafka-cluster controllers -C"):
                assert re.match(r"leader [1-5], .*dynamic voters\n", printed)
        assert follower.script(case.voters[0]) == 3  # it runs

        controllers = range(1, case.shape.controllers + 1)
        for node in cluster.nodes.values():
            is_broker = BROKER in node.config.ports
            node.wait_ready(case.shape.brokers or case.shape.controllers if is_broker else 1)
        assert votes(cluster.nodes[max(cluster.nodes)], set(controllers))
        assert contents(cluster.brokers) == before
        assert not list(tmp_path.rglob("*-stray"))
        kill(cluster, *controllers)
        assert {follower.script(node_id) for node_id in controllers} == {0}

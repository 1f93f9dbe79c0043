"""The scripts and the page of `kafka-storage recover-plan`, followed to the letter on real nodes.

One shape is run; others by hand, a minute each: KRAFTOPS_RECOVER_SHAPES=five,combined,lost,torn,static.
"""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers.kafka.cases.damaged_directories import format_node
from tests.helpers.kafka.nodes.clusters import Cluster, Shape, running_cluster
from tests.helpers.kafka.nodes.configs import BROKER, Config
from tests.helpers.kafka.nodes.contents import AUTHORIZED, contents, fill
from tests.helpers.kafka.nodes.recoveries import (
    PageFollower,
    dynamic,
    kill,
    log_of,
    pack,
    votes,
)
from tests.helpers.tools.console import STORAGE, run_command

pytestmark = pytest.mark.kafka


@dataclass(frozen=True)
class Case:
    """A cluster, the controllers whose disks are lost, and the voters of the plan."""

    shape: Shape
    lost: tuple[int, ...]
    voters: tuple[int, ...]
    is_torn: bool = False


def dynamic_shape(controllers: int, brokers: int, *, is_combined: bool = False) -> Shape:
    return Shape(
        controllers, brokers, is_combined=is_combined, is_dynamic=True, settings=AUTHORIZED
    )


CASES = {
    "three": Case(dynamic_shape(3, 1), (2,), (1, 3)),
    "five": Case(dynamic_shape(5, 2), (2, 3, 5), (1, 4)),
    "combined": Case(dynamic_shape(3, 0, is_combined=True), (2, 3), (1,)),
    "lost": Case(dynamic_shape(3, 1), (1, 2, 3), (1,)),
    "torn": Case(dynamic_shape(3, 1), (2, 3), (1,), is_torn=True),
    "static": Case(Shape(3, 1, settings=AUTHORIZED), (2,), (1, 3)),
}
SHAPES = ["three", *filter(None, os.environ.get("KRAFTOPS_RECOVER_SHAPES", "").split(","))]


def lose_disks(cluster: Cluster, case: Case) -> None:
    """Empty the metadata directories of the lost controllers; format those that are to vote."""
    for node_id in case.lost:
        config = cluster.nodes[node_id].config
        for name in ("__cluster_metadata-0", "bootstrap.checkpoint", "meta.properties"):
            if case.shape.is_combined and name == "meta.properties":
                continue  # its partitions are left
            place = config.log_dirs[0] / name
            shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
        if node_id in case.voters:
            format_node(config, no_initial_controllers=True)


def tear(config: Config) -> None:
    """Leave half a batch at the end of a log, as a power cut does."""
    segment = max(log_of(config).glob("*.log"))
    content = segment.read_bytes()
    segment.write_bytes(content + content[:40])


@pytest.mark.parametrize("name", SHAPES)
def test_page_recovers_a_cluster(jars: Path, tmp_path: Path, name: str) -> None:
    case = CASES[name]
    with running_cluster(jars, tmp_path, case.shape) as cluster:
        fill(cluster.brokers, replicas=min(len(cluster.nodes), case.shape.brokers) or 3)
        before = contents(cluster.brokers)
        others = [node_id for node_id in cluster.nodes if node_id not in case.voters]
        kill(cluster, *others, *case.voters)
        lose_disks(cluster, case)
        if case.is_torn:
            tear(cluster.nodes[case.voters[0]].config)
        copies = [f"--from={pack(node.config, tmp_path)}" for node in cluster.nodes.values()]
        voters = ",".join(map(str, case.voters))
        folder = tmp_path / "plan"

        done = run_command(
            *("recover-plan", *copies, "--voters", voters, "--output", str(folder)),
            program=STORAGE,
        )
        assert done.code in (0, 2), done.err
        page = (folder / "README.txt").read_text()
        follower = PageFollower(cluster, folder)
        if not case.shape.is_dynamic:
            servers = re.findall(r"`controller.quorum.bootstrap.servers=(.*)`", page)
            assert follower.script(1) == 3
            for node in cluster.nodes.values():
                dynamic(node.config, servers[0])
        for command, printed in follower.follow(page):
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

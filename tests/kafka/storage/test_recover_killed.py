"""A cluster whose nodes were all killed, and whose last leader's copies are damaged, loses nothing.

The guide "A quorum is lost" is followed: brokers that did not stop cleanly are packed whole, and
the plan is made again with `--elect-newest` if it cuts records.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.helpers.kafka.cases.damaged_directories import format_node
from tests.helpers.kafka.nodes.clusters import FIRST_BROKER, Cluster, Shape, running_cluster
from tests.helpers.kafka.nodes.configs import Config
from tests.helpers.kafka.nodes.contents import add_topic, produce, records
from tests.helpers.kafka.nodes.recoveries import PageFollower, kill, pack
from tests.helpers.tools.console import STORAGE, Done, run_command
from tests.kafka.storage.test_recover_records import has_isr

pytestmark = [pytest.mark.kafka, pytest.mark.long]

LAST, SECOND, FIRST = FIRST_BROKER, FIRST_BROKER + 1, FIRST_BROKER + 2
"""The brokers, from the one that is killed last to the first: LAST leads all partitions then."""
COUNT = 600  # records with three replicas in sync, and as many with two
VOTER = 1


def kill_all(cluster: Cluster) -> None:
    """Acknowledge records with three and two brokers; kill these one by one, then all nodes."""
    config = cluster.nodes[VOTER].config
    add_topic(cluster.brokers, "orders", partitions=3, replicas=3)
    produce(cluster.brokers, "orders", COUNT)
    kill(cluster, FIRST)
    assert has_isr(config, LAST, SECOND)
    produce(cluster.brokers, "orders", COUNT)
    kill(cluster, SECOND)
    assert has_isr(config, LAST)
    kill(cluster, 2, 3, LAST, VOTER)


def whole(config: Config, folder: Path) -> str:
    """Pack all of a broker's disk, as one that did not stop cleanly; return the archive."""
    archive = folder / f"node-{config.node_id}.tar.gz"
    names = ("/etc/hostname", config.path, config.log_dirs[0])
    subprocess.run(["tar", "-czf", archive, *names], check=True, capture_output=True)
    return str(archive)


@pytest.mark.parametrize("lost", [(2, 3), (1, 2, 3)], ids=["two", "all"])
def test_no_acknowledged_record_is_lost(jars: Path, tmp_path: Path, lost: tuple[int, ...]) -> None:
    settings = {"min.insync.replicas": "2"}
    shape = Shape(controllers=3, brokers=3, is_dynamic=True, settings=settings)
    with running_cluster(jars, tmp_path, shape) as cluster:
        kill_all(cluster)
        configs = {node_id: node.config for node_id, node in cluster.nodes.items()}
        for segment in configs[LAST].log_dirs[0].glob("orders-*/*.log"):
            content = segment.read_bytes()
            middle = len(content) // 2
            segment.write_bytes(content[:middle] + b"\xee" * 40 + content[middle + 40 :])
        for node_id in lost:
            shutil.rmtree(configs[node_id].log_dirs[0])
        if VOTER in lost:
            format_node(configs[VOTER], no_initial_controllers=True)
        packed = [whole(configs[node_id], tmp_path) for node_id in (LAST, SECOND, FIRST)]
        packed += [pack(configs[node_id], tmp_path) for node_id in (1, 2, 3)]

        def plan(folder: Path, *more: str) -> Done:
            copies = [f"--from={archive}" for archive in packed]
            words = ("recover-plan", *copies, f"--voters={VOTER}", f"--output={folder}", *more)
            return run_command(*words, program=STORAGE)

        assert plan(tmp_path / "cuts").code == 2
        assert plan(tmp_path / "plan", "--elect-newest").code == 0
        page = (tmp_path / "plan/README.txt").read_text()
        assert [*PageFollower(cluster, tmp_path / "plan").follow(page)]

        assert has_isr(configs[VOTER], LAST, SECOND, FIRST)
        assert len(records(cluster.brokers, "orders")) == 2 * COUNT

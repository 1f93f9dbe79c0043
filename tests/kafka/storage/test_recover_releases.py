"""Recoveries of clusters of earlier releases that have dynamic quorums."""

from pathlib import Path

import pytest

from tests.helpers.kafka.nodes.clusters import FIRST_BROKER, Shape, running_cluster
from tests.helpers.kafka.nodes.configs import CONTROLLER
from tests.helpers.kafka.nodes.contents import AUTHORIZED, contents, fill
from tests.helpers.kafka.nodes.recoveries import (
    dynamic,
    follow,
    kill,
    leads,
    recover,
    votes,
)

pytestmark = pytest.mark.kafka


@pytest.mark.long
def test_static_quorum_becomes_dynamic_and_is_lost_once_more(
    earlier_jars: tuple[str, Path], tmp_path: Path
) -> None:
    version, jars = earlier_jars
    release = version.rpartition(".")[0]
    shape = Shape(controllers=2, brokers=1, release=release, settings=AUTHORIZED)
    with running_cluster(jars, tmp_path, shape) as cluster:
        broker = cluster.nodes[FIRST_BROKER]
        fill(cluster.brokers)
        before = contents(cluster.brokers)
        kill(cluster, 2, 1, FIRST_BROKER)
        config = cluster.nodes[1].config

        first = recover(config, "--voters", "self")
        for node in cluster.nodes.values():
            dynamic(node.config, f"localhost:{config.ports[CONTROLLER]}")
        cluster.nodes[1].start()
        broker.start()

        assert (first["votersBefore"], first["lostVoters"]) == (None, [2])
        assert leads(cluster.nodes[1]).voters == {1}
        broker.wait_ready(1)
        assert broker.features()["kraft.version"] == 1
        assert contents(cluster.brokers) == before
        follow(cluster, first, 2)
        assert votes(cluster.nodes[1], {1, 2})

        kill(cluster, 2, 1)  # the broker goes on
        second = recover(config, "--voters", "self")
        cluster.nodes[1].start()

        assert (len(second["votersBefore"]), second["lostVoters"]) == (2, [2])
        assert leads(cluster.nodes[1]).voters == {1}
        broker.wait_ready(1)
        assert contents(cluster.brokers) == before

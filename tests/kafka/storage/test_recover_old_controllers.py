"""Lost controllers that start again with their old disks after a recovery of the others."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftops.recovery.log_copy import read_log
from tests.helpers.kafka.nodes.clusters import Cluster, Shape, running_cluster
from tests.helpers.kafka.nodes.nodes import Node, until
from tests.helpers.kafka.nodes.recoveries import (
    follow,
    kill,
    known_leader,
    leads,
    log_of,
    recover,
    votes,
)

pytestmark = pytest.mark.kafka


def voters_on_disk(node: Node) -> set[int]:
    """Return the ids of the voters that the metadata log of a node names last."""
    voters = read_log("", str(log_of(node.config))).quorum.voters
    return {voter.node_id for voter in voters or ()}


@pytest.mark.long
class TestOldControllersStartAgain:
    """The lost controllers start again with their old disks."""

    @pytest.fixture
    def cluster(self, jars: Path, tmp_path: Path) -> Iterator[Cluster]:
        """A stopped quorum of three; the first was recovered."""
        shape = Shape(controllers=3, is_dynamic=True)
        with running_cluster(jars, tmp_path, shape) as cluster:
            kill(cluster, 2, 3, 1)
            recover(cluster.nodes[1].config, "--voters", "self")
            yield cluster

    def test_while_the_recovered_one_leads_they_follow_it(self, cluster: Cluster) -> None:
        cluster.nodes[1].start()
        assert leads(cluster.nodes[1]).voters == {1}

        for node_id in (2, 3):
            cluster.nodes[node_id].start()

        assert until(lambda: cluster.nodes[1].quorum().observers == {2, 3}, 60)
        assert cluster.nodes[1].quorum().voters == {1}
        kill(cluster, 1)  # they have its voters now, of which they are none
        assert not until(lambda: known_leader(cluster.nodes[2]) in (2, 3), 10)

    def test_before_it_they_are_another_cluster(self, cluster: Cluster) -> None:
        for node_id in (2, 3):
            cluster.nodes[node_id].start()

        assert until(lambda: known_leader(cluster.nodes[2]) in (2, 3), 60)
        assert known_leader(cluster.nodes[2]) in (2, 3)


@pytest.mark.long
def test_auto_join_lets_them_vote_again(jars: Path, tmp_path: Path) -> None:
    """Formatted again, as is printed; or with the old disk, whose log follows the leader's."""
    shape = Shape(
        controllers=3,
        is_dynamic=True,
        settings={"controller.quorum.auto.join.enable": "true"},
    )
    with running_cluster(jars, tmp_path, shape) as cluster:
        kill(cluster, 2, 3, 1)

        plan = recover(cluster.nodes[1].config, "--voters", "self")
        cluster.nodes[1].start()
        assert leads(cluster.nodes[1]).voters == {1}
        follow(cluster, plan, 2)

        assert [step["text"] for step in plan["nextSteps"] if "joins by itself" in step["text"]]
        assert not [step for step in plan["nextSteps"] if "controllers add" in str(step["command"])]
        assert votes(cluster.nodes[1], {1, 2})
        cluster.nodes[3].start()
        assert votes(cluster.nodes[1], {1, 2, 3})
        # The leader tells of voters as soon as it has written them. Killed then, it is the only one
        # that knows node 3, and the majority that node 2 knows is gone with it.
        others = [cluster.nodes[node_id] for node_id in (2, 3)]
        assert until(lambda: [voters_on_disk(node) for node in others] == [{1, 2, 3}] * 2, 60)
        kill(cluster, 1)
        assert until(lambda: known_leader(cluster.nodes[2]) in (2, 3))

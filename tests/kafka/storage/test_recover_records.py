"""Records that only the newest broker has: a recovery counts them, and keeps them by an election.

`KRAFTOPS_KAFKA_RELEASES` has the releases, separated by commas; with it, brokers are killed, too.
"""

import json
import os
from pathlib import Path

import pytest

from kraftops import load
from kraftops.engine.metadata_state import PartitionState
from tests.helpers.kafka.jvm.jars import resolved_jars
from tests.helpers.kafka.nodes.clusters import FIRST_BROKER, Cluster, Shape, running_cluster
from tests.helpers.kafka.nodes.configs import BROKER, Config
from tests.helpers.kafka.nodes.contents import AUTHORIZED, add_topic, produce, records
from tests.helpers.kafka.nodes.nodes import until
from tests.helpers.kafka.nodes.protocol import AnswerError
from tests.helpers.kafka.nodes.recoveries import (
    PageFollower,
    follow_moves,
    kill,
    leads,
    log_of,
    pack,
    recover,
    refused,
    tried,
)
from tests.helpers.tools.console import STORAGE, run_command

pytestmark = pytest.mark.kafka

_CHOSEN = os.environ.get("KRAFTOPS_KAFKA_RELEASES", "")
OTHER, NEWEST = FIRST_BROKER, FIRST_BROKER + 1
BEFORE, AFTER = 700, 250


def address_of(cluster: Cluster, node_id: int) -> str:
    """Return the address of a broker that runs."""
    return f"localhost:{cluster.port(node_id, BROKER)}"


def states(config: Config) -> list[PartitionState]:
    """Return the partitions of the topic in the metadata log on the disk of a node."""
    image = load([str(log_of(config))])
    topic_id = image.topic_ids.get("orders")
    numbers = range(3) if topic_id else ()
    found = [image.partition(topic_id or b"", number) for number in numbers]
    return [state for state in found if state]


def has_isr(config: Config, *brokers: int) -> bool:
    """Tell whether all partitions come to have this ISR in the metadata log of a node."""
    return until(
        lambda: [sorted(state.isr) for state in states(config)] == [sorted(brokers)] * 3, 60
    )


def is_alone(cluster: Cluster, node_id: int) -> bool:
    """Tell whether a broker comes to know itself alone as alive."""

    def knows_itself() -> bool:
        try:
            return cluster.nodes[node_id].cluster().nodes == {node_id}
        except (OSError, AnswerError):
            return False

    return until(knows_itself, 60)


def lose_quorum(cluster: Cluster, *, is_clean: bool) -> None:
    """Lose controllers 1 and 2; 3 stopped when broker 101 led, and only 102 has the last records."""
    configs = {node_id: node.config for node_id, node in cluster.nodes.items()}
    add_topic(cluster.brokers, "orders", partitions=3, replicas=2)
    produce(cluster.brokers, "orders", BEFORE)
    cluster.nodes[NEWEST].stop()
    assert has_isr(configs[3], OTHER)
    kill(cluster, 3)
    cluster.nodes[NEWEST].start()
    cluster.nodes[NEWEST].wait_ready(2)
    assert has_isr(configs[1], OTHER, NEWEST)
    cluster.nodes[OTHER].stop()
    assert has_isr(configs[1], NEWEST)
    assert is_alone(cluster, NEWEST)
    produce(address_of(cluster, NEWEST), "orders", AFTER)
    if is_clean:
        cluster.nodes[NEWEST].stop()
    kill(cluster, NEWEST, 1, 2)


def segments(config: Config) -> dict[str, bytes]:
    """Return the logs of the topic's partitions on the disk of a broker."""
    return {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for path in sorted(config.log_dirs[0].glob("orders-*/*.log"))
    }


@pytest.mark.parametrize("release", _CHOSEN.split(",") if _CHOSEN else ["4.3.1"])
@pytest.mark.parametrize("is_clean", [True, False] if _CHOSEN else [True])
def test_records_of_the_newest_broker_are_kept(
    tmp_path: Path, jars: Path, release: str, *, is_clean: bool
) -> None:
    shape = Shape(
        controllers=3,
        brokers=2,
        is_dynamic=True,
        settings=AUTHORIZED,
        release=release.rpartition(".")[0],
    )
    chosen_jars = jars if release == "4.3.1" else resolved_jars(release)
    with running_cluster(chosen_jars, tmp_path, shape) as cluster:
        lose_quorum(cluster, is_clean=is_clean)
        config = cluster.nodes[3].config
        disks = [f"--from={cluster.nodes[n].config.log_dirs[0]}" for n in (OTHER, NEWEST)]
        old = ("--voters=self", f"--choose={log_of(config)}")

        assert refused(config, *old) == "unseen-brokers"
        assert tried(config, *old, disks[0], "--unseen-broker=7").code == 4
        accepted = recover(config, *old, disks[0], f"--unseen-broker={NEWEST}", "--dry-run")
        assert accepted["lossTotal"]["partitions"] == []
        metadata = f"--from={log_of(cluster.nodes[NEWEST].config)}"
        by_metadata = recover(config, "--voters=self", metadata, disks[0], "--dry-run")
        assert by_metadata["logs"][0]["nodeId"] == NEWEST
        assert by_metadata["lossTotal"]["partitions"] == []

        best = recover(config, "--voters=self", *disks, "--dry-run")
        assert (best["logs"][0]["nodeId"], best["losses"]) == (NEWEST, [])

        looked = recover(config, *old, *disks, "--dry-run")
        total = looked["lossTotal"]
        assert (total["acknowledged"] or 0) + total["possible"] == AFTER
        assert {loss["broker"] for loss in looked["losses"]} == {NEWEST}
        if is_clean:
            assert total["text"] == (
                f"{AFTER} acknowledged records of orders-0, orders-1, orders-2 would be cut from "
                f"broker {NEWEST}"
            )

        plan = recover(config, *old, *disks, "--elect-newest")
        assert plan["lossTotal"]["partitions"] == []
        assert {election["leader"] for election in plan["elections"]} == {NEWEST}
        assert "producer-ids-raised" in {finding["code"] for finding in plan["findings"]}
        follow_moves(plan)
        cluster.nodes[3].start()
        assert leads(cluster.nodes[3]).voters == {3}
        cluster.nodes[NEWEST].start()
        assert is_alone(cluster, NEWEST)
        assert len(records(address_of(cluster, NEWEST), "orders")) == BEFORE + AFTER

        cluster.nodes[OTHER].start()
        cluster.nodes[OTHER].wait_ready(2)
        assert has_isr(config, OTHER, NEWEST)
        assert len(records(address_of(cluster, NEWEST), "orders")) == BEFORE + AFTER
        produce(address_of(cluster, NEWEST), "orders", 30)
        assert until(
            lambda: segments(cluster.nodes[OTHER].config) == segments(cluster.nodes[NEWEST].config)
        )
        assert load([str(log_of(config))]).producer_ids is not None
        assert json.loads(tried(config, "--voters=self").text)["error"] == "running"


@pytest.mark.skipif(not _CHOSEN, reason="run by hand")
@pytest.mark.parametrize("release", _CHOSEN.split(","))
@pytest.mark.parametrize("elects_newest", [True, False])
def test_page_of_a_plan_keeps_the_records(
    tmp_path: Path, jars: Path, release: str, *, elects_newest: bool
) -> None:
    """By an election from the lagging log, or by the log of the newest broker."""
    shape = Shape(controllers=3, brokers=2, is_dynamic=True, release=release.rpartition(".")[0])
    chosen_jars = jars if release == "4.3.1" else resolved_jars(release)
    with running_cluster(chosen_jars, tmp_path, shape) as cluster:
        lose_quorum(cluster, is_clean=True)
        nodes = {node_id: cluster.nodes[node_id] for node_id in (3, OTHER, NEWEST)}
        archives = {node_id: pack(node.config, tmp_path) for node_id, node in nodes.items()}
        more = (f"--choose={archives[3]}", "--elect-newest") if elects_newest else ()
        folder = tmp_path / "plan"

        done = run_command(
            *("recover-plan", *(f"--from={name}" for name in archives.values()), *more),
            *("--voters", "3", "--output", str(folder), "--format", "json"),
            program=STORAGE,
        )
        answer = json.loads(done.text)
        assert (done.code, answer["losses"], [row["broker"] for row in answer["brokers"]]) == (
            0,
            [],
            [NEWEST, OTHER],
        )
        page = (folder / "README.txt").read_text()
        for command, _ in PageFollower(cluster, folder).follow(page):
            if "describe" in command:
                break  # the newest is there, and the next broker starts after it
        assert is_alone(cluster, NEWEST)
        assert len(records(address_of(cluster, NEWEST), "orders")) == BEFORE + AFTER
        cluster.nodes[OTHER].start()
        cluster.nodes[OTHER].wait_ready(2)
        assert has_isr(cluster.nodes[3].config, OTHER, NEWEST)
        assert len(records(address_of(cluster, NEWEST), "orders")) == BEFORE + AFTER


@pytest.mark.skipif(not _CHOSEN, reason="run by hand")
@pytest.mark.parametrize(
    ("order", "kept"), [((NEWEST, OTHER), BEFORE + AFTER), ((OTHER, NEWEST), BEFORE)]
)
def test_first_of_the_eligible_brokers_leads(
    tmp_path: Path, jars: Path, order: tuple[int, int], kept: int
) -> None:
    """With min.insync.replicas 2, both stay eligible once the recovered controller fences them."""
    settings = {"min.insync.replicas": "2"}
    shape = Shape(controllers=3, brokers=2, is_dynamic=True, settings=settings)
    with running_cluster(jars, tmp_path, shape) as cluster:
        config = cluster.nodes[3].config
        add_topic(cluster.brokers, "orders", partitions=3, replicas=2)
        produce(cluster.brokers, "orders", BEFORE)
        assert has_isr(config, OTHER, NEWEST)
        kill(cluster, 3)
        cluster.nodes[OTHER].stop()
        assert is_alone(cluster, NEWEST)
        produce(address_of(cluster, NEWEST), "orders", AFTER, acks=1)
        cluster.nodes[NEWEST].stop()
        kill(cluster, 1, 2)
        disks = [f"--from={cluster.nodes[n].config.log_dirs[0]}" for n in order]

        plan = recover(config, "--voters=self", f"--choose={log_of(config)}", *disks)
        assert plan["lossTotal"]["possible"] == AFTER
        follow_moves(plan)
        cluster.nodes[3].start()
        assert leads(cluster.nodes[3]).voters == {3}
        assert until(lambda: {state.leader for state in states(config)} == {-1}, 60)
        for node_id, running in zip(order, (1, 2), strict=True):
            cluster.nodes[node_id].start()
            cluster.nodes[node_id].wait_ready(running)

        assert has_isr(config, OTHER, NEWEST)
        assert len(records(cluster.brokers, "orders")) == kept

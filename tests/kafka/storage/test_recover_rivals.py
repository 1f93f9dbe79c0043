"""Two controllers of a lost quorum are never both recovered to themselves without a word."""

import json
from pathlib import Path

import pytest

from kraftops.recovery.log_copy import read_log
from tests.helpers.kafka.nodes.clusters import (
    FIRST_BROKER,
    Cluster,
    Shape,
    running_cluster,
    wait_for_leader,
)
from tests.helpers.kafka.nodes.configs import CONTROLLER, Config
from tests.helpers.kafka.nodes.nodes import until
from tests.helpers.kafka.nodes.recoveries import (
    kill,
    known_leader,
    leads,
    log_of,
    recover,
    tried,
    whole_log,
)
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


@pytest.mark.long
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


def agreed_leader(cluster: Cluster, *ids: int) -> int:
    """Wait until these controllers name one of them as their leader; return it."""
    leaders: set[int | None] = set()

    def agree() -> bool:
        leaders.clear()
        leaders.update(known_leader(cluster.nodes[node_id]) for node_id in ids)
        return len(leaders) == 1 and leaders <= {*ids}

    assert until(agree, 60)
    return next(leader for leader in leaders if leader is not None)


@pytest.mark.long
def test_broker_gives_up_what_it_has_of_epochs_that_the_survivor_never_saw(
    jars: Path, tmp_path: Path
) -> None:
    """In an epoch that lost controllers had, it would keep their records beside the new ones."""
    shape = Shape(controllers=3, brokers=1, is_dynamic=True)
    with running_cluster(jars, tmp_path, shape) as cluster:
        kill(cluster, 3)
        survivor, broker = cluster.nodes[3], cluster.nodes[FIRST_BROKER]
        known = read_log("survivor", str(log_of(survivor.config)))
        epochs = set()
        while len(epochs) < 3:
            leader = agreed_leader(cluster, 1, 2)
            kill(cluster, leader)
            cluster.nodes[leader].start()
            agreed_leader(cluster, 1, 2)
            assert until(lambda: read_log("", str(log_of(broker.config))).epoch not in epochs, 30)
            epochs.add(read_log("", str(log_of(broker.config))).epoch)
        kill(cluster, 1, 2, FIRST_BROKER)
        assert known.epoch + 2 <= max(epochs)  # failed elections skip epochs

        plan = recover(survivor.config, "--voters", "self")
        size = len(whole_log(survivor.config))
        survivor.start()
        assert leads(survivor).voters == {3}
        broker.start()
        broker.wait_ready(1)

        def is_same() -> bool:
            logs = whole_log(survivor.config), whole_log(broker.config)
            common = min(map(len, logs))
            return common > size and logs[0][:common] == logs[1][:common]

        assert until(is_same, 30)
        assert plan["epoch"] > max(epochs)

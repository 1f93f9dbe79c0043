"""`kafka-cluster` beside recorded runs of Kafka's tool with clusters of the same shapes."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.kafka.nodes.clusters import (
    Cluster,
    Shape,
    restarted,
    running_cluster,
    wait_for_leader,
)
from tests.helpers.kafka.nodes.configs import BROKER
from tests.helpers.kafka.nodes.nodes import until
from tests.helpers.tools.cluster_transcripts import Case, cases, difference, write_files

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

SASL, CSASL = "SASL", "CSASL"
ISO = Shape(
    brokers=2,
    cluster_id="AAAAAAAAAAAAAAAAAAAAAQ",
    node_settings={101: {"broker.rack": "r1"}, 102: {"broker.rack": "rack-number-two"}},
)
ONE = Shape(is_combined=True, cluster_id="abcdefghijklmnopqrstuA")
QUORUM = Shape(controllers=3, brokers=1, is_dynamic=True, cluster_id="QQQQQQQQQQQQQQQQQQQQQg")
V391 = Shape(is_combined=True, cluster_id="VVVVVVVVVVVVVVVVVVVVVg", release="3.9")
_USERS = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required"
    ' user_admin="admin-pw" user_bob="bob-pw";'
)
SECURE = Shape(
    brokers=1,
    cluster_id="SSSSSSSSSSSSSSSSSSSSSw",
    broker_listeners={SASL: "SASL_PLAINTEXT"},
    controller_listeners={CSASL: "SASL_PLAINTEXT"},
    settings={
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:admin;User:ANONYMOUS",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl.plain.sasl.jaas.config": _USERS,
        "listener.name.csasl.plain.sasl.jaas.config": _USERS,
    },
)

Step = Callable[[Cluster], object]


def killed(*nodes: int) -> Step:
    return lambda cluster: [cluster.nodes[node].kill() for node in nodes]


def fenced(count: int) -> Step:
    """Wait until all nodes report this number of unfenced brokers."""

    def step(cluster: Cluster) -> None:
        alive = [node for node in cluster.nodes.values() if node.exit_code is None]
        brokers = [node for node in alive if BROKER in node.config.ports]
        assert until(lambda: all(len(node.cluster().nodes) == count for node in brokers), 30)

    return step


def started_again(cluster: Cluster) -> None:
    cluster.nodes[102].stop()
    restarted(cluster, 102)


def nothing(_: Cluster) -> None:
    pass


def wait_a_while(_: Cluster) -> None:
    time.sleep(4)


STEPS: dict[str, Step] = {
    "iso; broker 102 killed, just now (its session still lives)": killed(102),
    "iso; broker 102 killed and fenced": fenced(1),
    "iso; broker 102 was unregistered and has been started again": started_again,
    "iso; broker 102 was unregistered through the controller while running; still running 6 s later": wait_a_while,
    "iso; the only controller killed": killed(1),
    "iso; the only controller killed, brokers running": killed(1),
    "quorum; controller 3 killed": lambda cluster: [killed(3)(cluster), wait_for_leader(cluster)],
    "quorum; controllers 2 and 3 killed, no majority": killed(2),
}
"""What happens before the first case of a setup."""


def values(cluster: Cluster) -> dict[str, str]:
    """Return the values of the placeholders in the cases."""
    found = {
        "B": cluster.brokers.split(",")[0],
        "C": cluster.controllers.split(",")[0],
        "CALL": cluster.controllers,
        "DEAD": "1",
    }
    for node, each in cluster.nodes.items():
        for name, port in each.config.ports.items():
            found[f"{'BROKER' if name == BROKER else name}{node}"] = str(port)
    return found


def differences(jars: Path, folder: Path, shape: Shape, chosen: list[Case]) -> list[str]:
    """Run cases, and the steps between them, against a cluster; return the differences."""
    found = []
    files = folder / "files"
    files.mkdir()
    write_files(files)
    with running_cluster(jars, folder, shape) as cluster:
        at = chosen[0].setup
        STEPS.get(at, nothing)(cluster)
        for case in chosen:
            if case.setup != at:
                at = case.setup
                STEPS.get(at, nothing)(cluster)
            found.append(difference(case, files, values(cluster), here=False))
    return [each for each in found if each]


def is_without_controller(case: Case) -> bool:
    return case.setup == "iso; the only controller killed, brokers running"


@pytest.mark.long
def test_isolated_controller_and_brokers(jars: Path, tmp_path: Path) -> None:
    chosen = [case for case in cases("iso") if not is_without_controller(case)]

    assert differences(jars, tmp_path, ISO, chosen) == []


@pytest.mark.long
def test_brokers_without_a_controller(jars: Path, tmp_path: Path) -> None:
    chosen = [case for case in cases("iso") if is_without_controller(case)]

    assert differences(jars, tmp_path, ISO, chosen) == []


def test_combined_node(jars: Path, tmp_path: Path) -> None:
    assert differences(jars, tmp_path, ONE, cases("one")) == []


@pytest.mark.long
def test_quorum_of_three(jars: Path, tmp_path: Path) -> None:
    assert differences(jars, tmp_path, QUORUM, cases("quorum")) == []


@pytest.mark.long
def test_older_node(older_jars: Path, tmp_path: Path) -> None:
    assert differences(older_jars, tmp_path, V391, cases("v391")) == []


@pytest.mark.long
def test_users_and_permissions(jars: Path, tmp_path: Path) -> None:
    assert differences(jars, tmp_path, SECURE, cases("secure")) == []

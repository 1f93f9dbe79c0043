"""A user with few permissions: what is unknown is said so, and what is missing is named."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftops.tree.names import (
    ACL_OPERATIONS,
    ACL_PATTERNS,
    ACL_PERMISSIONS,
    ACL_RESOURCES,
)
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.bootstrap import connect
from tests.helpers.kafka.nodes.clusters import Cluster, Shape, running_cluster
from tests.helpers.kafka.nodes.moving import create_topics, tool
from tests.helpers.kafka.nodes.nodes import until

pytestmark = [pytest.mark.kafka, pytest.mark.long, pytest.mark.slow]

PLAIN, USER = "PLAIN", "bob"
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.fixture(scope="module")
def live(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A node on which only nobody, by the listener without a login, may do everything."""
    settings = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "listener.name.plain.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.plain.plain.sasl.jaas.config": f'{MODULE} required user_{USER}="x";',
    }
    shape = Shape(is_combined=True, settings=settings, broker_listeners={PLAIN: "SASL_PLAINTEXT"})
    with running_cluster(jars, tmp_path_factory.mktemp("restricted"), shape) as cluster:
        create_topics(cluster, {"hidden": (3, 1)})
        yield cluster


@pytest.fixture
def login(live: Cluster, tmp_path: Path) -> tuple[str, ...]:
    """Return the options of the user."""
    path = tmp_path / "client.properties"
    path.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        f'sasl.jaas.config={MODULE} required username="{USER}" password="x";\n'
    )
    return "-b", live.addresses(PLAIN), "-c", str(path)


def allow(cluster: Cluster, operation: str) -> None:
    """Grant an operation on the cluster."""
    creation = {
        "resource_type": ACL_RESOURCES.index("CLUSTER"),
        "resource_name": "kafka-cluster",
        "resource_pattern_type": ACL_PATTERNS.index("LITERAL"),
        "principal": f"User:{USER}",
        "host": "*",
        "operation": ACL_OPERATIONS.index(operation),
        "permission_type": ACL_PERMISSIONS.index("ALLOW"),
    }
    with connect(parse_bootstrap(cluster.brokers), Settings(), Deadline(30)) as connection:
        answer = connection.ask("CreateAcls", creations=[creation])
    assert [each.error_code for each in answer.results] == [0]


def test_hidden_topics_are_unknown_and_missing_permissions_are_named_together(
    live: Cluster, login: tuple[str, ...]
) -> None:
    nothing = tool("operations", *login, "--check-permissions")
    allow(live, "DESCRIBE")
    assert until(lambda: "DESCRIBE on the cluster: granted" in permissions(*login))

    text = tool("describe", *login)
    answer = json.loads(tool("describe", *login, "--format", "json").text)
    refused = tool("rebalance", *login, "--yes")
    named = tool("rebalance", *login, "--check-permissions", "--format", "json")

    assert nothing.code == 2
    assert "kafka-acls --add --cluster --operation DESCRIBE" in nothing.text
    assert text.code == 0, text.err
    assert "note: the partitions: " in text.err
    assert "DESCRIBE" in text.err
    assert "0 partitions" not in text.text
    assert (answer["partitions"], answer["quorum"]["leader"]) == (None, 1)
    assert {broker["replicas"] for broker in answer["brokers"]} == {None}
    assert answer["operations"] is None
    assert refused.code in (1, 3)
    granted = {
        each["operation"]: each["isGranted"] for each in json.loads(named.text)["permissions"]
    }
    assert named.code == 2
    assert granted == {
        "DESCRIBE": True,
        "DESCRIBE_CONFIGS": False,
        "ALTER": False,
        "ALTER_CONFIGS": False,
        "ALL": False,
    }


def permissions(*login: str) -> str:
    """Return the permissions that an operation of a rebalance needs."""
    return tool("rebalance", *login, "--check-permissions").text

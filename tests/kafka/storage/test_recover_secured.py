"""A recovery asks controllers that want a login over TLS, with the node's own settings.

It is run by hand: KRAFTOPS_RECOVER_SHAPES=secured.
"""

import json
import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.helpers.kafka.nodes.clusters import Cluster, Shape, configured, formatted
from tests.helpers.kafka.nodes.nodes import running, until
from tests.helpers.kafka.nodes.recoveries import kill, recover, tried
from tests.helpers.tools.console import CLUSTER, run_command
from tests.helpers.wire.certificates import authority, signed_by

pytestmark = pytest.mark.kafka

_LOGIN = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="alice" password="in-wonderland"'
)


def secured(folder: Path) -> Shape:
    """Return three controllers whose listener is SASL_SSL, and write the files of their clients."""
    ca = authority()
    server = signed_by(ca, "server")
    (folder / "server.pem").write_text(server.key_pem() + server.pem)
    (folder / "ca.pem").write_text(ca.pem)
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": f"{folder}/ca.pem"}
    client = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f"{_LOGIN};",
        **trust,
    }
    lines = [f"{key}={value}\n" for key, value in client.items()]
    (folder / "client.properties").write_text("".join(lines))
    settings = {
        "listener.security.protocol.map": "CONTROLLER:SASL_SSL",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.controller.plain.sasl.jaas.config": (
            f'{_LOGIN} user_alice="in-wonderland";'
        ),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": f"{folder}/server.pem",
        **trust,
    }
    return Shape(controllers=3, is_dynamic=True, settings=settings)


def leader(cluster: Cluster, folder: Path) -> int:
    """Return the leader that the controllers come to have."""
    answers: list[int] = []
    args = ("controllers", "-C", cluster.controllers, "-c", str(folder / "client.properties"))

    def leads() -> bool:
        done = run_command(*args, "--timeout", "5", "--format", "json", program=CLUSTER)
        answers.append(json.loads(done.text).get("leader", -1))
        return answers[-1] > 0

    assert until(leads, 60)
    return answers[-1]


@pytest.mark.skipif(
    "secured" not in os.environ.get("KRAFTOPS_RECOVER_SHAPES", ""), reason="run by hand"
)
def test_controllers_are_asked_over_tls_and_sasl(jars: Path, tmp_path: Path) -> None:
    shape = secured(tmp_path)
    configs = configured(tmp_path, shape)
    for config in configs:
        formatted(config, configs, shape)
    with ExitStack() as stack:
        nodes = {config.node_id: stack.enter_context(running(jars, config)) for config in configs}
        cluster = Cluster(nodes)
        leader(cluster, tmp_path)
        kill(cluster, 1)

        live = json.loads(tried(configs[0], "--voters", "self").text)
        kill(cluster, 2, 3)
        plan = recover(configs[0], "--voters", "self")
        cluster.nodes[1].start()

        assert (live["error"], live["leader"] in (2, 3)) == ("quorum-alive", True)
        assert len(live["voters"]) == 3
        assert "in-wonderland" not in json.dumps([live, plan])
        assert plan["lostVoters"] == [2, 3]
        assert leader(cluster, tmp_path) == 1

"""`kafka-cluster`: help, JSON, and the modules that it loads."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.helpers.tools.console import CLUSTER, ENVIRONMENT
from tests.helpers.tools.fake_cluster import NODES, cluster, serving
from tests.helpers.wire.peers import (
    CLUSTER_ID,
    Peer,
    broker,
)


@pytest.fixture
def peer() -> Iterator[Peer]:
    with Peer(broker) as found:
        yield found


def test_json_is_one_line(peer: Peer) -> None:
    done = cluster("id", "-b", str(peer.address), "--format", "json")

    assert json.loads(done.text)["clusterId"] == CLUSTER_ID
    assert done.text.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("list-endpoints",),
        ("api-versions",),
        ("describe",),
        ("unregister", "-i", "22", "--force"),
    ],
)
def test_json_names_the_cluster(words: tuple[str, ...]) -> None:
    with serving([*NODES]) as peer:
        done = cluster(*words, "-b", str(peer.address), "--format", "json")

    answers = [json.loads(line) for line in done.text.splitlines()]
    assert [each["clusterId"] for each in answers if "clusterId" in each] == [CLUSTER_ID]


@pytest.mark.parametrize(
    "command", ["cluster-id", "unregister", "list-endpoints", "api-versions", "describe", "wait"]
)
def test_help_exits_with_0(command: str) -> None:
    done = cluster(command, "--help")

    assert done.code == 0
    assert "--bootstrap-server" in done.text
    assert "--expect-cluster-id" in done.text


@pytest.mark.parametrize("prefix", ["cluster", "unreg", "list"])
def test_kafkas_commands_may_be_shortened(prefix: str) -> None:
    assert "one of the arguments" in cluster(prefix, "-i1" if prefix == "unreg" else "--").err or (
        prefix != "unreg"
    )


def test_start_loads_no_client_of_kafka_python(peer: Peer) -> None:
    """Nor TLS stores, nor SASL."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", CLUSTER, "id", "-b", str(peer.address)],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=60,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}

    assert "kafka.protocol.data_container" in loaded
    heavy = ("kafka.admin", "kafka.consumer", "kafka.net", "kafka.producer", "cryptography",
             "asyncio", "kraftops.log", "kraftops.schema", "kraftops.wire.auth.tls", "urllib.request")  # fmt: skip
    assert [name for name in sorted(loaded) if name.startswith(heavy)] == []

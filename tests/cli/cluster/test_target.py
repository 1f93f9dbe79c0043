"""Options that name a cluster."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.tools.fake_cluster import cluster
from tests.helpers.wire.peers import (
    CLUSTER_ID,
    Peer,
    broker,
    free_port,
)


@pytest.fixture
def peer() -> Iterator[Peer]:
    with Peer(broker) as found:
        yield found


def test_warnings_are_lines_on_standard_error(peer: Peer, tmp_path: Path) -> None:
    (tmp_path / "c.properties").write_text("no.such.key=1\nacks=all\n")

    done = cluster("id", "-b", str(peer.address), "--config", "c.properties", cwd=tmp_path)

    assert (done.code, done.text) == (0, f"Cluster ID: {CLUSTER_ID}\n")
    assert done.errors == [
        "kafka-cluster: warning: --config has been deprecated and will be removed in a future version",
        "hint: --command-config is its name now",
        "kafka-cluster: warning: c.properties: line 1: the key no.such.key is unknown, and ignored",
    ]  # fmt: skip


@pytest.mark.parametrize("seconds", ["0", "-1", "x"])
def test_timeout_is_a_number(peer: Peer, seconds: str) -> None:
    assert cluster("id", "-b", str(peer.address), "--timeout", seconds).code == 1


def test_closed_port_is_an_error_at_once() -> None:
    with free_port() as port:
        done = cluster("cluster-id", "-C", f"localhost:{port}")

    assert done.errors == [
        f"kafka-cluster: localhost:{port}: connection refused",
        "hint: nothing listens there: check host and port, and whether the node runs",
    ]


@pytest.mark.parametrize("seconds", ["nan", "inf", "1e20", "0", "-1", "soon"])
def test_impossible_timeout_is_refused(seconds: str) -> None:
    done = cluster("cluster-id", "-b", "localhost:1", "--timeout", seconds)

    assert done.code == 1
    assert f"'{seconds}' is not a number of seconds" in done.err

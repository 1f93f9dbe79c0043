"""Options that name a cluster."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.connection import NodeKind
from kraftops.wire.rpc.endpoints import Endpoints
from kraftops_cli.cluster.target import KeptImage, Target
from tests.helpers.tools.fake_cluster import cluster
from tests.helpers.wire.metadata_quorums import MetadataLog, topic
from tests.helpers.wire.peers import (
    CLUSTER_ID,
    Peer,
    broker,
    free_port,
)
from tests.helpers.wire.quorums import quorum


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


def test_metadata_that_is_kept_fetches_only_what_is_new() -> None:
    """Each look at it costs as much as has changed."""
    log = MetadataLog()
    for number in range(200):
        log.add(*topic(number))
    with quorum(log, 1) as controllers:
        bootstrap = [Bootstrap(controllers.address(1))]
        target = Target(Endpoints(bootstrap, Settings()), NodeKind.CONTROLLER, Deadline(20))
        kept = KeptImage()
        with kept.current(target) as live:
            assert live.image.fold.topic_count() == 200
            before = len(log.asked)

            for count in range(201, 204):
                log.add(*topic(count))
                while kept.current(target).image.fold.topic_count() < count:
                    assert not target.deadline.is_over
                    time.sleep(0.01)

    offsets = [asked[1] for kind, asked in log.asked[before:] if kind == "fetch"]
    end_of_loading = 402  # the leader's record, the version, and two a topic
    assert len(offsets) > 3
    assert min(offsets) >= end_of_loading

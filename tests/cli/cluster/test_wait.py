"""`kafka-cluster wait`."""

from tests.helpers.tools.fake_cluster import cluster
from tests.helpers.wire.peers import (
    free_port,
)


def test_timeout_names_the_cause_and_the_time_once() -> None:
    with free_port() as port:
        done = cluster("wait", "-b", f"localhost:{port}", "--brokers", "2", "--timeout", "0.7")

    assert done.errors[0] == (
        f"kafka-cluster: localhost:{port}: connection refused; tried for 0.7 s"
    )

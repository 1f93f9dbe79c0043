"""`kafka-cluster unregister` of many brokers, and of a quorum that does not answer."""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.kafka.nodes.clusters import Cluster, Shape, running_cluster
from tests.helpers.kafka.nodes.nodes import until
from tests.helpers.tools.console import CLUSTER, Done, run_command

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

MANY = range(1001, 1301)


def cluster(*args: str) -> Done:
    done = run_command(*args, "--format", "json", program=CLUSTER)
    assert "Traceback" not in done.err
    return done


def lines(done: Done) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.text.splitlines()]


@pytest.fixture(scope="module")
def live(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A controller and a broker."""
    with running_cluster(jars, tmp_path_factory.mktemp("live"), Shape(brokers=1)) as found:
        yield found


def registered(live: Cluster) -> set[int]:
    done = cluster("describe", "-C", live.controllers)
    return {each["id"] for each in lines(done)[-1]["brokers"]}


def test_hundreds_of_brokers_are_all_reported(live: Cluster) -> None:
    live.nodes[1].register_brokers(MANY)
    start = time.monotonic()

    done = cluster(
        *("unregister", "-C", live.controllers, "--all-fenced", "--fenced-for", "1ms"),
        *("--timeout", "30"),
    )

    (answer,) = lines(done)
    assert (done.code, done.err) == (0, ""), time.monotonic() - start
    assert Counter(broker["outcome"] for broker in answer["brokers"]) == {"done": len(MANY)}
    assert registered(live) == {101}


def paused(live: Cluster, *args: str) -> Done:
    """Run our tool while the controller is paused."""
    os.kill(live.nodes[1].pid, signal.SIGSTOP)
    try:
        return cluster(*args)
    finally:
        os.kill(live.nodes[1].pid, signal.SIGCONT)


def test_paused_controller_leaves_an_unknown_outcome(live: Cluster) -> None:
    """When it goes on, the broker is gone: the outcome was no failure."""
    live.nodes[1].register_brokers([201, 202])
    assert until(lambda: {201, 202} <= registered(live))

    done = paused(
        live, "unregister", "-b", live.brokers, "--id", "201,202", "--force", "--timeout", "2"
    )

    (answer,) = lines(done)
    assert done.code == 6
    assert [broker["outcome"] for broker in answer["brokers"]] == ["unknown", "untried"]
    assert answer["error"] == "unknown-outcome"
    assert until(lambda: 201 not in registered(live))
    assert 202 in registered(live)


def test_paused_controller_that_is_asked_itself_is_no_answer(live: Cluster) -> None:
    """Nothing is sent, so try again."""
    done = paused(live, "unregister", "-C", live.controllers, "--id", "202", "--timeout", "1")

    assert (done.code, lines(done)[-1]["error"]) == (5, "no-answer")

"""Brokers of three releases in one cluster, as in the middle of an upgrade."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.kafka.nodes.clusters import Cluster, Shape, running_cluster
from tests.helpers.kafka.nodes.configs import BROKER
from tests.helpers.kafka.nodes.moving import Run, create_topics, placement, tool

pytestmark = [pytest.mark.kafka, pytest.mark.long, pytest.mark.slow]

RELEASES = {101: "3.9", 102: "4.1", 103: "4.3"}
TOPICS = {"one": (6, 1), "two": (6, 2)}
"""Numbers of partitions and of replicas."""


@pytest.fixture(scope="module")
def live(
    jars: Path, middle_jars: Path, older_jars: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """A controller of Kafka 4.1, and brokers of 3.9, 4.1 and 4.3; the last test takes 3.9 out."""
    shape = Shape(brokers=3, release="3.9")
    folder = tmp_path_factory.mktemp("live")
    with running_cluster(middle_jars, folder, shape, {101: older_jars, 103: jars}) as found:
        create_topics(found, TOPICS)
        yield found


def ways(live: Cluster) -> list[tuple[str, str]]:
    """Return the options that name each broker, and the controller."""
    brokers = [("-b", f"localhost:{live.port(broker, BROKER)}") for broker in RELEASES]
    return [*brokers, ("-C", live.controllers)]


def data(*args: str, code: int = 0) -> Any:
    """Return the last line of JSON that our tool prints."""
    done = tool(*args, "--format", "json")
    assert done.code == code, done.err
    return json.loads(done.text.splitlines()[-1])


def ready(live: Cluster) -> None:
    """Wait by the log, which has what a broker of Kafka 3.9 does not tell."""
    conditions = [f"broker={broker}:unfenced" for broker in RELEASES]
    conditions += ["no-under-replicated", "no-reassignments"]
    asked = [word for each in conditions for word in ("--for", each)]
    assert tool("wait", "-C", live.controllers, *asked, "--timeout", "50").code == 0


def test_releases_of_all_nodes_are_described(live: Cluster) -> None:
    ready(live)

    for way in ways(live):
        found = data("describe", *way)

        assert {each["id"]: each["release"] for each in found["brokers"]} == RELEASES, way
        levels = {each["name"]: each["finalized"] for each in found["features"]}
        assert levels["metadata.version"] == 21, way
        if way[0] == "-C":
            assert {each["id"]: each["release"] for each in found["controllers"]} == {1: "4.1"}


def test_stop_is_as_safe_by_every_node(live: Cluster) -> None:
    ready(live)
    place = placement(live).partitions

    for broker in RELEASES:
        alone = sum(each.replicas == (broker,) for each in place.values())
        answers = [
            data(
                "safe-to-stop", *way, "--id", str(broker), "--min-isr", "1", code=2 if alone else 0
            )
            for way in ways(live)
        ]

        assert alone
        assert len(answers[0]["partitions"]) == alone
        assert all(each["partitions"] == answers[0]["partitions"] for each in answers)


@pytest.mark.parametrize(("broker", "is_by_log"), [(101, False), (103, True)])
def test_leaders_leave_and_come_back(
    live: Cluster, tmp_path: Path, broker: int, *, is_by_log: bool
) -> None:
    ready(live)
    before = placement(live).partitions
    path = str(tmp_path / "leaders.json")
    ask = ("-b", live.brokers, *(("-C", live.controllers) if is_by_log else ()), "--yes")

    drained = tool("drain", *ask, "--id", str(broker), "--save", path)
    between = placement(live, leftovers="kraftops.drain").partitions
    restored = tool("undrain", *ask, "--plan", path)
    after = placement(live).partitions

    alone = [partition for partition, each in before.items() if each.replicas == (broker,)]
    assert (drained.code, restored.code) == (2, 0), drained.err + restored.err
    assert [p for p, each in between.items() if each.leader == broker] == alone
    assert {p: each.replicas for p, each in after.items()} == {
        p: each.replicas for p, each in before.items()
    }


def test_brokers_are_unregistered_by_every_node(live: Cluster) -> None:
    """One of Kafka 3.9 does not list brokers that are fenced."""
    live.nodes[1].register_brokers(range(201, 205))

    for number, way in zip(range(201, 205), ways(live), strict=True):
        found = data("unregister", *way, "--id", str(number), "--yes")
        running = tool("unregister", *way, "--id", "101", "--yes")

        assert [each["outcome"] for each in found["brokers"]] == ["done"], way
        assert running.code == 1, way
        assert "broker 101 is running" in running.err
    assert {*placement(live).brokers} == {*RELEASES}


@contextmanager
def paused(live: Cluster) -> Iterator[None]:
    """Pause the controller."""
    os.kill(live.nodes[1].pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(live.nodes[1].pid, signal.SIGCONT)


def test_oldest_broker_leaves_although_the_controller_pauses(live: Cluster) -> None:
    """A run ends in time without a verdict, and the next one goes on, with the log and without."""
    ask = ("-b", live.brokers, "--id", "101")
    ends = []
    for some in (("-C", live.controllers, "--timeout", "6"), ("--timeout", "12")):
        ready(live)
        run = Run(*ask, *some, "--batch", "1")
        run.until("batch")
        with paused(live):
            ends.append(run.end())

    ready(live)
    status = data("decommission", "status", "-b", live.brokers, "--id", "101")
    (operation,) = status["operations"]
    run = Run(*ask)
    run.until("stop")
    live.nodes[101].stop()
    code, last, err = run.end()

    found = placement(live)
    reasons = {5: {"no-answer", "not-in-time"}, 6: {"unknown-outcome"}}
    assert all(end["error"] in reasons[status] for status, end, _ in ends), ends
    assert operation["inFlight"] + operation["waiting"] > 0
    assert (code, last["brokers"]) == (0, [{"id": 101, "outcome": "done"}]), err
    assert [*found.brokers] == [102, 103]
    assert not any(found.on(frozenset({101})))

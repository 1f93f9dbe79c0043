"""`kraftops doctor` on running servers: the first finding is the cause, and help's answers hold."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.bootstrap import connect
from tests.helpers.kafka.nodes.clusters import (
    Cluster,
    Shape,
    restarted,
    running_cluster,
    wait_for_leader,
)
from tests.helpers.kafka.nodes.nodes import until
from tests.helpers.tools.console import KRAFTOPS, Done, run_command

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


def kraftops(*args: str) -> Done:
    done = run_command(*args, program=KRAFTOPS)
    assert "Traceback" not in done.err
    return done


def diagnosis(*args: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(kraftops("doctor", *args, "--format", "json").text)
    return answer


def findings(*args: str) -> list[tuple[str, int | None]]:
    """Return the checks that could not be made, and codes and nodes of what is worse than a note."""
    answer = diagnosis(*args)
    failed = [run for run in answer["checks"] if run["status"] in ("failed", "given-up")]
    return [(f"{run['check']}: {run['reason']}", None) for run in failed] + [
        (finding["code"], finding["node"])
        for finding in answer["findings"]
        if finding["severity"] != "note"
    ]


def create_topic(cluster: Cluster, name: str, *brokers: int, **configs: str) -> None:
    topic = {
        "name": name,
        "num_partitions": -1,
        "replication_factor": -1,
        "assignments": [{"partition_index": 0, "broker_ids": [*brokers]}],
        "configs": [{"name": key.replace("_", "."), "value": configs[key]} for key in configs],
    }
    with connect(parse_bootstrap(cluster.brokers), Settings(), Deadline(30)) as connection:
        answer = connection.ask("CreateTopics", topics=[topic], timeout_ms=30000)
    assert [each.error_code for each in answer.topics] == [0]


def test_first_finding_about_running_servers_is_the_cause(jars: Path, tmp_path: Path) -> None:
    with running_cluster(jars, tmp_path, Shape(brokers=2)) as cluster:
        live = ("-b", cluster.brokers, "-C", cluster.controllers)
        files = [word for node in cluster.nodes.values() for word in ("-c", str(node.config.path))]
        create_topic(cluster, "orders", 101, 102)
        assert until(lambda: not findings(*live))
        assert findings(*files) == []

        stop = kraftops("cluster", "safe-to-stop", "-b", cluster.brokers, "--id", "102")
        plan = kraftops(
            "cluster", "decommission", "-b", cluster.brokers, "--id", "102", "--dry-run"
        )
        assert (stop.code, plan.code) == (0, 3)
        assert "too few brokers for the replicas of orders-0" in plan.err

        for number in range(5):
            create_topic(cluster, f"alone-{number}", 102)
            create_topic(cluster, f"both-{number}", 102, 101)
        cluster.nodes[102].kill()
        assert until(lambda: findings(*live) == [("broker-down", 102)])
        killed = kraftops("doctor", *live)
        assert killed.text.startswith("1 stop; first: broker 102 has been down since ")
        restarted(cluster, 102)
        # The log has that replicas without others lead again after an unclean stop.
        assert until(lambda: findings(*live) == [])
        assert "[unclean-elections]" in kraftops("doctor", *live).text

        create_topic(cluster, "narrow", 101, min_insync_replicas="2")
        assert until(lambda: findings(*live) == [("min-isr-above-replicas", None)])


def test_quorum_that_loses_its_voters_is_told_at_once(jars: Path, tmp_path: Path) -> None:
    with running_cluster(jars, tmp_path, Shape(controllers=3, brokers=1)) as cluster:
        live = ("-b", cluster.brokers, "-C", cluster.controllers)
        assert until(lambda: not findings(*live))
        follower, other = sorted({1, 2, 3} - {wait_for_leader(cluster)})

        cluster.nodes[follower].kill()
        assert until(lambda: findings(*live) == [("voter-down", follower)])

        cluster.nodes[other].kill()
        # Its leader answers for three seconds more, until it has noticed.
        for text in ("the quorum has ", "the quorum has no leader: "):
            assert until(partial(is_leaderless, *live, text=text))
        commands = (
            ("cluster", "controllers", "-C", cluster.controllers),
            ("cluster", "describe", "-C", cluster.controllers),
            ("cluster", "safe-to-stop", "-C", cluster.controllers, "--id", "101"),
            ("cluster", "safe-to-stop", "-b", cluster.brokers, "--id", "101"),
            ("changes", "-C", cluster.controllers),
        )
        with ThreadPoolExecutor() as pool:  # each waits for its timeout
            refusals = pool.map(lambda words: until(partial(is_refused, words)), commands)
            is_refused_by = dict(zip(commands, refusals, strict=True))
        assert all(is_refused_by.values()), is_refused_by


def is_leaderless(*args: str, text: str) -> bool:
    first = [*diagnosis(*args, "--timeout", "6")["findings"][:1]]
    return [
        (finding["code"], finding["severity"], finding["commands"])
        for finding in first
        if finding["text"].startswith(text)
    ] == [("no-leader", "stops", ["kafka-storage verify -c server.properties"])]


def is_refused(words: Sequence[str]) -> bool:
    done = kraftops(*words, "--timeout", "6")
    return done.code == 5 and "the quorum has no leader" in done.err

"""A real Kafka starts after `rewrite`, and after `format --ensure` on formatted directories."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.kafka.cases.damaged_directories import (
    META,
    OTHER_ID,
    at,
    format_node,
    properties,
    with_properties,
)
from tests.helpers.kafka.nodes.configs import CLUSTER_ID, Config, combined
from tests.helpers.kafka.nodes.nodes import Node, running
from tests.helpers.tools.console import STORAGE, Done, run_command

pytestmark = pytest.mark.kafka


def storage(command: str, config: Config, *args: str) -> Done:
    return run_command(command, "-c", str(config.path), *args, program=STORAGE)


def printed_json(done: Done) -> dict[str, Any]:
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.text)
    return found


@contextmanager
def started(jars: Path, config: Config) -> Iterator[Node]:
    """Check a node with verify, and start it."""
    done = storage("verify", config)
    assert done.code == 0, done.text
    with running(jars, config) as node:
        node.wait_ready()
        yield node
        node.stop()


@pytest.fixture
def used(jars: Path, tmp_path: Path) -> Config:
    """A node with two directories that has run, with a topic."""
    config = format_node(combined(tmp_path, log_dirs=2), standalone=True)
    with started(jars, config) as node:
        node.create_topic("kept", partitions=2)
    return config


@pytest.mark.long
def test_version_0_that_became_1_starts(jars: Path, tmp_path: Path) -> None:
    config = format_node(combined(tmp_path, static=True))
    with_properties({"version": None, "node.id": None, "broker.id": "1", "directory.id": None})(
        config
    )

    assert storage("rewrite", config, "--to-v1").code == 0

    written = properties(config)
    with started(jars, config) as node:
        assert node.cluster().cluster_id == CLUSTER_ID
    assert properties(config) == written  # a server has nothing to add
    assert written["version"] == "1"


def test_new_cluster_id_starts_and_keeps_the_topics(jars: Path, used: Config) -> None:
    assert storage("rewrite", used, "--cluster-id", OTHER_ID).code == 0

    with started(jars, used) as node:
        assert node.cluster().cluster_id == OTHER_ID
        assert node.topics() == {"kept"}


@pytest.mark.long
def test_new_node_id_starts_before_the_first_run(jars: Path, tmp_path: Path) -> None:
    config = format_node(combined(tmp_path, static=True))

    assert storage("rewrite", config, "--node-id", "5").code == 0
    voters = config.settings["controller.quorum.voters"].replace("1@", "5@")
    changed = config.changed({"node.id": "5", "controller.quorum.voters": voters})

    with started(jars, changed) as node:
        assert node.cluster().nodes == {5}


@pytest.mark.long
def test_new_node_id_of_a_node_that_has_run_is_refused(used: Config) -> None:
    done = storage("rewrite", used, "--node-id", "5", "--dry-run")

    assert done.code == 3
    assert "kept-0" in done.err

    done = storage("rewrite", used, "--node-id", "5", "--dry-run", "--force")

    assert done.code == 0
    warnings = [line for line in done.errors if "warning" in line]
    assert f"the voters in {used.log_dirs[0]} name node 1" in warnings[-2]
    assert "the cluster has registered these directories for broker 1" in warnings[-1]


@pytest.mark.long
def test_ensure_leaves_a_node_alone_that_has_run(jars: Path, used: Config) -> None:
    before = [properties(used, f"{name}/{META}") for name in ("d1", "d2")]

    done = storage("format", used, "-t", CLUSTER_ID, "-s", "--ensure", "--format", "json")

    assert printed_json(done)["changed"] is False
    assert [properties(used, f"{name}/{META}") for name in ("d1", "d2")] == before
    with started(jars, used) as node:
        assert node.topics() == {"kept"}


def test_ensure_formats_an_empty_disk_of_a_node_that_has_run(jars: Path, used: Config) -> None:
    topics = {path.name for path in at(used, "d2").glob("kept-*")}
    shutil.rmtree(at(used, "d2"))

    done = storage("format", used, "-t", CLUSTER_ID, "-s", "--ensure", "--format", "json")

    found = printed_json(done)
    assert found["changed"] is True
    assert [one["action"] for one in found["directories"]] == ["keep", "formatted"]
    verified = storage("verify", used)
    assert verified.code == 2
    assert len(topics) == verified.text.count("it is missing, and the metadata has it")
    with running(jars, used) as node:
        node.wait_ready()
        assert node.topics() == {"kept"}
        node.stop()
        assert {path.name for path in at(used, "d2").glob("kept-*")} <= topics


@pytest.mark.long
def test_ensure_refuses_another_quorum_of_a_node_that_has_run(jars: Path, tmp_path: Path) -> None:
    config = format_node(combined(tmp_path, static=True))
    with started(jars, config):
        pass
    text = config.path.read_text()
    servers = config.settings["controller.quorum.voters"].replace("1@", "")
    config.path.write_text(
        text.replace("controller.quorum.voters=1@", "controller.quorum.bootstrap.servers=")
    )

    done = storage("format", config, "-t", CLUSTER_ID, "--standalone", "--ensure")

    assert done.code == 3
    assert "was formatted with no voters of its own" in done.err
    assert f"asked is the voters 1@{servers}:" in done.err

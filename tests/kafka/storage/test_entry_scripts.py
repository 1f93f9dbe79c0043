"""Nodes boot on what entry scripts of others format with our `kafka-storage`."""

import os
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.helpers.kafka.nodes.configs import (
    CLUSTER_ID,
    Config,
    broker,
    combined,
    controllers,
    directory_id,
    initial_controllers,
)
from tests.helpers.kafka.nodes.nodes import Node, running
from tests.helpers.tools.console import STORAGE

pytestmark = pytest.mark.kafka

SCRIPTS = Path(__file__).parents[2] / "data/entry-scripts"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A directory with our tool under both of its names."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("kafka-storage", "kafka-storage.sh"):
        (folder / name).symlink_to(STORAGE)
    return folder


def run_script(programs: Path, name: str, **variables: str) -> None:
    """Run an entry script; it succeeds, and prints no password."""
    done = subprocess.run(
        ["sh", str(SCRIPTS / name)],
        env={**os.environ, **variables, "PATH": f"{programs}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "secret" not in done.stdout + done.stderr


def cluster_id(config: Config) -> str:
    text = (config.log_dirs[0] / "meta.properties").read_text()
    return text.split("cluster.id=")[1].splitlines()[0]


def started(stack: ExitStack, jars: Path, configs: Sequence[Config]) -> list[Node]:
    """Start nodes, the controllers first; they are ready."""
    nodes = []
    for config in configs:
        nodes.append(stack.enter_context(running(jars, config)))
        nodes[-1].wait_ready()
    return nodes


def strimzi(programs: Path, config: Config, voters: str) -> None:
    run_script(
        programs,
        "strimzi.sh",
        CONFIG=str(config.path),
        CLUSTER_ID=CLUSTER_ID,
        METADATA_VERSION="4.1-IV1",
        NODE_ID=str(config.node_id),
        INITIAL_CONTROLLERS=voters,
    )


@pytest.mark.long
def test_strimzi_with_static_voters_and_two_volumes(
    jars: Path, tmp_path: Path, programs: Path
) -> None:
    config = combined(tmp_path, static=True, log_dirs=2)
    config = config.changed({"metadata.log.dir": str(config.log_dirs[1])})
    strimzi(programs, config, "")
    with ExitStack() as stack:
        (node,) = started(stack, jars, [config])
        node.create_topic("kept", partitions=4)
        assert node.features()["metadata.version"] == 27
        node.stop()
        metas = [(path / "meta.properties").read_text() for path in config.log_dirs]

        strimzi(programs, config, "")  # the pod starts again, without quorum-state

        assert metas == [(path / "meta.properties").read_text() for path in config.log_dirs]
        node.start()
        node.wait_ready()
        assert "kept" in node.topics()


def test_strimzi_with_dynamic_voters(jars: Path, tmp_path: Path, programs: Path) -> None:
    first, later = controllers(tmp_path, 2)
    member = broker(tmp_path, 101, [first])
    voters = initial_controllers([first])
    for config in (first, later, member):
        strimzi(programs, config, voters)
    assert directory_id(1) in (first.log_dirs[0] / "meta.properties").read_text()
    with ExitStack() as stack:
        nodes = started(stack, jars, [first, member])
        nodes[1].create_topic("kept")
        for node in reversed(nodes):
            node.stop()

        for config in (first, member):
            strimzi(programs, config, voters)

        for node in nodes:
            node.start()
            node.wait_ready()
        later_node = stack.enter_context(running(jars, later))
        later_node.wait_ready()  # as an observer, that could be added
        assert nodes[1].quorum().voters == {1}
        assert "kept" in nodes[1].topics()


@pytest.mark.long
@pytest.mark.parametrize("is_dynamic", [False, True])
def test_bitnami_with_a_user(jars: Path, tmp_path: Path, programs: Path, is_dynamic: bool) -> None:
    config = combined(tmp_path, static=not is_dynamic, scram=True)
    variables = {
        "CONFIG": str(config.path),
        "DATA_DIR": str(config.log_dirs[0]),
        "CLUSTER_ID": "",
        "USER_NAME": "alice",
        "PASSWORD": "secret of \"alice' $1",
        "INITIAL_CONTROLLERS": initial_controllers([config]) if is_dynamic else "",
    }
    run_script(programs, "bitnami.sh", **variables)
    made = cluster_id(config)
    run_script(programs, "bitnami.sh", **variables)

    with ExitStack() as stack:
        (node,) = started(stack, jars, [config])

        assert node.cluster().cluster_id == made == cluster_id(config)
        assert node.logs_in("alice", variables["PASSWORD"])
        assert node.features().get("kraft.version", 0) == is_dynamic


@pytest.mark.long
def test_cp_ansible(jars: Path, tmp_path: Path, programs: Path) -> None:
    (controller,) = controllers(tmp_path, 1, static=True)
    member = broker(tmp_path, 101, [controller])
    variables = {
        "CONTROLLER": str(controller.path),
        "BROKER": str(member.path),
        "CONTROLLER_DIR": str(controller.log_dirs[0]),
    }
    run_script(programs, "cp-ansible.sh", **variables)
    made = cluster_id(controller)
    run_script(programs, "cp-ansible.sh", **variables)

    with ExitStack() as stack:
        nodes = started(stack, jars, [controller, member])
        nodes[1].create_topic("kept")

        assert {node.cluster().cluster_id for node in nodes} == {made}
        assert cluster_id(member) == made

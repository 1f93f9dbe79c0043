"""A real Kafka starts after `kafka-storage format`, and each tool reads the other's files."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.helpers.kafka.nodes.configs import (
    CLUSTER_ID,
    Config,
    broker,
    combined,
    controllers,
    initial_controllers,
)
from tests.helpers.kafka.nodes.nodes import Node, running, starts, until
from tests.helpers.kafka.tools.storage_tool import KafkaStorage
from tests.helpers.tools.console import Done, run_command

pytestmark = pytest.mark.kafka

KAFKA_STORAGE = str(Path(sys.executable).with_name("kafka-storage"))
FEATURES = {  # of 4.3, less kraft.version, which only a dynamic quorum has
    "metadata.version": 30,
    "transaction.version": 2,
    "group.version": 1,
    "eligible.leader.replicas.version": 1,
    "share.version": 1,
    "streams.version": 1,
}


def storage(*args: str) -> Done:
    """Run our tool."""
    return run_command(*args, program=KAFKA_STORAGE)


def formatting(config: Config, *options: str) -> tuple[str, ...]:
    """Return the arguments that format the directories of a node."""
    return ("format", "-t", CLUSTER_ID, "-c", str(config.path), *options)


def formatted(config: Config, *options: str) -> Config:
    """Format the directories of a node with our tool."""
    done = storage(*formatting(config, *options))
    assert done.code == 0, done.err
    return config


# Nodes start


@pytest.fixture(scope="module")
def standalone(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """A node that is broker and controller, with the SCRAM user alice."""
    config = combined(tmp_path_factory.mktemp("standalone"), scram=True)
    formatted(config, "--standalone", "-S", "SCRAM-SHA-256=[name=alice,password=in-wonderland]")
    with running(jars, config) as node:
        node.wait_ready()
        yield node


def test_standalone_node_has_the_features_of_its_release(standalone: Node) -> None:
    assert standalone.features() == {**FEATURES, "kraft.version": 1}


def test_standalone_node_is_of_the_cluster_that_was_named(standalone: Node) -> None:
    assert standalone.cluster().cluster_id == CLUSTER_ID


def test_standalone_node_keeps_its_topics(standalone: Node) -> None:
    standalone.create_topic("kept")

    standalone.stop()
    standalone.start()
    standalone.wait_ready()

    assert "kept" in standalone.topics()


@pytest.mark.long
def test_user_given_when_formatting_logs_in_with_the_right_password_only(standalone: Node) -> None:
    assert standalone.logs_in("alice", "in-wonderland")
    assert not standalone.logs_in("alice", "behind-the-looking-glass")
    assert not standalone.logs_in("hatter", "in-wonderland")


@pytest.mark.long
def test_node_with_static_voters_starts(jars: Path, tmp_path: Path) -> None:
    config = formatted(combined(tmp_path, static=True))

    with running(jars, config) as node:
        node.wait_ready()

        assert node.features() == FEATURES
        assert node.quorum().voters == {1}


@pytest.mark.long
def test_node_uses_both_of_its_log_directories(jars: Path, tmp_path: Path) -> None:
    config = formatted(combined(tmp_path, log_dirs=2), "--standalone")

    with running(jars, config) as node:
        node.wait_ready()
        node.create_topic("spread", partitions=4)

        assert until(lambda: all([*directory.glob("spread-*")] for directory in config.log_dirs))


def test_three_controllers_elect_a_leader_and_take_a_broker(jars: Path, tmp_path: Path) -> None:
    quorum = controllers(tmp_path, 3)
    for config in quorum:
        formatted(config, "--initial-controllers", initial_controllers(quorum))
    member = formatted(broker(tmp_path, 4, quorum), "--no-initial-controllers")

    with ExitStack() as stack:
        nodes = [stack.enter_context(running(jars, config)) for config in quorum]
        for controller in nodes:
            controller.wait_ready(3)
        observer = stack.enter_context(running(jars, member))
        observer.wait_ready()
        observer.create_topic("t")
        found = observer.quorum()

        assert {node.cluster().controller for node in nodes} == {found.leader}
        assert found.voters == {1, 2, 3}
        assert found.observers == {4}


@pytest.mark.long
def test_controller_formatted_without_voters_waits_for_a_quorum(jars: Path, tmp_path: Path) -> None:
    config = formatted(controllers(tmp_path, 1)[0], "--no-initial-controllers")

    started = starts(jars, config)

    assert not started.ready
    assert "voters={}" in started.reason


@pytest.mark.long
def test_node_refuses_directories_that_nobody_formatted(jars: Path, tmp_path: Path) -> None:
    started = starts(jars, combined(tmp_path))

    assert started.code == 1
    assert "No readable meta.properties files found." in started.reason


@pytest.mark.parametrize(("release", "level"), [("3.9", 21), ("3.7", 19)])
def test_older_kafka_starts_from_a_release_that_it_knows(
    older_jars: Path, tmp_path: Path, release: str, level: int
) -> None:
    config = formatted(combined(tmp_path), "--standalone", "-r", release)

    with running(older_jars, config) as node:
        node.wait_ready()
        node.create_topic("t")

        assert node.features() == {"metadata.version": level, "kraft.version": 1}


# The tools read each other's directories


def by_ours(config: Config, _: KafkaStorage) -> None:
    """Format the directories of a node with our tool."""
    formatted(config, "--standalone")


def by_kafkas(config: Config, kafka_storage: KafkaStorage) -> None:
    """Format the directories of a node with Kafka's tool."""
    done = kafka_storage(*formatting(config, "--standalone"))
    assert done.code == 0, done.err


FORMATTERS = [pytest.param(by_ours, id="ours"), pytest.param(by_kafkas, id="kafkas")]


@pytest.mark.parametrize("formatter", FORMATTERS)
def test_tools_tell_the_same_about_a_directory(
    kafka_storage: KafkaStorage,
    tmp_path: Path,
    formatter: Callable[[Config, KafkaStorage], None],
) -> None:
    config = combined(tmp_path, log_dirs=2)
    formatter(config, kafka_storage)

    kafkas = kafka_storage("info", "-c", str(config.path))
    ours = storage("info", "-c", str(config.path))

    assert kafkas.code == 0, kafkas.err
    assert "cluster.id=" + CLUSTER_ID in kafkas.text
    assert (ours.code, ours.out) == (kafkas.code, kafkas.out), ours.err


@pytest.mark.parametrize("formatter", FORMATTERS)
def test_tools_leave_formatted_directories_alone(
    kafka_storage: KafkaStorage,
    tmp_path: Path,
    formatter: Callable[[Config, KafkaStorage], None],
) -> None:
    config = combined(tmp_path, log_dirs=2)
    formatter(config, kafka_storage)
    again = formatting(config, "--standalone", "--ignore-formatted")

    kafkas = kafka_storage(*again)
    ours = storage(*again)

    assert kafkas.out == b"All of the log directories are already formatted.\n"
    assert (ours.code, ours.out) == (kafkas.code, kafkas.out), ours.err

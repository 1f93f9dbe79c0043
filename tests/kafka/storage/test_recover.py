"""A real Kafka continues from the logs that `kafka-storage recover` wrote."""

import json
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.kafka.cases.damaged_directories import format_node, properties, with_properties
from tests.helpers.kafka.jvm.jars import java_command
from tests.helpers.kafka.nodes.clusters import (
    FIRST_BROKER,
    Cluster,
    Shape,
    configured,
    formatted,
    wait_ready,
)
from tests.helpers.kafka.nodes.configs import CONTROLLER, Config, controllers
from tests.helpers.kafka.nodes.contents import AUTHORIZED, add_topic, contents, fill, produce
from tests.helpers.kafka.nodes.nodes import Node, running, until
from tests.helpers.kafka.nodes.protocol import AnswerError, Quorum
from tests.helpers.tools.console import STORAGE, Done, run_command

pytestmark = pytest.mark.kafka

LOG = "__cluster_metadata-0"


@contextmanager
def running_cluster(jars: Path, folder: Path, shape: Shape) -> Iterator[Cluster]:
    """Format and start a cluster, the controllers first.

    Of brokers that start beside them, one in fifty does not find the leader before it gives up.
    """
    configs = configured(folder, shape)
    for config in configs:
        formatted(config, configs, shape)
    with ExitStack() as stack:
        cluster = Cluster({})
        for config in configs:
            if CONTROLLER not in config.ports:
                wait_ready(cluster)
            cluster.nodes[config.node_id] = stack.enter_context(running(jars, config))
        wait_ready(cluster)
        yield cluster


def recover(config: Config, *args: str) -> dict[str, Any]:
    """Recover a node; return the JSON that is printed."""
    done = tried(config, *args)
    assert done.code == 0, done.text + done.err
    found: dict[str, Any] = json.loads(done.text)
    return found


def tried(config: Config, *args: str) -> Done:
    return run_command(
        "recover", "-c", str(config.path), *args, "--yes", "--format", "json", program=STORAGE
    )


def refused(config: Config, *args: str) -> str:
    done = tried(config, *args)
    assert done.code == 3, done.text + done.err
    return str(json.loads(done.text)["error"])


def log_of(config: Config) -> Path:
    return config.log_dirs[0] / LOG


def whole_log(config: Config) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(log_of(config).glob("*.log")))


def kill(cluster: Cluster, *ids: int) -> None:
    for node_id in ids:
        cluster.nodes[node_id].kill()


def leads(node: Node, limit: float = 60) -> Quorum:
    """Wait until a controller leads; return its description of the quorum."""
    node.wait_ready(1, limit)
    assert until(lambda: node.cluster().controller == node.config.node_id, limit)
    return node.quorum()


def follow(jars: Path, cluster: Cluster, plan: Mapping[str, Any], node_id: int) -> None:
    """Run the next steps of a recovery for a lost controller, on its host."""
    survivor = cluster.nodes[plan["nodeId"]].config
    config = cluster.nodes[node_id].config
    for step in plan["next"]:
        if step["nodeId"] != node_id or not step["command"]:
            continue
        command = step["command"].replace(str(survivor.log_dirs[0]), str(config.log_dirs[0]))
        command = command.replace(str(survivor.path), str(config.path))
        if "kafka-server-start.sh" in command:
            cluster.nodes[node_id].start()
            continue
        command = command.replace("kafka-storage ", f"{shlex.quote(STORAGE)} ")
        tool = java_command(jars, "org.apache.kafka.tools.MetadataQuorumCommand")
        command = command.replace("kafka-metadata-quorum.sh", shlex.join(tool))

        patiently(command)


def patiently(command: str) -> None:
    """Run a command until it succeeds: a node that has just started is no observer yet."""
    answers: list[str] = []

    def is_done() -> bool:
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        answers.append(done.stdout + done.stderr)
        return done.returncode == 0

    assert until(is_done, 60), answers[-1]


def votes(node: Node, voters: set[int]) -> bool:
    return until(lambda: node.quorum().voters == voters, 60)


def grown() -> Shape:
    return Shape(controllers=3, brokers=2, is_dynamic=True, settings=AUTHORIZED)


def test_survivor_goes_on_and_others_join_again(jars: Path, tmp_path: Path) -> None:
    with running_cluster(jars, tmp_path, grown()) as cluster:
        fill(cluster.brokers, replicas=2)
        before = contents(cluster.brokers)
        kill(cluster, 2, 3, 1)  # in an order in which the first has all that was committed

        plan = recover(cluster.nodes[1].config, "--voters", "self")
        cluster.nodes[1].start()

        assert leads(cluster.nodes[1]).voters == {1}
        assert plan["lostVoters"] == [2, 3]
        for broker in (FIRST_BROKER, FIRST_BROKER + 1):
            cluster.nodes[broker].wait_ready(2)
        assert contents(cluster.brokers) == before
        for node_id in (2, 3):
            follow(jars, cluster, plan, node_id)
        assert votes(cluster.nodes[1], {1, 2, 3})

        kill(cluster, 1)  # a second failure
        assert until(lambda: cluster.nodes[2].cluster().controller in (2, 3))
        add_topic(cluster.brokers, "after")
        produce(cluster.brokers, "kept", 30)
        assert contents(cluster.brokers)["topics"] == ["after", "kept"]


def test_all_controllers_are_lost_and_a_broker_has_the_log(jars: Path, tmp_path: Path) -> None:
    with running_cluster(jars, tmp_path, grown()) as cluster:
        fill(cluster.brokers, replicas=2)
        before = contents(cluster.brokers)
        brokers = [cluster.nodes[FIRST_BROKER], cluster.nodes[FIRST_BROKER + 1]]
        kill(cluster, 1, 2, 3)
        for broker in brokers:
            broker.kill()
        first = cluster.nodes[1].config
        for node_id in (1, 2, 3):
            shutil.rmtree(cluster.nodes[node_id].config.log_dirs[0])
        format_node(first, no_initial_controllers=True)
        dirs = [str(broker.config.log_dirs[0]) for broker in brokers]

        plan = recover(
            first,
            "--voters",
            "self",
            "--from",
            dirs[0],
            "--from",
            f"{dirs[1]}/{LOG}",
            "--log-dirs",
            ",".join(dirs),
        )
        for node_id in (1, FIRST_BROKER, FIRST_BROKER + 1):
            cluster.nodes[node_id].start()

        assert leads(cluster.nodes[1]).voters == {1}
        assert plan["strays"] == []
        for broker in brokers:
            broker.wait_ready(2)
        assert contents(cluster.brokers) == before
        assert not list(tmp_path.rglob("*-stray"))
        follow(jars, cluster, plan, 2)
        assert votes(cluster.nodes[1], {1, 2})


def moved(configs: list[Config]) -> tuple[list[Config], str]:
    """Have controllers listen elsewhere; return their configurations, and the option for recover."""
    fresh = controllers(configs[0].path.parent / "elsewhere", len(configs))
    pairs = []
    found = []
    servers = fresh[0].settings["controller.quorum.bootstrap.servers"]
    for old, new in zip(configs, fresh, strict=True):
        pairs.append(f"localhost:{old.ports[CONTROLLER]}=localhost:{new.ports[CONTROLLER]}")
        settings = {
            "listeners": new.settings["listeners"],
            "controller.quorum.bootstrap.servers": servers,
        }
        changed = old.changed(settings)
        found.append(
            Config(
                path=changed.path, node_id=old.node_id, settings=changed.settings, ports=new.ports
            )
        )
    return found, ",".join(pairs)


def test_same_voters_at_other_addresses(jars: Path, tmp_path: Path) -> None:
    with running_cluster(jars, tmp_path, grown()) as cluster:
        kill(cluster, 3)
        fill(cluster.brokers, replicas=2)
        before = contents(cluster.brokers)
        kill(cluster, *cluster.nodes)
        configs, pairs = moved([cluster.nodes[node_id].config for node_id in (1, 2, 3)])
        for node_id, config in zip((1, 2, 3), configs, strict=True):
            cluster.nodes[node_id].config = config
        servers = configs[0].settings["controller.quorum.bootstrap.servers"]
        for node_id in (FIRST_BROKER, FIRST_BROKER + 1):
            cluster.nodes[node_id].config.changed({"controller.quorum.bootstrap.servers": servers})
        others = [f"--from={log_of(config)}" for config in configs]

        assert refused(configs[2], "--listener-hosts", pairs) == "minority"
        first = recover(configs[0], "--listener-hosts", pairs, *others)
        for config in configs[1:]:
            plan = recover(config, "--listener-hosts", pairs, f"--from={log_of(configs[0])}")
            assert plan["offset"] is None
        again = recover(configs[1], "--listener-hosts", pairs, *others)

        assert (first["changed"], again["changed"]) == (True, False)
        assert len({whole_log(config) for config in configs}) == 1
        for node in cluster.nodes.values():
            node.start()
        for node_id in (FIRST_BROKER, FIRST_BROKER + 1):
            cluster.nodes[node_id].wait_ready(2)
        assert contents(cluster.brokers) == before
        assert cluster.nodes[FIRST_BROKER].quorum().voters == {1, 2, 3}


def dynamic(config: Config, servers: str) -> None:
    """Take the static voters out of a configuration."""
    text = config.path.read_text()
    lines = [line for line in text.splitlines() if not line.startswith("controller.quorum")]
    lines.append(f"controller.quorum.bootstrap.servers={servers}")
    config.path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("survivors", [1, 3])
def test_static_quorum_becomes_dynamic(jars: Path, tmp_path: Path, survivors: int) -> None:
    shape = Shape(controllers=3, brokers=1, settings=AUTHORIZED)
    with running_cluster(jars, tmp_path, shape) as cluster:
        fill(cluster.brokers)
        before = contents(cluster.brokers)
        kill(cluster, *cluster.nodes)
        configs = [cluster.nodes[node_id].config for node_id in (1, 2, 3)]
        servers = ",".join(f"localhost:{config.ports[CONTROLLER]}" for config in configs)
        others = [f"--from={log_of(config)}" for config in configs]
        voters = "self"
        if survivors == 3:
            voters = ",".join(
                f"{config.node_id}@localhost:{config.ports[CONTROLLER]}:"
                f"{properties(config)['directory.id']}"
                for config in configs
            )

        for config in configs[:survivors]:
            recover(config, "--voters", voters, *others)
        for node in cluster.nodes.values():
            dynamic(node.config, servers)
        for node_id in (*range(1, survivors + 1), FIRST_BROKER):
            cluster.nodes[node_id].start()

        broker = cluster.nodes[FIRST_BROKER]
        broker.wait_ready(1)
        assert contents(cluster.brokers) == before
        assert broker.quorum().voters == set(range(1, survivors + 1))
        assert broker.features()["kraft.version"] == 1


def test_only_voter_has_another_directory_id(jars: Path, tmp_path: Path) -> None:
    shape = Shape(controllers=1, brokers=1, is_dynamic=True, settings=AUTHORIZED)
    with running_cluster(jars, tmp_path, shape) as cluster:
        fill(cluster.brokers)
        before = contents(cluster.brokers)
        kill(cluster, 1)
        config = cluster.nodes[1].config
        with_properties({"directory.id": "3Db5QLSqSZieL3rJBUUegA"})(config)

        plan = recover(config, "--voters", "self")
        cluster.nodes[1].start()

        assert plan["voters"][0]["directoryId"] == "3Db5QLSqSZieL3rJBUUegA"
        assert leads(cluster.nodes[1]).voters == {1}
        cluster.nodes[FIRST_BROKER].wait_ready(1)
        assert contents(cluster.brokers) == before


def test_one_of_three_voters_has_another_directory_id(jars: Path, tmp_path: Path) -> None:
    shape = Shape(controllers=3, brokers=1, is_dynamic=True, settings=AUTHORIZED)
    with running_cluster(jars, tmp_path, shape) as cluster:
        fill(cluster.brokers)
        before = contents(cluster.brokers)
        kill(cluster, *cluster.nodes)
        configs = [cluster.nodes[node_id].config for node_id in (1, 2, 3)]
        with_properties({"directory.id": "3Db5QLSqSZieL3rJBUUegA"})(configs[2])
        others = [f"--from={log_of(config)}" for config in configs]
        voters = ",".join(
            f"{config.node_id}@localhost:{config.ports[CONTROLLER]}:"
            f"{properties(config)['directory.id']}"
            for config in configs
        )

        for config in configs:
            recover(config, "--voters", voters, *others)
        for node in cluster.nodes.values():
            node.start()

        cluster.nodes[FIRST_BROKER].wait_ready(1)
        assert contents(cluster.brokers) == before
        kill(cluster, 1)  # the other two are a majority: the one of the new id votes
        assert until(lambda: cluster.nodes[3].cluster().controller in (2, 3))


class TestSurvivorIsBehind:
    """The first controller was down while a topic came; then the others were lost."""

    def behind(self, cluster: Cluster) -> dict[str, Any]:
        fill(cluster.brokers, replicas=2)
        kill(cluster, 1)
        add_topic(cluster.brokers, "late", partitions=3, replicas=2)
        produce(cluster.brokers, "late")
        before = contents(cluster.brokers)
        kill(cluster, *cluster.nodes)
        return before

    def test_longer_log_of_a_broker_is_proposed(self, jars: Path, tmp_path: Path) -> None:
        with running_cluster(jars, tmp_path, grown()) as cluster:
            before = self.behind(cluster)
            dirs = [cluster.nodes[n].config.log_dirs[0] for n in (FIRST_BROKER, FIRST_BROKER + 1)]
            sources = [f"--from={path}" for path in dirs]
            strays = f"--log-dirs={dirs[0]},{dirs[1]}"
            config = cluster.nodes[1].config

            alone = recover(config, "--voters", "self", strays, "--dry-run")
            plan = recover(config, "--voters", "self", strays, *sources)
            for node_id in (1, FIRST_BROKER, FIRST_BROKER + 1):
                cluster.nodes[node_id].start()

            assert len(alone["strays"]) == 6
            assert plan["strays"] == []
            assert not plan["logs"][0]["isOwn"]
            for node_id in (FIRST_BROKER, FIRST_BROKER + 1):
                cluster.nodes[node_id].wait_ready(2)
            assert contents(cluster.brokers) == before

    def test_shorter_log_goes_on_where_brokers_forget_theirs(
        self, jars: Path, tmp_path: Path
    ) -> None:
        """With the survivor's log alone; a broker may know a leader of the same epoch."""
        with running_cluster(jars, tmp_path, grown()) as cluster:
            self.behind(cluster)
            config = cluster.nodes[1].config
            brokers = [FIRST_BROKER, FIRST_BROKER + 1]

            plan = recover(config, "--voters", "self")
            for broker in brokers:
                shutil.move(log_of(cluster.nodes[broker].config), tmp_path / f"away-{broker}")
            for node_id in (1, *brokers):
                cluster.nodes[node_id].start()

            assert "brokers-not-given" in {note["code"] for note in plan["notes"]}
            for broker in brokers:
                cluster.nodes[broker].wait_ready(2)
            assert contents(cluster.brokers)["topics"] == ["kept"]
            assert len(list(tmp_path.rglob("late-*-stray"))) == 6


def test_recovery_is_undone(jars: Path, tmp_path: Path) -> None:
    with running_cluster(jars, tmp_path, grown()) as cluster:
        fill(cluster.brokers, replicas=2)
        before = contents(cluster.brokers)
        kill(cluster, *cluster.nodes)
        config = cluster.nodes[1].config
        files = {
            path.name: path.read_bytes() for path in log_of(config).glob("*.*") if path.is_file()
        }

        recover(config, "--voters", "self")
        recover(config, "--undo")

        assert files == {
            path.name: path.read_bytes() for path in log_of(config).glob("*.*") if path.is_file()
        }
        for node in cluster.nodes.values():
            node.start()
        for node_id in (FIRST_BROKER, FIRST_BROKER + 1):
            cluster.nodes[node_id].wait_ready(2)
        assert contents(cluster.brokers) == before
        assert cluster.nodes[FIRST_BROKER].quorum().voters == {1, 2, 3}


def test_two_survivors_of_five(jars: Path, tmp_path: Path) -> None:
    shape = Shape(controllers=5, brokers=2, is_dynamic=True, settings=AUTHORIZED)
    with running_cluster(jars, tmp_path, shape) as cluster:
        kill(cluster, 2)
        fill(cluster.brokers, replicas=2)
        before = contents(cluster.brokers)
        kill(cluster, 3, 4, 5, 1)
        configs = {node_id: cluster.nodes[node_id].config for node_id in (1, 2)}

        plan = recover(configs[2], "--voters", "self", f"--from={log_of(configs[1])}")
        cluster.nodes[2].start()

        assert plan["lostVoters"] == [1, 3, 4, 5]
        assert leads(cluster.nodes[2]).voters == {2}
        for node_id in (FIRST_BROKER, FIRST_BROKER + 1):
            cluster.nodes[node_id].wait_ready(2)
        assert contents(cluster.brokers) == before
        for node_id in (1, 3):
            follow(jars, cluster, plan, node_id)
        assert votes(cluster.nodes[2], {1, 2, 3})


def test_survivor_of_an_older_release(older_jars: Path, tmp_path: Path) -> None:
    shape = Shape(controllers=3, brokers=1, is_dynamic=True, release="3.9", settings=AUTHORIZED)
    with running_cluster(older_jars, tmp_path, shape) as cluster:
        fill(cluster.brokers)
        before = contents(cluster.brokers)
        kill(cluster, 2, 3, 1)

        plan = recover(cluster.nodes[1].config, "--voters", "self")
        cluster.nodes[1].start()

        assert leads(cluster.nodes[1]).voters == {1}
        cluster.nodes[FIRST_BROKER].wait_ready(1)
        assert contents(cluster.brokers) == before
        follow(older_jars, cluster, plan, 2)
        assert votes(cluster.nodes[1], {1, 2})


def elsewhere(node: Node) -> int | None:
    """Return the leader that a node knows, or None."""
    try:
        return node.cluster().controller
    except (OSError, AnswerError):
        return None


class TestOldControllersStartAgain:
    """The lost controllers start again with their old disks."""

    @pytest.fixture
    def cluster(self, jars: Path, tmp_path: Path) -> Iterator[Cluster]:
        """A stopped quorum of three; the first was recovered."""
        shape = Shape(controllers=3, is_dynamic=True)
        with running_cluster(jars, tmp_path, shape) as cluster:
            kill(cluster, 2, 3, 1)
            recover(cluster.nodes[1].config, "--voters", "self")
            yield cluster

    def test_while_the_recovered_one_leads_they_follow_it(self, cluster: Cluster) -> None:
        cluster.nodes[1].start()
        assert leads(cluster.nodes[1]).voters == {1}

        for node_id in (2, 3):
            cluster.nodes[node_id].start()

        assert until(lambda: cluster.nodes[1].quorum().observers == {2, 3}, 60)
        assert cluster.nodes[1].quorum().voters == {1}
        kill(cluster, 1)  # they have its voters now, of which they are none
        assert not until(lambda: elsewhere(cluster.nodes[2]) in (2, 3), 10)

    def test_before_it_they_are_another_cluster(self, cluster: Cluster) -> None:
        for node_id in (2, 3):
            cluster.nodes[node_id].start()

        assert until(lambda: elsewhere(cluster.nodes[2]) in (2, 3), 60)
        assert elsewhere(cluster.nodes[2]) in (2, 3)

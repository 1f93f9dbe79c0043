"""A real Kafka continues from the logs that `kafka-storage recover` wrote."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kraftops import load
from kraftops.engine.metadata_state import PartitionState
from kraftops.uuids import from_text
from tests.helpers.kafka.cases.damaged_directories import format_node, properties, with_properties
from tests.helpers.kafka.nodes.clusters import (
    FIRST_BROKER,
    Cluster,
    Shape,
    formatted,
    running_cluster,
)
from tests.helpers.kafka.nodes.configs import CONTROLLER, Config, controllers
from tests.helpers.kafka.nodes.contents import AUTHORIZED, add_topic, contents, fill, produce
from tests.helpers.kafka.nodes.live_logs import batches_of
from tests.helpers.kafka.nodes.nodes import until
from tests.helpers.kafka.nodes.recoveries import (
    LOG,
    dynamic,
    follow,
    follow_moves,
    kill,
    known_leader,
    leads,
    log_of,
    recover,
    refused,
    strays,
    votes,
    whole_log,
)

pytestmark = pytest.mark.kafka


def grown() -> Shape:
    return Shape(controllers=3, brokers=2, is_dynamic=True, settings=AUTHORIZED)


@pytest.mark.long  # the gate has test_recover_plan.py and test_recover_records.py
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
            follow(cluster, plan, node_id)
        assert votes(cluster.nodes[1], {1, 2, 3})

        kill(cluster, 1)  # a second failure
        assert until(lambda: cluster.nodes[2].cluster().controller in (2, 3))
        add_topic(cluster.brokers, "after")
        produce(cluster.brokers, "kept", 30)
        assert contents(cluster.brokers)["topics"] == ["after", "kept"]
        assert refused(cluster.nodes[1].config, "--undo") == "started"


@pytest.mark.long
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
        assert strays(plan) == []
        for broker in brokers:
            broker.wait_ready(2)
        assert contents(cluster.brokers) == before
        assert not list(tmp_path.rglob("*-stray"))
        follow(cluster, plan, 2)
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


@pytest.mark.long
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


@pytest.mark.long
def test_static_quorum_of_three_becomes_dynamic(jars: Path, tmp_path: Path) -> None:
    shape = Shape(controllers=3, brokers=1, settings=AUTHORIZED)
    with running_cluster(jars, tmp_path, shape) as cluster:
        fill(cluster.brokers)
        before = contents(cluster.brokers)
        kill(cluster, *cluster.nodes)
        configs = [cluster.nodes[node_id].config for node_id in (1, 2, 3)]
        servers = ",".join(f"localhost:{config.ports[CONTROLLER]}" for config in configs)
        others = [f"--from={log_of(config)}" for config in configs]
        voters = ",".join(
            f"{config.node_id}@localhost:{config.ports[CONTROLLER]}:"
            f"{properties(config)['directory.id']}"
            for config in configs
        )

        for config in configs:
            recover(config, "--voters", voters, *others)
        for node in cluster.nodes.values():
            dynamic(node.config, servers)
        for node in cluster.nodes.values():
            node.start()

        broker = cluster.nodes[FIRST_BROKER]
        broker.wait_ready(1)
        assert contents(cluster.brokers) == before
        assert broker.quorum().voters == {1, 2, 3}
        assert broker.features()["kraft.version"] == 1


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
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
            log_dirs = f"--log-dirs={dirs[0]},{dirs[1]}"
            config = cluster.nodes[1].config

            own = f"--choose={log_of(config)}"
            alone = recover(config, "--voters", "self", log_dirs, own, "--dry-run")
            plan = recover(config, "--voters", "self", *sources)
            for node_id in (1, FIRST_BROKER, FIRST_BROKER + 1):
                cluster.nodes[node_id].start()

            assert len(strays(alone)) == 6
            assert strays(plan) == []
            assert not plan["logs"][0]["isOwn"]
            for node_id in (FIRST_BROKER, FIRST_BROKER + 1):
                cluster.nodes[node_id].wait_ready(2)
            assert contents(cluster.brokers) == before

    def test_shorter_log_goes_on_where_brokers_forget_theirs(
        self, jars: Path, tmp_path: Path
    ) -> None:
        """The log of the survivor is named; the printed commands move those of brokers away."""
        with running_cluster(jars, tmp_path, grown()) as cluster:
            self.behind(cluster)
            config = cluster.nodes[1].config
            brokers = [FIRST_BROKER, FIRST_BROKER + 1]
            sources = [f"--from={log_of(cluster.nodes[broker].config)}" for broker in brokers]

            alone = recover(config, "--voters", "self", "--dry-run")
            plan = recover(config, "--voters", "self", f"--choose={log_of(config)}", *sources)
            follow_moves(plan)
            for node_id in (1, *brokers):
                cluster.nodes[node_id].start()

            assert "brokers-not-given" in {finding["code"] for finding in alone["findings"]}
            assert plan["logs"][1]["lacking"]["topics"] == ["late"]
            for broker in brokers:
                cluster.nodes[broker].wait_ready(2)
            assert contents(cluster.brokers)["topics"] == ["kept"]
            assert len(list(tmp_path.rglob("late-*-stray"))) == 6


@pytest.mark.long
def test_recovery_is_undone(jars: Path, tmp_path: Path) -> None:
    with running_cluster(jars, tmp_path, grown()) as cluster:
        fill(cluster.brokers, replicas=2)
        before = contents(cluster.brokers)
        config = cluster.nodes[1].config
        assert refused(config, "--voters", "self") == "running"
        kill(cluster, 1)
        other = log_of(cluster.nodes[2].config)
        assert refused(config, "--voters", "self", f"--from={other}") == "running"
        kill(cluster, *cluster.nodes)
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


@pytest.mark.long
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
            follow(cluster, plan, node_id)
        assert votes(cluster.nodes[2], {1, 2, 3})


def states(config: Config) -> dict[str, PartitionState]:
    """Return the state of each partition, by the metadata log on the disk of a node."""
    image = load([str(log_of(config))])
    found = {}
    for topic_id, topic in image.topics.items():
        for number in range(3):
            if state := image.partition(topic_id, number):
                found[f"{topic.name}-{number}"] = state
    return found


@pytest.mark.long
def test_nodes_that_are_brokers_too(jars: Path, tmp_path: Path) -> None:
    """The lost ones keep their partitions; their log directories get new ids."""
    shape = Shape(controllers=3, is_combined=True, is_dynamic=True, settings=AUTHORIZED)
    with running_cluster(jars, tmp_path, shape) as cluster:
        fill(cluster.brokers, replicas=3)
        add_topic(cluster.brokers, "single", partitions=3)
        produce(cluster.brokers, "single")
        before = contents(cluster.brokers)
        kill(cluster, 2, 3, 1)

        plan = recover(cluster.nodes[1].config, "--voters", "self")
        cluster.nodes[1].start()
        assert leads(cluster.nodes[1]).voters == {1}
        for node_id in (2, 3):
            follow(cluster, plan, node_id)

        assert votes(cluster.nodes[1], {1, 2, 3})
        for node in cluster.nodes.values():
            node.wait_ready(3)
        config = cluster.nodes[1].config
        new_id = from_text(properties(cluster.nodes[3].config)["directory.id"])
        assert until(
            lambda: all(new_id in states(config)[f"kept-{n}"].directories for n in range(3))
        )
        assert "once more, and look again" in plan["nextSteps"][-1]["check"]
        for _ in range(3):
            if until(lambda: all(state.leader >= 0 for state in states(config).values()), 10):
                break
            cluster.nodes[3].stop()
            cluster.nodes[3].start()
        assert until(
            lambda: all(
                state.leader >= 0 and len(state.isr) == len(state.replicas)
                for state in states(config).values()
            )
        )
        assert contents(cluster.brokers) == before
        assert not list(tmp_path.rglob("*-stray"))


@pytest.mark.long
def test_old_log_goes_on_after_empty_disks_have_elected_a_leader(
    jars: Path, tmp_path: Path
) -> None:
    shape = Shape(controllers=3, brokers=1, is_dynamic=True, settings=AUTHORIZED)
    with running_cluster(jars, tmp_path, shape) as cluster:
        fill(cluster.brokers)
        before = contents(cluster.brokers)
        kill(cluster, 2, 3, 1, FIRST_BROKER)
        configs = [cluster.nodes[node_id].config for node_id in (1, 2, 3)]
        for config in configs[1:]:
            shutil.rmtree(config.log_dirs[0])
            formatted(config, configs, shape)
        for node_id in (2, 3):
            cluster.nodes[node_id].start()
        assert until(lambda: known_leader(cluster.nodes[2]) in (2, 3))
        kill(cluster, 2, 3)
        args = ["--voters", "self", *(f"--from={log_of(config)}" for config in configs[1:])]

        assert refused(configs[0], *args) == "other-log"
        plan = recover(configs[0], *args, f"--choose={log_of(configs[0])}")
        cluster.nodes[1].start()
        cluster.nodes[FIRST_BROKER].start()

        assert plan["epoch"] > max(log["epoch"] for log in plan["logs"])
        assert leads(cluster.nodes[1]).voters == {1}
        cluster.nodes[FIRST_BROKER].wait_ready(1)
        assert contents(cluster.brokers) == before
        follow(cluster, plan, 2)
        assert votes(cluster.nodes[1], {1, 2})


def newest_snapshot(folder: Path) -> int:
    """Return the offset at which the newest snapshot of a log ends; 0 where there is none."""
    return max((int(path.name[:20]) for path in folder.glob("*.checkpoint")), default=0)


def keep_batches(folder: Path, start: int, end: int) -> None:
    """Leave the batches between two offsets, as one segment without indexes."""
    batches = batches_of(folder)
    for path in folder.glob("0*.*"):
        if path.suffix != ".checkpoint":
            path.unlink()
    kept = b"".join(data for base, data in batches.items() if start <= base < end)
    (folder / f"{start:020}.log").write_bytes(kept)


@pytest.mark.long
class TestSnapshots:
    """A log that begins with a snapshot, as servers leave it when they delete old segments."""

    @contextmanager
    def running(self, jars: Path, folder: Path) -> Iterator[Cluster]:
        settings = AUTHORIZED | {"metadata.log.max.snapshot.interval.ms": "1000"}
        shape = Shape(controllers=1, brokers=1, is_dynamic=True, settings=settings)
        with running_cluster(jars, folder, shape) as cluster:
            yield cluster

    def stopped(self, cluster: Cluster) -> tuple[dict[str, Any], Path, Path]:
        """Fill a cluster, and stop it; return its contents, and the logs of both nodes."""
        own, other = (log_of(node.config) for node in cluster.nodes.values())
        fill(cluster.brokers)
        before = contents(cluster.brokers)
        end = max(batches_of(own))
        assert until(lambda: min(newest_snapshot(own), newest_snapshot(other)) > end)
        kill(cluster, FIRST_BROKER, 1)
        with_properties({"directory.id": "3Db5QLSqSZieL3rJBUUegA"})(cluster.nodes[1].config)
        return before, own, other

    def start(self, cluster: Cluster) -> None:
        cluster.nodes[1].start()
        assert leads(cluster.nodes[1]).voters == {1}
        cluster.nodes[FIRST_BROKER].start()
        cluster.nodes[FIRST_BROKER].wait_ready(1)

    def test_log_of_a_broker_that_begins_behind_the_own(self, jars: Path, tmp_path: Path) -> None:
        with self.running(jars, tmp_path) as cluster:
            before, own, other = self.stopped(cluster)
            start = newest_snapshot(other)
            keep_batches(other, start, 1 << 62)
            keep_batches(own, 0, 5)
            for path in own.glob("*.checkpoint"):
                if int(path.name[:20]):
                    path.unlink()

            plan = recover(cluster.nodes[1].config, "--voters", "self", f"--from={other}")
            self.start(cluster)

            best, behind = plan["logs"]
            assert not best["isOwn"]
            assert 0 < behind["endOffset"] < start
            names = {step["name"] for step in plan["steps"] if step["action"] == "write"}
            assert {name[:20] for name in names} >= {f"{start:020}"}
            assert plan["offset"] >= start
            assert contents(cluster.brokers) == before

    def test_snapshot_and_an_empty_segment(self, jars: Path, tmp_path: Path) -> None:
        with self.running(jars, tmp_path) as cluster:
            before, own, other = self.stopped(cluster)
            end = newest_snapshot(own)
            keep_batches(own, end, end)
            config = cluster.nodes[1].config

            plan = recover(config, "--voters", "self", f"--from={other}", f"--choose={own}")
            follow_moves(plan)
            self.start(cluster)

            assert plan["offset"] == end
            assert plan["epoch"] > plan["logs"][0]["epoch"] > 0
            assert contents(cluster.brokers) == before

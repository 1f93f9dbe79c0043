"""Live metadata equals the controllers' own files, also while the quorum changes."""

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from kraftops.errors import UsageError
from kraftops.image.load.loading import limits_of, load
from kraftops.image.state.image import MetadataImage
from kraftops.tree.layout import tree_of
from kraftops.tree.node import leaves_by_raw_path
from kraftops.tree.view import Form
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.quorum.live_image import LiveImage
from kraftops.wire.rpc.bootstrap import connect
from kraftops.wire.rpc.cluster import describe_quorum
from kraftops.wire.rpc.endpoints import Endpoints
from tests.helpers.kafka.nodes.clusters import (
    Cluster,
    Shape,
    restarted,
    running_cluster,
    wait_for_leader,
)
from tests.helpers.kafka.nodes.live_logs import (
    SNAPSHOTS,
    change_topics,
    metadata_folder,
    topic,
    until_end,
)
from tests.helpers.kafka.nodes.nodes import Node, until
from tests.helpers.logs.corpus_rows import parsed
from tests.helpers.tools.console import DUMP_LOG, ENVIRONMENT, run_command

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

PATIENT = Settings(timeout=30)
SHAPES = {
    "no snapshot": Shape(is_combined=True),
    "snapshots": Shape(is_combined=True, is_dynamic=True, settings=SNAPSHOTS),
    "static": Shape(brokers=1, settings=SNAPSHOTS),
}


def live_image(cluster: Cluster, **options: Any) -> LiveImage:
    return LiveImage(Endpoints(parse_bootstrap(cluster.controllers), PATIENT), **options)


def leaves(image: MetadataImage) -> dict[str, str]:
    """Return all leaves but the provenance, which differs after a snapshot."""
    root = tree_of(image, form=Form.OURS, show_secrets=True)
    found = {path: leaf.kafka_text for path, leaf in leaves_by_raw_path(root)}
    del found["image/provenance"]
    return found


def in_files(node: Node, image: MetadataImage) -> MetadataImage:
    """Return the image of a node's files at the offset of *image*."""
    images = []

    def is_there() -> bool:
        images.append(load(metadata_folder(node), at_offset=image.offset))
        return images[-1].offset == image.offset

    assert until(is_there, 30)
    return images[-1]


def has_snapshot(node: Node) -> bool:
    return len([*metadata_folder(node).glob("*-*[1-9].checkpoint")]) > 0


def long_but_for(name: str) -> list[Any]:
    """Return the names of shapes, of which all but one run with `--long` only."""
    long = [pytest.param(other, marks=pytest.mark.long) for other in SHAPES if other != name]
    return [name, *long]


@pytest.mark.parametrize("name", long_but_for("snapshots"))
def test_tree_is_that_of_the_files(name: str, jars: Path, tmp_path: Path) -> None:
    shape = SHAPES[name]
    with running_cluster(jars, tmp_path, shape) as cluster:
        change_topics(cluster.brokers, "CreateTopics", [topic(f"t{n}") for n in range(50)])
        change_topics(cluster.brokers, "DeleteTopics", [f"t{n}" for n in range(0, 50, 5)])
        if shape.settings:
            assert until(lambda: has_snapshot(cluster.nodes[1]), 30)
        live = live_image(cluster)
        files = in_files(cluster.nodes[1], live.image)
        with connect(parse_bootstrap(cluster.controllers), PATIENT, Deadline(30)) as connection:
            observers = [each.node_id for each in describe_quorum(connection).observers]

        assert leaves(live.image) == leaves(files)
        assert live.image.offset == files.offset
        assert [*live.image.findings] == []
        assert (live.snapshot is not None) == bool(shape.settings)
        assert observers == ([101] if shape.brokers else [])
        if live.snapshot:
            with pytest.raises(UsageError, match="is newer than that"):
                live_image(cluster, limits=limits_of(live.snapshot.end_offset - 2, None))


@pytest.mark.long
def test_older_controllers_tree_is_that_of_its_files(older_jars: Path, tmp_path: Path) -> None:
    shape = Shape(controllers=1, brokers=1, release="3.9", settings=SNAPSHOTS)
    with running_cluster(older_jars, tmp_path, shape) as cluster:
        change_topics(cluster.brokers, "CreateTopics", [topic(f"t{n}") for n in range(20)])
        assert until(lambda: has_snapshot(cluster.nodes[1]), 30)
        live = live_image(cluster)

        assert leaves(live.image) == leaves(in_files(cluster.nodes[1], live.image))
        assert live.snapshot is not None


def updated_to(live: LiveImage, end: int) -> None:
    def is_there() -> bool:
        live.update()
        return live.offset >= end

    assert until(is_there, 60)


def test_image_is_kept_current_while_the_quorum_changes(jars: Path, tmp_path: Path) -> None:
    """Topics come and go, the leader is killed twice, snapshots are taken and deleted."""
    settings = {**SNAPSHOTS, "metadata.max.retention.bytes": "65536"}
    with running_cluster(jars, tmp_path, Shape(3, 1, settings=settings)) as cluster:
        with live_image(cluster) as live:
            live.update()
            for round_ in range(2):
                names = [f"t{round_}-{number}" for number in range(500)]
                change_topics(cluster.brokers, "CreateTopics", [topic(name) for name in names])
                live.update()
                leader = wait_for_leader(cluster)
                cluster.nodes[leader].kill()
                assert wait_for_leader(cluster) != leader
                live.update()
                change_topics(cluster.brokers, "DeleteTopics", names[:400])
                restarted(cluster, leader)
                live.update()
            leader = wait_for_leader(cluster)
            updated_to(live, until_end(cluster.nodes[leader]))
            image = live.image
        files = in_files(cluster.nodes[leader], image)

    assert len(image.topics) == 200
    assert leaves(image) == leaves(files)
    assert image.offset == files.offset
    assert [*image.findings] == []


@pytest.mark.long
def test_single_controller_is_restarted_under_the_image(jars: Path, tmp_path: Path) -> None:
    notes: list[str] = []
    with running_cluster(jars, tmp_path, Shape(is_combined=True)) as cluster:
        with live_image(cluster, note=notes.append) as live:
            # The first update only begins to follow: what came later shows that it does.
            change_topics(cluster.brokers, "CreateTopics", [topic("before")])
            updated_to(live, until_end(cluster.nodes[1]))
            cluster.nodes[1].stop()
            time.sleep(1)
            restarted(cluster, 1)
            change_topics(cluster.brokers, "CreateTopics", [topic("t")])
            updated_to(live, until_end(cluster.nodes[1]))
            image = live.image
        files = in_files(cluster.nodes[1], image)

    assert leaves(image) == leaves(files)
    assert any("looking for who leads" in note for note in notes)


# kafka-dump-log


def without_places(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "file": None, "position": None} for row in rows]


def rows_of(*arguments: str) -> list[dict[str, Any]]:
    done = run_command(*arguments, "--format", "json")
    assert (done.code, done.err) == (0, "")
    return parsed(done.text)


@pytest.mark.parametrize("name", [pytest.param("no snapshot", marks=pytest.mark.long), "snapshots"])
def test_dump_is_that_of_the_files(name: str, jars: Path, tmp_path: Path) -> None:
    with running_cluster(jars, tmp_path, SHAPES[name]) as cluster:
        node, controllers = cluster.nodes[1], cluster.controllers
        change_topics(cluster.brokers, "CreateTopics", [topic(f"t{n}") for n in range(50)])
        if name == "snapshots":
            assert until(lambda: has_snapshot(node), 30)

        found = rows_of("--controllers", controllers)
        by_config = rows_of("--config", str(node.config.path), "--topic", "t7")

        time.sleep(1)
        live = {(row["file"], row["position"]) for row in found}
        from_files = []
        footers = [at for at, row in enumerate(found) if row["type"] == "SNAPSHOT_FOOTER"]
        behind = footers[-1] + 1 if footers else 0
        assert len(footers) == (name == "snapshots")
        for path in metadata_folder(node).glob("*-*[1-9].checkpoint") if footers else ():
            rows = rows_of(str(path), "--cluster-metadata-decoder")
            if rows[-1]["timestamp"] == found[behind - 1]["timestamp"]:
                from_files = rows
        if behind < len(found):
            span = f"{found[behind]['offset']}..{found[-1]['offset']}"
            logs = str(metadata_folder(node))
            from_files += rows_of(logs, "--from-start", "--offset", span)

    assert live == {(controllers, None)}
    assert without_places(found) == without_places(from_files)
    assert [row["type"] for row in by_config] == ["TOPIC_RECORD", "PARTITION_RECORD"]


@pytest.mark.long
def test_dump_follows_while_the_leader_changes(jars: Path, tmp_path: Path) -> None:
    out, err = tmp_path / "out", tmp_path / "err"
    with running_cluster(jars, tmp_path, Shape(3, 1)) as cluster:
        command = [DUMP_LOG, "-C", cluster.controllers, "--follow", "--format", "json"]
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen(
                [*command, "--timeout", "30"], stdout=stdout, stderr=stderr, env=ENVIRONMENT
            )
        try:
            change_topics(cluster.brokers, "CreateTopics", [topic(f"t{n}") for n in range(100)])
            assert until(lambda: out.read_text().count("TOPIC_RECORD") == 100, 30), err.read_text()
            leader = wait_for_leader(cluster)
            cluster.nodes[leader].kill()
            wait_for_leader(cluster)
            change_topics(cluster.brokers, "DeleteTopics", [f"t{n}" for n in range(100)])
            restarted(cluster, leader)
            leader = wait_for_leader(cluster)
            end = until_end(cluster.nodes[leader])

            def last() -> int:
                *_, line, _ = out.read_text().split("\n")
                return int(json.loads(line)["offset"])

            assert until(lambda: last() >= end, 60), err.read_text()
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 130
        finally:
            process.kill()
            process.wait()
        found = parsed(out.read_text())
        time.sleep(1)
        span = f"0..{found[-1]['offset']}"
        logs = str(metadata_folder(cluster.nodes[leader]))
        from_files = rows_of(logs, "--from-start", "--offset", span)

    assert without_places(found) == without_places(from_files)
    assert len({row["file"] for row in found}) > 1

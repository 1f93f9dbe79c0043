"""Nodes of a lost quorum, with the logs that are left."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kraftops.java.properties import properties_bytes
from kraftops.recovery.live_controllers import Addresses, ControllerAnswer
from kraftops.recovery.plan import RecoveryPlan
from kraftops.uuids import to_text
from tests.helpers.logs.metadata_logs import (
    kraft_version_batch,
    no_ops,
    records_batch,
    voters_batch,
    write_log,
)
from tests.helpers.nodes.node_directories import CLUSTER_ID, META, make_node, storage
from tests.helpers.tools.console import Done

Planner = Callable[..., RecoveryPlan]
"""Function of a node's folder and the folders of other logs."""

IDS = {node_id: bytes([node_id]) * 16 for node_id in range(1, 6)}
VOTERS = tuple((node_id, IDS[node_id]) for node_id in (1, 2, 3))
CONTROLLER = {
    "process.roles": "controller",
    "listeners": "CONTROLLER://localhost:29093",
    "controller.quorum.bootstrap.servers": "localhost:29093",
    "log.dirs": "meta",
}


def nobody_runs(path: str, addresses: Addresses, cluster_id: str) -> Sequence[ControllerAnswer]:
    """Answer for all controllers that none does."""
    return ()


def topic(name: str, number: int) -> tuple[str, Mapping[str, object]]:
    return "TopicRecord", {"name": name, "topicId": bytes([0x40 + number]) * 16}


def config(topic_name: str, key: str, value: str) -> tuple[str, Mapping[str, object]]:
    data = {"resourceType": 2, "resourceName": topic_name, "name": key, "value": value}
    return "ConfigRecord", data


def broker(number: int) -> tuple[str, Mapping[str, object]]:
    data: dict[str, object] = {
        "brokerId": number,
        "isMigratingZkBroker": False,
        "incarnationId": bytes(16),
        "brokerEpoch": number,
        "endPoints": [],
        "features": [],
        "rack": None,
        "fenced": True,
        "inControlledShutdown": False,
        "logDirs": [],
    }
    return "RegisterBrokerRecord", data


BEGINNING = [
    kraft_version_batch(0, 1, epoch=1),
    voters_batch(1, *VOTERS, epoch=1),
    records_batch(2, ("FeatureLevelRecord", {"name": "metadata.version", "featureLevel": 30})),
    records_batch(3, topic("kept", 1), config("kept", "retention.ms", "1")),
]
"""Offsets 0 to 4, of epoch 1."""
MORE = [
    records_batch(5, topic("late", 2), config("kept", "retention.ms", "2"), epoch=2),
    no_ops(7, 3, epoch=2),
]
"""Offsets 5 to 9, of epoch 2."""


def controller(folder: Path, node_id: int = 1, **changes: str) -> Path:
    """Make the folder of a controller, formatted, without a log; return it."""
    keys = {**CONTROLLER, "node.id": str(node_id)}
    make_node(folder, {}, **{key.replace(".", "_"): value for key, value in keys.items()} | changes)
    (folder / "meta").mkdir()
    write_meta(folder / "meta", node_id)
    return folder


def write_meta(directory: Path, node_id: int, cluster_id: str = CLUSTER_ID, **more: str) -> None:
    """Write a meta.properties."""
    values = {
        "version": "1",
        "node.id": str(node_id),
        "cluster.id": cluster_id,
        "directory.id": to_text(IDS.get(node_id, bytes([node_id]) * 16)),
    }
    values |= {key.replace("_", "."): value for key, value in more.items()}
    (directory / META).write_bytes(properties_bytes(list(values.items())))


def survivor(folder: Path, *batches: bytes) -> Path:
    """Make controller 1 of a quorum of three, whose log goes on with *batches*."""
    node = controller(folder)
    write_log(node / "meta", {0: [*BEGINNING, *batches]})
    return node


def other_node(folder: Path, node_id: int, *batches: bytes) -> Path:
    """Make the log directory of another node, with a log."""
    folder.mkdir(parents=True)
    write_meta(folder, node_id)
    write_log(folder, {0: [*BEGINNING, *batches]})
    return folder


def recover(node: Path, *args: str) -> Done:
    """Run a confirmed recovery in this process."""
    return storage(node, "recover", "-c", "server.properties", *args, "--yes")


def recovery_data(node: Path, *args: str) -> dict[str, Any]:
    """Return the JSON of a recovery, which succeeds."""
    done = recover(node, *args, "--format", "json")
    assert done.code == 0 or (done.code, "--dry-run" in args) == (2, True), done.text + done.err
    found: dict[str, Any] = json.loads(done.text)
    return found


def refusal(node: Path, *args: str, code: int = 3) -> dict[str, Any]:
    """Return the JSON of a recovery, which is refused."""
    done = recover(node, *args, "--format", "json")
    assert done.code == code, done.text + done.err
    found: dict[str, Any] = json.loads(done.text)
    assert found["message"]
    return found


def log_files(node: Path, directory: str = "meta") -> dict[str, bytes]:
    """Return the files of a node's log that a server reads."""
    folder = node / directory / "__cluster_metadata-0"
    paths = folder.iterdir() if folder.is_dir() else ()
    return {path.name: path.read_bytes() for path in paths if path.is_file()}

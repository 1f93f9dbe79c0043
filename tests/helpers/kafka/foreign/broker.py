"""A broker with the data of foreign clients, whose cleaner, tier and snapshots have run."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.helpers.kafka.foreign import writers
from tests.helpers.kafka.foreign.topics import numbers
from tests.helpers.kafka.jvm.jvm import OPTIONS, classpath
from tests.helpers.kafka.nodes.clusters import Shape, running_cluster
from tests.helpers.kafka.nodes.load import SETTINGS
from tests.helpers.kafka.nodes.nodes import Node, until

TIER = "kafka-tiered-storage"
_PROGRAM = Path(__file__).with_name("Clients.java")
_LIMIT = 60  # seconds
_SNAPSHOTS = {
    "metadata.log.max.record.bytes.between.snapshots": "3000",
    "metadata.log.max.snapshot.interval.ms": "3000",
}
_TIER = {
    "remote.log.storage.system.enable": "true",
    "remote.log.storage.manager.class.name": (
        "org.apache.kafka.server.log.remote.storage.LocalTieredStorage"
    ),
    "remote.log.metadata.manager.listener.name": "PLAINTEXT",
    "rlmm.config.remote.log.metadata.topic.replication.factor": "1",
    "rlmm.config.remote.log.metadata.topic.num.partitions": "2",
    "remote.log.manager.task.interval.ms": "500",
}
_PREVIEWS = {"unstable.api.versions.enable": "true", "unstable.feature.versions.enable": "true"}
_PROTOCOLS = "group.coordinator.rebalance.protocols"


class Release(NamedTuple):
    """The settings and features by which a release has all its kinds of groups, and these."""

    settings: Mapping[str, str]
    features: tuple[str, ...]
    groups: tuple[str, ...]


_RELEASES = {
    (3, 7): Release(
        {
            **_PREVIEWS,
            _PROTOCOLS: "classic,consumer",
            # It refuses the offsets of a transaction in which librdkafka wrote nothing else.
            "transaction.partition.verification.enable": "false",
        },
        (),
        ("consumer", "streams-classic"),
    ),
    (3, 9): Release(
        {**_PREVIEWS, _PROTOCOLS: "classic,consumer"}, (), ("consumer", "streams-classic")
    ),
    (4, 0): Release(
        {**_PREVIEWS, _PROTOCOLS: "classic,consumer,share", "group.share.enable": "true"},
        (),
        ("consumer", "share", "streams-classic"),
    ),
    (4, 1): Release(
        {**_PREVIEWS, _PROTOCOLS: "classic,consumer,share,streams"},
        ("share.version=1", "streams.version=1"),
        ("consumer", "share", "streams-classic", "streams-streams"),
    ),
    (4, 2): Release({}, (), ("consumer", "share", "streams-classic", "streams-streams")),
}
"""By the first release that is so."""


@contextmanager
def foreign_data(jars: Path, release: str, folder: Path) -> Iterator[Node]:
    """Start a broker of a release, fill it, and wait until it has done all its housekeeping."""
    known = _RELEASES[max(first for first in _RELEASES if first <= numbers(release))]
    settings = {
        **known.settings,
        **SETTINGS,
        **_SNAPSHOTS,
        **_TIER,
        "rsm.config.dir": str(folder),
        "log.index.size.max.bytes": "100000",
        "file.delete.delay.ms": "900000",
        "share.coordinator.state.topic.num.partitions": "3",
    }
    shape = Shape(is_combined=True, release=release, settings=settings, features=known.features)
    with running_cluster(jars, folder, shape) as cluster:
        address = cluster.brokers
        node = cluster.nodes[1]
        writers.create(address, release)
        with _java(jars, address, "producer", *known.groups):
            writers.fill(address, release)
        writers.finish(address, release)
        _wait(node)
        yield node


@contextmanager
def _java(jars: Path, address: str, *clients: str) -> Iterator[None]:
    """Run the clients of Java beside a block; both end well."""
    command = ["java", "-Xmx256m", *OPTIONS, "-cp", classpath(jars), str(_PROGRAM), address]
    with subprocess.Popen(
        [*command, *clients], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield
            printed, _ = process.communicate(timeout=2 * _LIMIT)
        finally:
            process.kill()
    assert process.returncode == 0, printed[-3000:]


def _wait(node: Node) -> None:
    """Wait until logs are compacted, tiered, shortened and deleted, and there is a snapshot."""
    root = node.config.log_dirs[0]
    tier = node.config.path.parent / TIER
    compacted = [
        "keyed 0 ",
        "keyed 1 ",
        "both 0 ",
        "balances 0 ",
        "__consumer_offsets ",
        "__transaction_state ",
    ]

    def cleaned() -> bool:
        path = root / "cleaner-offset-checkpoint"
        return path.exists() and all(f"\n{each}" in path.read_text() for each in compacted)

    conditions = {
        "cleaner": cleaned,
        "tier": lambda: all(len([*root.glob(f"tiered-{n}/*.log")]) == 1 for n in range(2)),
        "tiered segments": lambda: len([*tier.rglob("*.log")]) > 4,
        "retention": lambda: not (root / "short-0" / f"{0:020}.log").exists(),
        "deletion": lambda: [*root.glob("gone-*-delete")],
        "snapshot": lambda: [
            path
            for path in root.glob("__cluster_metadata-0/*.checkpoint")
            if "-0000000000." not in path.name
        ],
    }
    for name, condition in conditions.items():
        assert until(condition, _LIMIT), f"{name}: {sorted(os.listdir(root))}"

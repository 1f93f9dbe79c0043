"""Record the disks of a small cluster in trouble, which the documentation ships.

`PYTHONPATH=. .venv/bin/python -m tests.helpers.incidents.small_cluster docs/cluster.tar.gz` runs three
controllers and three brokers for a minute. A configuration is changed, a group stops, a transaction
stays open, and a broker is killed for good. The disks are copied while the others run, and a byte
of a copy is flipped.
"""

import json
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from shutil import copytree, ignore_patterns

from kraftops.wire.admin.configs import ConfigChange, Operation, ResourceType, alter_configs
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.bootstrap import connect
from tests.helpers.kafka.jvm.jars import resolved_jars
from tests.helpers.kafka.nodes.clusters import Cluster, Shape, running_cluster
from tests.helpers.kafka.nodes.moving import create_topics

RELEASE = "4.3.1"
_THREE = {"replication.factor": "3", "num.partitions": "3"}
_COORDINATORS = {
    f"{topic}.{key}": number
    for topic in ("offsets.topic", "transaction.state.log")
    for key, number in _THREE.items()
}
SHAPE = Shape(
    controllers=3,
    brokers=3,
    settings={
        **_COORDINATORS,
        "log.index.size.max.bytes": "4096",  # a broker that is killed leaves indexes of full size
        "metadata.max.idle.interval.ms": "5000",
        "log.dir.failure.timeout.ms": "30000",
    },
)
TOPICS = {"orders": (3, 3), "payments": (2, 3), "mail": (2, 2)}
_DEAD = 102


def fill(cluster: Cluster) -> None:
    """Write orders and payments; a group reads some of them, and a transaction stays open."""
    create_topics(cluster, TOPICS)
    configure(cluster, "orders", "retention.ms", "604800000")
    configure(cluster, "orders", "min.insync.replicas", "2")
    _produce(cluster, "orders", 600)
    _produce(cluster, "mail", 60)
    _read(cluster, "orders", "billing", 500)
    _produce(cluster, "payments", 80, transactional_id="invoices")
    _produce(cluster, "orders", 900)


def trouble(cluster: Cluster) -> None:
    """Have somebody shorten the retention, and a broker die."""
    time.sleep(5)
    configure(cluster, "orders", "retention.ms", "3600000")
    time.sleep(5)
    cluster.nodes[_DEAD].kill()
    time.sleep(8)  # until it is fenced
    _produce(cluster, "orders", 300)


def configure(cluster: Cluster, topic: str, key: str, value: str) -> None:
    """Set a configuration of a topic."""
    with connect(parse_bootstrap(cluster.brokers), Settings(timeout=60), Deadline(60)) as node:
        alter_configs(node, ResourceType.TOPIC, {topic: [ConfigChange(key, Operation.SET, value)]})


def damage(folder: Path) -> None:
    """Flip a byte of a record in the middle of the copy that broker 103 has of orders-1."""
    path = folder / "node-103" / "d1" / "orders-1" / "00000000000000000000.log"
    content = bytearray(path.read_bytes())
    content[content.index(b"sum", len(content) // 2)] ^= 0xFF
    path.write_bytes(content)


def pack(folder: Path, archive: Path) -> None:
    """Pack configurations and log directories, with relative paths.

    Indexes of the metadata log are left out: those of a node that runs take 20 MB, and a start makes
    them anew.
    """
    with tarfile.open(archive, "w:gz", compresslevel=9) as packed:
        for path in sorted(folder.glob("node-*.properties")):
            path.write_text(path.read_text().replace(f"{folder}/", "").replace("/d1", "/data"))
            packed.add(path, f"cluster/{path.name}", filter=_anonymous)
            directory = path.with_suffix("") / "d1"
            packed.add(directory, f"cluster/{directory.parent.name}/data", filter=_anonymous)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if "__cluster_metadata" in member.name and member.name.endswith("index"):
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    member.mode |= 0o200  # whoever unpacks it may delete it
    return member


def _produce(cluster: Cluster, topic: str, count: int, transactional_id: str | None = None) -> None:
    """Write records; those of a transaction are flushed, and neither committed nor aborted."""
    from kafka import KafkaProducer

    producer = KafkaProducer(
        bootstrap_servers=cluster.brokers.split(","), transactional_id=transactional_id, acks="all"
    )
    if transactional_id:
        producer.init_transactions()
        producer.begin_transaction()
    for number in range(count):
        order = json.dumps({"number": number, "sum": number * 7 % 90})
        producer.send(topic, key=f"customer-{number % 40}".encode(), value=order.encode())
        if number % 20 == 19:  # several batches
            producer.flush()
    producer.flush()
    if not transactional_id:
        producer.close()


def _read(cluster: Cluster, topic: str, group: str, count: int) -> None:
    """Read records as a group, and commit."""
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(
        topic,
        group_id=group,
        bootstrap_servers=cluster.brokers.split(","),
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        consumer_timeout_ms=20000,
        max_poll_records=50,
    )
    for number, _ in enumerate(consumer, 1):
        if number >= count:
            break
    consumer.commit()
    consumer.close(autocommit=False)


def record(archive: Path) -> None:
    """Run the cluster, and pack what it leaves."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with running_cluster(resolved_jars(RELEASE), folder, SHAPE) as cluster:
            fill(cluster)
            trouble(cluster)
            time.sleep(6)  # until controllers and brokers have written all
            copy = Path(name) / "copy"
            copytree(folder, copy, ignore=ignore_patterns("copy", ".lock"))
            for path in copy.glob("node-*.properties"):
                path.write_text(path.read_text().replace(f"{folder}/", f"{copy}/"))
        damage(copy)
        pack(copy, archive)


if __name__ == "__main__":
    record(Path(sys.argv[1]))

"""Load on a broker: all kinds of producers, in small segments, and a topic that comes and goes.

kafka-python writes it, in a process of its own: it warns where tests allow no warnings.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SETTINGS = {
    "log.initial.task.delay.ms": "100",
    "log.retention.check.interval.ms": "500",
    "log.cleaner.backoff.ms": "200",
    "log.flush.offset.checkpoint.interval.ms": "700",
    "log.flush.start.offset.checkpoint.interval.ms": "900",
    "replica.high.watermark.checkpoint.interval.ms": "500",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "offsets.topic.num.partitions": "2",
}
"""Settings of a node that does often what a broker does now and then."""

_SEGMENTS = {
    "internal.segment.bytes": "3000",
    "index.interval.bytes": "300",
    "retention.bytes": "30000",
    "file.delete.delay.ms": "500",
}
_ROUNDS_OF_A_TOPIC = 20  # that is created, and deleted after as many
_PAUSE_SECONDS = 0.02  # between rounds: a log of a thousand segments tests no more
_TOPICS = {
    "plain": {},
    "packed": {},
    "transactions": {},
    "preallocated": {"preallocate": "true"},
    "short": {"retention.bytes": "9000"},
    "keyed": {
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.01",
        "max.compaction.lag.ms": "500",
        "segment.ms": "1000",
    },
}


@contextmanager
def loaded(address: str) -> Iterator[None]:
    """Write to a broker until the end of the block; the first records are there."""
    command = [sys.executable, "-W", "ignore", "-m", __name__, address]
    folder = Path(__file__).parents[4]
    with subprocess.Popen(command, cwd=folder, stdout=-1) as process:
        assert process.stdout
        assert process.stdout.readline() == b"begun\n"
        try:
            yield
            assert process.poll() is None
        finally:
            process.kill()


def _write(address: str) -> None:
    from kafka import KafkaAdminClient, KafkaProducer

    admin = KafkaAdminClient(bootstrap_servers=address)
    topics = {
        name: {"num_partitions": 1, "replication_factor": 1, "configs": {**_SEGMENTS, **configs}}
        for name, configs in _TOPICS.items()
    }
    admin.create_topics(topics, wait_for_metadata=True)
    plain: Any = KafkaProducer(bootstrap_servers=address, acks="all", linger_ms=2)
    producers: list[Any] = [
        KafkaProducer(bootstrap_servers=address, transactional_id=f"t{n}", linger_ms=2)
        for n in range(2)
    ]
    for producer in producers:
        producer.init_transactions()
    packed: Any = KafkaProducer(
        bootstrap_servers=address, enable_idempotence=True, compression_type="gzip", linger_ms=2
    )
    number = rounds = 0
    while True:
        rounds += 1
        phase = rounds % (2 * _ROUNDS_OF_A_TOPIC)
        if phase == 1:
            admin.create_topics({"again": topics["plain"]}, wait_for_metadata=True)
        elif phase == _ROUNDS_OF_A_TOPIC + 1:
            admin.delete_topics(["again"])
        for _ in range(10):
            number += 1
            for topic in ("plain", "preallocated", "short"):
                plain.send(topic, b"value %d" % number * 3, partition=0)
            packed.send("packed", b"value %d" % number * 9)
            if 1 <= phase <= _ROUNDS_OF_A_TOPIC:
                plain.send("again", b"value %d" % number)
            plain.send("keyed", b"value %d" % number, key=b"key %d" % (number % 17))
        plain.flush()
        packed.flush()
        for at, producer in enumerate(producers):
            producer.begin_transaction()
            producer.send("transactions", b"value %d" % number)
            producer.send("transactions", b"value %d" % number)
            producer.flush()
            is_bad = (number // 10 + at) % 3 == 0
            (producer.abort_transaction if is_bad else producer.commit_transaction)()
        time.sleep(_PAUSE_SECONDS)
        if number == 100:
            print("begun", flush=True)  # noqa: T201 - for the parent


if __name__ == "__main__":
    _write(sys.argv[1])

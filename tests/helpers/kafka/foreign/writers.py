"""Foreign clients that write to a broker: librdkafka, aiokafka and kafka-python.

They run in a process of its own, as in `tests.helpers.kafka.nodes.contents`.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.helpers.kafka.foreign.topics import SEGMENT_BYTES, TOPICS, configs, segment_key

_LIMIT = 60  # seconds
_CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
_HEADERS = [
    ("trace", b"\x00\xff"),
    ("empty", b""),
    ("trace", b"again"),
    ("\u2713", b"\xe2\x9c\x93"),
]


class Item(NamedTuple):
    """A record to send; its time is in ms, None is now."""

    key: bytes | None
    value: bytes | None
    timestamp: int | None
    headers: list[tuple[str, bytes]]


def create(address: str, release: str) -> None:
    """Create the topics, and write what the clients of Java read."""
    _run("create", address, release)


def fill(address: str, release: str) -> None:
    """Write to the topics, and read them in groups."""
    _run("fill", address, release)


def finish(address: str, release: str) -> None:
    """Make the internal topics roll and compact, delete records and a topic, abandon a transaction."""
    _run("finish", address, release)


def _run(*call: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", __name__, *call],
        cwd=Path(__file__).parents[4],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=3 * _LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def items(count: int, keys: int = 7) -> Iterator[Item]:
    """Yield records: null, empty and long keys and values, headers, times of all kinds."""
    edges = (b"", None, b"x" * 700, "текст 🙂".encode(), bytes(range(256)))
    times = (None, None, 0, 1_600_000_000_000, 253_402_300_799_000)
    for number in range(count):
        key = None if number % 13 == 4 else b"key %d" % (number % keys)
        value = edges[number // 9 % 5] if number % 9 == 5 else b"value %d " % number * 4
        headers = _HEADERS[: number % 5] if number % 3 == 0 else []
        yield Item(key, value, times[number % 5], headers)


def _fill(address: str, release: str) -> None:
    _librdkafka(address)
    _transactions(address)
    asyncio.run(_aiokafka(address))
    _kafka_python(address)
    _consume(address, release)


def _create(address: str, release: str) -> None:
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": address})
    new = [
        NewTopic(name, topic.partitions, 1, config=configs(name, release))
        for name, topic in TOPICS.items()
    ]
    for created in admin.create_topics(new).values():
        created.result(_LIMIT)
    words = _producer(address)
    for number in range(80):
        word = ("lorem", "ipsum", "dolor", "sit")[number % 4]
        words.produce("words", key=b"%d" % number, value=word, partition=number % 2)
    words.flush(_LIMIT)


def _producer(address: str, **settings: Any) -> Any:
    from confluent_kafka import Producer

    known = {name.replace("_", "."): value for name, value in settings.items()}
    return Producer({"bootstrap.servers": address, "linger.ms": 2, **known})


def _librdkafka(address: str) -> None:
    """Write with each codec, with and without idempotence."""
    many = ("librdkafka", "appended", "recompressed", "preallocated", "keyed", "both", "short")
    for number, codec in enumerate(_CODECS):
        producer = _producer(
            address, compression_type=codec, enable_idempotence=bool(number % 2),
            batch_num_messages=7,
        )  # fmt: skip
        for topic in (*many, "tiered", "purged", "gone"):
            compacted = "compact" in TOPICS[topic].configs.get("cleanup.policy", "")
            for at, item in enumerate(items(80)):
                producer.produce(
                    topic,
                    key=item.key or b"" if compacted else item.key,
                    value=item.value,
                    headers=[*item.headers, ("null", None)] if item.headers else None,
                    partition=at % TOPICS[topic].partitions,
                    timestamp=item.timestamp or 0,  # 0 is now
                )
            producer.flush(_LIMIT)


def _transactions(address: str, count: int = 8) -> None:
    """Commit and abort transactions of two producers at once, of which one is often open."""
    producers = [_producer(address, transactional_id=f"pay-{n}") for n in range(2)]
    for producer in producers:
        producer.init_transactions(_LIMIT)
        producer.begin_transaction()
    for turn in range(count):
        for number, producer in enumerate(producers):
            for at, item in enumerate(items(9)):
                producer.produce("payments", item.value, item.key, partition=at % 2)
                producer.produce("balances", item.value, item.key or b"none")
                producer.produce("tiered", item.value, item.key, partition=at % 2)
            producer.flush(_LIMIT)
            if (turn + number) % 2 == 0:
                continue  # goes on into the next turn
            if turn % 3 == 0:
                producer.abort_transaction(_LIMIT)
            else:
                producer.commit_transaction(_LIMIT)
            producer.begin_transaction()
    for producer in producers:
        producer.abort_transaction(_LIMIT)


async def _aiokafka(address: str) -> None:
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    for number, codec in enumerate((None, *_CODECS[1:])):
        producer = AIOKafkaProducer(
            bootstrap_servers=address, compression_type=codec, linger_ms=2, max_batch_size=2000,
            enable_idempotence=bool(number % 2),
        )  # fmt: skip
        await producer.start()
        for topic in ("aiokafka", "appended", "tiered"):
            sent = [
                await producer.send(
                    topic,
                    item.value,
                    item.key,
                    partition=at % TOPICS[topic].partitions,
                    timestamp_ms=item.timestamp,
                    headers=item.headers,
                )
                for at, item in enumerate(items(60))
            ]
            await asyncio.gather(*sent)
        await producer.stop()
    transactional = AIOKafkaProducer(bootstrap_servers=address, transactional_id="aio")
    await transactional.start()
    for _ in range(3):
        async with transactional.transaction():
            for item in items(9):
                await transactional.send("balances", item.value, item.key or b"none")
    await transactional.stop()
    consumer = AIOKafkaConsumer(
        "aiokafka", bootstrap_servers=address, group_id="aio-readers",
        auto_offset_reset="earliest", enable_auto_commit=False,
    )  # fmt: skip
    await consumer.start()
    count = 0
    while count < 100:
        for records in (await consumer.getmany(timeout_ms=500)).values():
            count += len(records)
        await consumer.commit()
    await consumer.stop()


def _kafka_python(address: str) -> None:
    from kafka import KafkaConsumer, KafkaProducer

    for number, codec in enumerate((None, "gzip")):
        producer: Any = KafkaProducer(
            bootstrap_servers=address, compression_type=codec, linger_ms=2, batch_size=2000,
            enable_idempotence=bool(number),
        )  # fmt: skip
        for topic in ("python", "appended", "keyed"):
            for at, item in enumerate(items(60)):
                producer.send(
                    topic,
                    item.value,
                    item.key or b"",
                    headers=item.headers,
                    partition=at % TOPICS[topic].partitions,
                    timestamp_ms=item.timestamp,
                )
        producer.flush(_LIMIT)
        producer.close()
    transactional: Any = KafkaProducer(bootstrap_servers=address, transactional_id="python")
    transactional.init_transactions()
    for turn in range(4):
        transactional.begin_transaction()
        for item in items(9):
            transactional.send("payments", item.value, item.key)
        transactional.flush(_LIMIT)
        (transactional.abort_transaction if turn % 2 else transactional.commit_transaction)()
    transactional.close()
    consumer: Any = KafkaConsumer(
        "python", bootstrap_servers=address, group_id="python-readers",
        auto_offset_reset="earliest", enable_auto_commit=False,
    )  # fmt: skip
    count = 0
    while count < 100:
        count += sum(map(len, consumer.poll(timeout_ms=500).values()))
        consumer.commit()
    consumer.close()


def _consume(address: str, release: str) -> None:
    """Read as a classic group, as one of KIP-848 where librdkafka can, and in a transaction."""
    from confluent_kafka import Consumer

    modern = {"group.protocol": "consumer", "group.instance.id": "fixed"}
    groups = {"rd-classic": {"partition.assignment.strategy": "cooperative-sticky"}}
    if release.startswith("4"):
        groups["rd-consumer"] = modern
    for group, settings in groups.items():
        consumer = Consumer({
            "bootstrap.servers": address, "group.id": group, "auto.offset.reset": "earliest",
            "enable.auto.commit": False, **settings,
        })  # fmt: skip
        consumer.subscribe(["librdkafka", "keyed"])
        _read(consumer, 50)
        consumer.commit(asynchronous=False)
        if group == "rd-classic":
            producer = _producer(address, transactional_id="offsets")
            producer.init_transactions(_LIMIT)
            for is_good in (True, False):
                producer.begin_transaction()
                _read(consumer, 20)
                producer.send_offsets_to_transaction(
                    consumer.position(consumer.assignment()),
                    consumer.consumer_group_metadata(),
                    _LIMIT,
                )
                (producer.commit_transaction if is_good else producer.abort_transaction)(_LIMIT)
        consumer.close()


def _read(consumer: Any, wanted: int) -> None:
    count = 0
    while count < wanted:
        found = consumer.consume(wanted - count, 1)
        assert not any(each.error() for each in found)
        count += len(found)


def _finish(address: str, release: str) -> None:
    from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
    from confluent_kafka.admin import (
        AdminClient,
        AlterConfigOpType,
        ConfigEntry,
        ConfigResource,
        NewPartitions,
    )

    admin = AdminClient({"bootstrap.servers": address})
    internal = [name for name in admin.list_topics(timeout=_LIMIT).topics if name.startswith("__")]
    small = {
        segment_key(release): str(SEGMENT_BYTES),
        "index.interval.bytes": "300",
        "min.cleanable.dirty.ratio": "0.01",
        "max.compaction.lag.ms": "500",
    }
    changes = [
        ConfigResource(
            ConfigResource.Type.TOPIC,
            name,
            incremental_configs=[
                ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
                for key, value in small.items()
            ],
        )
        for name in internal
    ]
    for changed in admin.incremental_alter_configs(changes).values():
        changed.result(_LIMIT)
    for turn in range(40):
        offsets = [TopicPartition("librdkafka", n, turn) for n in range(3)]
        wanted = [ConsumerGroupTopicPartitions(f"set-{turn % 3}", offsets)]
        for done in admin.alter_consumer_group_offsets(wanted).values():
            done.result(_LIMIT)
    _transactions(address, 24)
    for done in admin.delete_consumer_groups(["set-0"]).values():
        done.result(_LIMIT)
    for done in admin.delete_records([TopicPartition("purged", 0, 123)]).values():
        done.result(_LIMIT)
    for done in admin.create_partitions([NewPartitions("counted", 2)]).values():
        done.result(_LIMIT)
    for done in admin.delete_topics(["gone"]).values():
        done.result(_LIMIT)
    _abandon(address)


def _abandon(address: str) -> None:
    """Leave a transaction open for as long as a broker allows, as a process that dies does."""
    producer = _producer(address, transactional_id="abandoned", transaction_timeout_ms=900_000)
    producer.init_transactions(_LIMIT)
    producer.begin_transaction()
    for at, item in enumerate(items(20)):
        producer.produce("payments", item.value, item.key, partition=at % 2)
    assert producer.flush(_LIMIT) == 0
    os._exit(0)


if __name__ == "__main__":
    {"create": _create, "fill": _fill, "finish": _finish}[sys.argv[1]](*sys.argv[2:])

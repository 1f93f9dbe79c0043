"""Values of metadata records in shapes that nobody tuned for: of topics, brokers, configurations."""

from collections.abc import Callable, Iterator
from random import Random

from tests.bench.logs.cluster import CONFIGS, LISTENERS, NOUNS, framed

_LIVE_TOPICS = 500
_BROKERS = range(1, 301)
_CONFIGURED_TOPICS = 2000


def churn_values(random: Random) -> Iterator[bytes]:
    """Yield values of topics that are made and soon deleted again, without end."""
    live: list[tuple[bytes, int]] = []
    made = 0
    while True:
        topic_id, count = random.randbytes(16), random.choice((1, 1, 3, 6, 12))
        name = f"{random.choice(NOUNS)}-{made}"
        made += 1
        yield framed("TopicRecord", 0, {"name": name, "topicId": topic_id})
        if random.random() < 0.3:
            yield _config(2, name, "retention.ms", "86400000")
        for number in range(count):
            yield _partition(random, topic_id, number)
        live.append((topic_id, count))
        for _ in range(count):
            changed_id, partitions = random.choice(live)
            isr = random.sample(range(1, 13), random.randint(1, 3))
            data = {"topicId": changed_id, "partitionId": random.randrange(partitions), "isr": isr}
            yield framed("PartitionChangeRecord", 1, data | {"leader": isr[0]})
        if len(live) > _LIVE_TOPICS:
            removed, _ = live.pop(random.randrange(len(live)))
            yield framed("RemoveTopicRecord", 0, {"topicId": removed})


def broker_values(random: Random) -> Iterator[bytes]:
    """Yield values of many brokers that register, are fenced and unfenced, without end."""
    epochs: dict[int, int] = {}
    while True:
        broker = random.choice(_BROKERS)
        if broker not in epochs or random.random() < 0.05:
            epochs[broker] = random.randrange(1 << 40)
            yield _registration(random, broker, epochs[broker])
        data = {"brokerId": broker, "brokerEpoch": epochs[broker]}
        data["fenced"] = random.choice((-1, 0, 1))
        data["inControlledShutdown"] = random.choice((0, 0, 1))
        yield framed("BrokerRegistrationChangeRecord", 2, data)


def config_values(random: Random) -> Iterator[bytes]:
    """Yield values of configurations, some of them large, without end."""
    while True:
        name = f"{random.choice(NOUNS)}-{random.randrange(_CONFIGURED_TOPICS)}"
        key = random.choice(list(CONFIGS))
        kind = random.random()
        if kind < 0.05:
            hosts = ",".join(f"{broker}:{random.randrange(99)}" for broker in range(1, 600))
            yield _config(2, name, "leader.replication.throttled.replicas", hosts)
        elif kind < 0.1:
            yield _config(2, name, key, None)
        else:
            yield _config(2, name, key, CONFIGS[key])


SHAPES: dict[str, Callable[[Random], Iterator[bytes]]] = {
    "churn": churn_values,
    "brokers": broker_values,
    "configs": config_values,
}


def _config(kind: int, resource: str, name: str, value: str | None) -> bytes:
    data = {"resourceType": kind, "resourceName": resource, "name": name, "value": value}
    return framed("ConfigRecord", 0, data)


def _partition(random: Random, topic_id: bytes, number: int) -> bytes:
    replicas = random.sample(range(1, 13), 3)
    data = {
        "partitionId": number,
        "topicId": topic_id,
        "replicas": replicas,
        "isr": replicas,
        "removingReplicas": [],
        "addingReplicas": [],
        "leader": replicas[0],
        "leaderRecoveryState": 0,
        "leaderEpoch": 0,
        "partitionEpoch": 0,
        "directories": [bytes([broker]) * 16 for broker in replicas],
    }
    return framed("PartitionRecord", 1, data)


def _registration(random: Random, broker: int, epoch: int) -> bytes:
    data = {
        "brokerId": broker,
        "incarnationId": random.randbytes(16),
        "brokerEpoch": epoch,
        "endPoints": [listener | {"host": f"broker-{broker}"} for listener in LISTENERS],
        "features": [],
        "rack": f"rack-{broker % 3}",
        "fenced": True,
        "logDirs": [bytes([broker % 256]) * 16],
    }
    return framed("RegisterBrokerRecord", 3, data)

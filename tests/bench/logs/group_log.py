"""The log of `__consumer_offsets` as compaction leaves it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from struct import Struct
from typing import NamedTuple

from kraftops.log.batch import CONTROL, DELETE_HORIZON, TRANSACTIONAL, Record
from kraftops.schema.compile import compiled
from kraftops.schema.message import Message
from kraftops.schema.tables import messages
from tests.bench.logs.batches import NOBODY, START, Made, Producer, batch
from tests.bench.logs.cluster import NOUNS
from tests.bench.logs.random_messages import MadeUp

GROUPS = 400
TOPICS = 120
PRODUCERS = 50
HORIZON = 86_400_000  # ms until a tombstone goes
SURVIVES = {"usual": 0.35, "other": 0.85}  # a record, or a marker
NOTHING_LEFT = 0.02  # of batches that lost all: these stay, for what their producer did last
ABORT, COMMIT = 0, 1

_INT16, _MARKER_KEY, _MARKER = Struct(">h"), Struct(">hh"), Struct(">hi")
_Pair = tuple[bytes, bytes | None]


class Written(NamedTuple):
    """A batch before compaction."""

    pairs: Sequence[_Pair]
    attributes: int = 0
    producer: Producer = NOBODY


def group_batches(mix: str, seed: int) -> Iterator[Made]:
    """Yield batches without end: commits and changed groups, some in transactions."""
    random = Random(seed)
    generators: dict[str, Callable[[], Sequence[_Pair]]] = {
        "usual": Classic(random).pairs,
        "other": Others(random).pairs,
    }
    compact = Compaction(random, SURVIVES[mix])
    for written in transacted(generators[mix], random):
        made = compact(written)
        if made:
            yield made


def transacted(make: Callable[[], Sequence[_Pair]], random: Random) -> Iterator[Written]:
    """Yield the pairs of *make*, a fifth in transactions that end a few batches later."""
    open_ends: list[Producer] = []
    while True:
        if random.random() < 0.8:
            yield Written(make())
        else:
            producer = Producer(random.randrange(PRODUCERS) + 4000, random.randrange(30))
            yield Written(make(), TRANSACTIONAL, producer)
            open_ends.append(producer)
        if len(open_ends) > random.randrange(4):
            key = _MARKER_KEY.pack(0, ABORT if random.random() < 0.1 else COMMIT)
            marker = key, _MARKER.pack(0, random.randrange(20))
            yield Written([marker], TRANSACTIONAL | CONTROL, open_ends.pop(0))


class Compaction:
    """Compaction as by Kafka's cleaner: replaced records go, others keep their offsets."""

    def __init__(self, random: Random, survives: float) -> None:
        self.random = random
        self.survives = survives
        self.offset, self.now = 0, START

    def __call__(self, written: Written) -> Made | None:
        """Return the rest of a batch, or None if nothing is left."""
        pairs, attributes, producer = written
        random = self.random
        offsets = range(self.offset, self.offset + len(pairs))
        self.offset = offsets.stop
        self.now += random.randrange(900)
        left = [
            Record(offset, self.now, *pair)
            for offset, pair in zip(offsets, pairs, strict=True)
            if random.random() < self.survives
        ]
        base_timestamp = self.now
        if any(record.value is None for record in left):
            attributes |= DELETE_HORIZON
            base_timestamp += HORIZON  # of which the header then tells in its place
        if not left:
            if producer is NOBODY or random.random() > NOTHING_LEFT:
                return None
            base_timestamp = -1
        return batch(
            left,
            offsets,
            attributes=attributes,
            producer=producer,
            base_timestamp=base_timestamp,
            max_timestamp=self.now,
        )


def pair(
    name: str, key: Mapping[str, object], value: Mapping[str, object] | None, version: int = 0
) -> _Pair:
    """Return key and value of a record of the group coordinator; without a value, a tombstone."""
    key_message = messages("group")[f"{name}Key"]
    assert key_message.key is not None
    head = _INT16.pack(key_message.key) + compiled(key_message, 0).write(key)
    if value is None:
        return head, None
    return head, _versioned(messages("group")[f"{name}Value"], version, value)


def _versioned(message: Message, version: int, data: Mapping[str, object]) -> bytes:
    return _INT16.pack(version) + compiled(message, version).write(data)


class Classic:
    """Groups of the classic protocol, and their commits."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.groups = [
            f"{random.choice(NOUNS)}-{random.choice(NOUNS)}-{number}" for number in range(GROUPS)
        ]
        self.topics = [f"{random.choice(NOUNS)}.{number}" for number in range(TOPICS)]
        self.ids = [random.randbytes(16) for _ in range(TOPICS)]

    def pairs(self) -> Sequence[_Pair]:
        """Return the records of a batch."""
        random = self.random
        group = random.choice(self.groups)
        kind = random.random()
        if kind < 0.85:
            return self._commits(group)
        if kind < 0.88:
            return [pair("GroupMetadata", {"group": group}, None)]
        return [self._group(group)]

    def _commits(self, group: str) -> Sequence[_Pair]:
        random = self.random
        number = random.randrange(TOPICS)
        version = random.choice((0, 1, 2, 3, 3, 3, 4, 4))
        is_gone = random.random() < 0.06
        value = {
            "leaderEpoch": random.randrange(40),
            "metadata": "" if random.random() < 0.9 else f"host-{random.randrange(99)}",
            "commitTimestamp": START + random.randrange(1 << 30),
            "topicId": self.ids[number],
        }
        if random.random() < 0.3:
            value["expireTimestamp"] = START + random.randrange(1 << 31)
        return [
            pair(
                "OffsetCommit",
                {"group": group, "topic": self.topics[number], "partition": partition},
                None if is_gone else value | {"offset": random.randrange(1 << 34)},
                version,
            )
            for partition in range(random.randint(1, 30))
        ]

    def _group(self, group: str) -> _Pair:
        random = self.random
        members = [self._member(group, number) for number in range(random.randint(0, 12))]
        value = {
            "protocolType": "consumer",
            "generation": random.randrange(1000),
            "protocol": "range" if members else None,
            "leader": members[0]["memberId"] if members else None,
            "currentStateTimestamp": START + random.randrange(1 << 30),
            "members": members,
        }
        return pair("GroupMetadata", {"group": group}, value, random.choice((0, 1, 2, 3, 3, 3, 4)))

    def _member(self, group: str, number: int) -> dict[str, object]:
        random = self.random
        topics = random.sample(self.topics, random.randint(1, 3))
        owned = [
            {"topic": topic, "partitions": random.sample(range(60), random.randint(1, 8))}
            for topic in topics
        ]
        subscription = {
            "topics": topics,
            "ownedPartitions": owned,
            "generationId": random.randrange(1000),
            "rackId": random.choice((None, "rack-a")),
        }
        return {
            "memberId": f"{group}-{number}-{random.randbytes(8).hex()}",
            "groupInstanceId": random.choice((None, f"instance-{number}")),
            "clientId": f"{group}-{number}",
            "clientHost": f"/10.0.{random.randrange(256)}.{random.randrange(256)}",
            "rebalanceTimeout": 300_000,
            "sessionTimeout": 45_000,
            "subscription": _versioned(
                messages("consumer")["ConsumerProtocolSubscription"],
                random.randrange(4),
                subscription,
            ),
            "assignment": _versioned(
                messages("consumer")["ConsumerProtocolAssignment"],
                random.randrange(4),
                {"assignedPartitions": owned},
            ),
        }


class Others:
    """Groups of the newer protocols, of consumers, shares and streams, and long commits."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.made_up = MadeUp(random)
        self.classic = Classic(random)
        self.names = [
            name.removesuffix("Key") for name in messages("group") if name.endswith("Key")
        ]

    def pairs(self) -> Sequence[_Pair]:
        """Return the records of a batch."""
        random = self.random
        kind = random.random()
        if kind < 0.2:
            return self.classic.pairs()
        if kind < 0.3:
            return [self._any("OffsetCommit") for _ in range(random.randint(50, 600))]
        return [self._any(random.choice(self.names)) for _ in range(random.randint(1, 60))]

    def _any(self, name: str) -> _Pair:
        random = self.random
        value = messages("group")[f"{name}Value"]
        key = self.made_up.data(messages("group")[f"{name}Key"], 0)
        if random.random() < 0.1:
            return pair(name, key, None)
        version = random.randint(value.versions.first, value.versions.last or 0)
        return pair(name, key, self.made_up.data(value, version), version)

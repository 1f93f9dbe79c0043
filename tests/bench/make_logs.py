"""Write the logs that the benchmarks read: of metadata, of users, of consumer groups, small ones.

    python tests/bench/make_logs.py metadata OUT_DIR --size 200M --batch 100:1000
    python tests/bench/make_logs.py user OUT_DIR --size 200M --codec zstd
    python tests/bench/make_logs.py offsets OUT_DIR --size 200M

With `--mix other` they have records of other kinds and sizes, and other proportions, than those
that the code was made fast for; metadata also as topics that come and go (`churn`), of many brokers
(`brokers`), or mostly configurations (`configs`). The path of the segment is printed. The same options and seed give
the same records.
"""

import argparse
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2]))  # for `tests`, which is not installed

from kraftops.log.batch import LOG_APPEND_TIME, Record
from kraftops.log.codecs import CODECS
from kraftops.schema.tables import messages
from tests.bench.logs.batches import (
    START,
    Made,
    Producer,
    batch,
    write_segment,
)
from tests.bench.logs.cluster import NOUNS, Cluster, framed
from tests.bench.logs.group_log import group_batches
from tests.bench.logs.random_messages import MadeUp
from tests.bench.logs.shapes import SHAPES

MIXES = ("usual", "other")
USER_MIXES = (*MIXES, "bytes", "headers", "json")
VALUE_SIZE = 100
NOISE_SIZE = 30  # random bytes, 40 characters of base64: lz4 shrinks a batch by 1.5, zstd by 2.1

RARE = "RemoveAccessControlEntryRecord"  # once in 1,000 records, in both mixes
LEADERLESS = 0.01  # of records: partitions that lose their leader
OTHER_MIX = dict.fromkeys(messages("metadata"), 1) | {
    "NoOpRecord": 200,
    "PartitionRecord": 180,
    "PartitionChangeRecord": 180,
    "ConfigRecord": 140,
    "AccessControlEntryRecord": 80,
    "ClientQuotaRecord": 60,
    "BrokerRegistrationChangeRecord": 40,
    "ProducerIdsRecord": 30,
    "RegisterBrokerRecord": 20,
    "TopicRecord": 20,
    "UserScramCredentialRecord": 15,
    "DelegationTokenRecord": 15,
    "RemoveTopicRecord": 10,
}

Spans = Sequence[range]


def usual_values(random: Random) -> Iterator[bytes]:
    """Yield values of metadata records without end: usual ones and rare ones."""
    topic_ids = [random.randbytes(16) for _ in range(100)]
    for value in Cluster(random).values():
        yield value
        kind = random.random()
        if kind < 0.001:
            yield framed(RARE, 0, {"id": random.randbytes(16)})
        elif kind < LEADERLESS:
            data = {"partitionId": random.randrange(60), "topicId": random.choice(topic_ids)}
            yield framed("PartitionChangeRecord", 1, data | {"isr": [3], "leader": -1})


def other_values(random: Random) -> Iterator[bytes]:
    """Yield values of metadata records without end: every kind and version."""
    made_up = MadeUp(random)
    names, weights = list(OTHER_MIX), list(OTHER_MIX.values())
    while True:
        for name in random.choices(names, weights, k=100):
            message = messages("metadata")[name]
            version = random.randint(message.versions.first, message.versions.last or 0)
            data = made_up.data(message, version)
            if name.startswith("Partition"):
                data |= _placed(random)
            yield framed(name, version, data)


def _placed(random: Random) -> dict[str, object]:
    """Return where a partition is, on one to six brokers of many."""
    replicas = random.sample(range(1, 3000, 7), random.randint(1, 6))
    isr = random.sample(replicas, random.randint(0, len(replicas)))
    return {"replicas": replicas, "isr": isr, "leader": isr[0] if isr else -1}


def metadata_batches(mix: str, spans: Spans, seed: int) -> Iterator[Made]:
    """Yield batches of a metadata log without end, each with a number of records from a span."""
    random = Random(seed)
    values = ({"usual": usual_values, "other": other_values} | SHAPES)[mix](random)
    offset, now = 0, START
    while True:
        records = []
        for value in islice(values, random.choice(random.choice(spans))):
            records.append(Record(offset, now, None, value))
            offset += 1
            if random.random() < 0.03:
                now += random.randint(1, 9)
        yield batch(records, range(records[0].offset, offset))
        now += random.randint(1, 500)


def user_batches(mix: str, codec: int, spans: Spans, seed: int) -> Iterator[Made]:
    """Yield batches of a user's log without end."""
    random = Random(seed)
    other = OtherRecords(random)
    make: Callable[[], Record] = {
        "usual": UsualRecords(random).record,
        "other": other.record,
        "bytes": lambda: Record(0, 0, random.randbytes(16), random.randbytes(VALUE_SIZE)),
        "headers": lambda: Record(0, 0, b"key", b"value", tuple(map(other.header, range(20)))),
        "json": lambda: Record(0, 0, b"key", other.json(400)),
    }[mix]
    offset, now, sequence = 0, START, 0
    while True:
        first, records = offset, []
        for _ in range(random.choice(random.choice(spans))):
            records.append(make()._replace(offset=offset, timestamp=now))
            offset += 1
            now += random.randint(0, 3)
        attributes, producer = codec, Producer()
        if mix == "other":
            attributes |= LOG_APPEND_TIME if random.random() < 0.2 else 0
            producer = Producer(7_000_000 + random.randrange(9), 0, sequence)
            sequence += len(records)
        yield batch(records, range(first, offset), attributes=attributes, producer=producer)


class UsualRecords:
    """Records of 100 bytes: values half random and half words, and mostly with a short key."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def record(self) -> Record:
        """Return one, as yet without offset and time."""
        random = self.random
        key = None if random.random() < 0.25 else b"user-%d" % random.randrange(100_000)
        noise = b64encode(random.randbytes(NOISE_SIZE)).decode()
        words = " ".join(random.choices(NOUNS, k=12))
        return Record(0, 0, key, f"{noise} {words}"[:VALUE_SIZE].encode())


class OtherRecords:
    """Records of 20 bytes to 2 KB with keys and headers: JSON, text in UTF-8, bytes, tombstones."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.text = MadeUp(random).text
        words = " ".join(random.choices((*NOUNS, "größer", "注文", "été", "🙂"), k=50_000))
        self.pool = words.encode()

    def record(self) -> Record:
        """Return one, as yet without offset and time."""
        random = self.random
        headers = tuple(
            (name, None if random.random() < 0.1 else random.randbytes(8).hex().encode())
            for name in random.sample((b"trace-id", b"span", b"content-type"), random.randrange(4))
        )
        key = random.choice((None, random.randbytes(16), self.text().encode()))
        return Record(0, 0, key, self._value(), headers)

    def header(self, number: int) -> tuple[bytes, bytes]:
        """Return a header of a record that has many."""
        return b"header-%d" % number, b"value-%d" % self.random.randrange(1_000_000)

    def json(self, size: int) -> bytes:
        """Return a value of about *size* bytes."""
        at = self.random.randrange(len(self.pool) - size)
        noise = b64encode(self.random.randbytes(size * 3 // 8))
        text = self.pool[at : at + size // 2].decode(errors="ignore")
        return b'{"id":%d,"note":"%b","body":"%b"}' % (at, text.encode(), noise)

    def _value(self) -> bytes | None:
        random = self.random
        size = int(20 * 100 ** random.random())
        kind = random.random()
        if kind < 0.03:
            return None
        if kind < 0.1:
            return random.randbytes(size)
        if kind >= 0.3:
            return self.json(size)
        at = random.randrange(len(self.pool) - size)
        # Cut anywhere, so that few of them are whole characters at both ends.
        words = self.pool[at : at + size // 2]
        return words + self.pool[at // 2 : at // 2 + size // 2]


def byte_count(text: str) -> int:
    """Return the number that `200M` and the like stand for, in powers of 1024."""
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:].upper())
    return int(text[:-1]) * unit if unit else int(text)


def spans(text: str) -> Spans:
    """Return the numbers of `MIN:MAX[,MIN:MAX…]`; of one that stands alone, that one."""
    bounds = [part.partition(":") for part in text.split(",")]
    return [range(int(first), int(last or first) + 1) for first, _, last in bounds]


def main() -> None:
    """Write the log that the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    kinds = parser.add_subparsers(dest="kind", required=True)
    metadata, user, offsets = map(kinds.add_parser, ("metadata", "user", "offsets"))
    for kind in (metadata, user, offsets):
        kind.add_argument("directory", type=Path, metavar="OUT_DIR")
        kind.add_argument(
            "--size", type=byte_count, default="10M", help="bytes, inflated, or 60K, 200M, 1G"
        )
        mixes = {metadata: (*MIXES, *SHAPES), user: USER_MIXES}.get(kind, MIXES)
        kind.add_argument("--mix", choices=mixes, default=MIXES[0])
        kind.add_argument("--seed", type=int, default=1)
    for kind, usual in ((metadata, "1:200"), (user, "100")):
        kind.add_argument("--batch", type=spans, default=usual, metavar="MIN:MAX[,MIN:MAX…]")
    user.add_argument("--codec", choices=CODECS, default="none")
    small = kinds.add_parser("small")
    small.add_argument("directory", type=Path, metavar="OUT_DIR")
    small.add_argument("--count", type=int, default=1500, help="of files with a record each")
    given = parser.parse_args()
    if given.kind == "small":
        given.directory.mkdir(parents=True, exist_ok=True)
        for offset in range(given.count):
            path = given.directory / f"{offset}.log"
            record = Record(offset, START, None, b"value")
            path.write_bytes(batch([record], range(offset, offset + 1)).data)
        sys.stdout.write(f"{path}\n")
        return
    if given.kind == "metadata":
        batches = metadata_batches(given.mix, given.batch, given.seed)
    elif given.kind == "user":
        codec = CODECS.index(given.codec)
        batches = user_batches(given.mix, codec, given.batch, given.seed)
    else:
        batches = group_batches(given.mix, given.seed)
    sys.stdout.write(f"{write_segment(given.directory, batches, given.size)}\n")


if __name__ == "__main__":
    main()

"""Write the logs that the benchmarks read: cluster metadata, or compressed user records.

    python tests/bench/make_logs.py metadata OUT_DIR --size 200M --batch 100:1000
    python tests/bench/make_logs.py user OUT_DIR --size 200M --codec zstd

The path of the segment is printed. The same options and seed give the same records.
"""

import argparse
import os
import sys
from base64 import b64encode
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

from cluster import NOUNS, Cluster

from kraftops.log.batch import Record, batch_bytes
from kraftops.log.codecs import CODECS

SEGMENT = "00000000000000000000.log"
START = 1_760_000_000_000  # ms; any time that prints with as many digits as today's
LEADER_EPOCH = 3
VALUE_SIZE = 100
USER_BATCH = 100
NOISE_SIZE = 30  # random bytes, 40 characters of base64: lz4 shrinks a batch by 1.5, zstd by 2.1


def metadata_batches(batch: range, seed: int) -> Iterator[bytes]:
    """Yield batches of a metadata log without end, each with a number of records from *batch*."""
    random = Random(seed)
    values = Cluster(random).values()
    offset, now = 0, START
    while True:
        records = []
        for value in islice(values, random.choice(batch)):
            records.append(Record(offset, now, None, value))
            offset += 1
            if random.random() < 0.03:
                now += random.randint(1, 9)
        yield batch_bytes(records, leader_epoch=LEADER_EPOCH)
        now += random.randint(1, 500)


def user_batches(codec: int, seed: int) -> Iterator[bytes]:
    """Yield batches of a user's log without end: values half random and half words."""
    random = Random(seed)
    offset, now = 0, START
    while True:
        records = []
        for _ in range(USER_BATCH):
            key = None if random.random() < 0.25 else b"user-%d" % random.randrange(100_000)
            noise = b64encode(random.randbytes(NOISE_SIZE)).decode()
            words = " ".join(random.choices(NOUNS, k=12))
            value = f"{noise} {words}"[:VALUE_SIZE].encode()
            records.append(Record(offset, now, key, value))
            offset += 1
            now += random.randint(0, 3)
        yield batch_bytes(records, attributes=codec, leader_epoch=LEADER_EPOCH)


def write_segment(directory: Path, batches: Iterator[bytes], size: int) -> Path:
    """Write whole batches until there are *size* bytes; return the segment."""
    directory.mkdir(parents=True, exist_ok=True)
    path, part = directory / SEGMENT, directory / f"{SEGMENT}.{os.getpid()}.part"
    with part.open("wb") as out:
        while size > 0:
            size -= out.write(next(batches))
    part.rename(path)  # so that an interrupted run leaves no segment that looks whole
    return path


def byte_count(text: str) -> int:
    """Return the number that `200M` and the like stand for, in powers of 1024."""
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:].upper())
    return int(text[:-1]) * unit if unit else int(text)


def span(text: str) -> range:
    """Return the numbers from MIN to MAX of `MIN:MAX`."""
    first, last = map(int, text.split(":"))
    return range(first, last + 1)


def main() -> None:
    """Write the log that the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    kinds = parser.add_subparsers(dest="kind", required=True)
    metadata, user = kinds.add_parser("metadata"), kinds.add_parser("user")
    for kind in (metadata, user):
        kind.add_argument("directory", type=Path, metavar="OUT_DIR")
        kind.add_argument("--size", type=byte_count, default="10M", help="bytes, or 60K, 200M, 1G")
        kind.add_argument("--seed", type=int, default=1)
    metadata.add_argument("--batch", type=span, default="1:200", metavar="MIN:MAX")
    user.add_argument("--codec", choices=CODECS, default="none")
    given = parser.parse_args()
    if given.kind == "metadata":
        batches = metadata_batches(given.batch, given.seed)
    else:
        batches = user_batches(CODECS.index(given.codec), given.seed)
    sys.stdout.write(f"{write_segment(given.directory, batches, given.size)}\n")


if __name__ == "__main__":
    main()

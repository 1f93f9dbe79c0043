"""The Python side of the coverage-guided fuzz target in core/native/fuzz, its seeds and findings.

The first bytes of an input choose a query and a shape; the rest is a log in this shape: unchanged;
the records of a batch, to which a header with the right length and checksum is added; or keys and
values, from which records are made.

`python -m tests.helpers.engine.libfuzzer seeds FOLDER` writes seeds; `… compare FOLDER SECONDS` compares
the engines over inputs that led libFuzzer to new code: the fuzz target itself finds only panics and
calls that break the contract.
"""

import struct
import sys
import time
from collections import Counter
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from kraftops.engine import _native, native
from kraftops.engine.scan_contract import Why
from kraftops.errors import DecodeError
from kraftops.log.batch import HEADER_SIZE
from kraftops.log.codecs import decompress
from kraftops.memory import MOST_RATIO, Budget
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.records.decoders.user import DECODERS
from tests.helpers.engine.cases import Case, outcome
from tests.helpers.engine.comparison import WHOLE, Trial
from tests.helpers.engine.findings import shape_of
from tests.helpers.engine.fuzzing import made_small, print_line
from tests.helpers.engine.random_batches import Raw, log_bytes, raw_bytes
from tests.helpers.engine.random_messages import KINDS, Kind, control_payload, payload
from tests.helpers.engine.random_queries import FORMS
from tests.helpers.kafka.cases.mutations import with_crc
from tests.helpers.logs.segments import IN

LONGEST_INPUT = 4096
_HEAD = 5  # bytes: decoder, flags, filter and decoders of users, columns, shape
_MOST_CALLS = 2000
_MOST_INFLATED = 1 << 20
_NULL = 0x1000
_CONTROL_SHAPE = 0x12
_FILTERS = (
    Filter(),
    Filter(types=frozenset({"topic", "partition", "offsetcommit", "commit", "groupmetadata"})),
    Filter(topics=frozenset({"orders"}), topic_ids=frozenset({"AAAAAAAAAAAAAAAAAAAAAA"})),
    Filter(keys=frozenset({"group-1", "a"})),
    Filter(first_offset=2, last_offset=9),
    Filter(since=0, until=10),
    Filter(where="value.name = 'orders' or value.name ~ '^a'"),
    Filter(where="1 in value.replicas"),
    Filter(where="len(value.members.0.subscription.topics) = 0"),
    Filter(where="key.group = 'a'"),
    Filter(where="headers.a is not null"),
    Filter(where="value.leader = -1 and offset = 0"),
    Filter(where="not value.isr.0 > 1 or partitionId is null"),
    Filter(where="value.value = '<redacted>'"),
    Filter(where="error is null"),
    Filter(where="value.offset = 0", types=frozenset({"offsetcommit"})),
)
_COLUMNS = (None, frozenset({"type", "version"}), frozenset({"value", "headers"}), frozenset[str]())


class FuzzQuery(NamedTuple):
    """A query about a log, and its description for the compiled engine."""

    trial: Trial
    decoder: Any
    described: dict[str, Any]


@lru_cache(10_000)
def query_of(head: bytes) -> FuzzQuery:
    """Return the query of the first bytes of an input, without a log."""
    kind, flags, which, more = head
    decoder, dialect = KINDS[kind % len(KINDS)]
    form = FORMS[flags & 3]
    names = list(DECODERS)
    query = Query(
        decoder=decoder,
        dialect=dialect,
        form=form,
        deep_iteration=bool(flags & 4),
        skip_record_metadata=bool(flags & 8),
        check=bool(flags & 16),
        show_secrets=bool(flags & 32),
        salvage=bool(flags & 64),
        filter=_FILTERS[which & 15],
        columns=_COLUMNS[more & 3] if form == "parquet" else None,
        key_decoder=names[which >> 4 & 3],
        value_decoder=names[which >> 6 & 3],
    )
    trial = Trial(b"", query, bool(flags & 128), "fuzz.log")
    return FuzzQuery(
        trial, native._decoder(query.record_decoder), native._description(trial.request)
    )


def log_of(shape: int, rest: bytes) -> bytes:
    """Return the log that the rest of an input describes."""
    match shape % 4:
        case 1 if len(rest) >= HEADER_SIZE:
            return with_crc(rest[:16] + b"\2" + rest[17:57] + bytes(3) + rest[60:])
        case 2:
            parts = _parts(rest)
            pairs = list(zip(parts[::2], parts[1::2], strict=False))
            return _sealed([Raw(at, 0, *pair) for at, pair in enumerate(pairs)], shape & 16)
        case 3:
            return _sealed([Raw(0, 0, None, rest)], shape & 16)
        case _:
            return rest


def _parts(rest: bytes) -> list[bytes | None]:
    parts: list[bytes | None] = []
    at = 0
    while at + 2 <= len(rest):
        (size,) = struct.unpack_from("<H", rest, at)
        at += 2
        if size & _NULL:
            parts.append(None)
            continue
        parts.append(rest[at : at + size % _NULL])
        at += size % _NULL
    return parts


def _sealed(records: list[Raw], is_control: int) -> bytes:
    head = bytes(16) + b"\2" + bytes(5) + (b"\x20" if is_control else b"\0") + bytes(34)
    body = b"".join(map(raw_bytes, records))
    return with_crc(head + len(records).to_bytes(4) + body)


def _inflater() -> _native.Inflater:
    return _native.Inflater(_inflate, _MOST_INFLATED, MOST_RATIO)


def _inflate(codec: int, data: bytes) -> bytes | None:
    try:
        return decompress(codec, data, Budget(4 * _MOST_INFLATED).meter())
    except (DecodeError, MemoryError):
        return None


def one(data: bytes) -> None:
    """Scan the log of an input by the compiled engine; what this raises is a finding."""
    if len(data) < _HEAD:
        return
    _, decoder, described = query_of(data[: _HEAD - 1])
    log = log_of(data[_HEAD - 1], data[_HEAD:])
    scan = _native.Scan(decoder, native._control(), _inflater(), described)
    at = 0
    for _ in range(_MOST_CALLS):
        outcome = scan.feed(log, at, at)
        assert at <= outcome.next <= len(log)
        at = outcome.next
        if outcome.why != Why.FULL:
            break
    else:
        raise AssertionError("no end of calls")
    counter = _native.Counter(decoder, native._control(), _inflater(), described, (4, 8, 3))
    assert 0 <= counter.add_window(log, 0, 0) <= len(log)
    counter.tally()
    for limits in ((0, 1 << 40), (1, 3)):
        counter.add(log, log, 0, limits)
    counter.tops()


def write_seeds(folder: Path) -> None:
    """Write messages of all decoders, correct and wrong, and real logs."""
    rng = Random(1)
    seeds: list[bytes] = []
    for at, kind in enumerate(KINDS):
        for odd in (0.0, 0.05, 0.3) * 40:
            which = rng.choice((0, 0, rng.randrange(256)))
            head = bytes([at, rng.randrange(256), which, 0])
            some = [payload(rng, Kind(*kind), odd) for _ in range(rng.choice((1, 2)))]
            seeds.append(head + b"\2" + _of_pairs(some))
            markers = [control_payload(rng, odd)]
            seeds.append(head + bytes([_CONTROL_SHAPE]) + _of_pairs(markers))
            seeds.append(head + b"\0" + log_bytes(rng, Kind(*kind), odd))
            seeds.append(head + b"\1" + log_bytes(rng, Kind(*kind), odd))
    for path in sorted([*IN.rglob("*.log"), *IN.rglob("*.checkpoint")]):
        if path.is_file():
            head = bytes([rng.randrange(len(KINDS)), rng.randrange(256), 0, 0, 0])
            seeds.append(head + path.read_bytes()[: LONGEST_INPUT - _HEAD])
    for number, seed in enumerate(seeds):
        if len(seed) <= LONGEST_INPUT:
            (folder / f"seed-{number}").write_bytes(seed)


def _of_pairs(pairs: list[tuple[bytes | None, bytes | None]]) -> bytes:
    out = b""
    for part in (part for pair in pairs for part in pair):
        raw = (part or b"")[: _NULL - 1]
        out += struct.pack("<H", _NULL if part is None else len(raw)) + raw
    return out


def compare(folder: Path, seconds: float) -> None:
    """Print how the engines differ about inputs."""
    paths = sorted(folder.iterdir())
    Random(1).shuffle(paths)
    end = time.monotonic() + seconds
    shapes: Counter[str] = Counter()
    tried = 0
    for path in paths:
        data = path.read_bytes()
        if len(data) < _HEAD:
            continue
        if time.monotonic() > end:
            break
        trial = query_of(data[: _HEAD - 1]).trial
        log = log_of(data[_HEAD - 1], data[_HEAD:])
        found = Case(Trial(log, trial.query, trial.marks, trial.path), WHOLE, path.name)
        tried += 1
        if text := outcome(found):
            shapes[shape_of(text)] += 1
            if shapes[shape_of(text)] <= 3:
                made_small(found, text)
    print_line(f"{tried} of {len(paths)} inputs; findings: {dict(shapes)}")


if __name__ == "__main__":
    if sys.argv[1] == "seeds":
        write_seeds(Path(sys.argv[2]))
    else:
        compare(Path(sys.argv[2]), float(sys.argv[3]))

"""Damaged and odd files, each made from a seed; most come from real segments.

Checksums are mostly right, so that what is behind them is read.
"""

import os
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

from google_crc32c import value as crc32c

from kraftops.log import batch as v2
from kraftops.log.batch import CODEC_MASK, HEADER_SIZE, Record
from kraftops.log.producers import read_producers
from kraftops.varint import varint_bytes
from tests.helpers.kafka.cases.mutations import CHANGES, INTS, LONGS, mutated, sources, with_crc
from tests.helpers.logs.written import batch_bytes, compress, message_bytes, producers_bytes
from tests.helpers.tools.corpus import DUMPS

SEGMENT = "00000000000000000000.log"
_PRINT = ("--print-data-log",)
_DECODERS = {
    "meta": ("--cluster-metadata-decoder",),
    "boot": ("--cluster-metadata-decoder",),
    "offsets": ("--offsets-decoder",),
    "share": ("--share-group-state-decoder",),
    "transaction": ("--transaction-log-decoder",),
    "txn-all": ("--transaction-log-decoder",),
    "rlmm": ("--remote-log-metadata-decoder",),
}
_TEXTS = (
    b"",
    b"key",
    b"a,b",
    "é日😀".encode(),
    b"\xed\xa0\x80",
    b"\xed\xa0",
    b"\xc0\x80",
    b"\xf0\x9f\x98",
    b"\xf4\x90\x80\x80",
    b"\xe2(\xa1\xff",
    b"\x00\x1b[0m\n",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A file to dump, what lies next to it and how to dump it; *note* says how it was made."""

    name: str
    data: bytes
    options: tuple[str, ...]
    siblings: Mapping[str, bytes] = field(default_factory=dict)
    note: str


def case(seed: int, number: int) -> Case:
    """Return a case; the same for the same numbers."""
    rng = Random(seed * 1_000_003 + number)
    kinds: tuple[tuple[Callable[[Random], Case], int], ...] = (
        (_changed_segment, 10),
        (_control, 1),
        (_text, 1),
        (_odd_records, 1),
        (_legacy, 2),
        (_index, 2),
        (_producers, 1),
    )
    make = rng.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
    return make(rng)


def _changed_segment(rng: Random) -> Case:
    path, source = rng.choice(sources())
    batches = list(source)
    if len(batches) > 10:
        start = rng.randrange(len(batches) - 8)
        batches = batches[start : start + rng.randint(2, 8)]
    change = rng.choice(CHANGES)
    change(rng, batches)
    options: tuple[str, ...] = next(
        (flags for part, flags in _DECODERS.items() if part in path), _PRINT
    )
    kind = rng.random()
    if kind < 0.1:
        options = ("--deep-iteration",)
    elif kind < 0.2:
        options = rng.choice(list(_DECODERS.values()))
    elif kind < 0.25:
        options = ()
    if rng.random() < 0.1:
        options += ("--skip-record-metadata",)
    data = b"".join(batches)
    if rng.random() < 0.05:
        limit = rng.choice([0, 17, 18, 61, len(data), rng.randint(0, len(data))])
        options += ("--max-bytes", str(limit))
    name = Path(path).name
    return Case(name=name, data=data, options=options, note=f"{path}: {change.__name__}")


def _control(rng: Random) -> Case:
    values = (
        b"\0\0\0\0\0\7",
        b"\0\0\0\0\0\1\2\0\0\0\1\0\2\0\0\0\1\0\0",
        b"\0\0\0\0\0\0\0\0\0\7\0",
        b"\0\0\0",
        b"\0\0\0\1\0",
        b"\0\0\2\0\0\0\1" + bytes(range(16)) + b"\2\2c\2h\0\7\0\0\0\0\1\0\0",
    )
    records = []
    for offset in range(rng.randint(1, 3)):
        number = rng.choice([0, 1, 2, 3, 4, 5, 6, 7, 99, -1, 32767])
        key = struct.pack(">hh", rng.choice([0, 0, 0, 0, 1, -1, 32767]), number)
        value = values[min(max(number - 1, 0), 5)]
        version = rng.choice([0, 0, 0, 1, 2, -1, 32767])
        value = struct.pack(">h", version) + value[2:]
        if rng.random() < 0.3:
            value = mutated(rng, value)
        if rng.random() < 0.1:
            key = key[: rng.randrange(5)]
        is_null = rng.random() < 0.05
        records.append(Record(offset, 5, key, None if is_null else value))
    attributes = v2.CONTROL | rng.choice([0, 1, v2.TRANSACTIONAL, v2.LOG_APPEND_TIME])
    return Case(
        name=SEGMENT,
        data=batch_bytes(records, attributes=attributes, producer_id=rng.choice([-1, 5])),
        options=rng.choice([("--deep-iteration",), *_DECODERS.values()]),
        note="control records",
    )


def _text(rng: Random) -> Case:
    def text() -> bytes:
        return b"".join(rng.choices(_TEXTS, k=rng.randint(1, 4)))

    records = []
    for offset in range(rng.randint(1, 12)):
        headers = ((text(), rng.choice([None, text()])),) if rng.random() < 0.3 else ()
        records.append(Record(offset, rng.choice(LONGS[:6]), text(), text(), headers))
    data = batch_bytes(
        records, attributes=rng.choice([0, 0, 8, 1, 2, 3, 4]), base_sequence=rng.choice(INTS)
    )
    return Case(name=SEGMENT, data=data, options=_PRINT, note="text")


def _odd_records(rng: Random) -> Case:
    """Return records of nearly the same layout, of lengths and deltas that nobody writes so."""

    def number(value: int) -> bytes:
        raw = varint_bytes(value)
        if rng.random() < 0.06:  # the same in more bytes than it takes
            raw = raw[:-1] + bytes([raw[-1] | 0x80]) + b"\x80" * rng.choice([0, 0, 1, 2]) + b"\0"
        return raw

    body = b""
    count = rng.randint(2, 9)
    for delta in range(count):
        key, value = rng.choice([None, None, b"\1", b"key"]), rng.choice([b"hello", b"x" * 70])
        out = b"\0" + number(rng.choice([0, 1, 1, 63, 64, 100, 9000, -1]))
        out += number(delta if rng.random() < 0.9 else rng.randint(-1, 9))
        out += number(-1) if key is None else number(len(key)) + key
        out += number(len(value)) + value + number(0)
        body += number(len(out)) + out
    attributes = rng.choice([0, 0, 0, v2.LOG_APPEND_TIME, 1])
    whole = batch_bytes([Record(0, 1_700_000_000_000, None, None)], attributes=attributes)
    head = bytearray(whole[:HEADER_SIZE])
    struct.pack_into(">i", head, 57, count)
    packed = compress(attributes & CODEC_MASK, body) if attributes & CODEC_MASK else body
    data = with_crc(bytes(head) + packed)
    return Case(name=SEGMENT, data=data, options=_PRINT, note="odd records")


def _legacy(rng: Random) -> Case:
    magic = rng.choice([0, 1])

    def message(number: int) -> bytes:
        key, value = rng.choice([None, b"", b"key"]), rng.choice([None, b"", b"v", b"x" * 30])
        timestamp = rng.choice([1_700_000_000_000, -1, 0, (1 << 63) - 1, -5])
        offset = rng.choice([number, number, number, 0, 5, -1, 1 << 40])
        attributes = rng.choice([0] * 9 + [8, 1, 0x10, -128, 5])
        return message_bytes(Record(offset, timestamp, key, value), magic, attributes)

    data = b"".join(map(message, range(rng.randint(1, 3))))
    if rng.random() < 0.6:
        codec = rng.choice([1, 2, 3])
        attributes = codec | rng.choice([0, 0, 8, 0x10, -128])
        value = compress(codec, mutated(rng, data) if rng.random() < 0.3 else data, magic)
        offset, timestamp = rng.choice([2, 2, 0, 1, -1, 100, (1 << 63) - 1]), rng.choice(LONGS[:4])
        data = message_bytes(Record(offset, timestamp, None, value), magic, attributes)
    if rng.random() < 0.15:
        data = mutated(rng, data)
    options = rng.choice([_PRINT, _PRINT, ("--deep-iteration",), *_DECODERS.values()])
    return Case(name=SEGMENT, data=data, options=options, note="legacy messages")


def _index(rng: Random) -> Case:
    """Return an index of a good log with changed or swapped entries."""
    stems = [str(path)[: -len(".log")] for path in _indexed()]
    stem = rng.choice(stems)
    log, index, times = (Path(stem + end).read_bytes() for end in (".log", ".index", ".timeindex"))
    is_time = rng.random() < 0.5
    width, data = (12, times) if is_time else (8, index)
    entries = [data[at : at + width] for at in range(0, len(data), width)]
    entries = [entry for entry in entries if any(entry)][:12] or [bytes(width)]
    for _ in range(rng.randint(1, 2)):
        one, other = rng.randrange(len(entries)), rng.randrange(len(entries))
        entry = entries[one]
        number = struct.pack(">i", rng.choice([*INTS[:6], rng.randint(0, 300), len(log)]))
        changes = (
            [entry[:-4] + number, mutated(rng, entry)[:width].ljust(width, b"\0")],
            [entries[other], number + entry[4:]],
        )
        entries[one] = rng.choice(rng.choice(changes))
    changed = b"".join(entries)[: rng.choice([None, None, None, -1, -5])]
    name = os.path.basename(stem)
    suffix = ".timeindex" if is_time else ".index"
    siblings = {".log": log, ".index": index.rstrip(b"\0") + bytes(-len(index.rstrip(b"\0")) % 8)}
    options = rng.choice([(), (), (), ("--verify-index-only",), ("--index-sanity-check",)])
    return Case(
        name=name + suffix,
        data=changed,
        options=options,
        siblings={name + end: raw for end, raw in siblings.items() if end != suffix},
        note=f"{stem[len(str(DUMPS)) :]}{suffix}: entries",
    )


@cache
def _indexed() -> list[Path]:
    found = []
    for path in sorted((DUMPS / "in").rglob("*.log")):
        ends = (".index", ".timeindex")
        is_whole = not {"idx", "dmg", "names"} & {part.name for part in path.parents}
        if is_whole and all(path.with_suffix(end).is_file() for end in ends):
            found.append(path)
    return found


def _producers(rng: Random) -> Case:
    paths = sorted((DUMPS / "in" / "user").rglob("*.snapshot"))
    path = rng.choice(paths)
    data = path.read_bytes()
    if rng.random() < 0.5:
        checked = mutated(rng, data[6:])
        data = data[:2] + struct.pack(">I", crc32c(checked)) + checked
    elif rng.random() < 0.5:
        data = mutated(rng, data)
    else:
        states = read_producers(data) * rng.randint(0, 3)
        longs = [
            state._replace(last_offset=rng.choice(LONGS), offset_delta=rng.choice(INTS))
            for state in states
        ]
        data = producers_bytes(longs)
    return Case(name="00000000000000000007.snapshot", data=data, options=(), note=path.name)

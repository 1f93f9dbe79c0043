"""Cases of the differential fuzzer, each from a seed, and the comparison of the engines."""

import json
import signal
import struct
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from random import Random
from types import FrameType
from typing import Any, cast

from kraftops.dump.summary.file_counter import Counting
from kraftops.dump.summary.summarise import summarise
from kraftops.engine.count_contract import CountRequest, Tops, Window
from kraftops.engine.counting import EngineCounter
from kraftops.errors import DecodeError
from kraftops.log import batch as v2
from kraftops.log.batch import Batch, Header
from kraftops.log.log_file import LogFile
from kraftops.log.reader import LogReader
from kraftops.memory import USUAL, Budget
from kraftops.query.query import Query
from tests.helpers.engine.choice import using
from tests.helpers.engine.comparison import (
    PATH,
    WHOLE,
    Made,
    Trial,
    by_native,
    by_native_in_batches,
    by_reference,
    by_reference_in_blocks,
    difference,
)
from tests.helpers.engine.random_batches import Raw, log_bytes, raw_bytes, sealed
from tests.helpers.engine.random_messages import BAD_TEXTS, DIALECTS, KINDS, Kind
from tests.helpers.engine.random_queries import query_of
from tests.helpers.kafka.cases.mutations import CHANGES, sources
from tests.helpers.logs.segments import batches_of, reader_of
from tests.helpers.logs.summaries import as_json

EVERY = Window(0, 1 << 62)
LONGEST = 5  # seconds a case may take
_SMALL = 20_000  # bytes of a segment
_MOST_READS = 2000
_BLOCKS = (WHOLE, WHOLE, 1, 61, 100, 700, 4096)
_PATHS = (PATH, PATH, "plain.log", "a\udcff\n.log", "")
_DECODERS = {
    "meta": "metadata",
    "boot": "metadata",
    "v3": "metadata",
    "consumer_offsets": "offsets",
    "craft/offsets": "offsets",
    "transaction": "transaction",
    "craft/txn-all": "transaction",
    "share": "share",
    "craft/share": "share",
    "craft/rlmm": "remote",
    "craft/meta": "metadata",
    "dmg/meta": "metadata",
}


@dataclass(frozen=True, slots=True)
class Case:
    """A trial, the size of the blocks in which it is read, and its origin."""

    trial: Trial
    block: int
    note: str


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Interrupt the block after so many seconds of CPU: a busy machine stops for as long."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TimeoutError(f"no end within {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def case(seed: int) -> Case:
    """Return the case of a seed."""
    rng = Random(seed)
    kind, data, note = _real(rng) if rng.random() < 0.4 else _made(rng)
    rows = some_rows(data, kind) if rng.random() < 0.5 else []
    query = query_of(rng, kind, rows)
    trial = Trial(data, query, rng.random() < 0.2, rng.choice(_PATHS))
    block = max(rng.choice(_BLOCKS), len(data) // _MOST_READS)
    return Case(trial, block, f"seed {seed}, {note}")


def _real(rng: Random) -> tuple[Kind, bytes, str]:
    """Return a real segment or snapshot with some changes, for its decoder or another."""
    while True:
        name, batches = rng.choice(sources())
        if sum(map(len, batches)) <= _SMALL:
            break
    lead = next((lead for lead in _DECODERS if name.startswith(lead)), "")
    kind = Kind(_DECODERS.get(lead, "user"), "kafka")
    if rng.random() < 0.15:
        kind = Kind(*rng.choice(KINDS))
    if kind.decoder == "metadata" and rng.random() < 0.05:
        kind = Kind("metadata", rng.choice(DIALECTS))
    changed = list(batches)
    changes = [rng.choice(CHANGES) for _ in range(rng.choice((0, 1, 1, 1, 2, 4)))]
    for change in changes:
        _change(rng, change, changed)
    return kind, b"".join(changed), f"{name} changed by {[change.__name__ for change in changes]}"


def _made(rng: Random) -> tuple[Kind, bytes, str]:
    """Return a random log for a decoder, correct or wrong, and sometimes mutated."""
    kind = Kind(*rng.choice(KINDS))
    odd = rng.choice((0.0, 0.0, 0.02, 0.1, 0.4))
    made_for = Kind(*rng.choice(KINDS)) if rng.random() < 0.1 else kind
    data = log_bytes(rng, made_for, odd)
    if rng.random() < 0.01:
        data += _with_long_value(rng)
    if rng.random() < 0.25:
        batches = [batch.data for batch in batches_of(data)] or [data]
        for _ in range(rng.choice((1, 1, 2))):
            _change(rng, rng.choice(CHANGES), batches)
        data = b"".join(batches)
    return kind, data, f"made for {made_for}, odd {odd}"


def _with_long_value(rng: Random) -> bytes:
    """Return a batch with a value that comes in pieces."""
    sizes = (1 << 18, 96 << 10, 3 << 16, 1 << 20)
    size = rng.choice(sizes) * rng.choice((1, 2, 3)) + rng.randrange(-4, 5)
    texts = ("é日😀".encode(), b"ascii, ", b'\0"\\', "日".encode())
    pattern = rng.choice((*BAD_TEXTS, *texts))
    lead = rng.randbytes(1) if rng.random() < 0.2 else b"x" * rng.randrange(4)
    long = (lead + pattern * (size // len(pattern) + 1))[:size]
    first = rng.choice(
        (
            Raw(0, 0, None, long),
            Raw(0, 0, long, b"v"),
            Raw(0, 0, long, long),
            Raw(0, 0, b"k", None, ((long, long),)),
        )
    )
    body = raw_bytes(first) + raw_bytes(Raw(1, 0, b"k", b"v"))
    return sealed(body, 2, base_offset=1 << 41, attributes=rng.choice((0, 1, 4)))


def _change(
    rng: Random, change: Callable[[Random, list[bytes]], None], batches: list[bytes]
) -> None:
    """Change batches, unless the change makes numbers that no header can have."""
    with suppress(struct.error):
        change(rng, batches)
    batches[:] = batches or [b""]


def some_rows(data: bytes, kind: Kind) -> list[Mapping[str, Any]]:
    """Return some rows of a log as JSON, for filters that match."""
    query = Query(decoder=kind.decoder, dialect=kind.dialect, form="json", show_secrets=True)
    lines = by_reference(Trial(data, query)).out.split(b"\n")[:-1]
    return [json.loads(line) for line in lines[:20]]


def outcome(one: Case) -> str:
    """Return the finding of a case, also an exception; empty without one."""
    try:
        with at_most(LONGEST):
            return tried(one)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a PanicException is no Exception
        lines = traceback.format_exception(error)
        return f"{type(error).__name__}: {str(error)[:600]}\n{''.join(lines[-3:])[:1500]}"


def tried(one: Case) -> str:
    """Return the difference of the engines about a case; empty without one."""
    trial, block = one.trial, one.block
    wanted = by_reference(trial)
    ways: list[tuple[str, Callable[[], Made]]] = [
        (f"native in blocks of {block}", lambda: by_native(trial, block))
    ]
    if len(trial.data) % 4 == 0:
        ways.append(("native batch by batch", lambda: by_native_in_batches(trial)))
        way = f"reference in blocks of {block}"
        ways.append((way, lambda: by_reference_in_blocks(trial, block)))
    for way, made in ways:
        if text := difference(wanted, made()):
            return f"{way}: {text}"
    return counted(trial)


def counted(trial: Trial, window: Window = EVERY) -> str:
    """Return the difference of the engines in the counts of records; empty without one."""
    query = trial.query
    found = {}
    for engine in ("reference", "native"):
        with using(engine):
            counter = EngineCounter(
                CountRequest(trial.path, query, tops=True), query.budget.meter()
            )
            counts = [
                (batch.position, counter.add(batch, header, buffer, pos, window))
                for batch, header, buffer, pos in _countable(trial)
            ]
            found[engine] = counts, [_plain(tops) for tops in counter.tops()]
    (ours, our_tops), (native, native_tops) = found["reference"], found["native"]
    for one, other in zip(ours, native, strict=True):
        if one != other:
            return f"counts of the batch at {one[0]}: {one[1]} and {other[1]}"
    if our_tops != native_tops:
        return f"tops: {our_tops} and {native_tops}"
    return summaries_difference(trial)


def summaries_difference(trial: Trial) -> str:
    """Return the difference of the engines in the summary of a log; empty without one."""
    for details in (True, False):
        found = {}
        for engine in ("reference", "native"):
            with using(engine):
                log = cast("LogFile", _Log(trial))
                query = replace(trial.query, salvage=False)
                summary = summarise(log, query, counting=Counting(details))
                found[engine] = as_json(summary)
        ours, native = found["reference"], found["native"]
        for name, value in ours.items():
            if value != native[name]:
                return f"{name} of the summary: {value} and {native[name]}"
    return ""


class _Log:
    """A log in memory as `summarise` reads one."""

    def __init__(self, trial: Trial) -> None:
        self.path, self._data = trial.path, trial.data

    def batches(self, start: int, stop: int | None, _: Budget | None = None) -> LogReader:
        assert not start
        return reader_of(self._data if stop is None else self._data[:stop])


def _countable(trial: Trial) -> Iterator[tuple[Batch, Header, bytes, int]]:
    """Yield the batches whose records can be inflated, with the bytes of these."""
    for batch in batches_of(trial.data):
        if batch.is_legacy or batch.size < v2.HEADER_SIZE:
            continue
        header = batch.header
        try:
            buffer, pos = v2.inflated(batch, header, USUAL.meter())
        except DecodeError:
            continue
        if 0 <= header.record_count <= len(buffer):
            yield batch, header, buffer, pos


def _plain(tops: Tops) -> tuple[object, ...]:
    keys = tops.keys
    return keys.counts, keys.total, keys.error, tops.keyless, tops.largest

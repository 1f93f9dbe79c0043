"""Records of a partition, read by the engine with the decoder of their topic."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from threading import local
from typing import NamedTuple

from kraftops.dump.check.findings import Findings
from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.engine.choice import engine_name
from kraftops.engine.scan_contract import Note, Request
from kraftops.engine.scanning import EngineScan, open_scan
from kraftops.log.ranges import ByteRange
from kraftops.memory import ALONE, Budget, Meter, Turn
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.query.row import DAMAGE

_MOST_KEYS = 4_000_000  # 300 MiB of hashes (measured); a key that repeats comes earlier
_USUAL_KEYS = "keySize is null or keySize <= 65536"
"""The records whose keys are compared: a key can be a quarter of the memory budget."""


class Reading(NamedTuple):
    """How the records of segments are read.

    Without the name of a *decoder*, only their framing is. *budget* is what each segment may cost,
    *turn* that of this process.
    """

    decoder: str | None
    budget: Budget
    turn: Turn = ALONE

    def request(self, path: str) -> Request:
        return Request(path, _query(self.decoder, self.budget), turn=self.turn)

    def meter(self) -> Meter:
        return self.budget.meter(self.turn)


def note_records(notes_by_log: Mapping[str, Iterable[Note]], findings: Findings) -> None:
    """Add findings about records that cannot be read, in batches without a finding."""
    damaged = findings.positions
    for path, notes in notes_by_log.items():
        for note in notes:
            if (path, note.position) not in damaged:
                findings.add("bad-record", path, note.reason, position=note.position)


class _Scans(local):
    """Scans of this thread that are not in use: to open one takes as long as a small file."""

    def __init__(self) -> None:
        self.unused: dict[tuple[str, str | None, Budget], EngineScan] = {}


_SCANS = _Scans()


@contextmanager
def scan_of(request: Request) -> Iterator[EngineScan]:
    if request.turn is not ALONE:  # the scan would wait in the turn of another file
        yield open_scan(request)
        return
    key = engine_name(), request.query.decoder, request.query.budget
    scan = _SCANS.unused.pop(key, None) or open_scan(request)
    scan.restart(request)
    yield scan
    _SCANS.unused[key] = scan


@cache
def _query(decoder: str | None, budget: Budget) -> Query:
    return Query(
        deep_iteration=True,
        check=True,
        decoder=decoder,
        skip_record_metadata=True,
        budget=budget,
    )


def keys_rule_out_compaction(paths: Iterable[str], end: int, budget: Budget) -> bool:
    """Tell whether records before the offset *end* show that no cleaner has passed it.

    A compacted topic takes no record without a key, and before the offset that a cleaner has come
    to, each key is there once.

    Raises:
        SourceError: a segment cannot be read.
    """
    columns = frozenset({"key", "keySize", "control", "kind"})
    chosen = Filter(last_offset=end - 1, where=_USUAL_KEYS)
    query = Query(filter=chosen, columns=columns, skip_invalid=True, budget=budget)
    seen: set[int] = set()
    for path in paths:
        for row in part_rows(ByteRange(path), query, Report()):
            if row.control or row.kind == DAMAGE:
                continue
            key = hash(row.key)
            if row.key_size is None or key in seen:
                return True
            if len(seen) < _MOST_KEYS:
                seen.add(key)
    return False

"""The comparison of both engines over the same bytes.

Each engine chooses where a call ends; the output of all calls together must be equal, byte for
byte.
"""

import time
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from kraftops.engine.choice import why_not_native
from kraftops.engine.scan_contract import Column, Columns, Note, Outcome, Request, Why
from kraftops.engine.scanning import EngineScan
from kraftops.log.batch import Batch
from kraftops.query.query import Query
from kraftops.query.row import TYPES
from tests.helpers.engine.choice import using
from tests.helpers.logs.segments import batches_of, reader_of

PATH = '/logs/a "quoted", one\u2028/00000000000000000000.log'
WHOLE = 1 << 30
"""The size of a block that holds a whole log."""
Given = tuple[EngineScan, Outcome | None]
"""A scan and the outcome of a call; None at the end."""
MOST_CALLS = 100_000
LONGEST_CALL = 4.0  # seconds of CPU; Ctrl-C waits for the end of a call
_NUMBERS = {name: kind for kind, names in TYPES.items() for name in names}
_WIDTHS = {"int64": 8, "int32": 4, "int16": 2}
_OFFSETS_ONLY = "headers"


class ScanFailure(AssertionError):
    """An engine broke the contract."""


@dataclass
class Values:
    """The values of a column from all calls."""

    data: bytearray = field(default_factory=bytearray)
    ends: list[int] = field(default_factory=list)
    valid: list[bool] = field(default_factory=list)
    flags: list[bool] = field(default_factory=list)


@dataclass
class Made:
    """The output of all calls together."""

    out: bytes = b""
    notes: list[tuple[int, int, str, int]] = field(default_factory=list)
    gaps: bytes = b""
    marks: list[int] = field(default_factory=list)
    rows: int = 0
    columns: dict[str, Values] = field(default_factory=dict)
    first_offset: int | None = None
    last_offset: int | None = None
    position: int = -1


@dataclass(frozen=True, slots=True)
class Trial:
    """A log and a query."""

    data: bytes
    query: Query
    marks: bool = False
    path: str = PATH

    @property
    def request(self) -> Request:
        """The request for the engines."""
        return Request(self.path, self.query, self.marks)


def has_native() -> bool:
    """Tell whether there is a native engine to compare with."""
    return why_not_native() is None


def by_reference(trial: Trial) -> Made:
    """Return the output of the reference, batch by batch."""
    with using("reference"):
        return collected(trial, of_batches(trial, batches_of(trial.data)))


def by_native(trial: Trial, block: int = WHOLE, declined: Counter[str] | None = None) -> Made:
    """Return the output of the native engine for a log in blocks of this size."""
    with using("native"):
        return collected(trial, of_log(trial, block, declined))


def by_native_in_batches(trial: Trial) -> Made:
    """Return the output of the native engine, batch by batch."""
    with using("native"):
        return collected(trial, of_batches(trial, batches_of(trial.data)))


def by_reference_in_blocks(trial: Trial, block: int) -> Made:
    """Return the output of the reference for a log in blocks of this size."""
    with using("reference"):
        return collected(trial, of_log(trial, block))


def differences(trial: Trial, blocks: Iterable[int] = (WHOLE,)) -> str:
    """Return the difference of the engines as text; empty without one."""
    wanted = by_reference(trial)
    for block in blocks:
        if text := difference(wanted, by_native(trial, block)):
            return f"in blocks of {block} bytes: {text}"
    return ""


def difference(wanted: Made, found: Made) -> str:
    """Return the difference of two outputs as text; empty without one."""
    if wanted == found:
        return ""
    if wanted.out != found.out:
        return f"output: {_first_difference(wanted.out, found.out)}"
    names = ("notes", "marks", "gaps", "rows", "first_offset", "last_offset", "position")
    for name in names:
        ours, theirs = getattr(wanted, name), getattr(found, name)
        if ours != theirs:
            return f"{name}: reference {str(ours)[:1500]}\n{' ' * len(name)}     native {str(theirs)[:1500]}"
    return _column_difference(wanted.columns, found.columns) or "somehow"


def _column_difference(wanted: Mapping[str, Values], found: Mapping[str, Values]) -> str:
    if list(wanted) != list(found):
        return f"columns: reference {list(wanted)}, native {list(found)}"
    for name, values in wanted.items():
        others = found[name]
        for part in ("ends", "valid", "flags"):
            ours, theirs = getattr(values, part), getattr(others, part)
            if ours != theirs:
                return f"column {name}, {part}: {ours[:300]} {theirs[:300]}"
        if values != others:
            return f"column {name}: {_first_difference(values.data, others.data)}"
    return ""


def _first_difference(ours: bytes | bytearray, theirs: bytes | bytearray) -> str:
    at = next(
        (at for at, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b),
        min(len(ours), len(theirs)),
    )
    line = ours.rfind(b"\n", 0, at) + 1
    start = max(line, at - 200)
    return (
        f"{len(ours)} and {len(theirs)} bytes, other from byte {at} on\n"
        f" line begins {bytes(ours[line : line + 120])!r}\n"
        f" reference {bytes(ours[start : at + 160])!r}\n"
        f"    native {bytes(theirs[start : at + 160])!r}"
    )


def of_batches(trial: Trial, batches: Iterable[Batch]) -> Iterator[Given]:
    """Yield the outcomes of batches by the engine in use."""
    scan = EngineScan(trial.request)
    for batch in batches:
        for outcome in scan.batch(batch):
            yield scan, outcome
    yield scan, None


def of_log(
    trial: Trial, block: int = WHOLE, declined: Counter[str] | None = None
) -> Iterator[Given]:
    """Yield the outcomes of a log by the engine in use; count the batches that it declines."""
    reader = reader_of(trial.data, block)
    scan = EngineScan(trial.request)
    if declined is not None:
        inner = scan.engine
        feed = inner.feed

        def counting(data: bytes, start: int, position: int) -> Outcome:
            outcome = feed(data, start, position)
            declined["calls"] += 1
            declined["declined"] += outcome.why == Why.DECLINED
            return outcome

        inner.feed = counting  # type: ignore[method-assign]
    for outcome in scan.outcomes(reader):
        yield scan, outcome
    yield scan, None


def collected(trial: Trial, given: Iterator[Given]) -> Made:
    """Return the output of all outcomes together, and check each of them."""
    made = Made()
    out: list[bytes] = []
    size = 0
    calls = 0
    while True:
        begun = time.thread_time()
        scan, outcome = next(given)
        took = time.thread_time() - begun
        if took > LONGEST_CALL:
            raise ScanFailure(f"a call took {took:.1f} s")
        if outcome is None:
            break
        calls += 1
        if calls > MOST_CALLS:
            raise ScanFailure("no end of calls")
        is_rows = trial.query.form == "parquet"
        done = made.rows if is_rows else size
        for note in outcome.notes:
            if type(note) is not Note:
                raise ScanFailure(f"no note: {note!r}")
            if not 0 <= note.output_position <= (outcome.rows if is_rows else len(outcome.out)):
                raise ScanFailure(f"a note beyond the output: {note}")
            made.notes.append((note.kind, note.position, note.reason, done + note.output_position))
        marks = array("i", outcome.marks)
        _check_marks(trial, outcome, marks)
        made.marks += [mark - size if mark < 0 else mark + size for mark in marks]
        made.gaps += outcome.gaps
        out.append(outcome.out)
        size += len(outcome.out)
        if outcome.rows:
            if not is_rows or outcome.columns is None:
                raise ScanFailure("rows where there are no columns")
            add_columns(made.columns, outcome.columns, outcome.rows)
        made.rows += outcome.rows
    made.out = b"".join(out)
    made.first_offset, made.last_offset = scan.first_offset, scan.last_offset
    made.position = scan.position
    return made


def _check_marks(trial: Trial, outcome: Outcome, marks: "array[int]") -> None:
    if not trial.marks:
        if marks:
            raise ScanFailure("marks that nobody asked for")
        return
    if trial.query.form == "parquet":
        return
    ends = [abs(mark) for mark in marks]
    if any(a > b for a, b in pairwise(ends)):
        raise ScanFailure(f"marks that go back: {ends}")
    has_ended = bool(ends) and ends[-1] == len(outcome.out)
    if outcome.out and outcome.why != Why.FULL and not has_ended:
        raise ScanFailure("output behind the last mark: a record is cut")
    if any(outcome.out[end - 1 : end] != b"\n" for end in ends):
        raise ScanFailure("a mark that is no end of a line")


def add_columns(into: dict[str, Values], columns: Columns, rows: int) -> None:
    """Add the columns of one call, and check their layout."""
    headers = columns.get(_OFFSETS_ONLY)
    for name, column in columns.items():
        count = rows
        if name in ("headers.key", "headers.value"):
            assert headers
            assert headers.offsets
            count = array("i", headers.offsets)[-1]
        _check_column(name, column, count)
        values = into.setdefault(name, Values())
        if column.valid is None:
            values.valid += [True] * count
        else:
            values.valid += flags(column.valid, count)
        if column.offsets is not None:
            base = values.ends[-1] if values.ends else 0
            values.ends += [base + end for end in array("i", column.offsets)[1:]]
        if _NUMBERS.get(name) == "bool_":
            values.flags += flags(column.data, count)
        else:
            values.data += column.data


def _check_column(name: str, column: Column, count: int) -> None:
    if type(column) is not Column:
        raise ScanFailure(f"{name}: no column: {column!r}")
    bits = (count + 7) // 8
    if column.valid is not None:
        if len(column.valid) != bits or _has_padding(column.valid, count):
            raise ScanFailure(f"{name}: {len(column.valid)} bytes of validity for {count} rows")
        if all(flags(column.valid, count)):
            raise ScanFailure(f"{name}: validity where all are there")
    _check_data(name, column, count)


def _check_data(name: str, column: Column, count: int) -> None:
    kind, bits = _NUMBERS.get(name), (count + 7) // 8
    if kind == "bool_":
        if len(column.data) != bits or _has_padding(column.data, count) or column.offsets:
            raise ScanFailure(f"{name}: {len(column.data)} bytes of bits for {count} rows")
    elif kind:
        if len(column.data) != _WIDTHS[kind] * count or column.offsets is not None:
            raise ScanFailure(f"{name}: {len(column.data)} bytes for {count} rows")
    else:
        ends = array("i", column.offsets or b"")
        if len(ends) != count + 1 or ends[0] or any(a > b for a, b in pairwise(ends)):
            raise ScanFailure(f"{name}: offsets {list(ends)[:20]} for {count} rows")
        if name != _OFFSETS_ONLY and ends[-1] != len(column.data):
            raise ScanFailure(f"{name}: offsets up to {ends[-1]} of {len(column.data)} bytes")


def flags(bits: bytes, count: int) -> list[bool]:
    """Return the first bits; the lowest of a byte comes first."""
    return [bool(bits[at >> 3] >> (at & 7) & 1) for at in range(count)]


def _has_padding(bits: bytes, count: int) -> bool:
    return bool(bits) and count % 8 != 0 and bits[-1] >> count % 8 != 0


def batch_at(data: bytes, position: int = 0) -> Batch:
    """Return the bytes as a batch."""
    return Batch(position, len(data), data)

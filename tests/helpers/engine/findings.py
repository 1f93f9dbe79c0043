"""The findings of the fuzzers: made smaller, and kept as files."""

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields, replace
from itertools import pairwise
from typing import Any

from kraftops.errors import DecodeError
from kraftops.log import batch as v2
from kraftops.log.batch import Record
from kraftops.memory import USUAL
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from tests.helpers.engine.cases import Case
from tests.helpers.engine.comparison import WHOLE, Trial, batch_at
from tests.helpers.kafka.cases.mutations import with_crc
from tests.helpers.logs.segments import batches_of
from tests.helpers.tools.corpus import DATA

KEPT = DATA / "engine"
"""The folder of findings, which a test tries again."""
_SETS = ("types", "topics", "topic_ids", "keys")
_PLAIN_PATH = "x.log"


def to_bytes(one: Case) -> bytes:
    """Return a case as it is kept: a line of JSON, then the log."""
    return json.dumps(plain(one), sort_keys=True).encode() + b"\n" + one.trial.data


def plain(one: Case) -> dict[str, Any]:
    """Return all of a case but the log as plain data."""
    trial = one.trial
    default, query = asdict(Query()), asdict(trial.query)
    found = {name: value for name, value in query.items() if value != default[name]}
    if "filter" in found:
        empty = asdict(Filter())
        found["filter"] = {
            name: sorted(value) if name in _SETS else value
            for name, value in query["filter"].items()
            if value != empty[name]
        }
    if "columns" in found:
        found["columns"] = sorted(found["columns"])
    return {
        "note": one.note,
        "query": found,
        "block": one.block,
        "marks": trial.marks,
        "path": trial.path,
    }


def from_bytes(raw: bytes) -> Case:
    """Return a case that was kept."""
    line, _, data = raw.partition(b"\n")
    found = json.loads(line)
    query = found["query"]
    if "filter" in query:
        asked = query["filter"]
        for name in _SETS:
            if name in asked:
                asked[name] = frozenset(asked[name])
        query["filter"] = Filter(**asked)
    if "columns" in query:
        query["columns"] = frozenset(query["columns"])
    trial = Trial(data, Query(**query), found["marks"], found["path"])
    return Case(trial, found["block"], found["note"])


def shape_of(text: str) -> str:
    """Return the part of a finding that mostly shows its cause."""
    line = text.partition("\n")[0]
    if "Error" in line:
        return line[:80]
    return re.sub(r"[\d-]+", "", line.partition(":")[2])[:30]


def smaller(one: Case, is_same: Callable[[Case], bool], seconds: float = 20) -> Case:
    """Return a smaller case with the same finding."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = next((other for other in _smaller(one) if is_same(other)), None)
        if found is None:
            break
        one = found
    return one


def _smaller(one: Case) -> Iterator[Case]:
    trial = one.trial
    batches = [batch.data for batch in batches_of(trial.data)]
    for at in range(len(batches) if len(batches) > 1 else 0):
        yield _with(one, data=b"".join(batches[:at] + batches[at + 1 :]))
    if one.block != WHOLE:
        yield replace(one, block=WHOLE)
    if trial.marks:
        yield _with(one, marks=False)
    if trial.path != _PLAIN_PATH:
        yield _with(one, path=_PLAIN_PATH)
    yield from _smaller_queries(one)
    for at, data in enumerate(batches):
        for other in _smaller_batches(data):
            yield _with(one, data=b"".join([*batches[:at], other, *batches[at + 1 :]]))


def _smaller_queries(one: Case) -> Iterator[Case]:
    query, selection = one.trial.query, one.trial.query.filter
    for part in fields(Query):
        default = getattr(Query(), part.name)
        if part.name != "decoder" and getattr(query, part.name) != default:
            yield _with(one, query=replace(query, **{part.name: default}))
    for part in fields(Filter):
        default = getattr(Filter(), part.name)
        if getattr(selection, part.name) != default:
            changed = replace(selection, **{part.name: default})
            yield _with(one, query=replace(query, filter=changed))


def _with(one: Case, **changes: Any) -> Case:
    return replace(one, trial=replace(one.trial, **changes))


def _smaller_batches(data: bytes) -> Iterator[bytes]:
    batch = batch_at(data)
    if len(data) < v2.HEADER_SIZE or batch.is_legacy:
        return
    header = batch.header
    try:
        buffer, pos = v2.inflated(batch, header, USUAL.meter())
        if header.codec:
            yield with_crc(data[:22] + bytes([data[22] & ~7]) + data[23:61] + buffer[pos:])
            return
        starts = [pos]
        for _ in range(header.record_count):
            starts.append(v2.read_record(buffer, starts[-1], 0, 0)[1])
    except DecodeError:
        return
    for start, end in pairwise(starts):
        if header.record_count > 1:
            count = (header.record_count - 1).to_bytes(4)
            yield with_crc(data[:57] + count + data[61:start] + data[end:])
        record = v2.read_record(buffer, start, 0, 0)[0]
        for other in _smaller_records(record):
            yield with_crc(data[:start] + v2.record_bytes(other, 0, 0) + data[end:])


def _smaller_records(record: Record) -> Iterator[Record]:
    if record.headers:
        yield record._replace(headers=())
        yield record._replace(headers=record.headers[:-1])
    if record.timestamp:
        yield record._replace(timestamp=0)
    for part in _less(record.key):
        yield record._replace(key=part)
    for part in _less(record.value):
        yield record._replace(value=part)


def _less(part: bytes | None) -> tuple[bytes | None, ...]:
    return (None, part[: len(part) // 2], part[:-1]) if part else ()

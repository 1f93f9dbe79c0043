"""Random queries about logs, from a seed."""

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from kraftops.query.filters import Filter, normal_type
from kraftops.query.query import Query
from kraftops.query.row import COLUMNS
from kraftops.records.decoders import record_types
from kraftops.records.decoders.user import DECODERS
from kraftops.uuids import to_text
from tests.helpers.engine.random_conditions import condition_text
from tests.helpers.engine.random_messages import IDS, TOPICS, Kind

FORMS = ("text", "json", "csv", "parquet")


def query_of(rng: Random, kind: Kind, rows: Sequence[Mapping[str, Any]] = ()) -> Query:
    """Return a query about a log; filters select some of its *rows*, which are JSON."""
    decoders = list(DECODERS)
    form = rng.choice(FORMS)
    names = None
    if form == "parquet" and rng.random() < 0.5:
        names = frozenset(rng.sample(COLUMNS, rng.randrange(1, 9)))
    return Query(
        decoder=kind.decoder,
        dialect=kind.dialect,
        key_decoder=rng.choice((decoders[0], *decoders)),
        value_decoder=rng.choice((decoders[0], *decoders)),
        deep_iteration=rng.random() < 0.8,
        skip_record_metadata=rng.random() < 0.2,
        form=form,
        show_secrets=rng.random() < 0.3,
        salvage=rng.random() < 0.15,
        skip_invalid=rng.random() < 0.2,
        is_one_line=rng.random() < 0.3,
        check=rng.random() < 0.3,
        filter=filter_of(rng, kind, rows) if rng.random() < 0.6 else Filter(),
        columns=names,
    )


def filter_of(rng: Random, kind: Kind, rows: Sequence[Mapping[str, Any]] = ()) -> Filter:
    """Return a filter, mostly with one condition."""
    found: dict[str, Any] = {}
    row = rng.choice(rows) if rows else {}
    for _ in range(rng.choice((1, 1, 1, 2))):
        match rng.choice(("types", "topics", "keys", "offsets", "times", "where", "where")):
            case "types":
                found |= _types(rng, kind, row)
            case "topics":
                ids = [to_text(one) for one in IDS]
                found["topics"] = frozenset(rng.sample((*TOPICS, *ids), 2))
                found["topic_ids"] = frozenset(rng.sample(ids, rng.randrange(2)))
            case "keys":
                found["keys"] = frozenset(_keys(rng, row))
            case "offsets":
                first = (row.get("offset") or 0) + rng.choice((-1, 0, 1))
                names = "first_offset", "last_offset"
                found |= _range(rng, names, first, (0, 0, 1, 3))
            case "times":
                time = (row.get("timestamp") or 0) + rng.choice((-1, 0, 1))
                found |= _range(rng, ("since", "until"), time, (0, 1, 2))
            case _:
                found["where"] = condition_text(rng, row)
    if not _is_in_range(found):
        return Filter()
    return Filter(**found)


def _types(rng: Random, kind: Kind, row: Mapping[str, Any]) -> dict[str, Any]:
    known = sorted(record_types(kind.decoder, kind.dialect))
    names = rng.sample(known, min(len(known), rng.randrange(1, 4)))
    names += [row["type"]] if row.get("type") else []
    names += rng.choice(([], [], ["99"], ["nosuch"]))
    return {"types": frozenset(map(normal_type, names))}


def _range(rng: Random, names: tuple[str, str], first: int, sizes: Sequence[int]) -> dict[str, int]:
    found = {}
    if rng.random() < 0.7:
        found[names[0]] = first
    if rng.random() < 0.7:
        found[names[1]] = first + rng.choice(sizes)
    return found


def _is_in_range(found: Mapping[str, Any]) -> bool:
    numbers = [value for value in found.values() if isinstance(value, int)]
    return all(-(1 << 63) <= number < 1 << 63 for number in numbers)


def _keys(rng: Random, row: Mapping[str, Any]) -> list[str]:
    key = row.get("key")
    keys = [rng.choice(("group-1", "", "a", "0", "key"))]
    if isinstance(key, dict):
        keys += [value for value in key.values() if isinstance(value, str)]
        keys.append(text_of(key))
    elif key is not None:
        keys.append(str(key))
    return keys


def text_of(found: Any) -> str:
    """Return a value as the text for a condition."""
    if isinstance(found, str):
        return found
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False)

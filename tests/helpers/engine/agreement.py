"""The agreement of the engines about a log, for tests of conformance."""

import json
from dataclasses import replace
from typing import Any

import pytest

from kraftops.engine.choice import why_not_native
from kraftops.log.batch import Record
from kraftops.query.query import Query
from tests.helpers.engine.comparison import WHOLE, Trial, by_reference, differences, has_native
from tests.helpers.engine.random_messages import KINDS, Kind
from tests.helpers.logs.written import batch_bytes

needs_both = pytest.mark.skipif(not has_native(), reason=f"no native engine: {why_not_native()}")
each_kind = pytest.mark.parametrize(
    "kind", [Kind(*one) for one in KINDS], ids=lambda kind: f"{kind.decoder}-{kind.dialect}"
)
_SHOWN = (
    Query(deep_iteration=True),
    Query(deep_iteration=True, check=True),
    Query(form="json"),
    Query(form="csv", show_secrets=True),
    Query(form="parquet", check=True),
)


def agree(
    data: bytes, *queries: Query, marks: bool = False, blocks: tuple[int, ...] = (WHOLE,)
) -> None:
    """Fail where the engines differ about a log."""
    for query in queries:
        text = differences(Trial(data, query, marks), blocks)
        assert not text, f"{query}\n{text}\n{data[:3000].hex()}"


def shown(kind: Kind) -> list[Query]:
    """Return the forms in which the records of a decoder are looked at."""
    return [replace(query, decoder=kind.decoder, dialect=kind.dialect) for query in _SHOWN]


def batch_with(payloads: list[tuple[bytes | None, bytes | None]], attributes: int = 0) -> bytes:
    """Return a batch of records with these keys and values."""
    records = [Record(at, 5, key, value) for at, (key, value) in enumerate(payloads)]
    return batch_bytes(records, attributes=attributes)


def rows_of(data: bytes, kind: Kind) -> list[dict[str, Any]]:
    """Return the rows of a log as JSON has them."""
    query = Query(decoder=kind.decoder, dialect=kind.dialect, form="json", show_secrets=True)
    return [json.loads(line) for line in by_reference(Trial(data, query)).out.split(b"\n")[:-1]]


def paths_of(found: object, path: tuple[str, ...] = ()) -> list[tuple[str, Any]]:
    """Return the path of each member of a row, and of its members, with what is there."""
    pairs: list[tuple[str, Any]] = [(".".join(path), found)] if path else []
    if isinstance(found, dict):
        return pairs + [one for name in found for one in paths_of(found[name], (*path, name))]
    if isinstance(found, list):
        items = enumerate(found)
        return pairs + [one for at, item in items for one in paths_of(item, (*path, str(at)))]
    return pairs

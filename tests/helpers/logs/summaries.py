"""Summaries of logs, asked for in fewer words."""

from collections.abc import Sequence
from typing import Any

from kraftops.answers.fields import Field, json_of
from kraftops.dump.summary.answer import SUMMARY
from kraftops.dump.summary.groups import Groups
from kraftops.dump.summary.sketches import Distribution, TimeHistogram
from kraftops.dump.summary.summarise import scope_of, summarise
from kraftops.dump.summary.summary import DamageSites, Summary
from kraftops.dump.summary.transactional_ids import TransactionalIds
from kraftops.dump.summary.transactions import Transactions
from kraftops.query.query import Query

_PATHS: dict[type, tuple[str, ...]] = {
    DamageSites: ("damage",),
    Distribution: ("batches", "sizes"),
    Groups: ("groups",),
    TimeHistogram: ("times", "histogram"),
    TransactionalIds: ("transactions",),
    Transactions: ("transactions",),
}


def empty_summary(decoder: str = "user") -> Summary:
    """Return the summary of nothing."""
    return Summary(scope_of(Query(decoder)))


def summarised(
    source: Any, decoder: str | None = None, start: int = 0, stop: int | None = None, **asked: Any
) -> Summary:
    """Return the summary of a source for a query of this decoder and what else is *asked*."""
    return summarise(source, Query(decoder, **asked), start=start, stop=stop)


def as_json(counts: object, *path: str) -> dict[str, Any]:
    """Return the JSON of a summary, or of the counts of the part at *path*."""
    fields: Sequence[Field] = SUMMARY
    for name in path or _PATHS.get(type(counts), ()):
        (fields,) = (field.fields for field in fields if field.name == name)
    return json_of(fields, counts)

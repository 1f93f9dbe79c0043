"""Summaries of logs, asked for in fewer words."""

from typing import Any

from kraftops.dump.summary.summarise import scope_of, summarise
from kraftops.dump.summary.summary import Summary
from kraftops.query.query import Query


def empty_summary(decoder: str = "user") -> Summary:
    """Return the summary of nothing."""
    return Summary(scope_of(Query(decoder)))


def summarised(
    source: Any, decoder: str | None = None, start: int = 0, stop: int | None = None, **asked: Any
) -> Summary:
    """Return the summary of a source for a query of this decoder and what else is *asked*."""
    return summarise(source, Query(decoder, **asked), start=start, stop=stop)

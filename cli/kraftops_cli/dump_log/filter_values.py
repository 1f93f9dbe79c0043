"""The values of the filter options, as a `Filter`."""

import time
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cache

from kraftops.dump.sources.names import Source
from kraftops.errors import UsageError
from kraftops.query.filters import Filter, parse_offsets, parse_types
from kraftops.query.query import Query
from kraftops.query.times import parse_time
from kraftops.records.control import CONTROL_TYPES
from kraftops.records.decoders import record_types
from kraftops.records.internal_topics import USER
from kraftops_cli.dump_log.filters import FilterOptions
from kraftops_cli.terminal.streams import Terminal
from kraftops_cli.terminal.times import read_span


def parsed_filter(options: FilterOptions, decoder: str | None) -> Filter:
    """Return the filter of the options but for `--where`; topics are not looked up yet.

    Times that count from the end of the logs count from now as yet: see `with_times`.

    Raises:
        UsageError: a value is wrong, or a type is unknown to *decoder*, or without one to all.
    """
    now = int(time.time() * 1000)
    everything = Filter()
    first, last = everything.first_offset, everything.last_offset
    if options.offsets:
        first, last = parse_offsets(options.offsets)
    since, until = (
        None if text is None else parse_time(text, now) for text in (options.since, options.until)
    )
    types = options.types and parse_types(options.types, record_types(decoder, options.dialect))
    return Filter(
        types=frozenset(types),
        topics=frozenset(options.topics),
        keys=frozenset(options.keys),
        first_offset=first,
        last_offset=last,
        since=everything.since if since is None else since,
        until=everything.until if until is None else until,
    )


def with_times(
    query: Query, options: FilterOptions, sources: Sequence[Source], terminal: Terminal
) -> Query:
    """Return a query with times before the end of *sources*; the terminal tells which those are."""
    now = int(time.time() * 1000)

    @cache
    def end() -> int | None:
        from kraftops.image.load.log_size import newest_time_in  # a tenth of a dump's start

        return newest_time_in(sources, now)

    since, until = read_span(options.since, options.until, now, end, terminal)
    selection = query.filter
    if since is not None:
        selection = replace(selection, since=since)
    if until is not None:
        selection = replace(selection, until=until)
    return replace(query, filter=selection)


def refuse_unknown_types(filter_: Filter, decoders: AbstractSet[str | None]) -> None:
    """Refuse types of records that no decoder reads.

    Raises:
        UsageError: there are some; only control records are read without a decoder.
    """
    if not filter_.types or decoders - {None, USER}:
        return
    if not filter_.types <= parse_types(CONTROL_TYPES):
        raise UsageError(
            "--type asks for records of a decoder, and none is chosen",
            hint="such as --cluster-metadata-decoder; the directory of a partition chooses its own",
        )

"""The values of the filter options, as a `Filter`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from kraftops.errors import UsageError
from kraftops.query.filters import Filter, parse_offsets, parse_types
from kraftops.records.control import CONTROL_TYPES
from kraftops.records.decoders import record_types
from kraftops.records.internal_topics import USER
from kraftops_cli.dump_log.filters import FilterOptions
from kraftops_cli.terminal.streams import Terminal
from kraftops_cli.terminal.times import read_span


def parsed_filter(
    options: FilterOptions, decoder: str | None, files: Sequence[str], terminal: Terminal
) -> Filter:
    """Return the filter of the options but for `--where`; topics are not looked up yet.

    Times of day are those of the last day in *files*; the terminal tells which that is.

    Raises:
        UsageError: a value is wrong, or a type is unknown to *decoder*, or without one to all.
    """
    now = int(time.time() * 1000)
    everything = Filter()
    first, last = everything.first_offset, everything.last_offset
    if options.offsets:
        first, last = parse_offsets(options.offsets)
    since = until = None
    if (options.since, options.until) != (None, None):
        from kraftops.image.load.log_size import newest_time  # a tenth of a dump's start

        end = partial(newest_time, files)
        since, until = read_span(options.since, options.until, now, end, terminal)
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
            hint="as --cluster-metadata-decoder; the directory of a partition chooses its own",
        )

"""The values of the filter options, as a `Filter`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any

from kraftops.errors import UsageError
from kraftops.image.load.log_size import newest_time
from kraftops.query.filters import Filter, parse_offsets, parse_types
from kraftops.records.control import CONTROL_TYPES
from kraftops.records.decoders import record_types
from kraftops.records.internal_topics import USER
from kraftops_cli.dump_log.filters import FILTERS
from kraftops_cli.terminal.streams import Terminal
from kraftops_cli.terminal.times import read_span

_ENDS = ("since", "until")


def parsed_filter(
    options: dict[str, object], decoder: str | None, files: Sequence[str], terminal: Terminal
) -> Filter:
    """Return the filter of the options but for `--where`; topics are not looked up yet.

    Times of day are those of the last day in *files*; the terminal tells which that is.

    Raises:
        UsageError: a value is wrong, or a type is unknown to *decoder*, or without one to all.
    """
    now = int(time.time() * 1000)
    given = {name: options[name] for name in FILTERS if options[name]}
    limits: dict[str, Any] = {}
    if "offsets" in given:
        limits["first_offset"], limits["last_offset"] = parse_offsets(str(given["offsets"]))
    since, until = (None if options[name] is None else str(options[name]) for name in _ENDS)
    span = read_span(since, until, now, partial(newest_time, files), terminal)
    limits |= {name: time for name, time in zip(_ENDS, span, strict=True) if time is not None}
    texts = {name: _texts(given.get(name)) for name in ("types", "topics", "keys")}
    return Filter(
        types=_types(texts["types"], decoder, str(options["dialect"])),
        topics=frozenset(texts["topics"]),
        keys=frozenset(texts["keys"]),
        **limits,
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


def _types(texts: tuple[str, ...], decoder: str | None, dialect: str) -> frozenset[str]:
    if not texts:
        return frozenset()
    return parse_types(texts, record_types(decoder, dialect))


def _texts(given: object) -> tuple[str, ...]:
    return tuple(map(str, given)) if isinstance(given, tuple) else ()

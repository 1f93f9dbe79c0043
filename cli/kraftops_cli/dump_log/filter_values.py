"""The values of the filter options, as a `Filter`."""

from __future__ import annotations

import time
from collections.abc import Set as AbstractSet
from typing import Any

from kraftops.errors import UsageError
from kraftops.query.filters import Filter, parse_offsets, parse_types
from kraftops.query.times import parse_time
from kraftops.records.control import CONTROL_TYPES
from kraftops.records.decoders import record_types
from kraftops.records.internal_topics import USER
from kraftops_cli.dump_log.filters import FILTERS


def parsed_filter(options: dict[str, object], decoder: str | None) -> Filter:
    """Return the filter of the options but for `--where`; topics are not looked up yet.

    Raises:
        UsageError: a value is wrong, or a type is unknown to *decoder*, or without one to all.
    """
    now = int(time.time() * 1000)
    given = {name: options[name] for name in FILTERS if options[name]}
    limits: dict[str, Any] = {}
    if "offsets" in given:
        limits["first_offset"], limits["last_offset"] = parse_offsets(str(given["offsets"]))
    for name in ("since", "until"):
        if name in given:
            limits[name] = parse_time(str(given[name]), now)
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

"""Options of the data source: the options of `dump-log` in Spark's spelling.

| option | meaning |
|---|---|
| `path`, `paths` | a file, directory, pattern or URI; a JSON list of them (what `load` makes) |
| `decoder` | a name of `records.internal_topics`, as `metadata`, or `user`; else by directory |
| `dialect`, `raw`, `fromStart`, `showSecrets` | as `dump-log` has them |
| `salvage`, `skipInvalid` | as `dump-log` has them |
| `types`, `topics`, `keys`, `groups` | lists, separated by commas |
| `offsets`, `since`, `until` | `A..B`; times in ISO 8601, or as 2h |
| `where` | a condition (`query.conditions`); several, which must all hold, as a JSON list |
| `pushdown` | `true`: take over Spark's filters (needs its setting, see the README) |
| `splitBytes`, `cores` | size of splits, or number of tasks at a time |
| `tries` | number of tries of a task; the last one reports instead of reading |
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kraftops.dump.sources.names import Source, expand
from kraftops.errors import UsageError
from kraftops.query.filters import Filter, parse_offsets, parse_types
from kraftops.query.query import Query
from kraftops.query.times import parse_time
from kraftops.query.where import about_groups, with_conditions
from kraftops.records.decoder import DecoderOptions
from kraftops.records.decoders import decoder_named, record_types
from kraftops.records.dialects import DIALECTS, KAFKA_DIALECT
from kraftops.records.internal_topics import METADATA, decoder_names

_KNOWN = (
    *("path", "paths", "sources", "query", "decoder", "dialect", "raw", "fromStart", "showSecrets"),
    *(
        "salvage",
        "skipInvalid",
        "types",
        "topics",
        "keys",
        "groups",
        "offsets",
        "since",
        "until",
        "where",
        "pushdown",
    ),
    *("pushdown", "splitBytes", "cores", "tries"),
)
_FLAGS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """Parsed options."""

    names: tuple[str, ...]
    given: tuple[Source, ...]
    query: Query
    from_start: bool
    raw: bool
    pushdown: bool
    split_bytes: int | None
    cores: int
    tries: int

    def sources(self) -> list[Source]:
        """Return the files that the names stand for.

        Raises:
            UsageError: a directory holds no log, or a pattern matches none.
            SourceError: a directory cannot be read.
        """
        return [*self.given, *expand(self.names, from_start=self.from_start, raw=self.raw)]

    def decoders(self) -> frozenset[str]:
        """Return the names of the decoders that read the sources.

        Raises:
            UsageError, SourceError: as `sources`, if no option names a decoder.
        """
        of_sources = [None] if self.query.decoder else [one.decoder for one in self.sources()]
        return self.query.decoders(of_sources)


def source_options(options: Mapping[str, str]) -> SourceOptions:
    """Return parsed options; their names may be in any case.

    Raises:
        UsageError: one is unknown, or has a wrong value.
    """
    given = _lower_case(options)
    names = _list(given.get("paths", ""))
    if given.get("path"):
        names = (given["path"], *names)
    sources = tuple(Source(*one) for one in json.loads(given.get("sources", "[]")))
    if not names and not sources:
        raise UsageError("no path is given", hint="as .load('DIRECTORY')")
    decoder = given.get("decoder")
    if decoder is not None and decoder not in decoder_names():
        raise UsageError(f"no decoder {decoder!r}", hint=", ".join(decoder_names()))
    dialect = given.get("dialect", KAFKA_DIALECT)
    if dialect not in DIALECTS:
        raise UsageError(f"no dialect {dialect!r}", hint=", ".join(DIALECTS))
    if dialect != KAFKA_DIALECT:
        decoder = decoder or METADATA
    text = given.get("query")  # the whole query, from the command line
    query = query_from_text(text) if text else _query(given, decoder, dialect)
    return SourceOptions(
        names=names,
        given=sources,
        query=query,
        from_start=_flag(given, "fromStart"),
        raw=_flag(given, "raw"),
        pushdown=_flag(given, "pushdown"),
        split_bytes=_number(given, "splitBytes") or None,
        cores=_number(given, "cores") or os.cpu_count() or 1,
        tries=_number(given, "tries"),
    )


def _lower_case(options: Mapping[str, str]) -> dict[str, str]:
    """Return options with their names in lower case.

    Raises:
        UsageError: one is unknown.
    """
    given = {name.lower(): value for name, value in options.items()}
    known = {name.lower() for name in _KNOWN}
    for name in given:
        if name not in known:
            raise UsageError(f"no option {name!r}", hint=f"there are {', '.join(_KNOWN)}")
    return given


def query_text(query: Query) -> str:
    """Return a query as the text of an option."""
    return json.dumps(asdict(query), default=sorted)  # sets


def query_from_text(text: str) -> Query:
    """Return the query of a text of `query_text`."""
    fields = json.loads(text)
    limits = fields.pop("filter")
    lists = {name: frozenset(value) for name, value in limits.items() if isinstance(value, list)}
    return Query(**fields, filter=Filter(**{**limits, **lists}))


def _query(given: Mapping[str, str], decoder: str | None, dialect: str) -> Query:
    return Query(
        decoder=decoder,
        dialect=dialect,
        deep_iteration=True,
        form="parquet",
        show_secrets=_flag(given, "showSecrets"),
        salvage=_flag(given, "salvage"),
        skip_invalid=_flag(given, "skipInvalid"),
        filter=_filter(given, decoder, dialect),
    )


def _filter(given: Mapping[str, str], decoder: str | None, dialect: str) -> Filter:
    limits: dict[str, Any] = {}
    now = int(time.time() * 1000)
    if "offsets" in given:
        limits["first_offset"], limits["last_offset"] = parse_offsets(given["offsets"])
    for name in ("since", "until"):
        if name in given:
            limits[name] = parse_time(given[name], now)
    if given.get("types"):
        limits["types"] = parse_types([given["types"]], record_types(decoder, dialect))
    for name in ("topics", "keys"):
        limits[name] = frozenset(_list(given.get(name, "")))
    where = [*_list(given.get("where", ""), commas=False)]
    groups = _list(given.get("groups", ""))
    if not (where or groups):
        return Filter(**limits)
    names = (decoder,) if decoder else decoder_names()
    decoders = [decoder_named(name, DecoderOptions(dialect)) for name in names]
    if groups:
        where.append(about_groups(groups, decoders))
    return with_conditions(Filter(**limits), where, decoders, now)


def _list(text: str, *, commas: bool = True) -> tuple[str, ...]:
    """Return the texts of a JSON list, or what commas separate."""
    if text.startswith("["):
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if isinstance(found, list) and all(isinstance(one, str) for one in found):
            return tuple(found)
    if not text:
        return ()
    return tuple(text.split(",")) if commas else (text,)


def _flag(given: Mapping[str, str], name: str) -> bool:
    text = given.get(name.lower(), "false").lower()
    if text not in _FLAGS:
        raise UsageError(f"{name} is true or false, not {text!r}")
    return _FLAGS[text]


def _number(given: Mapping[str, str], name: str) -> int:
    text = given.get(name.lower(), "0")
    if not text.isdecimal():
        raise UsageError(f"{name} is a number, not {text!r}")
    return int(text)

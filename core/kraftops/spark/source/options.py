"""Options of the data source, parsed: those of `dump-log` in Spark's spelling, and its own.

The docstring of `kraftops.spark.datasource.KraftopsDataSource` describes them.
"""

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from glob import escape
from typing import Any

from kraftops.dump.sources.missing import refuse_missing
from kraftops.dump.sources.names import Source, bundles_among, expand, refuse_remote_bundles
from kraftops.errors import KraftopsError, UsageError
from kraftops.log.files import PARTITION_NAME, STANDARD_INPUT
from kraftops.memory import Budget, budget_of
from kraftops.parallel.ordered import core_count
from kraftops.query.filters import Filter, normal_type, parse_offsets, parse_types
from kraftops.query.query import Query
from kraftops.query.row import COLUMNS
from kraftops.query.times import parse_time
from kraftops.query.where import about_groups, with_conditions
from kraftops.records.decoder import DecoderOptions
from kraftops.records.decoders import decoder_named, record_types
from kraftops.records.dialects import DIALECTS, KAFKA_DIALECT
from kraftops.records.internal_topics import METADATA as METADATA_DECODER
from kraftops.records.internal_topics import decoder_names
from kraftops.spark.source.partition_offsets import NO_LIMITS, PartitionLimits
from kraftops.spark.source.table_columns import (
    BROKER_ID,
    METADATA,
    OTHER_COLUMNS,
    TABLE_COLUMNS,
    TRANSACTION_STATE,
)
from kraftops.uris import is_remote
from kraftops.views.columns import nearest_hint

OPTIONS = (
    *("path", "paths", "decoder", "dialect", "raw", "fromStart", "showSecrets"),
    *("salvage", "skipInvalid", "types", "topics", "keys", "groups", "offsets", "since", "until"),
    *("where", "columns", "record", "mode", "pushdown", "splitBytes", "cores", "tries"),
    *("isolationLevel", "transactionState", "replicas", "metadata", "startingOffsets"),
    *("endingOffsets", "pathGlobFilter", "recursiveFileLookup"),
)
"""The options for users."""
CLIENT_PREFIX = "kafka."
"""Begin of options that are client properties, as of Spark's source `kafka`."""
STREAM_OPTIONS = (
    *("maxBytesPerTrigger", "failOnDataLoss", "controllers", "commandConfig"),
    "startingOffsetsByTimestamp",
)
"""Those of streams alone, and client properties; `kraftops.spark.stream` parses them."""
_TABLE_OWNER = "owner"
"""Option that Spark adds in `CREATE TABLE`, and nowhere else (`TableCatalog.PROP_OWNER`)."""
_KNOWN = (*OPTIONS, *STREAM_OPTIONS, "sources", "query")  # the last two are the command line's
_ONE, _ALL = "one", "all"
READ_UNCOMMITTED, READ_COMMITTED = "read_uncommitted", "read_committed"
ISOLATION_OF_CONSUMERS = "kafka.isolation.level"
"""The same option, as Spark's source `kafka` has it."""
MODES = ("PERMISSIVE", "DROPMALFORMED", "FAILFAST")
"""The values of `mode`, as sources of Spark have them."""
PERMISSIVE, _, FAILFAST = MODES
_FLAGS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """Parsed options.

    *columns* are the columns of the table. *record* is the only record type, or None, *mode* one
    of `MODES`; with *is_committed*, rows are those of read_committed. Without *has_all_replicas*,
    a table reads one copy of each partition. With *keeps_row*, its columns are those of the row, as
    commands write it. Files are those whose names match *file_pattern*, if it is set, and with
    *is_recursive* those of partitions at any depth.
    """

    names: tuple[str, ...]
    labelled: tuple[Source, ...]
    query: Query
    from_start: bool
    raw: bool
    pushdown: bool
    split_bytes: int | None
    cores: int
    tries: int
    columns: tuple[str, ...]
    record: str | None = None
    mode: str = PERMISSIVE
    is_committed: bool = False
    has_all_replicas: bool = False
    keeps_row: bool = False
    limits: PartitionLimits = NO_LIMITS
    file_pattern: str = ""
    is_recursive: bool = False

    def sources(self) -> list[Source]:
        """Return the files that the names stand for.

        Raises:
            UsageError: a directory holds no log, or a name is of what Spark cannot read.
            SourceError: nothing has a name or matches a pattern, or a directory cannot be read.
        """
        if STANDARD_INPUT in self.names:
            raise UsageError("Spark cannot read standard input")
        refuse_missing(self.names)
        refuse_remote_bundles(self.names)
        if archives := bundles_among(self.names):
            raise UsageError(
                f"Spark reads no archive of directories: {archives[0]}",
                hint="unpack it, and name the directory",
            )
        return [*self.labelled, *self.expanded(self.names, from_start=self.from_start)]

    def expanded(self, names: Iterable[str], *, from_start: bool) -> list[Source]:
        """Return the files that some of the names stand for; errors as for `sources`."""
        if self.is_recursive:
            names = map(_at_any_depth, names)
        pattern = self.file_pattern
        return [
            source
            for source in expand(names, from_start=from_start, raw=self.raw)
            if not pattern or fnmatchcase(os.path.basename(source.path), pattern)
        ]

    def decoders(self) -> frozenset[str]:
        """Return the names of the decoders that may read the sources; nothing is listed."""
        if self.names and self.query.decoder is None:
            return frozenset(decoder_names())
        return self.query.decoders([None, *(source.decoder for source in self.labelled)])


def source_options(options: Mapping[str, str]) -> SourceOptions:
    """Return parsed options; their names may be in any case.

    Raises:
        UsageError: one is unknown, or has a wrong value.
    """
    by_name = _lower_case(options)
    names = _list(by_name.get("paths", ""))
    if by_name.get("path"):
        names = (by_name["path"], *names)
    sources = tuple(Source(*fields) for fields in json.loads(by_name.get("sources", "[]")))
    is_live = "controllers" in by_name
    if is_live and (names or sources):
        raise UsageError("controllers have the log of a quorum: leave out the path")
    if not names and not sources and not is_live:
        raise UsageError("no path is given", hint="as .load('DIRECTORY')")
    decoder = by_name.get("decoder")
    if decoder is not None and decoder not in decoder_names():
        raise UsageError(f"no decoder {decoder!r}", hint=", ".join(decoder_names()))
    dialect = by_name.get("dialect", KAFKA_DIALECT)
    if dialect not in DIALECTS:
        raise UsageError(f"no dialect {dialect!r}", hint=", ".join(DIALECTS))
    if dialect != KAFKA_DIALECT or is_live:
        decoder = decoder or METADATA_DECODER
    record = _record(by_name, decoder, dialect)
    if record is not None:
        by_name["types"] = record
    text = by_name.get("query")  # the whole query, from the command line
    has_all_replicas = _one_of("replicas", by_name.get("replicas", _ONE), (_ONE, _ALL)) == _ALL
    query = query_from_text(text) if text else _query(by_name, decoder, dialect)
    return SourceOptions(
        names=names,
        labelled=sources,
        query=query,
        from_start=flag(by_name, "fromStart"),
        raw=flag(by_name, "raw"),
        pushdown=flag(by_name, "pushdown"),
        split_bytes=_number(by_name, "splitBytes") or None,
        cores=_number(by_name, "cores") or core_count(),
        tries=_number(by_name, "tries"),
        columns=_columns(by_name, {BROKER_ID} if has_all_replicas else set()),
        record=record,
        mode=_one_of("mode", by_name.get("mode", PERMISSIVE).upper(), MODES),
        has_all_replicas=has_all_replicas,
        is_committed=_isolation_level(by_name) == READ_COMMITTED,
        keeps_row=bool(text),
        file_pattern=by_name.get("pathglobfilter", ""),
        is_recursive=flag(by_name, "recursiveFileLookup"),
    )


def _lower_case(options: Mapping[str, str]) -> dict[str, str]:
    """Key options by their names in lower case: Spark ignores the case of names.

    Raises:
        UsageError: one is unknown.
    """
    by_name = {name.lower(): value for name, value in options.items()}
    if _TABLE_OWNER in by_name:
        raise UsageError(
            "CREATE TABLE does not work: Spark forgets its options before it reads the table",
            hint="CREATE TEMPORARY VIEW name USING kraftops OPTIONS (path 'DIRECTORY')",
        )
    known_names = {name.lower() for name in _KNOWN}
    for name in by_name:
        if name not in known_names and not name.startswith(CLIENT_PREFIX):
            raise UsageError(
                f"no option {name!r}", hint=f"there are {', '.join((*OPTIONS, *STREAM_OPTIONS))}"
            )
    return by_name


def query_text(query: Query) -> str:
    return json.dumps(asdict(query), default=sorted)  # sets


def query_from_text(text: str) -> Query:
    """Read back what `query_text` has written."""
    fields = json.loads(text)
    limits, budget = fields.pop("filter"), Budget(**fields.pop("budget"))
    lists = {name: frozenset(value) for name, value in limits.items() if isinstance(value, list)}
    return Query(**fields, budget=budget, filter=Filter(**{**limits, **lists}))


def _query(by_name: Mapping[str, str], decoder: str | None, dialect: str) -> Query:
    return Query(
        decoder=decoder,
        dialect=dialect,
        deep_iteration=True,
        budget=budget_of(os.environ),
        form="parquet",
        show_secrets=flag(by_name, "showSecrets"),
        salvage=flag(by_name, "salvage"),
        skip_invalid=flag(by_name, "skipInvalid"),
        filter=_filter(by_name, decoder, dialect),
    )


def _filter(by_name: Mapping[str, str], decoder: str | None, dialect: str) -> Filter:
    limits: dict[str, Any] = {}
    now = int(time.time() * 1000)
    if "offsets" in by_name:
        limits["first_offset"], limits["last_offset"] = parse_offsets(by_name["offsets"])
    for name in ("since", "until"):
        if name in by_name:
            limits[name] = parse_time(by_name[name], now)
    if by_name.get("types"):
        limits["types"] = parse_types([by_name["types"]], record_types(decoder, dialect))
    for name in ("topics", "keys"):
        limits[name] = frozenset(_list(by_name.get(name, "")))
    where = [*_list(by_name.get("where", ""), commas=False)]
    groups = _list(by_name.get("groups", ""))
    if not (where or groups):
        return Filter(**limits)
    names = (decoder,) if decoder else decoder_names()
    decoders = [decoder_named(name, DecoderOptions(dialect)) for name in names]
    if groups:
        where.append(about_groups(groups, decoders))
    return with_conditions(Filter(**limits), where, decoders, now)


def _record(by_name: Mapping[str, str], decoder: str | None, dialect: str) -> str | None:
    """Return Kafka's name of the record type asked for, such as `PARTITION_CHANGE_RECORD`.

    Raises:
        UsageError: it is unknown, or one of several.
    """
    text = by_name.get("record")
    if not text:
        return None
    if by_name.get("types"):
        raise UsageError("record is the only type of its table: leave out types")
    types_by_name = {normal_type(name): name for name in record_types(decoder, dialect)}
    parsed = parse_types([text], types_by_name.values())
    if len(parsed) > 1:
        raise UsageError(f"record is one record type, not {text!r}", hint="types takes several")
    (name,) = parsed
    return types_by_name[name]


def _at_any_depth(name: str) -> str:
    """Return the pattern of the partitions below a directory; the name of one of them itself."""
    base = name.rstrip("/")
    if PARTITION_NAME.fullmatch(base.rpartition("/")[2]):
        return name
    return f"{base if is_remote(base) else escape(base)}/**/*-[0-9]*"


def _columns(by_name: Mapping[str, str], more: AbstractSet[str]) -> tuple[str, ...]:
    """Return the columns that are asked for; if none is named, all and *more*.

    Raises:
        UsageError: there is no such column, or one comes twice.
    """
    columns, others = (COLUMNS, ()) if by_name.get("query") else (TABLE_COLUMNS, OTHER_COLUMNS)
    asked = tuple(name.strip() for name in _list(by_name.get("columns", "")))
    for name in asked:
        if name not in (*columns, *others):
            hint = nearest_hint(name, (*columns, *others), "it has")
            raise UsageError(f"a row has no column {name!r}", hint=hint)
        if asked.count(name) > 1:
            raise UsageError(f"the column {name} is asked for twice")
    more |= {name for name in (TRANSACTION_STATE, METADATA) if flag(by_name, name)}
    return asked or (*columns, *(name for name in others if name in more))


def _one_of(name: str, value: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise UsageError(f"{name} is {' or '.join(choices)}, not {value!r}")
    return value


def _isolation_level(by_name: Mapping[str, str]) -> str:
    text = by_name.get("isolationlevel", by_name.get(ISOLATION_OF_CONSUMERS, READ_UNCOMMITTED))
    return _one_of("isolationLevel", text.lower(), (READ_UNCOMMITTED, READ_COMMITTED))


def _list(text: str, *, commas: bool = True) -> tuple[str, ...]:
    """Return the texts of a JSON list, or what commas separate."""
    if text.startswith("["):
        try:
            texts = json.loads(text)
        except ValueError:
            texts = None
        if isinstance(texts, list) and all(isinstance(element, str) for element in texts):
            return tuple(texts)
    if not text:
        return ()
    return tuple(text.split(",")) if commas else (text,)


def flag(by_name: Mapping[str, str], name: str, *, default: bool = False) -> bool:
    """Return the value of an option, whose name is in lower case in *by_name*.

    Raises:
        UsageError: it is neither true nor false.
    """
    text = by_name.get(name.lower(), str(default)).lower()
    if text not in _FLAGS:
        raise UsageError(f"{name} is true or false, not {text!r}")
    return _FLAGS[text]


def _number(by_name: Mapping[str, str], name: str) -> int:
    text = by_name.get(name.lower(), "0")
    if not text.isdecimal():
        raise UsageError(f"{name} is a number, not {text!r}")
    return int(text)


@contextmanager
def shown_hints() -> Iterator[None]:
    """Let errors show their hints."""
    try:
        yield
    except KraftopsError as error:
        if error.hint:
            error.add_note(f"hint: {error.hint}")
        raise

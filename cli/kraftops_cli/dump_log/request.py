"""The request of a command line: from the values of its options to a plan that is run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from kraftops.dump.sources.missing import refuse_configurations, refuse_missing
from kraftops.dump.sources.names import (
    OnUnreadable,
    Source,
    expand,
    expand_by_page,
    opened_bundles,
    refuse_bundles,
    refuse_remote_bundles,
)
from kraftops.errors import SourceError, UsageError
from kraftops.java.text import path_text
from kraftops.query.filters import Filter
from kraftops.query.formats import CSV, CSV_SAFE
from kraftops.query.query import NO_LIMIT, Query
from kraftops.query.summary_order import BY_NAME
from kraftops.records.dialects import KAFKA_DIALECT
from kraftops.records.internal_topics import DEFAULT_CLASS, INTERNAL_TOPICS, METADATA, USER
from kraftops_cli.dump_log.filter_values import parsed_filter, refuse_unknown_types, with_times
from kraftops_cli.dump_log.live_request import is_live, live_source
from kraftops_cli.dump_log.options import COUNTING, DumpOptions
from kraftops_cli.dump_log.plan import Plan
from kraftops_cli.dump_log.run import run_dump
from kraftops_cli.dump_log.topics import with_known_topics
from kraftops_cli.spark.options import SparkRequest, spark_request
from kraftops_cli.syntax.errors import BadArguments
from kraftops_cli.syntax.option_fields import given_options
from kraftops_cli.terminal.failure import code_with_skipped
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.dump.sources.bundles import Bundle
    from kraftops_cli.dump_log.check import Archives

_CONTRADICTIONS = (
    ("limit", "tail"),
    ("follow", "limit"),
    ("follow", "output"),
    ("follow", "salvage"),
    ("remote_log_metadata", "spark"),
    ("remote_log_metadata", "controllers"),
    ("sql", "check"),
    ("sql", "summary"),
    ("sql", "single_file"),
    ("single_file", "partition_by"),
    ("sink", "single_file"),
    ("summary", "single_file"),
    ("summary", "partition_by"),
    ("sink", "summary"),
)
_OF_OUTPUT = ("overwrite", "single_file", "partition_by", "sink")


def run_request(ctx: click.Context, options: DumpOptions) -> int:
    terminal: Terminal = ctx.obj
    if options.check or options.summary:  # failures are named as the answers are
        terminal.command = "check" if options.check else "summary"
    if is_live(ctx, options):
        return _run_live(ctx, options, terminal)
    files = [] if options.files is None else _paths(options.files)
    names = [*files, *options.paths]
    if not names and not terminal.has_kafkas_form:
        hint = "name files or directories, for example kraftops dump-log DIR"
        raise BadArguments("no log is named", ctx, hint)
    if not names:
        raise click.MissingParameter(param_hint="--files", param_type="option", ctx=ctx)
    query = _query(ctx, options)
    _refuse_repeated(ctx, names, terminal)
    on_spark = spark_request(ctx, options)
    _refuse_contradictions(ctx, query, options)
    refuse_remote_bundles(names)
    if on_spark or not (files and query.output_format.is_text):  # no form of Kafka's tool
        terminal.has_kafkas_form = False
    if not (on_spark or terminal.has_kafkas_form):  # workers may see other files
        refuse_missing([*names, *options.remote_log_metadata])
        refuse_configurations(
            names,
            "kraftops storage info -c {0} shows its directories, and --config {0} asks its"
            " controllers",
        )
    if on_spark:
        return _run_spark(names, query, options, on_spark, terminal)
    skipped: list[SourceError] = []
    own_names = [] if terminal.has_kafkas_form else names  # Kafka's tool reads no archives
    with opened_bundles(own_names, skipped.append) as bundles:
        for error in skipped:
            terminal.failure(error)
        if _is_walk(query, options):
            from kraftops_cli.dump_log.check import Archives

            code = _run_check(names, query, options, terminal, Archives(bundles, skipped))
        else:
            code = _run_dump(names, query, options, terminal, bundles)
    return code_with_skipped(code, skipped)


def _run_spark(
    names: list[str],
    query: Query,
    options: DumpOptions,
    request: SparkRequest,
    terminal: Terminal,
) -> int:
    from kraftops.spark.jobs.waves import waves
    from kraftops_cli.dump_log.on_spark.check import can_begin_early, can_check, run_check_on_spark
    from kraftops_cli.dump_log.on_spark.run import run_spark

    refuse_bundles(names)
    if _is_walk(query, options) and _is_whole(options) and can_check(request):
        code = run_check_on_spark(names, query, request, terminal)
        if code is not None:
            return code
    if not can_begin_early(names, query, options, request):
        return run_spark(
            _plan(_sources(names, options), query, options, terminal), request, terminal
        )
    pages = waves(expand_by_page(names, from_start=options.from_start, raw=options.raw))
    first = next(pages)
    more = (page._replace(sources=_printable(page.sources)) for page in pages)
    plan = _plan(first.sources, query, options, terminal)
    return run_spark(plan, request, terminal, None if first.is_last else more)


def _is_walk(query: Query, options: DumpOptions) -> bool:
    """Tell whether directories are checked as a whole."""
    form = query.output_format
    is_cut = options.limit is not None or options.tail is not None or options.max_bytes is not None
    is_dumped = options.follow or options.salvage or options.output is not None or options.summary
    is_chosen = query.filter != Filter() or options.groups or options.where or is_cut or is_dumped
    return query.check and (form.is_text or form.has_objects) and not is_chosen


def _sources(
    names: list[str],
    options: DumpOptions,
    on_unreadable: OnUnreadable | None = None,
    bundles: Mapping[str, Bundle] | None = None,
) -> list[Source]:
    return expand(
        names,
        from_start=options.from_start,
        raw=options.raw,
        on_unreadable=on_unreadable,
        bundles=bundles,
    )


def _run_dump(
    names: list[str],
    query: Query,
    options: DumpOptions,
    terminal: Terminal,
    bundles: Mapping[str, Bundle],
) -> int:
    """Dump or count what can be read."""
    unreadable: list[SourceError] = []
    sources = _sources(names, options, unreadable.append, bundles)
    if unreadable and not sources:
        raise unreadable[0]
    sources = _holding(sources, query, options, unreadable)
    if not sources:
        raise unreadable[0]
    for error in unreadable:
        terminal.failure(error)
    is_chosen = query.decoder not in (None, USER) or options.raw or query.salvage
    if not (terminal.name.startswith("kafka-") or is_chosen):
        _name_decoder(sources, terminal)
    is_whole = not (unreadable or bundles)  # an archive may have members that are not read
    plan = with_known_topics(_plan(sources, query, options, terminal), terminal, is_whole=is_whole)
    code = run_dump(plan, terminal)
    return max(code, 1) if unreadable else code


def _name_decoder(sources: list[Source], terminal: Terminal) -> None:
    """Name the decoder that a log without the name of its directory looks made for."""
    from kraftops.dump.scan.mentions import looks_like_offsets

    if looks_like_offsets(sources, terminal.budget):
        what = f"{sources[0].path} looks like a log of __consumer_offsets"
        terminal.error(f"note: {what}: --offsets-decoder reads its records")


def _holding(
    sources: list[Source],
    query: Query,
    options: DumpOptions,
    unreadable: list[SourceError],
) -> list[Source]:
    """Leave out tiered segments that do not hold the offsets that are asked for."""
    if not options.offsets:
        return sources
    from kraftops.dump.tiers.holding import holding
    from kraftops.dump.tiers.remote_metadata import read_remote_metadata
    from kraftops.records.internal_topics import REMOTE_TOPIC

    metadata_paths = (source.path for source in sources if source.topic == REMOTE_TOPIC)
    paths = [*options.remote_log_metadata, *metadata_paths]
    span = query.filter.first_offset, query.filter.last_offset
    read = partial(read_remote_metadata, paths, query.budget)
    return holding(sources, span, read, unreadable.append)


def _run_check(
    names: list[str],
    query: Query,
    options: DumpOptions,
    terminal: Terminal,
    archives: Archives,
) -> int:
    """Check files of Kafka's form as they are dumped, and then all others as a whole."""
    from kraftops.dump.check.units import run_units
    from kraftops_cli.dump_log.check import among, run_check

    listed = set() if options.files is None else {*_paths(options.files)}
    alone = {*names} - listed if _is_whole(options) else set()
    request, others = among(names, alone, archives.bundles, query)
    codes = []
    if others:
        plan = with_known_topics(
            _plan(_sources(others, options), query, options, terminal), terminal
        )
        codes.append(run_dump(plan, terminal))
    if request.paths or request.partitions or request.files:
        request = replace(request, remote_metadata=options.remote_log_metadata)
        run = partial(run_units, jobs=options.jobs)
        codes.append(run_check(request, terminal, archives, run))
    return max(codes)


def _is_whole(options: DumpOptions) -> bool:
    """Tell whether files are checked as a whole, and not as they are dumped."""
    is_of_text = options.print_data_log or options.deep_iteration or options.skip_record_metadata
    is_of_indexes = options.verify_index_only or options.index_sanity_check
    is_of_values = options.key_decoder_class or options.value_decoder_class
    return not (is_of_text or is_of_indexes or is_of_values or options.raw or options.from_start)


def _run_live(ctx: click.Context, options: DumpOptions, terminal: Terminal) -> int:
    from kraftops_cli.dump_log.live import run_live

    terminal.has_kafkas_form = False  # no form of Kafka's tool
    query = _query(ctx, options)
    _refuse_repeated(ctx, [live_source(options).path], terminal)
    spark_request(ctx, options)  # refuses options of Spark
    _refuse_contradictions(ctx, query, options)
    return run_live(_plan([live_source(options)], query, options, terminal), options, terminal)


def _refuse_contradictions(ctx: click.Context, query: Query, options: DumpOptions) -> None:
    option_texts = given_options(ctx)
    for first, second in _CONTRADICTIONS:
        if {first, second} <= option_texts.keys():
            raise click.UsageError(
                f"{option_texts[first]} and {option_texts[second]} do not go together", ctx
            )
    if options.follow and options.tail:
        raise click.UsageError(
            f"--follow takes no --tail {options.tail}: --follow --since -5m shows the last minutes"
            " and what comes, --follow --tail 0 only what comes",
            ctx,
        )
    if options.remote_log_metadata and not (options.check or options.offsets):
        raise click.UsageError("--remote-log-metadata needs --check or --offset", ctx)
    for name, needed, is_there in (
        *((name, "--summary: kraftops dump-log summary", options.summary) for name in COUNTING),
        *((name, "--output", options.output is not None) for name in _OF_OUTPUT),
    ):
        if name in option_texts and not is_there:
            raise click.UsageError(f"{option_texts[name]} needs {needed}", ctx)
    if query.output_format.is_columns and options.output is None:
        raise click.UsageError("--format parquet needs --output FILE", ctx)
    if options.summary and not (query.output_format.is_text or query.output_format.has_objects):
        raise click.UsageError(f"--summary and --format {query.form} do not go together", ctx)


def _plan(sources: list[Source], query: Query, options: DumpOptions, terminal: Terminal) -> Plan:
    query = with_times(query, options, sources, terminal)
    refuse_unknown_types(query.filter, {query.decoder or source.decoder for source in sources})
    if options.where or options.groups:
        query = _with_conditions(query, options, sources)
    return Plan(
        sources=tuple(_printable(sources)),
        query=query,
        output=options.output,
        overwrite=options.overwrite,
        jobs=options.jobs,
        limit=options.limit,
        tail=options.tail,
        summary=options.summary,
        logs=options.logs,
        groups=options.groups,
        sort=options.sort or BY_NAME,
        top=options.top,
        follow=options.follow,
    )


def _printable(sources: list[Source]) -> list[Source]:
    texts = [path_text(source.path) for source in sources]
    return [
        source if source.path == text else replace(source, path=text)
        for source, text in zip(sources, texts, strict=True)
    ]


def _with_conditions(query: Query, options: DumpOptions, sources: list[Source]) -> Query:
    from kraftops.query.where import about_groups, with_conditions

    decoders = {query.for_source(source.decoder).record_decoder for source in sources}
    texts = [*options.where]
    if options.groups:
        texts.append(about_groups(options.groups, decoders))
    now = int(time.time() * 1000)
    try:
        return replace(query, filter=with_conditions(query.filter, texts, decoders, now))
    except UsageError as error:
        if any(decoder.name != USER for decoder in decoders):
            raise
        fitting = _fitting_decoders(query.filter, texts, now)
        hint = f"perhaps {' or '.join(fitting)} is missing" if fitting else error.hint
        raise UsageError(error.message, hint) from None


def _fitting_decoders(limits: Filter, conditions: Sequence[str], now: int) -> list[str]:
    """Return the options of decoders that know the fields which conditions name."""
    from kraftops.query.where import with_conditions
    from kraftops.records.decoders import decoder_named

    fitting = []
    for topic in INTERNAL_TOPICS:
        with suppress(UsageError):
            with_conditions(limits, conditions, [decoder_named(topic.decoder)], now)
            fitting.append(topic.option)
    return fitting


def _refuse_repeated(ctx: click.Context, paths: list[str], terminal: Terminal) -> None:
    for name in ctx.meta["repeated"]:
        if name in ("--max-bytes", "--max-message-size"):
            # Kafka parses numbers when a file first needs them, after this line.
            terminal.write(f"Dumping {path_text(paths[0])}\n")
        raise click.UsageError(f"{name} is given more than once", ctx)


def _paths(files: str) -> list[str]:
    """Split the list as Java does: empty names at its end do not count."""
    return files.rstrip(",").split(",")


def _decoder_class(ctx: click.Context, parameter: str, value: object) -> str:
    """Return the class of an option, or the default.

    Raises:
        click.BadParameter: Kafka has no such class.
    """
    if value is None:
        return DEFAULT_CLASS
    from kraftops.records.decoders.user import DECODERS

    if value not in DECODERS:
        raise click.BadParameter(
            f"{value!r} is none of Kafka's own decoders: {', '.join(DECODERS)}",
            ctx,
            param_hint=f"--{parameter.replace('_', '-')}",
        )
    return str(value)


def _query(ctx: click.Context, options: DumpOptions) -> Query:
    decoder = _decoder(options)
    form = options.form
    if options.csv_safe:
        if form != CSV.name:
            raise click.UsageError("--csv-safe needs --format csv", ctx)
        form = CSV_SAFE.name
    filter_ = parsed_filter(options, decoder)
    # A filter on the contents of records shows records, not batches.
    of_records = options.deep_iteration or options.types or options.groups or options.where
    return Query(
        decoder=decoder,
        key_decoder=_decoder_class(ctx, "key_decoder_class", options.key_decoder_class),
        value_decoder=_decoder_class(ctx, "value_decoder_class", options.value_decoder_class),
        dialect=options.dialect,
        deep_iteration=bool(decoder or of_records or filter_.needs_rows),
        skip_record_metadata=options.skip_record_metadata,
        max_bytes=NO_LIMIT if options.max_bytes is None else options.max_bytes,
        max_message_size=options.max_message_size,
        budget=replace(ctx.obj.budget, output=options.max_output),
        verify_index_only=options.verify_index_only,
        index_sanity_check=options.index_sanity_check,
        form=form,
        show_secrets=options.show_secrets,
        salvage=options.salvage,
        skip_invalid=options.skip_invalid,
        check=options.check,
        is_one_line=ctx.obj.is_escaping and options.output is None,
        filter=filter_,
    )


def _decoder(options: DumpOptions) -> str | None:
    """Return the decoder asked for; of several, the first in the order of Kafka's tool."""
    if options.decoders:
        return options.decoders[0]
    if options.dialect != KAFKA_DIALECT:
        return METADATA
    is_of_users = options.key_decoder_class or options.value_decoder_class
    return USER if options.print_data_log or is_of_users else None

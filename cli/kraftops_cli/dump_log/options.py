"""The options of `kafka-dump-log` and of the commands that are parts of it, and their values."""

from dataclasses import dataclass
from typing import Any

import click

from kraftops.memory import MAX_OUTPUT
from kraftops.query.formats import CHOICES
from kraftops.query.summary_order import SORTS
from kraftops.records.internal_topics import DEFAULT_CLASS, INTERNAL_TOPICS
from kraftops_cli.dump_log.filters import FILTERS, FilterOptions
from kraftops_cli.live.options import LIVE, QuorumOptions
from kraftops_cli.spark.options import SPARK, SparkOptions
from kraftops_cli.syntax.option_fields import argument, flag, option, parameters
from kraftops_cli.syntax.shared_options import OVERWRITE_ATTRIBUTES
from kraftops_cli.syntax.values import Number, Size
from kraftops_cli.terminal.answer import FORM_ATTRIBUTES

_INT32 = Number(0x7FFFFFFF)
GROUPS = {
    "Input": (
        *("files", "max_bytes", "raw", "from_start", "dialect", "remote_log_metadata"),
        *("salvage", "skip_invalid", *(topic.parameter for topic in INTERNAL_TOPICS)),
    ),
    "Records to print": (*FILTERS, "limit", "tail"),
    "Output": (
        *("form", "csv_safe", "output", "overwrite", "max_output", "show_secrets", "follow"),
        "jobs",
    ),
    "Kafka's text": (
        *("print_data_log", "deep_iteration", "skip_record_metadata", "max_message_size"),
        *("verify_index_only", "index_sanity_check", "key_decoder_class", "value_decoder_class"),
    ),
    "Checking and counting": ("check", "summary", "logs", "sort", "top"),
    "A running cluster": LIVE,
    "Spark": SPARK,
}
"""The names of the parameters below the titles of the help."""


@dataclass(frozen=True, kw_only=True)
class DumpOptions(FilterOptions, QuorumOptions, SparkOptions):
    """The values of the options; *max_bytes*, *max_message_size* and *max_output* are in bytes.

    *decoders* are those that are asked for, in the order of Kafka's tool.
    """

    paths: tuple[str, ...] = argument(metavar="PATH…", type=click.Path(readable=False), nargs=-1)
    files: str | None = option(
        "--files FILE[,FILE…]",
        help="Files, directories or patterns, separated by commas; - is standard input.",
    )
    print_data_log: bool = flag(
        "--print-data-log", help="Print keys and values of records as text."
    )
    deep_iteration: bool = flag("--deep-iteration", help="Print a line for each record.")
    skip_record_metadata: bool = flag(
        "--skip-record-metadata", help="Leave out offsets, times and sizes of records."
    )
    max_bytes: int | None = option(
        "--max-bytes N", type=_INT32, help="Read only the first N bytes of each log."
    )
    max_message_size: int = option(
        "--max-message-size N",
        type=_INT32,
        default=5 * 1024 * 1024,
        show_default=False,
        help="Look for the batch of an index entry in N bytes.  [default: 5242880]",
    )
    verify_index_only: bool = flag(
        "--verify-index-only", help="Check indexes against their log; print no entries."
    )
    index_sanity_check: bool = flag(
        "--index-sanity-check", help="Check indexes only as a server does when it starts."
    )
    key_decoder_class: str | None = option(
        "--key-decoder-class",
        is_flag=False,
        flag_value=DEFAULT_CLASS,
        metavar="[CLASS]",
        help="Decode keys by one of Kafka's decoders; implies --print-data-log.",
    )
    value_decoder_class: str | None = option(
        "--value-decoder-class",
        is_flag=False,
        flag_value=DEFAULT_CLASS,
        metavar="[CLASS]",
        help="Decode values by one of Kafka's decoders; implies --print-data-log.",
    )
    decoders: tuple[str, ...] = ()
    remote_log_metadata: tuple[str, ...] = option(
        "--remote-log-metadata PATH",
        multiple=True,
        help="Logs of __remote_log_metadata, or directories with them, that tell of tiered"
        " segments.",
    )
    raw: bool = flag("--raw", help="Do not choose a decoder by the name of the directory.")
    from_start: bool = flag(
        "--from-start", help="Read all segments of a metadata log's directory, and no snapshot."
    )
    salvage: bool = flag("--salvage", help="After damage, search for the next whole batch.")
    skip_invalid: bool = flag(
        "--skip-invalid", help="Leave out batches whose CRC does not match their bytes."
    )
    limit: int | None = option("--limit N", type=_INT32, help="Stop after N records.")
    tail: int | None = option("--tail N", type=_INT32, help="Only the last N records.")
    form: str = option(
        "--format",
        type=click.Choice(CHOICES),
        default="text",
        help="Kafka's text, or rows: JSON, one object a line; CSV; Parquet (needs --output).",
    )
    csv_safe: bool = flag(
        "--csv-safe",
        help="CSV for spreadsheets: an apostrophe before texts that begin with = + - @ tab or CR.",
    )
    output: str | None = option("--output FILE", help="Write to this file, whole or not at all.")
    overwrite: bool = option("--overwrite", **OVERWRITE_ATTRIBUTES)
    max_output: int = option(
        "--max-output SIZE",
        type=Size(0),
        default=MAX_OUTPUT,
        show_default=False,
        help="Size of the rows that one file may make, beyond 1,100 times its own.  [default: 1g]",
    )
    show_secrets: bool = flag(
        "--show-secrets", help="Show credentials and secret configuration values in rows."
    )
    summary: bool = flag(
        "--summary", help="Count instead of printing; --format json is for programs."
    )
    logs: tuple[str, ...] = option(
        "--log TOPIC[-N]",
        multiple=True,
        help="Everything about this log, instead of a line for each.",
    )
    sort: str | None = option(
        "--sort",
        type=click.Choice(SORTS),
        help="The order of logs, the largest first but for topics.  [default: topic]",
    )
    top: int | None = option("--top N", type=_INT32, help="Only the first N logs.")
    follow: bool = flag(
        "--follow", help="Continue with appended batches, until Ctrl-C; with --tail 0 only these."
    )
    check: bool = flag(
        "--check",
        help="Exit with 2 if anything is damaged, with a line for each; check directories as a"
        " whole.",
    )
    jobs: int | None = option(
        "--jobs N",
        type=Number(1024, minimum=1),
        help="Threads.  [default: one a core, one for small files or without the compiled engine]",
    )
    version: bool = flag("--version", help="Print the version of Kafka that this tool stands for.")


_DECODERS = tuple(
    click.Option([topic.option], is_flag=True, help=f"Decode {topic.name}.")
    for topic in INTERNAL_TOPICS
)
READING = ("dialect", "raw", "from_start", "salvage", "skip_invalid")
COUNTING = ("logs", "sort", "top")


def dump_parameters(*names: str, answers: bool = False) -> list[click.Parameter]:
    """Return the parameters of a command, all or those of some names, with flags of decoders.

    One that *answers* has the forms text and JSON.
    """
    forms = [click.Option(["--format", "form"], **FORM_ATTRIBUTES)] if answers else []
    return [*parameters(DumpOptions, *names), *_DECODERS, *forms]


def dump_options(**values: Any) -> DumpOptions:
    """Return the values of the options; the flags of decoders become their names."""
    decoders = [topic.decoder for topic in INTERNAL_TOPICS if values.pop(topic.parameter, False)]
    return DumpOptions(decoders=tuple(decoders), **values)

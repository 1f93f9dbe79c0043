"""The options of `kafka-dump-log` and of the commands that are parts of it, and their values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from kraftops.memory import MAX_OUTPUT
from kraftops.query.formats import CHOICES
from kraftops.query.summary_order import SORTS
from kraftops.records.dialects import DIALECTS, KAFKA_DIALECT
from kraftops.records.internal_topics import DEFAULT_CLASS, INTERNAL_TOPICS
from kraftops_cli.dump_log.filters import FILTERS, FilterOptions
from kraftops_cli.live.options import LIVE, QuorumOptions
from kraftops_cli.spark.options import SPARK, SparkOptions
from kraftops_cli.syntax.values import Number, Size
from kraftops_cli.terminal.options import OVERWRITE

F = TypeVar("F", bound=Callable[..., object])
_INT32 = Number(0x7FFFFFFF)

PATHS = click.argument("paths", metavar="PATH…", type=click.Path(readable=False), nargs=-1)
DECODERS = tuple(
    click.option(topic.option, is_flag=True, help=f"Decode {topic.name}.")
    for topic in INTERNAL_TOPICS
)
KAFKAS = (
    click.option(
        "--files",
        metavar="FILE[,FILE…]",
        help="Files, directories or patterns, separated by commas; - is standard input.",
    ),
    click.option(
        "--print-data-log", is_flag=True, help="Print keys and values of records as text."
    ),
    click.option("--deep-iteration", is_flag=True, help="Print a line for each record."),
    click.option(
        "--skip-record-metadata",
        is_flag=True,
        help="Leave out offsets, times and sizes of records.",
    ),
    click.option(
        "--max-bytes",
        type=_INT32,
        metavar="N",
        help="Read only the first N bytes of each log.",
    ),
    click.option(
        "--max-message-size",
        type=_INT32,
        metavar="N",
        default=5 * 1024 * 1024,
        help="Look for the batch of an index entry in N bytes.  [default: 5242880]",
    ),
    click.option(
        "--verify-index-only",
        is_flag=True,
        help="Check indexes against their log; print no entries.",
    ),
    click.option(
        "--index-sanity-check",
        is_flag=True,
        help="Check indexes only as a server does when it starts.",
    ),
    click.option(
        "--key-decoder-class",
        is_flag=False,
        flag_value=DEFAULT_CLASS,
        metavar="[CLASS]",
        help="Decode keys by one of Kafka's decoders; implies --print-data-log.",
    ),
    click.option(
        "--value-decoder-class",
        is_flag=False,
        flag_value=DEFAULT_CLASS,
        metavar="[CLASS]",
        help="Decode values by one of Kafka's decoders; implies --print-data-log.",
    ),
)
REMOTE_METADATA = click.option(
    "--remote-log-metadata",
    metavar="PATH",
    multiple=True,
    help="Logs of __remote_log_metadata, or directories with them, that tell of tiered segments.",
)
READING = (
    click.option(
        "--dialect",
        type=click.Choice(DIALECTS),
        default=KAFKA_DIALECT,
        show_default=True,
        help="The form of metadata records: Kafka's, or a text of KIP-631; implies their decoder.",
    ),
    click.option(
        "--raw",
        is_flag=True,
        help="Do not choose a decoder by the name of the directory.",
    ),
    click.option(
        "--from-start",
        is_flag=True,
        help="Read all segments of a metadata log's directory, and no snapshot.",
    ),
    click.option("--salvage", is_flag=True, help="After damage, search for the next whole batch."),
    click.option(
        "--skip-invalid",
        is_flag=True,
        help="Leave out batches whose CRC does not match their bytes.",
    ),
)
OUTPUT_FILE = (
    click.option("--output", metavar="FILE", help="Write to this file, whole or not at all."),
    OVERWRITE,
)
OUTPUT = (
    click.option(
        "--format",
        "form",
        type=click.Choice(CHOICES),
        default="text",
        show_default=True,
        help="Kafka's text, or rows: JSON, one object a line; CSV; Parquet (needs --output).",
    ),
    click.option(
        "--csv-safe",
        is_flag=True,
        help="CSV for spreadsheets: an apostrophe before texts that begin with = + - @ tab or CR.",
    ),
    *OUTPUT_FILE,
    click.option(
        "--max-output",
        type=Size(0),
        default=MAX_OUTPUT,
        metavar="SIZE",
        help="Size of the rows that one file may make, beyond 1,100 times its own.  [default: 1g]",
    ),
    click.option(
        "--show-secrets",
        is_flag=True,
        help="Show credentials and secret configuration values in rows.",
    ),
)
COUNTING = (
    click.option(
        "--log",
        "logs",
        metavar="TOPIC[-N]",
        multiple=True,
        help="With --summary: everything about this log, instead of a line for each.",
    ),
    click.option(
        "--sort",
        type=click.Choice(SORTS),
        help="With --summary: the order of logs, the largest first but for topics."
        "  [default: topic]",
    ),
    click.option("--top", type=_INT32, metavar="N", help="With --summary: only the first N logs."),
)
CHECK = click.option(
    "--check",
    is_flag=True,
    help="Exit with 2 if anything is damaged, with a line for each; check directories as a whole.",
)
SUMMARY = click.option(
    "--summary", is_flag=True, help="Count instead of printing; --format json is for programs."
)
FOLLOW = click.option(
    "--follow",
    is_flag=True,
    help="Continue with appended batches, until Ctrl-C; with --tail 0 only these.",
)
LIMITS = (
    click.option("--limit", type=_INT32, metavar="N", help="Stop after N records."),
    click.option("--tail", type=_INT32, metavar="N", help="Only the last N records."),
)
JOBS = click.option(
    "--jobs",
    type=Number(1024, minimum=1),
    metavar="N",
    help="Threads.  [default: one a core, one for small files or without the compiled engine]",
)
FORM = click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="The form of the output.",
)
GROUPS = {
    "Input": (
        *("files", "max_bytes", "raw", "from_start", "dialect", "remote_log_metadata"),
        *("salvage", "skip_invalid", *(topic.parameter for topic in INTERNAL_TOPICS)),
    ),
    "Records to print": (*FILTERS, "limit", "tail"),
    "Output": (
        "form",
        "csv_safe",
        "output",
        "overwrite",
        "max_output",
        "show_secrets",
        "follow",
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

    paths: tuple[str, ...] = ()
    files: str | None = None
    print_data_log: bool = False
    deep_iteration: bool = False
    skip_record_metadata: bool = False
    max_bytes: int | None = None
    max_message_size: int = 5 * 1024 * 1024
    max_output: int = MAX_OUTPUT
    verify_index_only: bool = False
    index_sanity_check: bool = False
    key_decoder_class: str | None = None
    value_decoder_class: str | None = None
    decoders: tuple[str, ...] = ()
    raw: bool = False
    from_start: bool = False
    remote_log_metadata: tuple[str, ...] = ()
    limit: int | None = None
    tail: int | None = None
    form: str = "text"
    csv_safe: bool = False
    output: str | None = None
    overwrite: bool = False
    show_secrets: bool = False
    summary: bool = False
    logs: tuple[str, ...] = ()
    sort: str | None = None
    top: int | None = None
    follow: bool = False
    salvage: bool = False
    skip_invalid: bool = False
    check: bool = False
    jobs: int | None = None
    version: bool = False


def dump_options(**values: Any) -> DumpOptions:
    """Return the values of the options; the flags of decoders become their names."""
    decoders = [topic.decoder for topic in INTERNAL_TOPICS if values.pop(topic.parameter, False)]
    return DumpOptions(decoders=tuple(decoders), **values)

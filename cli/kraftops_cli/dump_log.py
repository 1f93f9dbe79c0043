"""`kafka-dump-log`: print segments, snapshots and indexes as Kafka's DumpLogSegments does."""

from __future__ import annotations

import click

from kraftops.dump.query import NO_LIMIT, Query
from kraftops.dump.report import Report
from kraftops.dump.text import text_chunks
from kraftops.javatext import path_text
from kraftops.log.codecs import MAX_INFLATED_BYTES
from kraftops.records.dialects import DIALECTS
from kraftops.records.user import DECODERS, DEFAULT_DECODER
from kraftops_cli import jopt
from kraftops_cli.command import Number, ToolCommand
from kraftops_cli.terminal import Terminal
from kraftops_cli.version import KAFKA_VERSION

_INT32 = Number(0x7FFFFFFF)
_DECODER_FLAGS = {
    "offsets_decoder": "offsets",
    "transaction_log_decoder": "transaction",
    "cluster_metadata_decoder": "metadata",
    "remote_log_metadata_decoder": "remote",
    "share_group_state_decoder": "share",
}
"""Options to decoders; of several, the first in this order counts."""

EXAMPLES = (
    (
        "the records of a metadata log",
        "kafka-dump-log --cluster-metadata-decoder --files 00000000000000000000.log",
    ),
    ("only the batches, of two files", "kafka-dump-log --files 0.log,00000000000000004711.log"),
    ("committed offsets", "kafka-dump-log --offsets-decoder --files 00000000000000000000.log"),
    ("does an index fit its log", "kafka-dump-log --verify-index-only --files 0.index,0.timeindex"),
)
SECTIONS = (
    (
        "Differences from Kafka",
        """\
Nothing is written or created next to what is read, and the options are checked before any output.
Help is on standard output, with exit status 0. There are no stack traces: one line on standard
error, FILE: position P: REASON, for each thing of which Kafka's tool dies, and what follows it is
printed. A record that cannot be decoded is shown as far as Kafka shows it, then
<undecodable: REASON>; where the framing of a batch is lost, the next batch follows; after a batch
length that cannot be true, the next file.

A number that is given twice is refused after the line Dumping FILE, where Kafka's tool finds it.
Records of more than 8 MiB are not decoded, and none with more than 65536 headers is read. Only
regular files are read.

Zero padding after the last batch is a note, not an error. Offsets that do not follow each other
are reported within a file, not before its first record. Files renamed to .deleted, .swap, .cleaned
or .part are read as what they are. A file whose name holds no offset is read all the same.
DefaultDecoder prints hexadecimal digits, not the identity of a Java array. Doubles have the fewest
digits that name them, as from Java 19 on. A batch that inflates beyond --max-inflated-bytes is
refused, and so is one of more than 256 MiB: its line is printed, its records are not. Decoder
classes other than Kafka's own are refused.""",
    ),
    (
        "Exit status",
        """\
0: done. Damage that Kafka's tool shows in its lines (a wrong CRC, bytes at the end that are no
batch, a record of an unknown type) and zero padding do not change it.
1: bad arguments, a file that cannot be read, or damage of which Kafka's tool dies; what can be read
is printed all the same.
130: interrupted.
141: the reader of the output has gone.""",
    ),
    ("Environment", "KRAFTOPS_DEBUG: set to anything, an error shows where it comes from."),
)


@click.command(
    cls=ToolCommand,
    syntax=jopt.clicks_arguments,
    name="dump-log",
    examples=EXAMPLES,
    sections=SECTIONS,
    help="Print log segments, snapshots and indexes: batches, records and what is in them.",
)
@click.option("--files", metavar="FILE[,FILE…]", help="Files to print, separated by commas.")
@click.option("--print-data-log", is_flag=True, help="Print keys and values of records as text.")
@click.option("--deep-iteration", is_flag=True, help="Print a line for each record.")
@click.option(
    "--skip-record-metadata",
    is_flag=True,
    help="Leave out offsets, times and sizes of records.",
)
@click.option(
    "--max-bytes",
    type=_INT32,
    metavar="N",
    default=NO_LIMIT,
    help="Read only the first N bytes of each log.",
)
@click.option(
    "--max-message-size",
    type=_INT32,
    metavar="N",
    default=5 * 1024 * 1024,
    help="Look for the batch of an index entry in N bytes.  [default: 5242880]",
)
@click.option(
    "--verify-index-only", is_flag=True, help="Check indexes against their log; print no entries."
)
@click.option(
    "--index-sanity-check",
    is_flag=True,
    help="Check of indexes only what a server checks when it starts.",
)
@click.option(
    "--key-decoder-class",
    is_flag=False,
    flag_value=DEFAULT_DECODER,
    metavar="[CLASS]",
    help="Decode keys by one of Kafka's decoders; implies --print-data-log.",
)
@click.option(
    "--value-decoder-class",
    is_flag=False,
    flag_value=DEFAULT_DECODER,
    metavar="[CLASS]",
    help="Decode values by one of Kafka's decoders; implies --print-data-log.",
)
@click.option("--offsets-decoder", is_flag=True, help="Decode __consumer_offsets.")
@click.option("--transaction-log-decoder", is_flag=True, help="Decode __transaction_state.")
@click.option("--cluster-metadata-decoder", is_flag=True, help="Decode __cluster_metadata.")
@click.option("--remote-log-metadata-decoder", is_flag=True, help="Decode __remote_log_metadata.")
@click.option("--share-group-state-decoder", is_flag=True, help="Decode __share_group_state.")
@click.option(
    "--dialect",
    type=click.Choice(DIALECTS),
    default="kafka",
    show_default=True,
    help="The form of metadata records: Kafka's, or a text of KIP-631; implies their decoder.",
)
@click.option(
    "--max-inflated-bytes",
    type=Number((1 << 63) - 1),
    metavar="N",
    default=MAX_INFLATED_BYTES,
    help="Refuse a batch that inflates beyond N bytes.  [default: 268435456]",
)
@click.option(
    "--version", is_flag=True, help="Print the version of Kafka that this tool stands for."
)
@click.pass_context
def dump_log(ctx: click.Context, /, **options: object) -> int:
    """Run the tool; return its exit code."""
    terminal: Terminal = ctx.obj
    if options["version"]:
        terminal.write(f"{KAFKA_VERSION}\n")
        return 0
    for argument in ctx.meta["ignored"]:
        terminal.error(f"ignored {argument!r}", hint="name files with --files, separated by commas")
    files = options["files"]
    if files is None:
        raise click.MissingParameter(param_hint="--files", param_type="option", ctx=ctx)
    paths, query = _paths(str(files)), _query(ctx, options)
    _refuse_repeated(ctx, paths, terminal)
    return _dump(paths, query, terminal)


def _refuse_repeated(ctx: click.Context, paths: list[str], terminal: Terminal) -> None:
    for name in ctx.meta["repeated"]:
        if name in ("--max-bytes", "--max-message-size"):
            # Kafka looks at numbers when a file first needs them, after this line.
            terminal.write(f"Dumping {path_text(paths[0])}\n")
        raise click.UsageError(f"{name} is given more than once", ctx)


def _paths(files: str) -> list[str]:
    """Split the list as Java does: empty names at its end do not count."""
    return files.rstrip(",").split(",")


def _query(ctx: click.Context, options: dict[str, object]) -> Query:
    decoders = [decoder for name, decoder in _DECODER_FLAGS.items() if options[name]]
    classes = {}
    for name in ("key_decoder_class", "value_decoder_class"):
        given = options[name]
        if given is not None and given not in DECODERS:
            raise click.BadParameter(
                f"{given!r} is none of Kafka's own decoders: {', '.join(DECODERS)}",
                ctx,
                param_hint=f"--{name.replace('_', '-')}",
            )
        classes[name] = str(given or DEFAULT_DECODER)
    if options["dialect"] != "kafka" and not decoders:
        decoders.append("metadata")
    if options["print_data_log"] or any(options[name] for name in classes):
        decoders.append("user")
    known = {name: options[name] for name in Query.__slots__ if name in options}
    known["deep_iteration"] = bool(options["deep_iteration"] or decoders)
    return Query(
        decoder=decoders[0] if decoders else None,
        key_decoder=classes["key_decoder_class"],
        value_decoder=classes["value_decoder_class"],
        **known,  # type: ignore[arg-type]
    )


def _dump(paths: list[str], query: Query, terminal: Terminal) -> int:
    report = Report()
    for path in paths:
        for chunk in text_chunks(path, query, report):
            terminal.write(chunk)
            for line in report.take_lines():
                terminal.line(line)
        for line in report.take_lines():
            terminal.line(line)
    for line in report.summary():
        terminal.line(line)
    return 1 if report.has_failed else 0

"""`kafka-metadata-shell`: browse the metadata of a cluster, from its files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

import click

from kraftops.errors import KraftopsError
from kraftops_cli.metadata_shell.arguments import (
    FORM_OPTION,
    FORMS,
    KAFKAS_NAME,
    ShellSyntax,
    usual_form,
)
from kraftops_cli.spark.options import SHARED, spark_find_options, spark_request
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.syntax.errors import BadArguments
from kraftops_cli.syntax.values import Seconds
from kraftops_cli.terminal.streams import Terminal
from kraftops_cli.version import KAFKA_VERSION, VERSION

if TYPE_CHECKING:
    from kraftops.image.state.image import MetadataImage
    from kraftops.wire.quorum.live_image import LiveImage
    from kraftops_cli.spark.options import SparkRequest
    from kraftops_shell.session.console import Console
    from kraftops_shell.session.history import HistoryFile
    from kraftops_shell.session.session import Session

_POLL_SECONDS = 0.5
_OWN_SOURCES = "verify"
"""The command that can do without a source, since it takes its own."""
_OF_CONTROLLERS = ("command_config", "timeout", "expect_cluster_id")
"""The names of the parameters that mean nothing to files."""

EXAMPLES = (
    ("list what a directory's metadata log holds", f"{KAFKAS_NAME} -s /var/kafka-logs ls /image"),
    ("one partition as JSON", "kraftops metadata-shell -s DIR cat /image/topics/byName/orders/0"),
    ("the state after offset 4200", "kraftops metadata-shell -s DIR --at-offset 4200 tree /image"),
    (
        "the brokers of a running cluster",
        "kraftops metadata-shell -C localhost:9093 ls /image/cluster",
    ),
    (
        "the same, with controller.quorum.voters, kept current",
        "kraftops metadata-shell -C 1@c1:9093,2@c2:9093,3@c3:9093 --follow",
    ),
)
INTERACTIVE = """\
Without a command, lines are read and answered until exit or the end of the input. Words are split
at blanks; quotes and backslashes work as in other shells. help lists the commands, and man tells
what one of them does.

On a terminal, Tab completes commands, flags and paths, the arrow keys and Ctrl-R find earlier
lines, Ctrl-C abandons a line, and Ctrl-D leaves. Output that is longer than the terminal goes
through a pager.

In our form, a command may be followed by | and a command line of the system's shell, or by > or >>
and a file. In Kafka's form, !!, !N, !text and ^old^new stand for earlier lines, and none of these
lines is kept."""
ENVIRONMENT = """\
PAGER: the pager; less if it is not set, none if it is empty.

LESS: the options of less; FIRX if it is not set.

NO_COLOR: if it is not empty, nothing is coloured.

KRAFTOPS_DEBUG: if it is not empty, errors are shown with where they come from."""
FILES = """\
$XDG_STATE_HOME/kraftops/metadata-shell-history: earlier lines. Without that variable, it is below
~/.local/state."""
EXIT_STATUS = """\
0: done; what could not be applied is said on standard error. Also whenever lines were typed on a
terminal, or in Kafka's form.
1: a command failed, or there was nothing to read. Of lines from a pipe, the highest code counts.
2: diff or verify has findings; or damage, or a metadata transaction that never ends, cuts the log
short.
130: interrupted.
141: the reader of the output has gone."""


class _Time(click.ParamType[int]):
    """A time: ISO, or a duration before now."""

    name = "time"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return ms since the epoch."""
        from kraftops.errors import UsageError
        from kraftops.query.filters import parse_time

        try:
            return parse_time(str(value), int(time.time() * 1000))
        except UsageError as error:
            self.fail(error.message, param, ctx)


@click.command(
    cls=ToolCommand,
    syntax=ShellSyntax(
        Argparse4j(
            ours=frozenset(
                {
                    "at_offset",
                    "at_time",
                    "color",
                    "command_config",
                    "config",
                    "controllers",
                    "dialect",
                    "expect_cluster_id",
                    "follow",
                    "form",
                    "keeps_history",
                    "show_secrets",
                    "timeout",
                    *SHARED,
                }
            ),
            exclusive=(
                ("at_offset", "at_time", "follow"),
                ("snapshot", "config"),
                ("snapshot", "controllers"),
                ("dialect", "controllers"),
                ("spark", "controllers"),
                ("spark", "follow"),
            ),
            expands_files=False,
        )
    ),
    name="metadata-shell",
    examples=EXAMPLES,
    sections=(
        ("Interactive use", INTERACTIVE),
        ("Environment", ENVIRONMENT),
        ("Files", FILES),
        ("Exit status", EXIT_STATUS),
    ),
    help="Browse the metadata of a cluster as a tree of files.",
)
@click.option(
    "-s",
    "--snapshot",
    metavar="SOURCE",
    help="A snapshot, a segment, or a directory that holds the metadata log.",
)
@click.option(
    "-c",
    "--config",
    metavar="FILE",
    help="The configuration of a node, whose metadata log is the source.",
)
@click.option(
    FORM_OPTION,
    "form",
    type=click.Choice(FORMS),
    help="Speak as Kafka's shell does, or as ours: with JSON and more commands.",
)
@click.option(
    "-C",
    "--controllers",
    metavar="[ID@]HOST:PORT,...",
    help="Controllers of a running quorum, as addresses or voters; its log is the source.",
)
@click.option(
    "--command-config",
    metavar="FILE",
    help="Client properties: how to log in at the controllers, whom to trust.",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=Seconds(),
    help="How long nothing may come from controllers; 15 unless the file says otherwise.",
)
@click.option("--expect-cluster-id", metavar="ID", help="Refuse a quorum of another cluster.")
@click.option(
    "--follow",
    is_flag=True,
    help="Keep the image current; run a command again whenever the metadata has changed.",
)
@click.option("--at-offset", type=int, help="Show the state after the record of this offset.")
@click.option("--at-time", type=_Time(), help="Show the state at a time, or a duration ago.")
@click.option("--dialect", default="kafka", help="Whose records these are.", show_default=True)
@click.option("--show-secrets", is_flag=True, help="Do not redact passwords and keys.")
@click.option(
    "--color",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    help="Colour JSON, or only on a terminal.",
    show_default=True,
)
@click.option(
    "--no-history",
    "keeps_history",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Do not keep the lines of an interactive session.",
)
@spark_find_options
@click.argument("words", metavar="[COMMAND]", nargs=-1)
@click.pass_context
def metadata_shell(
    ctx: click.Context,
    /,
    snapshot: str | None,
    config: str | None,
    form: str | None,
    words: tuple[str, ...],
    **options: object,
) -> int:
    """Load the image; run the command, or those that are typed; return the exit code."""
    from kraftops.tree.node import Directory
    from kraftops_cli.metadata_shell.source import about, metadata_log, opened, tell_findings
    from kraftops_shell.session.session import Session

    terminal: Terminal = ctx.obj
    is_kafka = (form or usual_form(ctx)) == "kafka"
    controllers = cast("str | None", options["controllers"])
    is_live = controllers is not None
    if not is_live:
        _refuse_without_controllers(ctx, options)
    source = controllers if controllers is not None else snapshot
    if source is None:
        source = _implied(words) if config is None else metadata_log(config)
    if source is None:
        raise BadArguments(
            "argument --snapshot/-s is required",
            ctx,
            "--config finds the source of a node, --controllers asks a running quorum",
        )
    if not source and not is_live:
        raise BadArguments("argument --snapshot/-s: '' is no file", ctx)
    if on_spark := spark_request(ctx, options):
        return _run_on_spark(source, words, options, on_spark, terminal, is_kafka=is_kafka)
    is_announced = is_kafka and not words and (is_live or os.path.exists(source))
    if is_announced:
        terminal.write("Loading...\n")
        terminal.flush()
    current, quorum = opened(terminal, source, {**options, "config": config})
    code = tell_findings(terminal, source, current.image)
    session = Session(
        Directory(tuple, lambda _: None),
        terminal.write,
        terminal.line,
        is_kafka,
        is_one_shot=bool(words),
    )

    def show() -> None:
        _show(session, current.image, options, sources=() if is_live else (source,), quorum=quorum)

    def refresh() -> bool:
        has_changed = current.update()
        if has_changed:
            show()
        return has_changed

    def toolbar() -> str:
        try:
            refresh()
        except KraftopsError as error:
            return f" {error.message}"
        return about(source, current.image)

    show()
    session.refresh = refresh
    is_followed = bool(options["follow"])
    if is_kafka and words:
        return max(_run(session, words, terminal, refresh if is_followed else None), code)

    from kraftops_cli.metadata_shell.console import console_of

    console = console_of(terminal, str(options["color"]))
    if words:
        from kraftops_shell.output.outlets import StandardOutput, connect

        with StandardOutput(console) as outlet:
            connect(session, console, outlet)
            return max(_run(session, words, terminal, refresh if is_followed else None), code)

    from kraftops_shell.repl.repl import run_shell

    if is_kafka:
        from kraftops_shell.repl.kafka_form import KafkaShell

        terminal.write("Starting...\n")
        return max(run_shell(KafkaShell(session, console), session, console), code)

    from kraftops_shell.repl.our_form import OurShell

    file = _history_file(console) if options["keeps_history"] else None
    shell = OurShell(session, console, toolbar, file)
    return max(run_shell(shell, session, console), code)


def _show(
    session: Session,
    image: MetadataImage,
    options: Mapping[str, object],
    *,
    sources: tuple[str, ...],
    quorum: LiveImage | None,
) -> None:
    """Have a session browse an image."""
    from kraftops.tree.layout import tree_of
    from kraftops.tree.view import Form
    from kraftops_shell.session.image_source import ImageSource

    show_secrets = bool(options["show_secrets"])
    session.root = tree_of(
        image,
        form=Form.KAFKA if session.is_kafka else Form.OURS,
        show_secrets=show_secrets,
        version=KAFKA_VERSION if session.is_kafka else VERSION,
    )
    session.image_source = ImageSource(
        image,
        sources,
        quorum,
        at_offset=cast("int | None", options["at_offset"]),
        at_time=cast("int | None", options["at_time"]),
        show_secrets=show_secrets,
        version=VERSION,
    )
    if options["follow"]:
        session.prompt_prefix = f"{image.offset} "


def _run(
    session: Session,
    words: tuple[str, ...],
    terminal: Terminal,
    refresh: Callable[[], bool] | None,
) -> int:
    """Run a command; with *refresh*, run it again after each change of the metadata."""
    from kraftops_shell.run import run_line

    code = run_line(session, words)
    while refresh:
        terminal.flush()
        time.sleep(_POLL_SECONDS)
        if refresh():
            code = run_line(session, words)
    return code


def _run_on_spark(
    source: str,
    words: tuple[str, ...],
    options: Mapping[str, object],
    request: SparkRequest,
    terminal: Terminal,
    *,
    is_kafka: bool,
) -> int:
    """Run find on Spark, which makes no image in this process."""
    from kraftops_cli.metadata_shell.spark_find import run_find
    from kraftops_cli.metadata_shell.spark_find_task import FindRequest

    find = FindRequest(
        source,
        cast("int | None", options["at_offset"]),
        cast("int | None", options["at_time"]),
        str(options["dialect"]),
        is_kafka,
        bool(options["show_secrets"]),
        KAFKA_VERSION if is_kafka else VERSION,
    )
    return run_find(words, find, request, terminal)


def _implied(words: tuple[str, ...]) -> str | None:
    """Return the first source of a command that names its own; None if it does not."""
    sources = words[1:2] if words and words[0] == _OWN_SOURCES else ()
    return next((word for word in sources if not word.startswith("-")), None)


def _refuse_without_controllers(ctx: click.Context, options: Mapping[str, object]) -> None:
    shown = {str(param.name): param.opts[0] for param in ctx.command.params}
    for name in _OF_CONTROLLERS:
        if options[name] is not None:
            raise BadArguments(f"{shown[name]} needs --controllers", ctx)


def _history_file(console: Console) -> HistoryFile | None:
    from kraftops_shell.session.history import HistoryFile, history_path

    path = history_path(console.environment)
    return HistoryFile(path) if path else None

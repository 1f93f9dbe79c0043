"""`kafka-metadata-shell`: browse the metadata of a cluster, from its files."""

import os
import time
from dataclasses import dataclass
from functools import partial

import click

from kraftops.dump.sources.missing import refuse_configurations
from kraftops.errors import UsageError
from kraftops.log.files import file_name, has_bundle_name
from kraftops_cli.live.options import QuorumOptions
from kraftops_cli.metadata_shell.arguments import (
    FORM_OPTION,
    FORMS,
    KAFKAS_NAME,
    ShellSyntax,
    usual_form,
)
from kraftops_cli.spark.options import SHARED, SparkFindOptions, spark_request
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import SPARK, environment, manual
from kraftops_cli.syntax.command import GroupedCommand
from kraftops_cli.syntax.errors import BadArguments
from kraftops_cli.syntax.option_fields import argument, flag, given_options, option
from kraftops_cli.terminal.failure import code_with_skipped
from kraftops_cli.terminal.streams import Terminal

_OF_CONTROLLERS = ("command_config", "timeout", "expect_cluster_id")
"""Parameters for controllers alone."""


ENVIRONMENT = {
    "PAGER": "the pager. Default: less; none if it is empty.",
    "LESS": "the options of less. Default: FIRX.",
    "INPUTRC": "the configuration of readline, for its editing-mode. Default: ~/.inputrc.",
}


class _Time(click.ParamType[str]):
    """A time that can be read; what it is depends on the log."""

    name = "time"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        from kraftops.query.times import parse_time

        try:
            parse_time(str(value), 0)
        except UsageError as error:
            self.fail(error.message, param, ctx)
        return str(value)


@dataclass(frozen=True, kw_only=True)
class ShellOptions(QuorumOptions, SparkFindOptions):
    """The values of the options; *config* is of the node whose log is the source, too."""

    snapshot: str | None = option(
        "-s",
        "--snapshot SOURCE",
        help="A snapshot, a segment, or a directory or archive with the metadata log.",
    )
    config: str | None = option(
        "-c", "--config FILE", help="The configuration of a node; its metadata log is the source."
    )
    form: str | None = option(
        FORM_OPTION,
        type=click.Choice(FORMS),
        help="The form of Kafka's shell, or ours: with JSON and more commands.",
    )
    at_offset: int | None = option(
        "--at-offset", type=int, help="Show the state after the record of this offset."
    )
    at_time: str | None = option(
        "--at-time", type=_Time(), help="Show the state at a time, or a duration ago."
    )
    follow: bool = flag(
        "--follow",
        help="Run a command again whenever the metadata has changed; a session follows it anyway.",
    )
    dialect: str = option("--dialect", default="kafka", help="The dialect of the records.")
    show_secrets: bool = flag("--show-secrets", help="Do not redact passwords and keys.")
    keeps_history: bool = option(
        "--no-history",
        is_flag=True,
        flag_value=False,
        default=True,
        show_default=False,
        help="Do not keep the lines of an interactive session.",
    )
    words: tuple[str, ...] = argument(metavar="[COMMAND]", nargs=-1)


GROUPS = {
    "Source": ("snapshot", "config", "controllers", *_OF_CONTROLLERS, "dialect"),
    "State": ("at_offset", "at_time", "follow"),
    "Options": (),
    "Spark": SHARED,
}


class ShellCommand(GroupedCommand):
    """The tool, whose help lists the commands of the shell."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and the commands of the form that the name of the tool has."""
        from kraftops_shell.grammar.registry import commands

        super().format_options(ctx, formatter)
        listed = commands(kafka=usual_form(ctx) == "kafka", one_shot=True).values()
        with formatter.section("Commands of the shell (COMMAND --help, or man COMMAND, has more)"):
            formatter.write_dl([(command.name, command.help) for command in listed])


@click.command(
    cls=ShellCommand,
    options=ShellOptions,
    groups=GROUPS,
    syntax=ShellSyntax(
        Argparse4j(
            kafkas=frozenset({"snapshot", "help"}),
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
    **manual(__file__, more=environment({**ENVIRONMENT, **SPARK})),
)
@click.pass_context
def metadata_shell(ctx: click.Context, options: ShellOptions) -> int:
    return run_shell(ctx, options)


def run_shell(ctx: click.Context, options: ShellOptions) -> int:
    """Load the image; run the command, or an interactive session; return the exit code."""
    controllers, words = options.controllers, options.words
    if controllers is None:
        _refuse_without_controllers(ctx)
    is_kafka = (options.form or usual_form(ctx)) == "kafka"
    source = options.snapshot if controllers is None else controllers
    if source is None and not is_kafka and _asks_for_help(words):
        source = "-"  # nothing is read
    source = _source(ctx, source, options)
    if is_kafka and words:
        _tell_of_ours(words[0], ctx.obj)
    if controllers is None and not is_kafka:
        if has_bundle_name(source) and os.path.isfile(source):
            return _run_archive(ctx, source, options)
        if os.path.isdir(source):
            from kraftops_cli.report.sources import furthest_log

            (source,) = furthest_log([source], ctx.obj)
    return _run(ctx, source, options, is_kafka=is_kafka)


def _run_archive(ctx: click.Context, source: str, options: ShellOptions) -> int:
    """Run with the metadata log in an archive of directories.

    Raises:
        UsageError: none is in it, or it is asked for what archives do not have.
    """
    from kraftops_cli.report.sources import metadata_log_names

    if options.spark or options.follow:
        option = "--spark" if options.spark else "--follow"
        hint = "unpack it, and name the directory"
        raise UsageError(f"{option} reads no archive of directories: {source}", hint)
    with metadata_log_names([source], ctx.obj) as (names, skipped):
        file = file_name(names[0])
        inside = os.path.dirname(names[0]) if file and file.has_records else names[0]
        return code_with_skipped(_run(ctx, inside, options, is_kafka=False), skipped)


def _run(ctx: click.Context, source: str, options: ShellOptions, *, is_kafka: bool) -> int:
    """Load the image; run the command, or an interactive session; return the exit code."""
    from kraftops_cli.metadata_shell.request import ShellRequest

    controllers, words = options.controllers, options.words
    request = ShellRequest(
        source=source,
        words=words,
        is_kafka=is_kafka,
        quorum=None if controllers is None else options,
        at_offset=options.at_offset,
        at_time=_at_time(options.at_time, source, controllers, ctx.obj),
        dialect=options.dialect,
        show_secrets=options.show_secrets,
        follow=options.follow,
        keeps_history=options.keeps_history,
        budget=ctx.obj.budget,
    )
    if spark := spark_request(ctx, options):
        from kraftops_cli.metadata_shell.spark_find import run_find

        return run_find(request, spark, ctx.obj)
    from kraftops_cli.metadata_shell.run import run

    return run(request.read_at_once(int(time.time() * 1000)), ctx.obj)


def _at_time(
    text: str | None, source: str, controllers: str | None, terminal: Terminal
) -> int | None:
    if text is None:
        return None
    from kraftops.image.load.log_size import newest_time
    from kraftops_cli.terminal.times import read_time

    end = (lambda: None) if controllers else partial(newest_time, [source])
    return read_time(text, int(time.time() * 1000), end, terminal)


def _source(ctx: click.Context, source: str | None, options: ShellOptions) -> str:
    if source is None and options.config is not None:
        from kraftops.storage.config.server_config import load_config

        source = load_config(options.config, environment=os.environ).metadata_log_dir
    elif source is None:
        source = _source_in_command(options.words)
    if source is None:
        raise BadArguments("argument --snapshot/-s is required", ctx, _hint_of_source(options))
    if options.controllers is None:
        refuse_configurations([source], "-c {} finds its log")
    if not source and options.controllers is None:
        raise BadArguments("argument --snapshot/-s: '' is not a file", ctx)
    return source


def _hint_of_source(options: ShellOptions) -> str:
    """Return a hint for a run without a source; `spark find` cannot ask controllers."""
    if options.words and os.path.exists(options.words[0]):
        return f"--snapshot {options.words[0]}, if that is meant"
    of_node = "--config finds the source of a node"
    return of_node if options.spark else f"{of_node}, --controllers asks a running quorum"


def _asks_for_help(words: tuple[str, ...]) -> bool:
    from kraftops_shell.grammar.arguments import asks_for_help
    from kraftops_shell.grammar.registry import commands

    return bool(words) and asks_for_help(words, commands(kafka=False, one_shot=True))


def _tell_of_ours(name: str, terminal: Terminal) -> None:
    """Say of a command that Kafka's shell lacks, and answers as an invalid choice, who has it."""
    from kraftops_shell.grammar.registry import commands

    kafkas = commands(kafka=True, one_shot=False)  # those of sessions alone are Kafka's, too
    if name in commands(kafka=False, one_shot=True) and name not in kafkas:
        terminal.error(
            f"note: {name} is a command of kraftops",
            hint=f"kraftops metadata-shell has it, and --format json of {KAFKAS_NAME}",
        )


def _source_in_command(words: tuple[str, ...]) -> str | None:
    """Return the first argument of a command with sources as arguments; None for all others."""
    from kraftops_shell.grammar.command import Values
    from kraftops_shell.grammar.registry import commands

    command = commands(kafka=False, one_shot=True).get(words[0]) if words else None
    arguments = command.arguments if command else ()
    is_source = bool(arguments) and arguments[0].values is Values.FILES
    return next((word for word in words[1:2] if is_source and not word.startswith("-")), None)


def _refuse_without_controllers(ctx: click.Context) -> None:
    option_texts = given_options(ctx)
    for name in _OF_CONTROLLERS:
        if name in option_texts:
            raise BadArguments(f"{option_texts[name]} needs --controllers", ctx)

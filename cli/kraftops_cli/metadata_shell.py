"""`kafka-metadata-shell`: browse the metadata of a cluster, from its files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

import click

from kraftops_cli.argparse4j import clicks_arguments_without_files
from kraftops_cli.command import BadArguments, ToolCommand, ToolGroup
from kraftops_cli.terminal import Terminal
from kraftops_cli.version import KAFKA_VERSION, VERSION

if TYPE_CHECKING:
    from kraftops.image.image import MetadataImage
    from kraftops_shell.console import Console
    from kraftops_shell.history import HistoryFile

KAFKAS_NAME = "kafka-metadata-shell"
_FORMS = ("kafka", "json")
_FORM_OPTION = "--format"
_OWN_SOURCES = "verify"
"""The command that can do without a source, since it takes its own."""

EXAMPLES = (
    ("list what a directory's metadata log holds", f"{KAFKAS_NAME} -s /var/kafka-logs ls /image"),
    ("one partition as JSON", "kraftops metadata-shell -s DIR cat /image/topics/byName/orders/0"),
    ("the state after offset 4200", "kraftops metadata-shell -s DIR --at-offset 4200 tree /image"),
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


def _arguments(command: ToolCommand | ToolGroup, ctx: click.Context, args: list[str]) -> list[str]:
    """Return the arguments in Click's form: ours leaves a command's options to the command."""
    if _form(ctx, args) == "kafka":
        return clicks_arguments_without_files(command, ctx, args)
    before, after = _split(command, ctx, args)
    mine, rest = _taken_out(command, ctx, after)
    found = clicks_arguments_without_files(command, ctx, [*before, *mine])
    return [*found, "--", *rest] if rest else found


def _form(ctx: click.Context, args: list[str]) -> str:
    """Return the form that is asked for; without a word, the tool's name says it."""
    for at, argument in enumerate(args):
        name, equals, value = argument.partition("=")
        if name == _FORM_OPTION:
            given = value if equals else next(iter(args[at + 1 :]), "")
            return given if given in _FORMS else "json"
    return _usual_form(ctx)


def _usual_form(ctx: click.Context) -> str:
    return "kafka" if ctx.command_path == KAFKAS_NAME else "json"


def _options(command: ToolCommand | ToolGroup, ctx: click.Context) -> dict[str, click.Option]:
    params = command.get_params(ctx)
    return {name: one for one in params if isinstance(one, click.Option) for name in one.opts}


def _split(
    command: ToolCommand | ToolGroup, ctx: click.Context, args: list[str]
) -> tuple[list[str], list[str]]:
    """Return the arguments before the shell's command, and those from it on."""
    options = _options(command, ctx)
    at = 0
    while at < len(args):
        argument = args[at]
        if argument == "--":
            return args[:at], args[at + 1 :]
        if not argument.startswith("-") or argument == "-":
            break
        found = [name for name in options if name.startswith(argument)]
        named = options[found[0]] if found else None
        takes_next = named is not None and not named.is_flag and "=" not in argument
        at += 2 if takes_next else 1
    return args[:at], args[at:]


def _taken_out(
    command: ToolCommand | ToolGroup, ctx: click.Context, args: list[str]
) -> tuple[list[str], list[str]]:
    """Return the tool's own options among the words of a command, and the other words."""
    from kraftops_shell.table import commands

    options = _options(command, ctx)
    called = commands(kafka=False, one_shot=True).get(args[0]) if args else None
    its_own = {flag.name for flag in called.flags} if called else set()
    mine: list[str] = []
    rest: list[str] = []
    left = list(args)
    while left:
        word = left.pop(0)
        name, equals, _ = word.partition("=")
        if word == "--":
            return mine, [*rest, word, *left]
        if name not in options or name in its_own or not rest:
            rest.append(word)
            continue
        mine.append(word)
        if not equals and not options[name].is_flag and left:
            mine.append(left.pop(0))
    return mine, rest


class _Time(click.ParamType[int]):
    """A time: ISO, or a duration before now."""

    name = "time"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return ms since the epoch."""
        import time

        from kraftops.dump.filters import parse_time
        from kraftops.errors import UsageError

        try:
            return parse_time(str(value), int(time.time() * 1000))
        except UsageError as error:
            self.fail(error.message, param, ctx)


@click.command(
    cls=ToolCommand,
    syntax=_arguments,
    ours=frozenset(
        {
            "at_offset",
            "at_time",
            "color",
            "config",
            "dialect",
            "form",
            "keeps_history",
            "show_secrets",
        }
    ),
    exclusive=(("at_offset", "at_time"), ("snapshot", "config")),
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
    _FORM_OPTION,
    "form",
    type=click.Choice(_FORMS),
    help="Speak as Kafka's shell does, or as ours: with JSON and more commands.",
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
    from kraftops.tree.layout import Has, tree_of
    from kraftops_shell.origin import Origin
    from kraftops_shell.session import Session

    terminal: Terminal = ctx.obj
    is_kafka = (form or _usual_form(ctx)) == "kafka"
    source = snapshot or (_metadata_log(config) if config else "") or _implied(words)
    if not source:
        raise BadArguments(
            "argument --snapshot/-s is required", ctx, "--config finds the source of a node"
        )
    is_announced = is_kafka and not words and os.path.exists(source)
    if is_announced:
        terminal.write("Loading...\n")
        terminal.flush()
    image = _loaded(source, options)
    code = _tell_findings(terminal, source, image)
    root = tree_of(
        image,
        form=Has.KAFKA if is_kafka else Has.OURS,
        show_secrets=bool(options["show_secrets"]),
        version=KAFKA_VERSION if is_kafka else VERSION,
    )
    session = Session(root, terminal.write, terminal.line, is_kafka, is_one_shot=bool(words))
    session.origin = Origin(
        image,
        (source,),
        at_offset=cast("int | None", options["at_offset"]),
        at_time=cast("int | None", options["at_time"]),
        show_secrets=bool(options["show_secrets"]),
        version=VERSION,
    )
    if is_kafka and words:
        return max(session.run(words), code)

    from kraftops_cli.shell_console import console_of

    console = console_of(terminal, str(options["color"]))
    if words:
        from kraftops_shell.outlets import Straight, direct

        with Straight(console) as outlet:
            direct(session, console, outlet)
            return max(session.run(words), code)

    from kraftops_shell.repl import OurShell, talk_kafkas

    if is_kafka:
        terminal.write("Starting...\n")
        return max(talk_kafkas(session, console), code)
    shell = OurShell(
        session,
        console,
        lambda: _about(source, image),
        _history_file(console) if options["keeps_history"] else None,
    )
    return max(shell.talk(), code)


def _implied(words: tuple[str, ...]) -> str:
    """Return the first source of a command that names its own; empty if it does not."""
    sources = words[1:2] if words and words[0] == _OWN_SOURCES else ()
    return next((word for word in sources if not word.startswith("-")), "")


def _metadata_log(config: str) -> str:
    """Return the directory of the metadata log of the node with this configuration."""
    from kraftops.storage.config import load_config

    return load_config(config, environment=os.environ).metadata_log_dir


def _loaded(source: str, options: dict[str, object]) -> MetadataImage:
    """Return the image of a source; what takes long shows how far it is."""
    from kraftops.image.loading import load
    from kraftops_cli.progress import Progress, is_wanted

    is_shown = is_wanted(-1)
    with Progress(_size(source) if is_shown else 0, is_shown=is_shown) as progress:
        return load(
            source,
            at_offset=cast("int | None", options["at_offset"]),
            at_time=cast("int | None", options["at_time"]),
            dialect=str(options["dialect"]),
            progress=progress.advance if is_shown else None,
        )


def _size(source: str) -> int:
    """Return how many bytes are read of a source, about; 0 where nobody knows."""
    from kraftops.errors import KraftopsError
    from kraftops.image.replay import Limits
    from kraftops.image.sources import files_of, plans

    try:
        pieces, _ = next(plans(files_of([source]), Limits()))
        return sum(os.path.getsize(piece.path) for piece in pieces)
    except (KraftopsError, OSError, StopIteration):
        return 0  # whoever loads it says what is wrong


def _tell_findings(terminal: Terminal, source: str, image: MetadataImage) -> int:
    """Say what is wrong with the log; return the exit code that this calls for."""
    from kraftops.image.findings import CUTS_SHORT

    code = 0
    for finding in image.log_findings:
        terminal.line(f"{source}: {finding}")
        if finding.kind in CUTS_SHORT:
            code = 2
    if image.record_findings:
        terminal.line(f"{source}: {len(image.record_findings)} records could not be applied")
    return code


def _about(source: str, image: MetadataImage) -> str:
    """Return what is browsed, in a line."""
    from kraftops.dump.times import iso_time

    _, _, timestamp, offset = image.provenance
    time = iso_time(timestamp) if timestamp >= 0 else None
    return f" offset {offset}  {time or 'no time'}  {source}"


def _history_file(console: Console) -> HistoryFile | None:
    from kraftops_shell.history import HistoryFile, history_path

    path = history_path(console.environment)
    return HistoryFile(path) if path else None

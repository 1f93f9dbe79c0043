"""`kafka-metadata-shell`: browse the metadata of a cluster, from its files."""

from __future__ import annotations

import click

from kraftops_cli.argparse4j import clicks_arguments_without_files
from kraftops_cli.command import ToolCommand, ToolGroup
from kraftops_cli.terminal import Terminal
from kraftops_cli.version import KAFKA_VERSION, VERSION

KAFKAS_NAME = "kafka-metadata-shell"
_FORMS = ("kafka", "json")
_FORM_OPTION = "--format"

EXAMPLES = (
    ("list what a directory's metadata log holds", f"{KAFKAS_NAME} -s /var/kafka-logs ls /image"),
    ("one partition as JSON", "kraftops metadata-shell -s DIR cat /image/topics/byName/orders/0"),
    ("the state after offset 4200", "kraftops metadata-shell -s DIR --at-offset 4200 tree /image"),
)
EXIT_STATUS = """\
0  done; what could not be applied is said on standard error
1  a command failed, or there was nothing to read
2  damage, or a metadata transaction that never ends, cuts the log short"""


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
    options = _options(command, ctx)
    mine: list[str] = []
    rest: list[str] = []
    left = list(args)
    while left:
        word = left.pop(0)
        name, equals, _ = word.partition("=")
        if word == "--":
            return mine, [*rest, word, *left]
        if name not in options or not rest:
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
    ours=frozenset({"form", "at_offset", "at_time", "dialect", "show_secrets"}),
    exclusive=(("at_offset", "at_time"),),
    name="metadata-shell",
    examples=EXAMPLES,
    sections=(("Exit status", EXIT_STATUS),),
    help="Browse the metadata of a cluster as a tree of files.",
)
@click.option(
    "-s",
    "--snapshot",
    metavar="SOURCE",
    required=True,
    help="A snapshot, a segment, or a directory that holds the metadata log.",
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
@click.argument("words", metavar="[COMMAND]", nargs=-1)
@click.pass_context
def metadata_shell(
    ctx: click.Context,
    /,
    snapshot: str,
    form: str | None,
    at_offset: int | None,
    at_time: int | None,
    dialect: str,
    show_secrets: bool,
    words: tuple[str, ...],
) -> int:
    """Load the image and run the command; return the exit code."""
    from kraftops.image.findings import CUTS_SHORT
    from kraftops.image.loading import load
    from kraftops.tree.layout import Has, tree
    from kraftops_shell.session import Session
    from kraftops_shell.values import json_text

    terminal: Terminal = ctx.obj
    is_kafka = (form or _usual_form(ctx)) == "kafka"
    image = load(snapshot, at_offset=at_offset, at_time=at_time, dialect=dialect)
    code = 0
    for finding in image.log_findings:
        terminal.line(f"{snapshot}: {finding}")
        if finding.kind in CUTS_SHORT:
            code = 2
    if image.record_findings:
        terminal.line(f"{snapshot}: {len(image.record_findings)} records could not be applied")
    root = tree(
        image,
        form=Has.KAFKA if is_kafka else Has.OURS,
        show_secrets=show_secrets,
        version=KAFKA_VERSION if is_kafka else VERSION,
    )
    session = Session(root, terminal.write, terminal.line, is_kafka, is_one_shot=bool(words))
    if not is_kafka:
        session.leaf_text = json_text
    return max(session.run(words), code)

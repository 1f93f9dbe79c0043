"""The syntax of the metadata shell: options of the tool, and words of its command."""

from dataclasses import dataclass

import click

from kraftops.errors import UsageError
from kraftops_cli.syntax.argparse4j import Argparse4j

KAFKAS_NAME = "kafka-metadata-shell"
FORMS = ("kafka", "json")
FORM_OPTION = "--format"


@dataclass(frozen=True, slots=True)
class ShellSyntax:
    """The syntax of the tool: our form leaves the options of a shell command to the command."""

    tool: Argparse4j

    def __call__(self, ctx: click.Context, args: list[str]) -> list[str]:
        if _form(ctx, args) == "kafka":
            return self.tool(ctx, args)
        own, words = split_words(ctx, args)
        parsed = self.tool(ctx, own)
        return [*parsed, "--", *words] if words else parsed


def split_words(
    ctx: click.Context, args: list[str], command: str = ""
) -> tuple[list[str], list[str]]:
    """Return the options of the tool, and the words of its command, whose name may be *command*."""
    before, after = _split(ctx, args)
    own, words = _taken_out(ctx, [command, *after] if command else after)
    return [*before, *own], words[1:] if command else words


def _form(ctx: click.Context, args: list[str]) -> str:
    """Return the form of the option, or the usual form of the tool's name."""
    for index, argument in enumerate(args):
        name, equals, value = argument.partition("=")
        if name == FORM_OPTION:
            form = value if equals else next(iter(args[index + 1 :]), "")
            return form if form in FORMS else "json"
    return usual_form(ctx)


def usual_form(ctx: click.Context) -> str:
    """Return the default form: `kafka` under Kafka's name, else `json`, which is ours."""
    return "kafka" if ctx.command_path == KAFKAS_NAME else "json"


def _options(ctx: click.Context) -> dict[str, click.Option]:
    params = ctx.command.get_params(ctx)
    return {
        name: param for param in params if isinstance(param, click.Option) for name in param.opts
    }


def _split(ctx: click.Context, args: list[str]) -> tuple[list[str], list[str]]:
    """Split arguments before the first word that is neither an option nor its value."""
    options = _options(ctx)
    index = 0
    while index < len(args):
        argument = args[index]
        if argument == "--":
            return args[:index], args[index + 1 :]
        if not argument.startswith("-") or argument == "-":
            break
        matching = [name for name in options if name.startswith(argument)]
        named = options[matching[0]] if matching else None
        takes_next = named is not None and not named.is_flag and "=" not in argument
        index += 2 if takes_next else 1
    return args[:index], args[index:]


def _taken_out(ctx: click.Context, args: list[str]) -> tuple[list[str], list[str]]:
    """Take the tool's own options out of the words of a command; return both."""
    from kraftops_shell.grammar.arguments import HELP_FLAGS
    from kraftops_shell.grammar.registry import commands

    options = _options(ctx)
    called = commands(kafka=False, one_shot=True).get(args[0]) if args else None
    its_own = {flag.name for flag in called.flags} if called else set()
    mine: list[str] = []
    rest: list[str] = []
    pending = list(args)
    while pending:
        word = pending.pop(0)
        name, equals, _ = word.partition("=")
        if word == "--":
            return mine, [*rest, word, *pending]
        if name == FORM_OPTION and called and name not in its_own and usual_form(ctx) == "json":
            # Before the command it is the form of the shell; after it, it would seem to be its own.
            hint = "export has the values of leaves as JSON, views and history-of have it too"
            raise UsageError(f"{called.name} prints text, and has no --format", hint)
        if name not in options or name in its_own or name in HELP_FLAGS or not rest:
            rest.append(word)
            continue
        mine.append(word)
        if not equals and not options[name].is_flag and pending:
            mine.append(pending.pop(0))
    return mine, rest

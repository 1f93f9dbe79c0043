"""Arguments as jopt-simple reads them, the parser of Kafka's older tools."""

from __future__ import annotations

import click

from kraftops_cli.syntax.command import ToolCommand


def clicks_arguments(command: ToolCommand, ctx: click.Context, args: list[str]) -> list[str]:
    """Return the arguments in the form that Click's parser takes; note what it cannot say.

    Long options may begin with one dash, a flag may carry a value that means nothing, an option
    that needs a value takes the next argument whatever it looks like, and may be given once
    unless it is one of several.
    Options are never abbreviated. Arguments that are no options, and all after `--`, are ignored:
    they are in `ctx.meta["ignored"]`, and the options given again in `ctx.meta["repeated"]`.
    """
    if not args:
        raise click.UsageError("no options are given", ctx)
    ignored: list[str] = []
    repeated: list[str] = []
    ctx.meta["ignored"], ctx.meta["repeated"] = ignored, repeated
    options = {
        name.removeprefix("-").removeprefix("-"): option
        for option in command.get_params(ctx)
        if isinstance(option, click.Option)
        for name in option.opts
    }
    out: list[str] = []
    given: set[str] = set()
    left = list(args)
    while left:
        argument = left.pop(0)
        if argument == "--":
            ignored += left
            break
        if not argument.startswith("-") or argument == "-":
            ignored.append(argument)
            continue
        name, has_value, value = argument.removeprefix("-").removeprefix("-").partition("=")
        option = options.get(name)
        if option is None:
            out.append(argument)  # Click says so, and what may have been meant
            continue
        name = "--" + name if len(name) > 1 else option.opts[0]
        if option.is_flag:
            out.append(name)
            continue
        if not has_value:
            if _needs_value(option):
                if not left:
                    raise click.UsageError(f"{name} needs a value", ctx)
                value = left.pop(0)
            elif left and not left[0].startswith("-"):
                value = left.pop(0)
            else:
                value = str(option.flag_value)
        if name in given and not option.multiple:
            repeated.append(name)
        else:
            given.add(name)
            out.append(f"{name}={value}")
    return out


def _needs_value(option: click.Option) -> bool:
    return not option._flag_needs_value  # noqa: SLF001 - Click has no public name for it

"""The options that a command line has, as against those with defaults."""

import click
from click.core import ParameterSource


def given_options(ctx: click.Context) -> dict[str, str]:
    return {
        str(param.name): param.opts[0]
        for param in ctx.command.params
        if isinstance(param, click.Option)
        and ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE
    }

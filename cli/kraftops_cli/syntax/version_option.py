"""The option `-V`, `--version` of all tools."""

from __future__ import annotations

import click

from kraftops_cli.version import KAFKA_VERSION, VERSION

VERSION_NAME = "shows_version"


def _print_version(context: click.Context, _: click.Parameter, asked: object) -> None:
    if not asked or context.resilient_parsing:
        return
    from kraftops.engine.choice import engine_name, why_not_native

    engine, reason = engine_name(), why_not_native()
    missing = f" (the native one is {reason})" if reason else ""
    click.echo(f"kraftops {VERSION} (Kafka {KAFKA_VERSION}), {engine} engine{missing}")
    context.exit()


VERSION_OPTION = click.Option(
    ["-V", "--version", VERSION_NAME],
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version and exit.",
)

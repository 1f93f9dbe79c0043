"""Options that several subcommands of `kafka-storage` have."""

from __future__ import annotations

import click

CONFIG = click.option(
    "--config", "-c", metavar="FILE", required=True, help="The configuration file of the node."
)
OVERRIDE = click.option(
    "--override",
    "overrides",
    metavar="KEY=VALUE",
    multiple=True,
    help="A configuration key that replaces the file's; may be given more than once.",
)
FORM = click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="The form of the output.",
)

"""The options of `kraftops report`, and their values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import click

from kraftops_cli.live.options import LIVE, QuorumOptions
from kraftops_cli.spark.options import SHARED, SparkFindOptions
from kraftops_cli.syntax.values import Number
from kraftops_cli.terminal.options import AUTHORIZER_LOG, OVERWRITE, SINCE, UNTIL

F = TypeVar("F", bound=Callable[..., object])
GROUPS = {"Options": (), "A running cluster": LIVE, "Spark": tuple(SHARED)}
"""The names of the parameters below the titles of the help."""
_OPTIONS = (
    click.argument("sources", metavar="SOURCE…", nargs=-1),
    click.option("--output", metavar="FILE", help="Write to this file, whole or not at all."),
    OVERWRITE,
    SINCE,
    UNTIL,
    click.option(
        "--incident",
        type=Number(10_000, minimum=1),
        metavar="N",
        help="Only incident N of those that kraftops incidents lists, and a minute around it.",
    ),
    AUTHORIZER_LOG,
    click.option("--title", metavar="TEXT", help="The title of the report."),
    click.option(
        "--format",
        "form",
        type=click.Choice(("html", "json")),
        default="html",
        show_default=True,
        help="A page, or its data.",
    ),
    click.option(
        "--jobs",
        type=Number(1024, minimum=1),
        metavar="N",
        help="Threads that count.  [default: one a core, one for small files]",
    ),
)


@dataclass(frozen=True, kw_only=True)
class ReportOptions(QuorumOptions, SparkFindOptions):
    """The values of the options; *form* is html or json."""

    sources: tuple[str, ...] = ()
    output: str | None = None
    overwrite: bool = False
    since: str | None = None
    until: str | None = None
    incident: int | None = None
    authorizer_logs: tuple[str, ...] = ()
    title: str | None = None
    form: str = "html"
    jobs: int | None = None


def report_options(command: F) -> F:
    """Add the options but those of running clusters and of Spark to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command

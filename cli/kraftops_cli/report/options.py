"""The options of `kraftops report`, and their values."""

from dataclasses import dataclass

import click

from kraftops_cli.live.options import LIVE, QuorumOptions
from kraftops_cli.spark.options import SHARED, SparkFindOptions
from kraftops_cli.syntax.option_fields import argument, option
from kraftops_cli.syntax.shared_options import OVERWRITE_ATTRIBUTES, AuthorizerOptions, SpanOptions
from kraftops_cli.syntax.values import Number

GROUPS = {"Options": (), "A running cluster": LIVE, "Spark": SHARED}
"""The names of the parameters below the titles of the help."""


@dataclass(frozen=True, kw_only=True)
class ReportOptions(QuorumOptions, SparkFindOptions, AuthorizerOptions, SpanOptions):
    """The values of the options; *form* is html or json."""

    sources: tuple[str, ...] = argument(metavar="SOURCE…", nargs=-1)
    output: str | None = option("--output FILE", help="Write to this file, whole or not at all.")
    overwrite: bool = option("--overwrite", **OVERWRITE_ATTRIBUTES)
    incident: int | None = option(
        "--incident N",
        type=Number(10_000, minimum=1),
        help="Only incident N of those that kraftops incidents lists, and a minute around it.",
    )
    title: str | None = option("--title TEXT", help="The title of the report.")
    form: str = option(
        "--format",
        type=click.Choice(("html", "json")),
        default="html",
        help="A page, or its data.",
    )
    jobs: int | None = option(
        "--jobs N",
        type=Number(1024, minimum=1),
        help="Threads that count.  [default: one a core, one for small files]",
    )

"""The options of `kafka-dump-log` that filter records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import click

from kraftops.records.dialects import KAFKA_DIALECT
from kraftops_cli.terminal.times import TIMES

F = TypeVar("F", bound=Callable[..., object])

_OPTIONS = (
    click.option(
        "--type",
        "types",
        metavar="TYPE[,TYPE…]",
        multiple=True,
        help="Only records of these types, as PARTITION_CHANGE_RECORD or partitionchange.",
    ),
    click.option(
        "--topic",
        "topics",
        metavar="NAME|ID",
        multiple=True,
        help="Only records about this topic, and the logs of the topic; in the metadata log a name"
        " is looked up.",
    ),
    click.option(
        "--key",
        "keys",
        metavar="TEXT",
        multiple=True,
        help="Only records with this key, or with it in a field of the key: a member, or a "
        "transactional id.",
    ),
    click.option(
        "--group",
        "groups",
        metavar="NAME",
        multiple=True,
        help="Only records about this group, in the logs of the coordinators of groups.",
    ),
    click.option("--offset", "offsets", metavar="A..B", help="Only these offsets, both included."),
    click.option(
        "--since",
        metavar="TIME",
        help=f"Only records from this time on: {TIMES}.",
    ),
    click.option("--until", metavar="TIME", help="Only records before this time."),
    click.option(
        "--where",
        metavar="CONDITION",
        multiple=True,
        help='Only records for which this is true, as "value.leader = 3 and offset > 100".',
    ),
)
FILTERS = ("types", "topics", "keys", "groups", "offsets", "since", "until", "where")
"""The names of the parameters."""


@dataclass(frozen=True, kw_only=True)
class FilterOptions:
    """The options that filter records, as they are written."""

    types: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    offsets: str | None = None
    since: str | None = None
    until: str | None = None
    where: tuple[str, ...] = ()
    dialect: str = KAFKA_DIALECT


def filter_options(command: F) -> F:
    """Add the options of the filters to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command

"""The options of `kafka-dump-log` that filter records."""

from dataclasses import dataclass

import click

from kraftops.records.dialects import DIALECTS, KAFKA_DIALECT
from kraftops_cli.syntax.option_fields import names_of, option
from kraftops_cli.terminal.times import TIMES


@dataclass(frozen=True, kw_only=True)
class FilterOptions:
    """The options that filter records, as they are written."""

    types: tuple[str, ...] = option(
        "--type TYPE[,TYPE…]",
        multiple=True,
        help="Only records of these types, such as PARTITION_CHANGE_RECORD or partitionchange.",
    )
    topics: tuple[str, ...] = option(
        "--topic NAME|ID",
        multiple=True,
        help="Only records about this topic, and the logs of the topic; in the metadata log a name"
        " is looked up.",
    )
    keys: tuple[str, ...] = option(
        "--key TEXT",
        multiple=True,
        help="Only records with this key, or with it in a field of the key: a member, or a "
        "transactional id.",
    )
    groups: tuple[str, ...] = option(
        "--group NAME",
        multiple=True,
        help="Only records about this group, in the logs of the coordinators of groups.",
    )
    offsets: str | None = option("--offset A..B", help="Only these offsets, both included.")
    since: str | None = option("--since TIME", help=f"Only records from this time on: {TIMES}.")
    until: str | None = option("--until TIME", help="Only records before this time.")
    where: tuple[str, ...] = option(
        "--where CONDITION",
        multiple=True,
        help='Only records for which this is true, such as "value.leader = 3 and offset > 100".',
    )
    dialect: str = option(
        "--dialect",
        type=click.Choice(DIALECTS),
        default=KAFKA_DIALECT,
        help="The form of metadata records: Kafka's, or a text of KIP-631; implies their decoder.",
    )


FILTERS = tuple(name for name in names_of(FilterOptions) if name != "dialect")
"""The names of the parameters."""

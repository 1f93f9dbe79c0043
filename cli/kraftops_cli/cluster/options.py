"""The options of the subcommands of `kafka-cluster`, and their values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from kraftops_cli.cluster.broker_ids import BrokerIds, flattened
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.renamed import RenamedOption
from kraftops_cli.syntax.values import Number, Seconds, Size
from kraftops_cli.terminal.answer import FORM

F = TypeVar("F", bound=Callable[..., object])

_MAX_BATCH = 1_000_000
_BATCH = 100
_STALL_SECONDS = 300.0
_KAFKAS = frozenset(
    {"bootstrap_server", "bootstrap_controller", "command_config", "config", "ids"}
    | {"include_fenced_brokers"}
)
SYNTAX = Argparse4j(kafkas=_KAFKAS, expands_files=False)
"""That of subcommands which may take brokers and controllers."""
TARGET_SYNTAX = Argparse4j(
    kafkas=_KAFKAS, one_of=(("bootstrap_server", "bootstrap_controller"),), expands_files=False
)
"""That of subcommands which take one of the two."""
_CLUSTER = (
    click.option("--bootstrap-server", "-b", metavar="HOST:PORT,...", help="Addresses of brokers."),
    click.option(
        "--bootstrap-controller", "-C", metavar="HOST:PORT,...", help="Addresses of controllers."
    ),
    click.option(
        "--command-config", "-c", metavar="FILE", help="Client properties, for login and TLS."
    ),
)
_CLUSTER_ID = click.option(
    "--expect-cluster-id", metavar="ID", help="Refuse a cluster with another id."
)
TARGET = (
    *_CLUSTER,
    click.option("--config", metavar="FILE", help="The former name of --command-config."),
    click.option(
        "--timeout",
        metavar="SECONDS",
        type=Seconds(),
        help="Time for the whole command, of unregister for each broker; 15, unless the file has"
        " default.api.timeout.ms.",
    ),
    _CLUSTER_ID,
    FORM,
)
ACCESS = (
    *_CLUSTER,
    click.option(
        "--controller-config",
        metavar="FILE",
        help="Client properties for -C; without it, those of --command-config.",
    ),
    _CLUSTER_ID,
    click.option(
        "--timeout",
        metavar="SECONDS",
        type=Seconds(),
        help="Time for the whole command; without it, there is no limit.",
    ),
    click.option(
        "--check-permissions",
        is_flag=True,
        help="Only print the permissions that it needs; 2 if one is missing.",
    ),
    FORM,
)
DRY_RUN = click.option(
    "--dry-run",
    "dry_run",
    cls=RenamedOption,
    former=("--plan-only",),
    is_flag=True,
    help="Print the plan, change nothing; with --format json for --plan.",
)
STALL_TIMEOUT = click.option(
    "--stall-timeout",
    metavar="SECONDS",
    type=Seconds(),
    default=_STALL_SECONDS,
    show_default=True,
    help="End with code 5 if nothing has moved for so long; all stays as `operations` shows it.",
)
PACE = (
    click.option(
        "--throttle",
        metavar="SIZE",
        type=Size(1),
        help="Most bytes a second that a broker copies, sent and received, as 50M.",
    ),
    STALL_TIMEOUT,
)
BATCH = click.option(
    "--batch",
    metavar="N",
    type=Number(_MAX_BATCH, minimum=1),
    default=_BATCH,
    show_default=True,
    help="Most partitions in flight at once; the next begin when some have ended.",
)
ALLOW_SINGLE_REPLICA = click.option(
    "--allow-single-replica",
    is_flag=True,
    help="Partitions of a single replica may go offline.",
)
UNCOUNTED_TOPIC = click.option(
    "--exclude-topic",
    metavar="TOPIC",
    multiple=True,
    help="A topic that does not count; may be given more than once.",
)
DEFAULT_MIN_ISR = click.option(
    "--min-isr",
    metavar="N",
    type=Number(1000, minimum=1),
    help="The brokers' default of min.insync.replicas, where it cannot be seen.",
)
YES = click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")


def _ids(_context: click.Context, _param: click.Parameter, ids: Any) -> tuple[int, ...]:
    return tuple(flattened(ids))


def ids_option(
    *names: str, metavar: str = "ID,...", is_required: bool = False, help_text: str
) -> Callable[[F], F]:
    """Return an option that takes ids of nodes, and may be given more than once."""
    return click.option(
        *names,
        metavar=metavar,
        type=BrokerIds(),
        multiple=True,
        required=is_required,
        callback=_ids,
        help=help_text,
    )


IDS, REQUIRED_IDS = (
    ids_option(
        *("--id", "-i", "ids"),
        is_required=is_required,
        help_text="The brokers; may be given more than once.",
    )
    for is_required in (False, True)
)
NEW_PLAN = (
    ids_option("--to", help_text="Only these brokers take replicas."),
    DRY_RUN,
    BATCH,
    click.option(
        "--check-disks", is_flag=True, help="Refuse a plan for which a broker has too little room."
    ),
    *PACE,
)
"""Those of a plan that is not read from a file, and is about named partitions."""
PLAN = (
    click.option(
        "--exclude-topic",
        metavar="TOPIC",
        multiple=True,
        help="A topic that stays where it is; may be given more than once.",
    ),
    click.option(
        "--plan", metavar="FILE", help="Carry out this plan, as kafka-reassign-partitions takes it."
    ),
    *NEW_PLAN,
)


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """The values of the options that all have in common; *form* is text or json."""

    bootstrap_server: str | None = None
    bootstrap_controller: str | None = None
    command_config: str | None = None
    expect_cluster_id: str | None = None
    timeout: float | None = None
    form: str = "text"


@dataclass(frozen=True, kw_only=True)
class TargetOptions(ClusterOptions):
    """Those of subcommands that ask brokers or controllers."""

    config: str | None = None


@dataclass(frozen=True, kw_only=True)
class AccessOptions(ClusterOptions):
    """Those of subcommands that may ask both."""

    controller_config: str | None = None
    check_permissions: bool = False
    yes: bool = False


@dataclass(frozen=True, kw_only=True)
class MovingOptions(AccessOptions):
    """Those of how replicas are moved."""

    dry_run: bool = False
    batch: int = _BATCH
    throttle: int | None = None
    stall_timeout: float = _STALL_SECONDS


@dataclass(frozen=True, kw_only=True)
class PlanOptions(MovingOptions):
    """Those of a plan, and of the brokers that it is about."""

    ids: tuple[int, ...] = ()
    to: tuple[int, ...] = ()
    check_disks: bool = False
    exclude_topic: tuple[str, ...] = ()
    plan: str | None = None

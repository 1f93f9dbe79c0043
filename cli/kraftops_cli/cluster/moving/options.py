"""Options of subcommands that ask brokers and controllers, and of plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from kraftops_cli.cluster.broker_ids import BrokerIds
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.renamed import RenamedOption
from kraftops_cli.syntax.values import Number, Seconds, Size
from kraftops_cli.terminal.answer import FORM

F = TypeVar("F", bound=Callable[..., Any])

_MAX_BATCH = 1_000_000
BATCH = 100
_ACCESS = (
    click.option("--bootstrap-server", "-b", metavar="HOST:PORT,...", help="Addresses of brokers."),
    click.option(
        "--bootstrap-controller",
        "-C",
        metavar="HOST:PORT,...",
        help="Addresses of controllers, whose metadata log is followed.",
    ),
    click.option(
        "--command-config", "-c", metavar="FILE", help="Client properties, for login and TLS."
    ),
    click.option(
        "--controller-config",
        metavar="FILE",
        help="Client properties for -C; without it, those of --command-config.",
    ),
    click.option("--expect-cluster-id", metavar="ID", help="Refuse a cluster with another id."),
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
THROTTLE = click.option(
    "--throttle",
    metavar="SIZE",
    type=Size(1),
    help="Most bytes a second that a broker copies, sent and received, as 50M.",
)
STALL_TIMEOUT = click.option(
    "--stall-timeout",
    metavar="SECONDS",
    type=Seconds(),
    default=300.0,
    show_default=True,
    help="End with code 5 if nothing has moved for so long; all stays as `operations` shows it.",
)
_PLAN = (
    click.option(
        "--exclude-topic",
        metavar="TOPIC",
        multiple=True,
        help="A topic that stays where it is; may be given more than once.",
    ),
    click.option(
        "--plan", metavar="FILE", help="Carry out this plan, as kafka-reassign-partitions takes it."
    ),
)
PLAN_ONLY = click.option(
    "--dry-run",
    "plan_only",
    cls=RenamedOption,
    former=("--plan-only",),
    is_flag=True,
    help="Print the plan, change nothing; with --format json for --plan.",
)
BATCH_OPTION = click.option(
    "--batch",
    metavar="N",
    type=Number(_MAX_BATCH, minimum=1),
    default=BATCH,
    show_default=True,
    help="Most partitions in flight at once; the next begin when some have ended.",
)
_NEW_PLAN = (
    click.option(
        "--to",
        metavar="ID,...",
        type=BrokerIds(),
        multiple=True,
        help="Only these brokers take replicas.",
    ),
    PLAN_ONLY,
    BATCH_OPTION,
    click.option(
        "--check-disks", is_flag=True, help="Refuse a plan for which a broker has too little room."
    ),
    THROTTLE,
    STALL_TIMEOUT,
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


def ids_option(*, is_required: bool = True) -> Callable[[F], F]:
    """Return the option that names brokers."""
    return click.option(
        "--id",
        "-i",
        "ids",
        metavar="ID,...",
        type=BrokerIds(),
        multiple=True,
        required=is_required,
        help="The brokers; may be given more than once.",
    )


def moving_syntax(*names: str) -> Argparse4j:
    """Return the syntax of a subcommand that Kafka's tool does not have, with parameters *names*.

    Those of `access_options` and `plan_options` need no mention.
    """
    return Argparse4j(
        ours={
            *("controller_config", "timeout", "expect_cluster_id", "form", "ids", "yes"),
            *("to", "exclude_topic", "plan_only", "plan", "batch", "check_disks", "throttle"),
            *("stall_timeout", "check_permissions", "allow_single_replica"),
            *names,
        },
        expands_files=False,
    )


def access_options(function: F) -> F:
    """Add the options of `AccessOptions`, and `--format`, to a subcommand."""
    return _with(function, _ACCESS)


def plan_options(function: F) -> F:
    """Add the options of `PlanOptions` to a subcommand."""
    return new_plan_options(_with(function, _PLAN))


def new_plan_options(function: F) -> F:
    """Add those of a plan that is not read from a file, and is about named partitions."""
    return _with(function, _NEW_PLAN)


def _with(function: F, options: Sequence[Callable[[F], F]]) -> F:
    for option in reversed(options):
        function = option(function)
    return function


@dataclass(frozen=True, slots=True)
class AccessOptions:
    """The values of the options that name brokers and controllers."""

    bootstrap_server: str | None
    bootstrap_controller: str | None
    command_config: str | None
    controller_config: str | None
    expect_cluster_id: str | None
    timeout: float | None
    check_permissions: bool = False


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """The values of the options of a plan, and of how it is carried out."""

    to: tuple[tuple[int, ...], ...]
    plan_only: bool
    batch: int
    check_disks: bool
    throttle: int | None
    stall_timeout: float = 300.0
    exclude_topic: tuple[str, ...] = ()
    plan: str | None = None


def split_options(options: dict[str, Any]) -> tuple[AccessOptions, dict[str, Any]]:
    """Return the options that name the cluster, and the others."""
    names = AccessOptions.__slots__
    access = AccessOptions(**{name: options[name] for name in names})
    return access, {name: value for name, value in options.items() if name not in names}

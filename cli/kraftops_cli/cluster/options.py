"""The options of the subcommands of `kafka-cluster`, and their values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import click

from kraftops_cli.cluster.broker_ids import BrokerIds, flattened
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import tool_command
from kraftops_cli.syntax.option_fields import flag, option
from kraftops_cli.syntax.values import Number, Seconds, Size
from kraftops_cli.terminal.answer import FORM_ATTRIBUTES
from kraftops_cli.terminal.streams import Terminal

_MAX_BATCH = 1_000_000  # as many partitions as a KRaft cluster is made for
_KAFKAS = frozenset(
    {"bootstrap_server", "bootstrap_controller", "command_config", "config", "ids"}
    | {"include_fenced_brokers"}
)
_SYNTAX = Argparse4j(kafkas=_KAFKAS, expands_files=False)
_TARGET_SYNTAX = Argparse4j(
    kafkas=_KAFKAS, one_of=(("bootstrap_server", "bootstrap_controller"),), expands_files=False
)


def _ids(_context: click.Context, _param: click.Parameter, ids: Any) -> tuple[int, ...]:
    return tuple(flattened(ids))


def ids_option(
    *names: str, is_required: bool = False, text: str = "The brokers; may be given more than once."
) -> Any:
    return option(
        *(names or ("--id", "-i")),
        metavar="ID[,ID|-ID…]",
        type=BrokerIds(),
        multiple=True,
        required=is_required,
        callback=_ids,
        help=text,
    )


def names_option(name: str, text: str, *, required: bool = False) -> Any:
    metavar = name.rpartition("-")[2].upper()
    return option(name, metavar=metavar, multiple=True, required=required, help=text)


def yes_option(text: str = "Do not ask for confirmation.") -> Any:
    return flag("--yes", "-y", help=text)


def single_replica_option() -> Any:
    return flag("--allow-single-replica", help="Partitions of a single replica may go offline.")


def min_isr_option() -> Any:
    return option(
        "--min-isr N",
        type=Number(1000, minimum=1),
        help="The brokers' default of min.insync.replicas, where it cannot be seen.",
    )


def throttle_option() -> Any:
    return option(
        "--throttle SIZE",
        type=Size(1),
        help="Bytes a second that a broker may copy, sent and received, such as 50M.",
    )


def stall_option() -> Any:
    return option(
        "--stall-timeout SECONDS",
        type=Seconds(),
        default=300.0,
        help=(
            "End with exit code 5 if nothing has moved for this long. `operations` shows "
            "what is left over."
        ),
    )


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """The options that all subcommands have in common."""

    bootstrap_server: str | None = option(
        "--bootstrap-server", "-b HOST:PORT,...", help="Addresses of brokers."
    )
    bootstrap_controller: str | None = option(
        "--bootstrap-controller", "-C HOST:PORT,...", help="Addresses of controllers."
    )
    command_config: str | None = option(
        "--command-config", "-c FILE", help="Client properties, for login and TLS."
    )
    expect_cluster_id: str | None = option(
        "--expect-cluster-id ID", help="Refuse a cluster with another id."
    )
    timeout: float | None = option(
        "--timeout SECONDS",
        type=Seconds(),
        help="Time for the whole command; without it, there is no limit.",
    )
    form: str = option("--format", **FORM_ATTRIBUTES)


@dataclass(frozen=True, kw_only=True)
class TargetOptions(ClusterOptions):
    """Those of subcommands that ask brokers or controllers."""

    config: str | None = option("--config FILE", help="The former name of --command-config.")
    timeout: float | None = option(
        "--timeout SECONDS",
        type=Seconds(),
        help=(
            "Time for the whole command; for unregister, for each broker. Default: 15, or "
            "default.api.timeout.ms of the file."
        ),
    )


@dataclass(frozen=True, kw_only=True)
class AccessOptions(ClusterOptions):
    """Those of subcommands that may ask both."""

    controller_config: str | None = option(
        "--controller-config FILE",
        help="Client properties for -C; without it, those of --command-config.",
    )
    check_permissions: bool = flag(
        "--check-permissions",
        help="Only print the permissions that it needs. Exit code 2: one is missing.",
    )
    yes: bool = False
    snapshot: str | None = None
    """What is read instead of a cluster."""


@dataclass(frozen=True, kw_only=True)
class ChangeOptions(AccessOptions):
    """Those of subcommands that change something."""

    yes: bool = yes_option()


@dataclass(frozen=True, kw_only=True)
class MovingOptions(ChangeOptions):
    """Those of how replicas are moved."""

    dry_run: bool = flag(
        "--dry-run",
        former=("--plan-only",),
        help="Print the plan, change nothing. --plan takes what --format json prints.",
    )
    batch: int = option(
        "--batch N",
        type=Number(_MAX_BATCH, minimum=1),
        default=100,
        help="How many partitions may be in flight at once; the next begin when some have ended.",
    )
    throttle: int | None = throttle_option()
    stall_timeout: float = stall_option()


@dataclass(frozen=True, kw_only=True)
class NewPlanOptions(MovingOptions):
    """Those of a plan that is not read from a file, and is about named partitions."""

    to: tuple[int, ...] = ids_option("--to", text="Only these brokers take replicas.")
    check_disks: bool = flag(
        "--check-disks", help="Refuse a plan for which a broker has too little room."
    )
    exclude_topic: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PlanOptions(NewPlanOptions):
    """Those of a plan for all partitions."""

    exclude_topic: tuple[str, ...] = names_option(
        "--exclude-topic", "A topic that stays where it is; may be given more than once."
    )
    plan: str | None = option(
        "--plan FILE", help="Carry out this plan, as kafka-reassign-partitions takes it."
    )

    def __post_init__(self) -> None:
        """Refuse options beside --plan that would change it."""
        refuse_together({"--plan": self.plan, "--to": self.to})
        refuse_together({"--plan": self.plan, "--exclude-topic": self.exclude_topic})


def refuse_together(options: Mapping[str, object]) -> None:
    """Refuse options that exclude each other, by name and value.

    Raises:
        UsageError: more than one is given.
    """
    names = [name for name, value in options.items() if value not in (None, (), False)]
    if len(names) > 1:
        raise click.UsageError(
            f"{names[0]} and {names[1]} do not go together", click.get_current_context()
        )


UNCOUNTED_TOPIC = "A topic that does not count; may be given more than once."


def subcommand(
    options: type[ClusterOptions], **attributes: Any
) -> Callable[[Callable[[Terminal, Any], int]], click.Command]:
    """Make a subcommand, whose syntax lets controllers be asked if its options do.

    Args:
        options: The dataclass of its options.
        **attributes: Those of Click and `ToolCommand`.
    """
    syntax = _TARGET_SYNTAX if issubclass(options, TargetOptions) else _SYNTAX
    return tool_command(syntax, options=options, **attributes)

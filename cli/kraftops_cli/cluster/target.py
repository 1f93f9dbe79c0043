"""The cluster that a subcommand of `kafka-cluster` is for: the options that say so, connections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.values import Seconds
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.wire.config.settings import Settings
    from kraftops.wire.net.addresses import Address, Bootstrap
    from kraftops.wire.net.deadline import Deadline
    from kraftops.wire.quorum.live_image import LiveImage
    from kraftops.wire.rpc.cluster import Description
    from kraftops.wire.rpc.connection import Connection, Kind

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--bootstrap-server", "-b", metavar="HOST:PORT,...", help="Addresses of brokers."),
    click.option(
        "--bootstrap-controller", "-C", metavar="HOST:PORT,...", help="Addresses of controllers."
    ),
    click.option(
        "--command-config",
        "-c",
        metavar="FILE",
        help="Client properties: how to log in, whom to trust.",
    ),
    click.option("--config", metavar="FILE", help="What --command-config was called before."),
    click.option(
        "--timeout",
        metavar="SECONDS",
        type=Seconds(),
        help="How long to try in all; 15, unless the file has default.api.timeout.ms.",
    ),
    click.option("--expect-cluster-id", metavar="ID", help="Refuse a cluster that has another id."),
    click.option(
        "--format",
        "form",
        type=click.Choice(("text", "json")),
        default="text",
        show_default=True,
        help="The form of the output.",
    ),
)


def cluster_syntax(*ours: str) -> Argparse4j:
    """Return the syntax of a subcommand; Kafka's tool does not have the parameters *ours*."""
    return Argparse4j(
        ours={"timeout", "expect_cluster_id", "form", *ours},
        one_of=(("bootstrap_server", "bootstrap_controller"),),
        expands_files=False,
    )


def target_options(function: F) -> F:
    """Give a subcommand the options that `Target` is made of."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@dataclass(frozen=True, slots=True)
class Target:
    """A cluster, and how to reach it."""

    bootstrap: list[Bootstrap]
    kind: Kind
    settings: Settings
    deadline: Deadline
    expected_id: str | None

    def connect(self) -> Connection:
        """Return a connection to the first address that answers.

        Raises:
            WireError: none does.
        """
        from kraftops.wire.rpc.bootstrap import connect

        return connect(self.bootstrap, self.settings, self.deadline, self.kind)

    def connect_to(self, address: Address) -> Connection:
        """Return a connection to another node of the cluster.

        Raises:
            WireError: it does not answer.
        """
        from kraftops.wire.rpc.connection import Connection

        return Connection(address, self.settings, self.deadline)

    def described(self, connection: Connection, *, with_fenced: bool = False) -> Description:
        """Return what a node says of its cluster, which is the expected one.

        Raises:
            AnswerError: it is another one, or the node refuses to say.
        """
        from kraftops.errors import AnswerError
        from kraftops.wire.rpc.cluster import describe_cluster

        found = describe_cluster(connection, with_fenced=with_fenced)
        if self.expected_id not in (None, found.cluster_id):
            raise AnswerError(
                f"{connection.address}: its cluster id is {found.cluster_id},"
                f" not {self.expected_id}",
                hint="check the address and --expect-cluster-id",
            )
        return found

    def live_image(self) -> LiveImage:
        """Return the metadata of the cluster, read by this target's deadline.

        Raises:
            WireError: nobody leads, or answers.
            AnswerError: it is not permitted to read them.
        """
        from dataclasses import replace

        from kraftops.wire.quorum.live_image import LiveImage

        settings = replace(self.settings, timeout=max(self.deadline.left, 0.001))
        return LiveImage(self.bootstrap, settings, cluster_id=self.expected_id)

    @property
    def is_of_controllers(self) -> bool:
        """Whether controllers are asked."""
        from kraftops.wire.rpc.connection import Kind

        return self.kind is Kind.CONTROLLER


def target_of(
    terminal: Terminal,
    *,
    bootstrap_server: str | None,
    bootstrap_controller: str | None,
    command_config: str | None,
    config: str | None,
    timeout: float | None,
    expect_cluster_id: str | None,
) -> Target:
    """Return the target that the options of `target_options` name; warnings are on the terminal.

    Raises:
        UsageError: they make no sense.
        ConfigError: the file says what cannot be done.
    """
    from dataclasses import replace

    from kraftops_cli.live.lean_kafka import be_lean
    from kraftops_cli.version import VERSION

    be_lean()
    from kraftops.errors import UsageError
    from kraftops.wire.config.settings import Settings, load_settings
    from kraftops.wire.net.addresses import parse_bootstrap
    from kraftops.wire.net.deadline import Deadline
    from kraftops.wire.rpc.connection import Kind

    if config is not None and command_config is not None:
        raise UsageError("--config and --command-config cannot be specified together.")
    if config is not None:
        terminal.error(
            "warning: --config has been deprecated and will be removed in a future version",
            hint="--command-config is its name now",
        )
        command_config = config

    def warn(message: str) -> None:
        terminal.error(f"warning: {message}")

    settings = Settings() if command_config is None else load_settings(command_config, warn)
    settings = replace(settings, timeout=timeout or settings.timeout, software_version=VERSION)
    given = bootstrap_server if bootstrap_controller is None else bootstrap_controller
    assert given is not None  # the syntax sees to it
    return Target(
        bootstrap=parse_bootstrap(given),
        kind=Kind.BROKER if bootstrap_controller is None else Kind.CONTROLLER,
        settings=settings,
        deadline=Deadline(settings.timeout),
        expected_id=expect_cluster_id,
    )

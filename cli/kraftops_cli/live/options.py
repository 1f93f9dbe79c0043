"""Options of a command that reads the metadata log of a running cluster instead of files."""

from dataclasses import dataclass

from kraftops_cli.syntax.option_fields import names_of, option
from kraftops_cli.syntax.values import Seconds


@dataclass(frozen=True, kw_only=True)
class QuorumOptions:
    """The options that name a quorum; *config* is a server's, *timeout* is in seconds."""

    controllers: str | None = option(
        "--controllers",
        "-C [ID@]HOST:PORT,…",
        help="Read the metadata log of these controllers' cluster.",
    )
    command_config: str | None = option(
        "--command-config FILE", help="With --controllers: client properties, for login and TLS."
    )
    config: str | None = option(
        "--config FILE", help="Read from the controllers of this server.properties, with its login."
    )
    timeout: float | None = option(
        "--timeout SECONDS",
        type=Seconds(),
        help="With --controllers: longest wait for an answer.  [default: 15]",
    )
    expect_cluster_id: str | None = option(
        "--expect-cluster-id ID", help="With --controllers: refuse a cluster with another id."
    )

    @property
    def is_about_quorum(self) -> bool:
        own = (self.controllers, self.command_config, self.config, self.timeout)
        return any(value is not None for value in (*own, self.expect_cluster_id))


LIVE = names_of(QuorumOptions)
"""The names of the parameters."""

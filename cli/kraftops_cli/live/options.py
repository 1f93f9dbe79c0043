"""Options of a dump that reads the metadata log of a running cluster instead of files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import click

from kraftops_cli.syntax.values import Seconds

F = TypeVar("F", bound=Callable[..., object])

_OPTIONS = (
    click.option(
        "--controllers",
        "-C",
        metavar="[ID@]HOST:PORT,…",
        help="Read the metadata log of these controllers' cluster.",
    ),
    click.option(
        "--command-config",
        metavar="FILE",
        help="With --controllers: client properties, for login and TLS.",
    ),
    click.option(
        "--config",
        metavar="FILE",
        help="Read from the controllers of this server.properties, with its login.",
    ),
    click.option(
        "--timeout",
        metavar="SECONDS",
        type=Seconds(),
        help="With --controllers: longest wait for an answer.  [default: 15]",
    ),
    click.option(
        "--expect-cluster-id",
        metavar="ID",
        help="With --controllers: refuse a cluster with another id.",
    ),
)
LIVE = ("controllers", "config", "command_config", "timeout", "expect_cluster_id")
"""The names of the parameters; one of the first two asks for controllers."""


@dataclass(frozen=True, kw_only=True)
class QuorumOptions:
    """The options that name a quorum; *config* is a server's, *timeout* is in seconds."""

    controllers: str | None = None
    command_config: str | None = None
    config: str | None = None
    timeout: float | None = None
    expect_cluster_id: str | None = None

    @property
    def is_about_quorum(self) -> bool:
        own = (self.controllers, self.command_config, self.config, self.timeout)
        return any(value is not None for value in (*own, self.expect_cluster_id))


def live_options(command: F) -> F:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command

"""Options and argument syntax of the subcommands of `kafka-cluster`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.values import Seconds
from kraftops_cli.terminal.answer import FORM

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--bootstrap-server", "-b", metavar="HOST:PORT,...", help="Addresses of brokers."),
    click.option(
        "--bootstrap-controller", "-C", metavar="HOST:PORT,...", help="Addresses of controllers."
    ),
    click.option(
        "--command-config", "-c", metavar="FILE", help="Client properties, for login and TLS."
    ),
    click.option("--config", metavar="FILE", help="The former name of --command-config."),
    click.option(
        "--timeout",
        metavar="SECONDS",
        type=Seconds(),
        help="Time for the whole command, of unregister for each broker; 15, unless the file has"
        " default.api.timeout.ms.",
    ),
    click.option("--expect-cluster-id", metavar="ID", help="Refuse a cluster with another id."),
    FORM,
)


def cluster_syntax(*ours: str) -> Argparse4j:
    """Return the syntax of a subcommand; Kafka's tool does not have the parameters *ours*."""
    return Argparse4j(
        ours={"timeout", "expect_cluster_id", "form", *ours},
        one_of=(("bootstrap_server", "bootstrap_controller"),),
        expands_files=False,
    )


def target_options(function: F) -> F:
    """Add the options of `TargetOptions`, and `--format`, to a subcommand."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """The values of the options that name a cluster."""

    bootstrap_server: str | None
    bootstrap_controller: str | None
    command_config: str | None
    config: str | None
    timeout: float | None
    expect_cluster_id: str | None

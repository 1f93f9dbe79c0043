"""`kafka-cluster cluster-id`: the id of a cluster (KIP-78)."""

from __future__ import annotations

from typing import Any

import click

from kraftops_cli.cluster.target import cluster_syntax, target_of, target_options
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.terminal.streams import Terminal

EXAMPLES = (
    ("which cluster is it?", "kafka-cluster cluster-id -b localhost:9092"),
    ("for a script", "kafka-cluster cluster-id -C localhost:9093 --format json"),
)


def _command(name: str) -> click.Command:
    return click.command(
        cls=ToolCommand,
        syntax=cluster_syntax(),
        name=name,
        examples=EXAMPLES if name == "cluster-id" else (),
        help="Print the id of a cluster, as a broker or a controller knows it.",
    )(target_options(click.pass_obj(_run)))


def _run(terminal: Terminal, /, form: str, **target: Any) -> int:
    """Run the subcommand; return its exit code."""
    found = target_of(terminal, **target)
    with found.connect() as connection:
        cluster_id = found.described(connection).cluster_id
    if form == "json":
        terminal.json("cluster-id", {"clusterId": cluster_id})
    elif cluster_id is None:
        terminal.write("No cluster ID found. The Kafka version is probably too old.\n")
    else:
        terminal.write(f"Cluster ID: {cluster_id}\n")
    return 0


cluster_id = _command("cluster-id")
id_ = _command("id")

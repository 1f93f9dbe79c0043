"""`kafka-cluster cluster-id`: the id of a cluster (KIP-78)."""

from __future__ import annotations

from typing import Any

import click

from kraftops_cli.cluster.options import cluster_syntax, target_options
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.terminal.answer import print_answer
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
        hidden=name == "id",
        examples=EXAMPLES if name == "cluster-id" else (),
        help="Print the id of a cluster, as a broker or a controller knows it.",
    )(target_options(click.pass_obj(_run)))


def _run(terminal: Terminal, /, form: str, **options: Any) -> int:
    """Run the subcommand; return its exit code."""
    from kraftops_cli.cluster.target import target_of

    target = target_of(terminal, **options)
    with target.connect() as connection:
        cluster_id = target.nodes(connection).cluster_id
    text = "No cluster ID found. The Kafka version is probably too old."
    if cluster_id is not None:
        text = f"Cluster ID: {terminal.shown(cluster_id)}"
    print_answer(
        terminal, form, "cluster-id", lambda: {"clusterId": cluster_id}, lambda: f"{text}\n"
    )
    return 0


cluster_id = _command("cluster-id")
id_ = _command("id")

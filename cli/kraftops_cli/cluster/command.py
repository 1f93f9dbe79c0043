"""`kafka-cluster`: show and change a running cluster, as Kafka's ClusterTool."""

from __future__ import annotations

import click

from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import manual
from kraftops_cli.syntax.command import ToolGroup


def _in(module: str, function: str = "") -> str:
    """Return where a command is: in a module of this room, by default with the module's name."""
    return f"{__package__}.{module}:{function or module.rpartition('.')[2]}"


COMMANDS = {
    "cluster-id": (_in("cluster_id"), "Print the id of a cluster."),
    "unregister": (_in("unregister"), "Unregister a broker."),
    "list-endpoints": (_in("list_endpoints"), "List the nodes."),
    "id": (_in("cluster_id", "id_"), ""),  # KIP-631's word
    "api-versions": (_in("api_versions"), "Show the APIs and features of every node."),
    "describe": (_in("describe"), "Show brokers, quorum, features and lag."),
    "controllers": (_in("controllers"), "Show, add, remove and replace the voters of the quorum."),
    "problems": (_in("problems"), "List broken partitions by cause."),
    "wait": (_in("wait"), "Wait for brokers and replicas."),
    "safe-to-stop": (_in("moving.safe_to_stop"), "Tell whether brokers can be stopped."),
    "drain": (_in("moving.drain"), "Move leaders away from brokers, for a restart."),
    "undrain": (_in("moving.drain", "undrain"), "Move leaders back."),
    "restart": (_in("restart"), "Restart nodes one after another, while all stays available."),
    "decommission": (_in("moving.decommission"), "Take brokers out of the cluster."),
    "rebalance": (_in("moving.rebalance"), "Load all brokers evenly."),
    "replication": (_in("moving.replication"), "Change the replication factor of topics."),
    "move-dirs": (_in("moving.move_dirs"), "Empty a log directory on the same broker."),
    "repair": (_in("moving.repair"), "Replace replicas that are gone for good."),
    "operations": (_in("moving.operations"), "Show what is under way, cancel or resume it."),
}
"""Module, function and short help of each command, in Kafka's order; ours come last."""


@click.group(
    cls=ToolGroup,
    syntax=Argparse4j(
        ours=frozenset(COMMANDS) - {"cluster-id", "unregister", "list-endpoints"},
        expands_files=False,
    ),
    name="cluster",
    lazy=COMMANDS,
    **manual(__file__),
)
def cluster() -> None:
    """Do nothing: the subcommands do the work."""

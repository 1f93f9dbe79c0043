"""`kafka-cluster`: show and change a running cluster, as Kafka's ClusterTool."""

import click

from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import manual
from kraftops_cli.syntax.command import ToolGroup

COMMANDS = {
    "cluster-id": (".cluster.cluster_id", "Print the id of a cluster."),
    "unregister": (".cluster.unregister", "Unregister a broker."),
    "list-endpoints": (".cluster.list_endpoints", "List the nodes."),
    "id": (".cluster.cluster_id:id_", ""),  # KIP-631's word
    "api-versions": (".cluster.api_versions", "Show the APIs and features of every node."),
    "describe": (".cluster.describe", "Show brokers, quorum, features and lag."),
    "controllers": (
        ".cluster.controllers",
        "Show, add, remove and replace the voters of the quorum.",
    ),
    "problems": (".cluster.problems", "List broken partitions by cause."),
    "wait": (".cluster.wait", "Wait for brokers and replicas."),
    "safe-to-stop": (".cluster.moving.safe_to_stop", "Tell whether brokers can be stopped."),
    "drain": (".cluster.moving.drain", "Move leaders away from brokers, for a restart."),
    "undrain": (".cluster.moving.drain:undrain", "Move leaders back."),
    "restart": (".cluster.restart", "Restart nodes one after another, while all stays available."),
    "decommission": (".cluster.moving.decommission", "Take brokers out of the cluster."),
    "rebalance": (".cluster.moving.rebalance", "Load all brokers evenly."),
    "replication": (".cluster.moving.replication", "Change the replication factor of topics."),
    "move-dirs": (".cluster.moving.move_dirs", "Empty a log directory on the same broker."),
    "repair": (".cluster.moving.repair", "Replace replicas that are gone for good."),
    "operations": (".cluster.moving.operations", "Show what is under way, cancel or resume it."),
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

"""`kafka-cluster cluster-id`: the id of a cluster (KIP-78)."""

from kraftops.answers.fields import Answer, text
from kraftops_cli.cluster.options import TargetOptions, subcommand
from kraftops_cli.cluster.target import cluster_of
from kraftops_cli.syntax.chapters import manual
from kraftops_cli.terminal.answer import print_answer
from kraftops_cli.terminal.streams import Terminal

CLUSTER_ID = Answer((text("clusterId?", "null before Kafka 0.10.1"),))


def _run(terminal: Terminal, options: TargetOptions) -> int:
    cluster = cluster_of(terminal, options)
    with cluster.connect() as connection:
        nodes = cluster.nodes(connection)
    line = "No cluster ID found. The Kafka version is probably too old."
    if nodes.cluster_id is not None:
        line = f"Cluster ID: {terminal.shown(nodes.cluster_id)}"
    print_answer(terminal, CLUSTER_ID.fields, nodes, lambda: f"{line}\n")
    return 0


cluster_id = subcommand(
    TargetOptions,
    name="cluster-id",
    answer="kraftops_cli.cluster.cluster_id:CLUSTER_ID",
    **manual(__file__),
)(_run)
id_ = subcommand(TargetOptions, name="cluster-id", hidden=True, help=manual(__file__)["help"])(_run)

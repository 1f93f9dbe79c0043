"""`kafka-cluster cluster-id`: the id of a cluster (KIP-78)."""

from __future__ import annotations

from kraftops_cli.cluster.options import TargetOptions, subcommand
from kraftops_cli.cluster.target import target_of
from kraftops_cli.terminal.answer import print_answer
from kraftops_cli.terminal.streams import Terminal

EXAMPLES = (
    ("which cluster is it?", "kafka-cluster cluster-id -b localhost:9092"),
    ("for a script", "kafka-cluster cluster-id -C localhost:9093 --format json"),
)


def _run(terminal: Terminal, options: TargetOptions) -> int:
    target = target_of(terminal, options)
    with target.connect() as connection:
        cluster_id = target.nodes(connection).cluster_id
    text = "No cluster ID found. The Kafka version is probably too old."
    if cluster_id is not None:
        text = f"Cluster ID: {terminal.shown(cluster_id)}"
    print_answer(
        terminal,
        options.form,
        "cluster-id",
        lambda: {"clusterId": cluster_id},
        lambda: f"{text}\n",
    )
    return 0


_HELP = "Print the id of a cluster, as a broker or a controller knows it."
cluster_id = subcommand(TargetOptions, name="cluster-id", examples=EXAMPLES, help=_HELP)(_run)
id_ = subcommand(TargetOptions, name="id", hidden=True, help=_HELP)(_run)

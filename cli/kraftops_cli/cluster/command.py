"""`kafka-cluster`: ask a running cluster who it is and who is in it, as ClusterTool does."""

from __future__ import annotations

import click

from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import ToolGroup

COMMANDS = {
    "cluster-id": ("kraftops_cli.cluster.cluster_id:cluster_id", "Print the id of a cluster."),
    "unregister": ("kraftops_cli.cluster.unregister:unregister", "Have a broker forgotten."),
    "list-endpoints": ("kraftops_cli.cluster.list_endpoints:list_endpoints", "List the nodes."),
    "id": ("kraftops_cli.cluster.cluster_id:id_", "Print the id of a cluster, as cluster-id."),
    "api-versions": (
        "kraftops_cli.cluster.api_versions:api_versions",
        "Show the APIs and features of every node.",
    ),
    "describe": (
        "kraftops_cli.cluster.describe:describe",
        "Show brokers, quorum, features and lag.",
    ),
    "wait": ("kraftops_cli.cluster.wait:wait", "Wait until so many brokers are there."),
}
"""By name, in Kafka's order and then ours: where the command is, and its short help."""

EXAMPLES = (
    ("which cluster is it?", "kafka-cluster cluster-id -b localhost:9092"),
    ("brokers, quorum and lag", "kafka-cluster describe -C localhost:9093"),
    ("forget a broker that is gone", "kafka-cluster unregister -b localhost:9092 --id 3"),
)
SECTIONS = (
    (
        "Connections",
        """\
The addresses of -b and -C are tried in turn, until one answers: 5 seconds each to connect, to
shake hands and to log in, 15 seconds in all, or what --timeout or default.api.timeout.ms say. A
user whom one of them refuses is not tried at the others.

-c names a file of client properties as all of Kafka's clients take: security.protocol; ssl.* with
PEM (in files or in the configuration itself), PKCS12, and trust stores in JKS; sasl.* with PLAIN,
SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER (a token endpoint, or a file: URL of a token) and GSSAPI
(with the Python package gssapi and a ticket of kinit). Unknown keys are named on standard error;
keys of producers and consumers are passed over; a key for security that cannot be honoured is
refused. No password is ever shown.

Servers must be KRaft nodes of Kafka 3.3 or later; -C needs 3.7. The versions of APIs are
negotiated on every connection.""",
    ),
    (
        "What unregister looks at first",
        """\
Kafka's tool forgets a running broker without a word; it goes on running, outside the cluster,
until it is restarted. Here a broker that is not fenced, or that holds replicas, is refused unless
--force is given, and so is one whose state cannot be seen. With -b that takes DESCRIBE on the
topics; with -C, CLUSTER_ACTION on the cluster, by which the metadata log is read.""",
    ),
    (
        "Differences from Kafka",
        """\
Help and error texts are ours, help ends with 0: one line on standard error with address and cause,
often a second one with a hint, no stack traces. Errors that list-endpoints of Kafka's tool prints
on standard output, with 0, are errors here. The notice that --config is deprecated is on standard
error. Nothing waits 60 seconds for a node that is not there. A node that answers is asked also
where Kafka's client would look for others: of a cluster that has no broker left, or no leader.
default.api.timeout.ms may be less than request.timeout.ms, which means nothing here.""",
    ),
    (
        "Exit status",
        """\
0: done.
1: bad arguments or configuration, no answer, or an answer that is an error; refused; of wait: not
in time.
2: of api-versions --compare: nodes differ.
130: interrupted.
141: the reader of the output has gone.""",
    ),
    ("Environment", "KRAFTOPS_DEBUG: set to anything, an error shows where it comes from."),
)


@click.group(
    cls=ToolGroup,
    syntax=Argparse4j(
        ours=frozenset({"id", "api-versions", "describe", "wait"}), expands_files=False
    ),
    name="cluster",
    lazy=COMMANDS,
    examples=EXAMPLES,
    sections=SECTIONS,
    help="Ask a running cluster who it is and who is in it, and have brokers forgotten.",
)
def cluster() -> None:
    """Do nothing: the subcommands do the work."""

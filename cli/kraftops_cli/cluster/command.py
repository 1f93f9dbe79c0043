"""`kafka-cluster`: show and change a running cluster, as Kafka's ClusterTool."""

from __future__ import annotations

import click

from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import ToolGroup
from kraftops_cli.syntax.exit_status import exit_status


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

EXAMPLES = {
    "which cluster is it?": "kafka-cluster cluster-id -b localhost:9092",
    "brokers, quorum and lag": "kafka-cluster describe -C localhost:9093",
    "unregister a broker that is gone": "kafka-cluster unregister -b localhost:9092 --id 3",
}
SECTIONS = {
    "Connections": """\
The addresses of -b or -C are tried until one answers: each begins 0.3 seconds after the one before,
or when that has failed. Each has 5 seconds to connect, to shake hands and to log in. The whole
command has 15 seconds, or the time of --timeout or default.api.timeout.ms. If a node refuses the
login, the other nodes are not tried.

-c names a file of client properties, as Kafka's clients take: security.protocol; ssl.* with
PEM (in files or in the configuration itself), PKCS12, and trust stores in JKS; sasl.* with PLAIN,
SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER (a token endpoint, with the ssl.* of the login module or
of the file; or a file: URL of a token), GSSAPI (with the Python package gssapi and a ticket of
kinit) and AWS_MSK_IAM (with botocore, and credentials and region of the environment). Unknown keys
are listed on standard error, keys of producers and consumers are ignored, and security keys that
cannot be honoured are refused. Passwords are never shown.

Servers must be KRaft nodes of Kafka 3.3 or later; -C needs 3.7. API versions are negotiated on
every connection.""",
    "Brokers or controllers": """\
-b asks brokers, and they ask the leader of the quorum. Since Kafka 3.9 they also name the listeners
of the voters: what only the metadata log has is read there, if they can be reached from here. -C
asks controllers and reads that log. restart reads it in any case.

Only -b knows the defaults of server.properties, as min.insync.replicas. Before Kafka 4.0 it does
not know fenced brokers, and while no controller leads, its answers are old. -b needs DESCRIBE on
topics and cluster. -C needs CLUSTER_ACTION for the log, and ALTER to find the leader.""",
    "Checks before unregister": """\
Kafka's tool unregisters a running broker without a warning. The broker goes on outside the cluster,
until it is restarted. Here a broker is refused, unless --force is given, if it is not fenced, if it
holds replicas, or if the user may not see this. To see it, -b needs DESCRIBE on the topics, and -C
needs CLUSTER_ACTION on the cluster, to read the metadata log.""",
    "Moving replicas": """\
decommission, rebalance, replication, repair, drain, undrain and restart ask brokers to change the
cluster. They need ALTER, DESCRIBE_CONFIGS and ALTER_CONFIGS on it; sizes need DESCRIBE, move-dirs
ALTER. To decide, all topics must be seen: with -b alone, the user must be allowed everything on the
cluster; with -C as well, and for restart, CLUSTER_ACTION is enough to read the metadata log. Give
-C in all runs of a decommission or in none.

Only replication changes the number of replicas of a partition. A partition moves only when it has a
leader. If a broker that takes replicas goes down, its reassignments wait for it: cancel ends them.

While an operation runs, it leaves marks: keys of dynamic configurations that begin with kraftops.
and say what is under way, by whom and since when. Kafka ignores them. The mark of an operation is
in the default configuration of brokers; those of throttles and cordons are on the brokers. They
tell the next run what is ours, and `operations` shows them. They are removed at the end, by cancel,
and by the next run after a kill. Throttles and cordons of others stay.""",
    "Differences from Kafka": """\
Help and error texts are ours; help ends with 0. An error is one line on standard error with address
and cause, often with a hint on a second line, and without a stack trace. list-endpoints of Kafka's
tool prints some errors on standard output and ends with 0: here they are errors. The notice that
--config is deprecated is on standard error. No command waits 60 seconds for a stopped node. A node
that answers is asked even if the cluster has no broker or no leader left; Kafka's client then looks
for other nodes. default.api.timeout.ms may be less than request.timeout.ms, which has no effect
here.""",
    **exit_status(
        {
            2: "of api-versions --compare: nodes differ; of safe-to-stop: it is not safe; of"
            " problems: there are some; of repair: a partition cannot be repaired."
        }
    ),
}


@click.group(
    cls=ToolGroup,
    syntax=Argparse4j(
        ours=frozenset(COMMANDS) - {"cluster-id", "unregister", "list-endpoints"},
        expands_files=False,
    ),
    name="cluster",
    lazy=COMMANDS,
    examples=EXAMPLES,
    sections=SECTIONS,
    help="Show the id, the nodes and the state of a running cluster, and unregister brokers.",
)
def cluster() -> None:
    """Do nothing: the subcommands do the work."""

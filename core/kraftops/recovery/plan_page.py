"""Page of a plan of a cluster: the work in its order, and what to check after each step."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from kraftops.display.sizes import many, named
from kraftops.recovery.advice import LEADERLESS
from kraftops.recovery.cluster_plan import ClusterPlan
from kraftops.recovery.host_script import VOID_NAMES, Host, Role, addresses, format_command


def plan_page(plan: ClusterPlan) -> str:
    """Return the page."""
    lines = [*_head(plan)]
    for number, step in enumerate(filter(None, _steps(plan)), 1):
        lines += ["", f"{number}. {step[0]}", *(f"   {line}" for line in step[1:])]
    lines += [
        "",
        "The old metadata logs are in node-N-before.tar.gz beside the scripts, and of voters",
    ]
    lines += ["in before-recover-TIME in their metadata logs: remove them when all is well."]
    return "\n".join(lines) + "\n"


def _head(plan: ClusterPlan) -> Iterator[str]:
    recovery = plan.recovery
    yield f"Recovery of the cluster {plan.cluster_id}"
    yield ""
    yield f"{plan.loss_total}."
    for loss in plan.losses:
        offsets = f"offsets {loss.offsets.start} to {loss.offsets.stop - 1}"
        cut = f"{offsets} of broker {loss.copy.broker} would be cut"
        yield f"- {loss.copy.name}: {cut}, since broker {loss.leader} may lead"
    partitions = recovery.partitions
    for election in partitions.elections if partitions.is_elected else ():
        copy, epoch = election.copy, election.leader_epoch
        yield f"- {copy.name}: broker {copy.broker} is made the leader, which has the newest copy"
        yield f"    (end offset {copy.end}), in leader epoch {epoch}"
    yield ""
    yield f"The metadata log of {plan.log_name} goes on, from offset {recovery.chosen.end}."
    yield f"Voters: {', '.join(map(str, plan.voters))}"
    yield ""
    yield (
        "What is lost of the metadata, and what is to know:"
        if plan.findings
        else "No metadata is lost."
    )
    for finding in plan.findings:
        yield f"- {finding.severity}: {finding}"
        yield from (f"    {evidence}" for evidence in finding.evidence)
    yield ""
    yield "Nodes:"
    for host in plan.hosts:
        config = host.copy.config_path or "(give the path of its server.properties)"
        place = f" on {host.copy.host}" if host.copy.host else ""
        yield f"- node {host.node_id}{place}: {_KINDS[host.role]}; {host.script_name}, {config}"
    for node_id in plan.without_copy:
        yield f"- node {node_id}: no copy was given, so it has no script; see the last steps"
    yield ""
    yield from _RULES


_RULES = (
    "Do the steps in this order, and the next only if the check is right: if it is not right yet,",
    "wait a moment, and repeat the last command. Run each script on the host of its node, in this",
    "directory. A script can be repeated. It refuses another host or disk, and a running server.",
    "That of a voter also refuses while a leader of this cluster answers, or most of its voters",
    "run: they can elect one. kafka-server-start.sh stands for the way in which you start",
    "servers; kafka-cluster and kraftops may run on any host. If the controllers ask for a login",
    "or for TLS, they need --command-config CLIENT.PROPERTIES, and the scripts",
    "COMMAND_CONFIG=CLIENT.PROPERTIES.",
)
_KINDS = {
    Role.VOTER: "votes, with the recovered log",
    Role.JOINS: "joins again, with an empty metadata log",
    Role.BROKER: "broker",
}


def _steps(plan: ClusterPlan) -> Iterator[list[str]]:
    voters, joins, brokers = map(plan.of_role, (Role.VOTER, Role.JOINS, Role.BROKER))
    every = [*plan.hosts]
    yield [
        "Stop all controllers and brokers, and keep the lost controllers from starting.",
        "Check: no Kafka runs on any host (pgrep -f kafka.Kafka prints nothing).",
    ]
    yield [
        "Copy this directory to the host of each node, and install kraftops there.",
        "Check: `kafka-storage recover --help` prints a help on each. If kafka-storage is Kafka's",
        "there, set KAFKA_STORAGE to the path of that of kraftops, and use it in all commands.",
    ]
    yield from _servers(plan, every)
    yield [
        f"On {_hosts(voters)}, before {'any of them' if len(voters) > 1 else 'it'} starts:",
        *_scripts(voters),
        'Check: the exit status is 0, and "Written" is printed (or "done", if it ran before).',
        "To go back, as long as none of them was started, run there kafka-storage recover --undo",
        "-c SERVER.PROPERTIES.",
    ]
    yield [f"Start {_hosts(voters)}.", *_starts(voters), *_quorum_check(plan)]
    if brokers:
        yield [
            f"On {_hosts(brokers)}:",
            *_scripts(brokers),
            "Check: the exit status is 0. Then start them, in this order:",
            *_broker_starts(plan, brokers),
        ]
    for host in joins:
        yield list(_join(plan, host))
    yield from _without_copy(plan)
    yield from _leaderless(plan)


def _servers(plan: ClusterPlan, hosts: Sequence[Host]) -> Iterator[list[str]]:
    """Yield the change of configurations that do not name the voters."""
    servers = addresses(plan.voters)
    others = []
    for host in hosts:
        config = host.copy.config
        assert config
        if config.voters or not set(config.bootstrap_servers).intersection(servers.split(",")):
            others.append(host.node_id)
    if others:
        yield [
            f"In the server.properties of {named('node', others)}, remove any",
            "controller.quorum.voters, and set",
            f"    controller.quorum.bootstrap.servers={servers}",
            "Check: the scripts refuse a configuration that still has controller.quorum.voters.",
        ]


def _hosts(hosts: Sequence[Host]) -> str:
    return named("node", [host.node_id for host in hosts])


def _scripts(hosts: Sequence[Host], action: str = "") -> list[str]:
    return [f"    sh {host.script_name}{action}{_argument(host)}" for host in hosts]


def _argument(host: Host) -> str:
    return "" if host.copy.config_path else " SERVER.PROPERTIES"


def _starts(hosts: Sequence[Host]) -> list[str]:
    paths = [shlex.quote(host.copy.config_path or "SERVER.PROPERTIES") for host in hosts]
    return [f"    kafka-server-start.sh {path}" for path in paths]


def _broker_starts(plan: ClusterPlan, brokers: Sequence[Host]) -> Iterator[str]:
    look = f"    kafka-cluster describe -C {addresses(plan.voters)}"
    newest_alone = {first.broker: first for first in plan.recovery.partitions.first_brokers}
    for host in brokers:
        yield from _starts([host])
        if first := newest_alone.get(host.node_id):
            yield look
            count = many(first.newest_alone, "partition")
            yield f"Check: broker {host.node_id} is active. It alone has the newest copies of"
            yield f"{count}: start no other before."
    yield look
    yield "Check: all of them are active."


def _quorum_check(plan: ClusterPlan) -> Iterator[str]:
    servers = addresses(plan.voters)
    ids = named("node", [voter.node_id for voter in plan.voters])
    yield f"    kafka-cluster controllers -C {servers}"
    yield f"Check: {'one of ' * (len(plan.voters) > 1)}{ids} leads, and there is no other voter."
    yield f"    kraftops metadata-shell --controllers {servers} summary"
    yield "Check: topics and brokers are those that you expect. Until brokers start, they are"
    yield "fenced, and partitions have no leader."


def _join(plan: ClusterPlan, host: Host) -> Iterator[str]:
    yield f"Once the voters lead, on node {host.node_id} (its old metadata log is packed first):"
    yield from _scripts([host])
    yield "Check: the exit status is 0. Then start it:"
    yield from _starts([host])
    if not host.joins_itself:
        yield "Once it runs, let it vote:"
        yield from _scripts([host], " join")
    yield f"    kafka-cluster controllers -C {addresses(plan.voters)}"
    yield f"Check: node {host.node_id} is a voter, too."


def _without_copy(plan: ClusterPlan) -> Iterator[list[str]]:
    recovery = plan.recovery
    for node_id in plan.without_copy:
        is_broker = node_id in recovery.brokers
        if node_id in recovery.lost_ids:
            form = format_command(None, plan.cluster_id, recovery.release, is_broker=is_broker)
            yield [
                f"Node {node_id} never starts with its old disk. To let it join again, remove",
                f"{', '.join(VOID_NAMES)}",
                "from its metadata directory, and nothing else; format it with",
                f"    kafka-storage {shlex.join(form)} -c SERVER.PROPERTIES",
                "start it, and let it vote:",
                f"    kafka-cluster controllers add -C {addresses(plan.voters)} --id {node_id}",
            ]
        else:
            yield [
                f"Before broker {node_id} starts, move its __cluster_metadata-0 away, out of its",
                "log directories: how far it has read is not known.",
            ]


def _leaderless(plan: ClusterPlan) -> Iterator[list[str]]:
    """Yield the check of partitions in directories with new ids, as `advice` has it."""
    changed = [host for host in plan.of_role(Role.JOINS) if host.is_broker]
    if changed:
        servers, node_id = addresses(plan.voters), changed[-1].node_id
        yield [
            "See whether partitions stay without a leader, since directories have new ids:",
            f"    kafka-cluster describe -C {servers}",
            "Check: all of them are active.",
            f"    kraftops metadata-shell -C {servers} ls {LEADERLESS}",
            f"Check: there are none. If there still are after 10 seconds, restart node {node_id},",
            "and do this step again.",
        ]

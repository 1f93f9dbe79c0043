"""Page of a plan of a cluster: the work in its order, and what to check after each step."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from functools import partial

from kraftops.recovery.cluster_plan import ClusterPlan
from kraftops.recovery.host_script import Role
from kraftops.recovery.procedure import WorkStep, work_steps

_wrapped = partial(
    textwrap.wrap,
    width=92,
    subsequent_indent="   ",
    break_long_words=False,
    break_on_hyphens=False,
)
"""Returns the lines of a step; addresses and paths stay whole."""


def plan_page(plan: ClusterPlan) -> str:
    """Return the page."""
    lines = [*_head(plan)]
    hosts = {host.node_id: host for host in plan.hosts}
    for number, step in enumerate(work_steps(plan.recovery, hosts), 1):
        lines += ["", *_step_lines(number, step)]
    return "\n".join([*lines, "", *_END]) + "\n"


def _head(plan: ClusterPlan) -> Iterator[str]:
    recovery = plan.recovery
    yield f"Recovery of the cluster {recovery.cluster_id}"
    yield ""
    yield f"{recovery.loss_total}."
    for loss in recovery.losses:
        offsets = f"offsets {loss.offsets.start} to {loss.offsets.stop - 1}"
        cut = f"{offsets} of broker {loss.copy.broker} would be cut"
        yield f"- {loss.copy.name}: {cut}, since broker {loss.leader} may lead"
    partitions = recovery.partitions
    for election in partitions.elections if partitions.is_elected else ():
        copy, epoch = election.copy, election.leader_epoch
        yield f"- {copy.name}: broker {copy.broker} is made the leader, which has the newest copy"
        yield f"    (end offset {copy.end}), in leader epoch {epoch}"
    yield ""
    yield f"The metadata log of {recovery.chosen.name} goes on, from offset {recovery.chosen.end}."
    yield f"Voters: {', '.join(map(str, recovery.new_voters))}"
    yield ""
    yield (
        "What is lost of the metadata, and what is to know:"
        if recovery.findings
        else "No metadata is lost."
    )
    for finding in recovery.findings:
        yield f"- {finding.severity}: {finding}"
        yield from (f"    {evidence}" for evidence in finding.evidence)
    yield ""
    yield "Nodes:"
    for host in plan.hosts:
        config = host.copy.config_path or "(give the path of its server.properties)"
        place = f" on {host.copy.host}" if host.copy.host else ""
        yield f"- node {host.node_id}{place}: {_KINDS[host.role]}; {host.script_name}, {config}"
    for node_id in plan.without_copy:
        yield f"- node {node_id}: no copy was given, so it has no script; see the steps"
    yield ""
    yield from _RULES


_RULES = (
    "Do the steps in this order, and the next only if the check is right: if it is not right yet,",
    "wait a moment, and repeat the last command. Run each script on the host of its node, in this",
    "directory; CONFIG is the path of the server.properties there. A script can be repeated. It",
    "refuses another host or disk, a running server, and controller.quorum.voters in the",
    "configuration. That of a voter also refuses while a leader of this cluster answers, or most",
    "of its voters run: they can elect one. Until a voter is started, this puts its old log back:",
    'kafka-storage recover --undo -c "$CONFIG". kafka-server-start.sh stands for the way in which',
    "you start servers; kafka-cluster and kraftops may run on any host. If the controllers ask for",
    "a login or for TLS, they need --command-config CLIENT.PROPERTIES, and the scripts",
    "COMMAND_CONFIG=CLIENT.PROPERTIES.",
)
_END = (
    "The old metadata logs are in node-N-before.tar.gz beside the scripts, and of voters in",
    "before-recover-TIME in their metadata logs: remove them when all is well.",
)
_KINDS = {
    Role.VOTER: "votes, with the recovered log",
    Role.JOINS: "joins again, with an empty metadata log",
    Role.BROKER: "broker",
}


def _step_lines(number: int, step: WorkStep) -> Iterator[str]:
    text = f"{number}. {step.text[:1].upper()}{step.text[1:]}"
    yield from _wrapped(text + (":" if step.command else "."))
    if step.command:
        yield f"       {step.command}"
    if step.check:
        yield from _wrapped(f"   Check: {step.check}.")

"""The work of a recovery in its order: what to do on which node, the command, and what to check.

It is printed after a recovery, and on the page of a plan, whose hosts have scripts. Commands for
nodes without a script have no path of this host: they use `$CONFIG` and `$LOG_DIR`.
"""

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kraftops.display import quoting
from kraftops.display.sizes import many, named
from kraftops.log.files import METADATA_PARTITION
from kraftops.recovery.host_script import (
    AUTO_JOIN,
    VOID_NAMES,
    Host,
    Role,
    addresses,
    format_command,
)
from kraftops.recovery.log_copy import LogCopy
from kraftops.recovery.plan import RecoveryPlan
from kraftops.server.meta_properties import FILE_NAME as META_FILE
from kraftops.storage.config.server_config import ServerConfig

_LOGIN = "with --command-config CLIENT.PROPERTIES if the controllers ask for a login or for TLS"
"""What is to know of commands that ask a controller: they do not read a server.properties."""

_CONFIG = '"$CONFIG"'

Hosts = Mapping[int, Host]
"""The hosts of a plan by node id; none after a recovery of one node."""


class WorkStep(NamedTuple):
    """A step to take on a node (None: this or any), its command, and what shows that it worked."""

    text: str
    command: str | None = None
    node_id: int | None = None
    check: str | None = None


def work_steps(plan: RecoveryPlan, hosts: Hosts) -> list[WorkStep]:
    """Return the steps of a plan, or those to take after a recovery, which has no *hosts*."""
    steps = [*_stops(plan, hosts), *_configuration(plan, hosts)]
    steps += [*_voters(plan, hosts), *_brokers(plan, hosts)]
    for node_id in _joining(plan, hosts):
        steps += _join(plan, node_id, hosts)
    return [*steps, *_leaderless(plan, hosts)]


def _joining(plan: RecoveryPlan, hosts: Hosts) -> list[int]:
    """Return the controllers that join again with an empty log."""
    return sorted(
        {*plan.lost_ids} | {id_ for id_, host in hosts.items() if host.role is Role.JOINS}
    )


def _other_brokers(plan: RecoveryPlan, hosts: Hosts) -> list[int]:
    """Return the brokers that are not started as controllers, in the order of their start."""
    brokers = {*plan.brokers} | {id_ for id_, host in hosts.items() if host.role is Role.BROKER}
    brokers -= {*_joining(plan, hosts), *(voter.node_id for voter in plan.new_voters)}
    order = plan.partitions.start_order
    return sorted(brokers, key=lambda broker: [*order, broker].index(broker))


def _stops(plan: RecoveryPlan, hosts: Hosts) -> Iterator[WorkStep]:
    """Yield what to decide before, what must not run, and where the scripts must be."""
    if plan.partitions.cuts_needlessly:
        again = "make another plan" if hosts else "undo this, and recover"
        yield WorkStep(f"{plan.loss_total.clause}: {again} with --elect-newest, unless they may go")
    if hosts:
        nothing = "no Kafka runs on any host (pgrep -f kafka.Kafka prints nothing)"
        yield WorkStep("stop all controllers and brokers", check=nothing)
    elif brokers := sorted(_other_brokers(plan, hosts)):
        yield WorkStep(
            f"stop {named('broker', brokers)}: one that has applied records from offset "
            f"{plan.chosen.end} on would crash"
        )
    if ids := plan.lost_ids:
        disks = "its old disk" if len(ids) == 1 else "their old disks"
        yield WorkStep(f"keep {named('controller', ids)} from starting with {disks}")
    if hosts:
        yield WorkStep(
            "copy this directory to the host of each node, and install kraftops there",
            check="`kafka-storage recover --help` explains each. If kafka-storage is "
            "Kafka's there, set KAFKA_STORAGE to the path of that of kraftops, and use it in all "
            "commands",
        )


def _configuration(plan: RecoveryPlan, hosts: Hosts) -> Iterator[WorkStep]:
    """Yield the change of configurations that do not name the voters."""
    servers = addresses(plan.new_voters)
    configs = [host.copy.config for host in hosts.values()] or [plan.config]
    others = [
        config.node_id
        for config in configs
        if config
        and (config.voters or not {*config.bootstrap_servers}.intersection(servers.split(",")))
    ]
    if others:
        nodes = named("node", others) if hosts else "every node"
        yield WorkStep(
            f"in the configuration of {nodes}, remove any controller.quorum.voters, and set "
            f"`controller.quorum.bootstrap.servers={servers}`"
        )


def _voters(plan: RecoveryPlan, hosts: Hosts) -> Iterator[WorkStep]:
    """Yield the step that gives all voters the same log, and then their starts."""
    equal = {
        compared.log.owner.node_id
        for compared in plan.logs
        if plan.offset is None and compared.common_end == compared.log.end == plan.chosen.end
    }
    ids = [voter.node_id for voter in plan.new_voters]
    own = plan.config.node_id
    for node_id in ids:
        if host := hosts.get(node_id):
            written = 'the exit status is 0, and "Written" is printed (or "done", if it ran before)'
            yield _script(host, "before any voter starts, give it the recovered log", written)
    others = [id_ for id_ in ids if id_ not in hosts and id_ != own and id_ not in equal]
    if others:
        choice = " and --choose" if plan.is_named else ""
        folder = "the log of another voter" if hosts else plan.own.folder
        yield WorkStep(
            f"give {named('voter', others)} the same log, byte by byte, before any of them starts: "
            "kafka-storage recover-plan writes a script for each; by hand, copy "
            f"{folder} there, and give it with --from{choice}, with the same --voters"
        )
    for node_id in sorted(ids, key=lambda node_id: node_id != own):
        yield _start(node_id, _path(plan, node_id, hosts))
    either = "one of " if len(ids) > 1 else ""
    yield WorkStep(
        "see who leads",
        _ask(plan, "kafka-cluster controllers"),
        check=f"{either}{named('node', ids)} leads, and there is no other voter",
    )
    yield WorkStep(
        "see what is there",
        _ask(plan, "kraftops metadata-shell", "summary"),
        check="topics and brokers are those that you expect. Until brokers start, they are "
        "fenced, and partitions have no leader",
    )


def _brokers(plan: RecoveryPlan, hosts: Hosts) -> Iterator[WorkStep]:
    """Yield what brokers need before a start, and their starts in order."""
    brokers = _other_brokers(plan, hosts)
    for node_id in brokers:
        if host := hosts.get(node_id):
            yield _script(host, "before it starts, prepare its metadata log")
    yield from _metadata_logs_to_move(plan, hosts)
    for first in plan.partitions.first_brokers:
        if first.broker in brokers:
            brokers.remove(first.broker)
            yield _start(first.broker, _path(plan, first.broker, hosts), "broker")
            count = many(first.newest_alone, "partition")
            yield _look(
                plan,
                f"wait for broker {first.broker}: it alone has the newest copies of {count}",
                f"broker {first.broker} is active with a LAG of 0, and leads {count} or more; "
                "start no other before",
            )
    for node_id in brokers:
        if node_id in hosts:
            yield _start(node_id, _path(plan, node_id, hosts), "broker")
    if others := [id_ for id_ in brokers if id_ not in hosts]:
        yield WorkStep(f"start {named('broker', others)}")
    if brokers:
        yield _look(plan, "see whether all brokers are there", "all of them are active")


def _metadata_logs_to_move(plan: RecoveryPlan, hosts: Hosts) -> Iterator[WorkStep]:
    """Yield the brokers without a script that may have applied records the chosen log lacks."""
    brokers = [broker for broker in _other_brokers(plan, hosts) if broker not in hosts]
    for compared in plan.logs:
        log = compared.log
        if not (compared.ahead and log.owner.node_id in brokers):
            continue
        yield WorkStep(
            f"broker {log.owner.node_id} has applied lost records: before it starts, move its "
            f"{METADATA_PARTITION} away, on its own disk if this is a copy; it fetches a new one",
            None if log.is_packed else _move_away(log),
            log.owner.node_id,
        )
    read = {compared.log.owner.node_id for compared in plan.logs}
    if unknown := [broker for broker in brokers if broker not in read]:
        again = "make another plan" if hosts else "undo this"
        yield WorkStep(
            f"the metadata log of {named('broker', unknown)} was not given: before a start, move "
            f"{METADATA_PARTITION} away there too, or {again} and give it with --from"
        )


def _move_away(log: LogCopy) -> str:
    folder = os.path.realpath(log.folder)
    parent = os.path.dirname(os.path.dirname(folder))
    away = os.path.join(parent, f"{METADATA_PARTITION}.of-{log.owner.node_id}")
    return quoting.join(["mv", folder, away])


def _join(plan: RecoveryPlan, node_id: int, hosts: Hosts) -> Iterator[WorkStep]:
    """Yield the steps by which a removed voter joins again, from wiping to its vote."""
    host = hosts.get(node_id)
    joins_itself = host.joins_itself if host else bool(plan.config.values.get(AUTO_JOIN))
    if host:
        yield _script(host, "once the voters lead, pack and remove its old metadata log")
    else:
        yield from _wipe(plan, node_id, plan.config if not hosts else None)
    yield _start(node_id, _path(plan, node_id, hosts) or _CONFIG)
    if joins_itself:
        yield WorkStep(f"node {node_id} joins by itself ({AUTO_JOIN})", node_id=node_id)
    elif host:
        yield _script(host, "let it vote", action=" join")
    else:
        add = _ask(plan, "kafka-cluster controllers add", f"--id {node_id} --yes")
        yield WorkStep(f"node {node_id}: let it vote ({_LOGIN})", add, node_id)
    controllers = _ask(plan, "kafka-cluster controllers")
    yield WorkStep("see who votes", controllers, check=f"node {node_id} is a voter, too")


def _wipe(plan: RecoveryPlan, node_id: int, config: ServerConfig | None) -> Iterator[WorkStep]:
    """Yield the steps that wipe a node for which no script was written."""
    files = " ".join(f'"$LOG_DIR"/{name}' for name in VOID_NAMES)
    meta = f'"$LOG_DIR"/{META_FILE}'
    is_nameless = any(compared.log.owner.node_id is None for compared in plan.logs)
    lost_meta = f"[ ! -e {meta} ] || " if is_nameless else ""
    yield WorkStep(
        f"on the host of node {node_id}, with CONFIG as the path of its server.properties and "
        "LOG_DIR as its metadata directory (metadata.log.dir, else the first of log.dirs): wipe "
        "its metadata log, if its disk is still there",
        # On another host, or without LOG_DIR, it does nothing. After a kill it can be repeated.
        f"if {lost_meta}grep -qsx node.id={node_id} {meta}; then rm -rf {files}; fi",
        node_id,
    )
    form = format_command(config, plan, is_broker=node_id in plan.brokers)
    command = f'kafka-storage {quoting.join(form)} -c "$CONFIG"'
    yield WorkStep(f"node {node_id}: format it, with a new id", command, node_id)


def _leaderless(plan: RecoveryPlan, hosts: Hosts) -> Iterator[WorkStep]:
    """Yield the check of partitions in directories with new ids.

    A controller elects no leader in a directory that it does not know (KIP-858). A broker tells it
    the new id after it was unfenced; then only the next broker that is unfenced has it elect. A
    broker that is restarted before it has told the id is restarted in vain.
    """
    old_ids = {voter.node_id: voter.directory_id for voter in plan.old_voters or ()}
    changed = {*_joining(plan, hosts)}
    for voter in plan.new_voters:
        if old_ids.get(voter.node_id, voter.directory_id) != voter.directory_id:
            changed.add(voter.node_id)
    if brokers := sorted(changed.intersection(plan.brokers)):
        yield _look(plan, "see whether all brokers are there", "all of them are active")
        yield WorkStep(
            "see whether partitions stay without a leader, since directories of "
            f"{named('node', brokers)} have new ids",
            _ask(plan, "kraftops metadata-shell", "ls /image/topics/byState/leaderless"),
            check="there are none. If there still are after 10 seconds, restart node "
            f"{brokers[-1]} once more, and look again",
        )


def _script(
    host: Host, text: str, check: str = "the exit status is 0", action: str = ""
) -> WorkStep:
    path = "" if host.copy.config_path else f" {_CONFIG}"
    command = f"sh {host.script_name}{action}{path}"
    return WorkStep(f"on the host of node {host.node_id}: {text}", command, host.node_id, check)


def _path(plan: RecoveryPlan, node_id: int, hosts: Hosts) -> str | None:
    """Return the path of a node's configuration for a shell; None if it is unknown."""
    if host := hosts.get(node_id):
        return quoting.quote(host.copy.config_path) if host.copy.config_path else _CONFIG
    is_own = not hosts and node_id == plan.config.node_id
    return quoting.quote(plan.config.path) if is_own else None


def _start(node_id: int, path: str | None, kind: str = "node") -> WorkStep:
    command = path and f"kafka-server-start.sh {path}"
    return WorkStep(f"start {kind} {node_id}", command, node_id)


def _look(plan: RecoveryPlan, text: str, check: str) -> WorkStep:
    return WorkStep(text, _ask(plan, "kafka-cluster describe"), check=check)


def _ask(plan: RecoveryPlan, tool: str, words: str = "") -> str:
    """Return the command of a tool with `-C` and the new voters' addresses."""
    return f"{tool} -C {quoting.quote(addresses(plan.new_voters))} {words}".rstrip()

"""Advice after a recovery: the next steps in order, with complete commands."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import NamedTuple

from kraftops.display.sizes import many, named
from kraftops.log.files import METADATA_PARTITION
from kraftops.recovery.host_script import AUTO_JOIN, VOID_NAMES, addresses, format_command
from kraftops.recovery.log_copy import LogCopy
from kraftops.recovery.plan import RecoveryPlan
from kraftops.server.meta_properties import FILE_NAME as META_FILE
from kraftops.server.voters import Voter

LEADERLESS = "/image/topics/byState/leaderless"
LOGIN = "with --command-config CLIENT.PROPERTIES if the controllers ask for a login or for TLS"
"""What is to know of commands that ask a controller: they do not read a server.properties."""


class Advice(NamedTuple):
    """A step to take on a node (None: this or any), with its command if there is one."""

    text: str
    command: str | None = None
    node_id: int | None = None


def advice(plan: RecoveryPlan) -> list[Advice]:
    """Return the steps to take after a recovery.

    Commands for other nodes have none of this node's paths: they use `$CONFIG` and `$LOG_DIR`.
    """
    steps = [*_stops(plan), *_configuration(plan), *_others_first(plan)]
    steps += _brokers_ahead(plan)
    steps += _starts(plan)
    for node_id in plan.lost_ids:
        steps += _rejoin(plan, node_id)
    return [*steps, *_leaderless(plan)]


def _stops(plan: RecoveryPlan) -> Iterator[Advice]:
    """Yield the nodes that must not run when this node starts."""
    if ids := plan.lost_ids:
        disks = "its old disk" if len(ids) == 1 else "their old disks"
        yield Advice(f"keep {named('controller', ids)} from starting with {disks}")
    if brokers := _other_brokers(plan):
        yield Advice(
            f"stop {named('broker', brokers)}: one that has applied records from offset "
            f"{plan.chosen.end} on would crash"
        )


def _other_brokers(plan: RecoveryPlan) -> list[int]:
    """Return the brokers on other nodes that stay as they are; lost voters may be brokers too."""
    return sorted({*plan.brokers} - {plan.config.node_id, *plan.lost_ids})


def _configuration(plan: RecoveryPlan) -> Iterator[Advice]:
    """Yield the changes of configurations."""
    servers = addresses(plan.new_voters)
    if plan.config.voters:
        yield Advice(
            "in the configuration of every node, put this in the place of "
            f"controller.quorum.voters: controller.quorum.bootstrap.servers={servers}"
        )
        return
    servers_before = set(plan.config.bootstrap_servers)
    if not servers_before.intersection(servers.split(",")):
        yield Advice(
            f"in the configuration of every node, set controller.quorum.bootstrap.servers={servers}"
        )


def _others_first(plan: RecoveryPlan) -> Iterator[Advice]:
    """Yield that the other voters must get the same log before any of them starts."""
    equal = {
        compared.log.owner.node_id
        for compared in plan.logs
        if plan.offset is None and compared.common_end == compared.log.end == plan.chosen.end
    }
    own = plan.config.node_id
    others = [voter.node_id for voter in plan.new_voters if voter.node_id not in (own, *equal)]
    choice = " and --choose" if plan.is_named else ""
    if others:
        yield Advice(
            f"give {named('voter', others)} the same log, byte by byte, before any of them starts: "
            "kafka-storage recover-plan writes a script for each; by hand, copy "
            f"{plan.own.folder} there, and give it with --from{choice}, with the same --voters"
        )


def _brokers_ahead(plan: RecoveryPlan) -> Iterator[Advice]:
    """Yield the brokers that have applied records which the chosen log lacks."""
    for compared in plan.logs:
        log = compared.log
        is_broker = log.owner.node_id in _other_brokers(plan)
        if not (compared.ahead and is_broker):
            continue
        yield Advice(
            f"broker {log.owner.node_id} has applied lost records: before it starts, move its "
            f"{METADATA_PARTITION} away, on its own disk if this is a copy; it fetches a new one",
            None if log.is_unpacked else _move_away(log),
            log.owner.node_id,
        )
    read = {compared.log.owner.node_id for compared in plan.logs}
    if unknown := [broker for broker in _other_brokers(plan) if broker not in read]:
        yield Advice(
            f"the metadata log of {named('broker', unknown)} was not given: before a start, move "
            f"{METADATA_PARTITION} away there too, or undo this and give it with --from"
        )


def _move_away(log: LogCopy) -> str:
    folder = os.path.realpath(log.folder)
    parent = os.path.dirname(os.path.dirname(folder))
    away = os.path.join(parent, f"{METADATA_PARTITION}.of-{log.owner.node_id}")
    return shlex.join(["mv", folder, away])


def _starts(plan: RecoveryPlan) -> Iterator[Advice]:
    """Yield the starts of nodes in order, with a check of the quorum."""
    own = plan.config.node_id
    yield Advice(f"start node {own}", shlex.join(["kafka-server-start.sh", plan.config.path]), own)
    for voter in plan.new_voters:
        if voter.node_id != own:
            yield Advice(f"start node {voter.node_id}", node_id=voter.node_id)
    yield Advice(
        "see whether it leads", shlex.join(["kafka-cluster", "controllers", *_leader(plan)])
    )
    others = _other_brokers(plan)
    for broker in plan.partitions.first_brokers:
        if broker.broker in others:
            others.remove(broker.broker)
            yield Advice(
                f"once it does, start broker {broker.broker}, and wait until it is there: it alone "
                f"has the newest copies of {many(broker.newest_alone, 'partition')}",
                node_id=broker.broker,
            )
    if others:
        when = "then" if plan.partitions.first_brokers else "once it does,"
        yield Advice(f"{when} start {named('broker', others)}")


def _leader(plan: RecoveryPlan) -> list[str]:
    """Return the option of a command that asks this node, from any host."""
    return ["-C", addresses([_own_voter(plan)])]


def _own_voter(plan: RecoveryPlan) -> Voter:
    return next(voter for voter in plan.new_voters if voter.node_id == plan.config.node_id)


def _rejoin(plan: RecoveryPlan, node_id: int) -> Iterator[Advice]:
    """Yield the steps that make a removed voter a voter again, with paths of its own host."""
    files = " ".join(f'"$LOG_DIR"/{name}' for name in VOID_NAMES)
    meta = f'"$LOG_DIR"/{META_FILE}'
    yield Advice(
        f"on the host of node {node_id}, with CONFIG as the path of its server.properties and "
        "LOG_DIR as its metadata directory (metadata.log.dir, else the first of log.dirs): wipe "
        "its metadata log, if its disk is still there",
        # On another host, or without LOG_DIR, it does nothing. After a kill it can be repeated.
        f"if grep -qsx node.id={node_id} {meta}; then rm -rf {files}; fi",
        node_id,
    )
    assert plan.directory.meta
    cluster_id, is_broker = plan.directory.meta.cluster_id or "", node_id in plan.brokers
    form = format_command(plan.config, cluster_id, plan.release, is_broker=is_broker)
    command = f'kafka-storage {shlex.join(form)} -c "$CONFIG"'
    yield Advice(f"node {node_id}: format it, with a new id", command, node_id)
    yield Advice(f"node {node_id}: start it", 'kafka-server-start.sh "$CONFIG"', node_id)
    if plan.config.values.get(AUTO_JOIN):
        yield Advice(f"node {node_id} joins by itself ({AUTO_JOIN})", node_id=node_id)
    else:
        add = ["kafka-cluster", "controllers", "add", *_leader(plan), "--id", str(node_id), "--yes"]
        yield Advice(f"node {node_id}: let it vote ({LOGIN})", shlex.join(add), node_id)


def _leaderless(plan: RecoveryPlan) -> Iterator[Advice]:
    """Yield the check of partitions in directories with new ids.

    A controller elects no leader in a directory that it does not know (KIP-858). A broker tells it
    the new id after it was unfenced; then only the next broker that is unfenced has it elect. A
    broker that is restarted before it has told the id is restarted in vain.
    """
    own = _own_voter(plan)
    changed = {*plan.lost_ids}
    for voter in plan.old_voters or ():
        if voter.node_id == own.node_id and voter.directory_id != own.directory_id:
            changed.add(own.node_id)
    if brokers := sorted(changed.intersection(plan.brokers)):
        tool = ["kraftops", "metadata-shell", *_leader(plan)]
        yield Advice(
            "when all have been active for 10 seconds, see whether partitions stay without a "
            f"leader, since directories of {named('node', brokers)} have new ids; if so, restart "
            f"node {brokers[-1]} once more, and look again",
            shlex.join([*tool, "ls", LEADERLESS]),
        )

"""Decommission of brokers: move their replicas away, wait for their end, unregister them.

Each round looks at the cluster, decides by what it sees, and acts. Nothing else is remembered, so
that the next run goes on after a kill at any moment.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from kraftops.errors import AnswerError, RefusedError
from kraftops.placement.placement import Placement, Replicas, TopicPartition, names, shown
from kraftops.placement.plan import Limits, Move, Plan, plan_removal, takers
from kraftops.placement.reassignment_json import PlannedReplicas, moves_of_file
from kraftops.reassign.access import ClusterAccess
from kraftops.reassign.cordons import cordon, uncordon
from kraftops.reassign.events import Event, Report
from kraftops.reassign.min_isr import min_isr_of_topics
from kraftops.reassign.moves import PAUSE_SECONDS, MoveOptions, Mover, check_time, progress
from kraftops.wire.rpc.cluster import describe_quorum, unregister_broker
from kraftops.wire.rpc.error_codes import BROKER_ID_NOT_REGISTERED, CLUSTER_AUTHORIZATION_FAILED

_MOST_IDS = 20


@dataclass(frozen=True, slots=True)
class Decommission:
    """The brokers to decommission, and how; *waits* for their end after they are empty.

    With *planned*, moves come from a plan of a user.
    """

    brokers: frozenset[int]
    limits: Limits
    options: MoveOptions
    waits: bool = True
    planned: dict[TopicPartition, PlannedReplicas] | None = None

    def plan(self, placement: Placement) -> Plan:
        """Return the moves that are left; partitions in flight are left out."""
        if self.planned is None:
            return plan_removal(placement, self.brokers, self.limits)
        return Plan(moves_of_file(placement, self.planned), [])


def check_decommission(access: ClusterAccess, placement: Placement, request: Decommission) -> None:
    """Refuse what would do harm.

    Raises:
        RefusedError: replicas may be hidden, a broker is a voter, no other broker can take a
            replica, a partition has no leader, or others move replicas.
        WireError: nobody answers.
    """
    access.refuse_hidden_topics()
    voters = sorted(request.brokers & _voters(access))
    if voters:
        raise RefusedError(
            f"{_nodes(voters)} also a voter of the quorum: to stop it weakens the quorum",
            hint="kafka-metadata-quorum remove-controller takes it out of the quorum first",
            brokers=voters,
        )
    others = [
        partition
        for partition, found in placement.moving.items()
        if not is_leaving(found, request.brokers)
    ]
    if others:
        raise RefusedError(
            f"other reassignments are in flight: {shown(others)}",
            hint="kafka-cluster wait --until no-reassignments waits for their end",
            partitions=names(others),
        )
    leaderless = [
        partition for partition, found in placement.on(request.brokers) if found.leader < 0
    ]
    if leaderless:
        raise RefusedError(
            f"partitions without a leader cannot be moved: {shown(leaderless)}",
            hint="start a broker that has one of their replicas in sync",
            partitions=names(leaderless),
        )
    plan = request.plan(placement)
    hopeless = [each for each in plan.stuck if not _may_wait(placement, each, request)]
    if hopeless:
        raise RefusedError(
            f"there are too few brokers for the replicas of {shown(hopeless)}",
            hint="add brokers, or give more of them to --to",
            partitions=names(hopeless),
        )
    _note_under_min_isr(access, placement, plan.moves)
    _note_unknown(access, placement, request.brokers)


def check_all_moved(placement: Placement, request: Decommission) -> None:
    """Refuse to begin with a plan that leaves replicas on the brokers.

    Raises:
        RefusedError: it does, by an excluded topic or because a user's plan has only some.
    """
    plan = request.plan(placement)
    moved = {*plan.stuck, *placement.moving, *(move.partition for move in plan.moves)}
    left_out = [
        partition for partition, _ in placement.on(request.brokers) if partition not in moved
    ]
    if left_out:
        raise _not_emptied(request.brokers, left_out)


def is_leaving(found: Replicas, brokers: frozenset[int]) -> bool:
    """Tell whether a reassignment in flight takes a partition off these brokers."""
    return not brokers.isdisjoint(found.removing) and brokers.isdisjoint(found.target)


class End(NamedTuple):
    """Whether all brokers are gone, or only empty; and those that this run has unregistered."""

    are_gone: bool
    unregistered: frozenset[int]


class _Run:
    """The state of one run, which is only about what was already said and done."""

    def __init__(self, access: ClusterAccess, request: Decommission, report: Report) -> None:
        self._access = access
        self._request = request
        self._report = report
        self._mover = Mover(access, request.options, report)
        self._told: set[str] = set()
        self._gone: set[int] = set()
        self._sent: set[int] = set()
        self._unregistered: set[int] = set()
        self._is_cordoned: bool | None = None  # not known yet

    def run(self) -> End:
        """Go on until all brokers are gone, or only to their end."""
        access, request = self._access, self._request
        self._mover.begin(access.patiently(access.placement))
        while True:
            check_time(access)
            placement = access.patiently(access.settled)
            held = dict(placement.on(request.brokers))
            moving = placement.moving
            if moving:
                # Those of others, too: the next plan must know where their replicas end.
                self._report(progress(placement, len(held.keys() - moving.keys())))
                time.sleep(PAUSE_SECONDS)
            elif held:
                self._move(placement, held)
            else:
                self._mover.clear()
                end = self._leave(placement)
                if end is not None:
                    return End(end, frozenset(self._unregistered))

    def _move(self, placement: Placement, held: dict[TopicPartition, Replicas]) -> None:
        """Begin the next batch, with a cordon before the first one."""
        request, access = self._request, self._access
        self._cordon()
        plan = request.plan(placement)
        able = [move for move in plan.moves if placement.partitions[move.partition].leader >= 0]
        if able:
            self._told.clear()
            self._mover.step(able)
            return
        waiting = {*plan.stuck, *(move.partition for move in plan.moves)}
        if waiting:
            text = f"waits for brokers that are down: {shown(waiting)}"
            self._tell_once(Event("waiting", text, {"partitions": len(waiting)}))
            time.sleep(PAUSE_SECONDS)
            return
        access.patiently(lambda: uncordon(access, access.placement(), request.brokers))
        self._mover.clear()
        raise _not_emptied(request.brokers, held)

    def _cordon(self) -> None:
        access, brokers = self._access, self._request.brokers
        if self._is_cordoned:
            return
        self._is_cordoned = True
        done = access.patiently(lambda: cordon(access, access.placement(), brokers))
        if done:
            self._report(
                Event("cordoned", f"no new partitions come to {_ids(done)}", {"brokers": done})
            )

    def _leave(self, placement: Placement) -> bool | None:
        """Take the next step of brokers that are empty; tell whether that was the last one.

        None asks for another round.
        """
        access, request = self._access, self._request
        running = [
            broker
            for broker in sorted(request.brokers)
            if broker in placement.brokers and not placement.brokers[broker].is_fenced
        ]
        if running:
            if access.controllers is None and self._is_cordoned is not False:
                # Nobody could remove it once the broker is down.
                access.patiently(lambda: uncordon(access, access.placement(), running))
                self._is_cordoned = False
            self._tell_once(
                Event(
                    "stop",
                    f"{_brokers(running)} empty: stop {_the_processes(running)} now",
                    {"brokers": running},
                )
            )
            if not request.waits:
                return False
            time.sleep(PAUSE_SECONDS)
            return None
        left = [
            broker
            for broker in sorted(request.brokers)
            if broker in placement.brokers or (not access.lists_fenced and broker not in self._gone)
        ]
        if not left:
            return True
        self._unregister(left)
        return None

    def _unregister(self, brokers: Sequence[int]) -> None:
        """Unregister brokers that are down, if all answers agree that they are empty."""
        access = self._access
        if access.controllers is None and self._is_cordoned:
            raise RefusedError(
                f"{_brokers(brokers)} empty, but went down before the cordon was removed, which"
                " would stay for a broker of the same id",
                hint="-C with the addresses of controllers removes it, and goes on",
            )
        if access.controllers is not None:
            access.patiently(lambda: uncordon(access, access.placement(), brokers))
        for found in access.patiently(access.fresh_placements):
            for broker in brokers:
                place = found.brokers.get(broker)
                is_running = place is not None and not place.is_fenced
                if is_running or any(found.on(frozenset({broker}))):
                    self._tell_once(
                        Event("waiting", f"not all nodes agree yet that {broker} has gone")
                    )
                    time.sleep(PAUSE_SECONDS)
                    return
        for broker in brokers:
            is_done = access.patiently(partial(self._unregister_one, broker))
            self._gone.add(broker)
            if is_done and broker not in self._unregistered:
                self._unregistered.add(broker)
                self._report(
                    Event("unregistered", f"broker {broker} is unregistered", {"brokers": [broker]})
                )

    def _unregister_one(self, broker: int) -> bool:
        """Unregister a broker; tell whether this run has done it."""
        was_sent = broker in self._sent
        self._sent.add(broker)
        try:
            self._access.ask(lambda connection: unregister_broker(connection, broker))
        except AnswerError as error:
            if error.error_code != BROKER_ID_NOT_REGISTERED:
                raise
            return was_sent
        return True

    def _tell_once(self, event: Event) -> None:
        if event.text not in self._told:
            self._told.add(event.text)
            self._report(event)


def decommission(access: ClusterAccess, request: Decommission, report: Report) -> End:
    """Decommission brokers, or only empty them, as the request says.

    Raises:
        KraftopsError: it cannot go on, or not in time; another run goes on from there.
    """
    return _Run(access, request, report).run()


def _note_under_min_isr(access: ClusterAccess, placement: Placement, moves: Sequence[Move]) -> None:
    """Note partitions under their min ISR: a move mends them, or waits for their brokers."""
    known = access.patiently(lambda: min_isr_of_topics(access, placement, None))
    under = [
        move.partition
        for move in moves
        if len(placement.partitions[move.partition].isr)
        < min(known[move.partition.topic].value, len(move.before))
    ]
    if under:
        access.note(f"under min.insync.replicas already: {shown(under)}")


def _note_unknown(access: ClusterAccess, placement: Placement, brokers: frozenset[int]) -> None:
    """Note ids that no broker has: nobody can tell one that has gone from one that never was."""
    unknown = brokers.difference(placement.brokers)
    if unknown and access.lists_fenced and not any(placement.on(unknown)):
        some = ", ".join(map(str, sorted(placement.brokers)[:_MOST_IDS]))
        more = ", …" if len(placement.brokers) > _MOST_IDS else ""
        access.note(f"no broker has the id {_ids(unknown)}: the cluster has {some}{more}")


def _voters(access: ClusterAccess) -> frozenset[int]:
    """Return the ids of the controllers that vote; none if the user may not see them."""
    try:
        quorum = access.patiently(lambda: access.ask(describe_quorum))
    except AnswerError as error:
        if error.error_code != CLUSTER_AUTHORIZATION_FAILED:
            raise
        access.note("it cannot be seen whether a broker is a voter of the quorum")
        return frozenset()
    return frozenset(each.node_id for each in quorum.voters)


def _may_wait(placement: Placement, partition: TopicPartition, request: Decommission) -> bool:
    """Tell whether brokers that are down now, or going down, could take replicas later."""
    everybody = Placement(
        {
            broker: place._replace(
                takes_replicas=place.takes_replicas or place.is_fenced or place.is_stopping
            )
            for broker, place in placement.brokers.items()
        },
        {},
    )
    target = placement.partitions[partition].target
    fit = takers(everybody, request.brokers, request.limits).difference(target)
    return len(fit) >= len(request.brokers.intersection(target))


def _ids(brokers: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(brokers)))


def _not_emptied(brokers: frozenset[int], left_out: Iterable[TopicPartition]) -> RefusedError:
    some = sorted(left_out)
    return RefusedError(
        f"{_brokers(brokers)} not emptied: the plan leaves out {shown(some)}",
        hint="run it without --exclude-topic, or with a plan of all their partitions",
        partitions=names(some),
    )


def _brokers(brokers: Iterable[int]) -> str:
    some = sorted(brokers)
    return f"broker {some[0]} is" if len(some) == 1 else f"brokers {_ids(some)} are"


def _nodes(nodes: Iterable[int]) -> str:
    some = sorted(nodes)
    return f"broker {some[0]} is" if len(some) == 1 else f"each of brokers {_ids(some)} is"


def _the_processes(brokers: Sequence[int]) -> str:
    return "its process" if len(brokers) == 1 else "their processes"

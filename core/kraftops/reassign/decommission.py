"""Decommission of brokers: move their replicas away, wait for their end, unregister them.

Each round looks at the cluster, decides by what it sees, and acts. Nothing else is remembered, so
that the next run goes on after a kill at any moment.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.errors import AnswerError, KraftopsError, RefusedError
from kraftops.placement.placement import Placement, Replicas, TopicPartition, names, shown
from kraftops.placement.plan import Limits, Move, Plan, plan_removal, takers
from kraftops.placement.reassignment_json import moves_of_file
from kraftops.reassign.access import ClusterAccess
from kraftops.reassign.events import Event, Report
from kraftops.reassign.marks import DECOMMISSION, Part
from kraftops.reassign.min_isr import min_isr_of_topics
from kraftops.reassign.moves import PAUSE_SECONDS, MoveOptions, Mover, check_time, refuse_others
from kraftops.reassign.settings import clear_marked, cordon, has_cordons
from kraftops.wire.rpc.cluster import describe_quorum, unregister_broker
from kraftops.wire.rpc.error_codes import BROKER_ID_NOT_REGISTERED, CLUSTER_AUTHORIZATION_FAILED

_MOST_IDS = 20  # that fit into a line of an error
_CHANGES = frozenset({"batch", "cordoned", "throttles-removed", "unregistered"})
"""The events of changes; the mark of an operation, which each run writes, only names its author."""


@dataclass(frozen=True, slots=True)
class Decommission:
    """The brokers to decommission, and how; *waits* for their end after they are empty.

    With *planned*, moves come from a plan of a user.
    """

    brokers: frozenset[int]
    limits: Limits
    options: MoveOptions
    waits: bool = True
    planned: dict[TopicPartition, Move] | None = None

    def plan(self, placement: Placement) -> Plan:
        """Plan what has yet to move; partitions in flight, or stranded, are left out."""
        if self.planned is not None:
            return Plan(moves_of_file(placement, self.planned), [])
        stranded = stranded_on(placement, self.brokers)
        plan = plan_removal(placement, self.brokers, self.limits)
        return Plan(
            [move for move in plan.moves if move.partition not in stranded],
            [partition for partition in plan.stuck if partition not in stranded],
        )


def check_decommission(access: ClusterAccess, placement: Placement, request: Decommission) -> None:
    """Refuse what would do harm.

    Raises:
        RefusedError: replicas may be hidden, a broker is a voter, no other broker can take a
            replica, or others move replicas.
        KraftopsError: no broker has one of the ids, nor had when an operation began.
        WireError: no server answers.
    """
    access.refuse_hidden_topics()
    voters = sorted(request.brokers & _voters(access))
    if voters:
        raise RefusedError(
            f"{_brokers(voters)} also in the quorum, which a stop weakens",
            hint="kafka-cluster controllers remove --id ID takes it out of the quorum first",
            brokers=voters,
        )
    refuse_others(
        [
            partition
            for partition, replicas in placement.moving.items()
            if not is_leaving(replicas, request.brokers)
        ]
    )
    plan = request.plan(placement)
    hopeless = [
        partition for partition in plan.stuck if not _may_wait(placement, partition, request)
    ]
    if hopeless:
        raise RefusedError(
            f"too few brokers for the replicas of {shown(hopeless)}",
            hint="add brokers, or give more of them to --to",
            partitions=names(hopeless),
        )
    _note_under_min_isr(access, placement, plan.moves)
    _check_unknown(access, placement, request.brokers)
    if stranded := stranded_on(placement, request.brokers):
        access.note(f"without a leader, and not moved: {shown(stranded)}")


def check_all_moved(placement: Placement, request: Decommission) -> None:
    """Refuse to begin with a plan that leaves replicas on the brokers.

    Raises:
        RefusedError: it does, by an excluded topic or because a user's plan has only some.
    """
    plan = request.plan(placement)
    moved = {*plan.stuck, *placement.moving, *(move.partition for move in plan.moves)}
    moved |= stranded_on(placement, request.brokers).keys()
    left_out = [
        partition for partition, _ in placement.on(request.brokers) if partition not in moved
    ]
    if left_out:
        raise _not_emptied(request.brokers, left_out)


def is_leaving(replicas: Replicas, brokers: frozenset[int]) -> bool:
    """Tell whether a reassignment in flight takes a partition off these brokers."""
    return not brokers.isdisjoint(replicas.removing) and brokers.isdisjoint(replicas.target)


def stranded_on(placement: Placement, brokers: frozenset[int]) -> dict[TopicPartition, Replicas]:
    """Find partitions whose whole ISR is brokers that leave and are down.

    They have no leader to copy from: no other broker may be elected (KIP-841).
    """
    down = brokers.difference(placement.running)
    return {
        partition: replicas
        for partition, replicas in placement.on(brokers)
        if replicas.leader < 0 and down.issuperset(replicas.isr)
    }


class End(NamedTuple):
    """Whether all brokers are gone, or only empty; and what this run has done.

    Brokers with *stranded* partitions are neither.
    """

    are_gone: bool
    has_changed: bool
    unregistered: frozenset[int]
    stranded: dict[TopicPartition, Replicas]


class _Run:
    """The state of one run, which is only about what was already said and done."""

    def __init__(self, access: ClusterAccess, request: Decommission, report: Report) -> None:
        self._access = access
        self._request = request
        self._print = report
        self._mover = Mover(access, request.options, self._report, DECOMMISSION)
        self._has_changed = False
        self._said: set[str] = set()
        self._gone: set[int] = set()
        self._sent: set[int] = set()
        self._unregistered: set[int] = set()

    def run(self) -> End:
        """Go on until all brokers are gone, or only to their end."""
        access, request = self._access, self._request
        placement = access.patiently(access.placement)
        self._mover.begin(placement)
        self._cordon(placement)
        while True:
            check_time(access)
            placement = access.patiently(access.settled)
            stranded = stranded_on(placement, request.brokers)
            replicas_by_partition = {
                partition: replicas
                for partition, replicas in placement.on(request.brokers)
                if partition not in stranded
            }
            if replicas_by_partition or placement.moving:
                # Those of others, too: the next plan must know where their replicas end.
                self._move(placement, replicas_by_partition)
                continue
            self._mover.clear()
            holders = {broker for replicas in stranded.values() for broker in replicas.replicas}
            leaving = request.brokers - holders
            are_gone = self._leave(placement, sorted(leaving))
            if are_gone is None:
                continue
            if are_gone:
                access.patiently(access.end_operation, DECOMMISSION, leaving)
            return End(are_gone, self._has_changed, frozenset(self._unregistered), stranded)

    def _report(self, event: Event) -> None:
        self._has_changed |= event.name in _CHANGES
        self._print(event)

    def _move(
        self, placement: Placement, replicas_by_partition: dict[TopicPartition, Replicas]
    ) -> None:
        """Begin the next moves, or wait for those in flight."""
        request, access = self._request, self._access
        plan = request.plan(placement)
        able = [move for move in plan.moves if placement.partitions[move.partition].leader >= 0]
        if able or placement.moving:
            self._said.clear()
            self._mover.advance(placement, able)
            return
        waiting = {*plan.stuck, *(move.partition for move in plan.moves)}
        if waiting:
            text = f"waits for brokers that are down: {shown(waiting)}"
            self._tell_once("waiting", text, partitions=len(waiting))
            self._mover.wait(placement, len(waiting))
            return
        access.with_placement(clear_marked, request.brokers, Part.CORDON)
        self._mover.clear()
        access.patiently(access.end_operation, DECOMMISSION, request.brokers)
        raise _not_emptied(request.brokers, replicas_by_partition)

    def _cordon(self, placement: Placement) -> None:
        """Mark the operation, also if nothing is to be moved, and cordon the brokers."""
        access, brokers = self._access, self._request.brokers
        moves = self._request.plan(placement).moves
        count = sum(1 for _ in placement.on(brokers))
        self._mover.mark_begin(placement, moves, brokers, count)
        mark = self._mover.mark
        done = access.with_placement(cordon, mark, brokers)
        if done:
            self._report(
                Event("cordoned", f"no new partitions go to {_ids(done)}", {"brokers": done})
            )

    def _leave(self, placement: Placement, brokers: Sequence[int]) -> bool | None:
        """Take the next step of brokers that are empty; tell whether all are gone by now.

        None asks for another round.
        """
        access, request = self._access, self._request
        if running := [*filter(placement.is_running, brokers)]:
            processes = "its process" if len(running) == 1 else "their processes"
            text = f"{_brokers(running)} empty: stop {processes} now"
            self._tell_once("stop", text, brokers=running)
            if not request.waits:
                return False
            time.sleep(PAUSE_SECONDS)
            return None
        registered = [
            broker
            for broker in brokers
            if broker in placement.brokers or (not access.lists_fenced and broker not in self._gone)
        ]
        if not registered:
            return True
        self._unregister(registered)
        return None

    def _unregister(self, brokers: Sequence[int]) -> None:
        """Unregister brokers that are down, if all answers agree that they are empty."""
        access = self._access
        if access.find_controllers():
            access.with_placement(clear_marked, brokers, Part.CORDON)
        elif has_cordons(access, access.patiently(access.placement)):
            self._tell_once(
                "cordon-kept",
                f"a cordon of {_ids(brokers)} may stay in the configuration, for a broker that"
                " comes with the id: only controllers can remove it (-C)",
                brokers=[*brokers],
            )
        for placement in access.patiently(access.fresh_placements):
            for broker in brokers:
                if placement.is_running(broker) or any(placement.on(frozenset({broker}))):
                    self._tell_once("waiting", f"not all nodes agree yet that {broker} has gone")
                    time.sleep(PAUSE_SECONDS)
                    return
        for broker in brokers:
            is_done = access.patiently(self._unregister_one, broker)
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
            self._access.ask(unregister_broker, broker)
        except AnswerError as error:
            if error.error_code != BROKER_ID_NOT_REGISTERED:
                raise
            return was_sent
        return True

    def _tell_once(self, name: str, text: str, **facts: object) -> None:
        if text not in self._said:
            self._said.add(text)
            self._report(Event(name, text, facts))


def decommission(access: ClusterAccess, request: Decommission, report: Report) -> End:
    """Decommission brokers, or only empty them, as the request says.

    Raises:
        KraftopsError: it cannot go on, or not in time; another run goes on from there.
    """
    return _Run(access, request, report).run()


def _note_under_min_isr(access: ClusterAccess, placement: Placement, moves: Sequence[Move]) -> None:
    """Note partitions under their min ISR: a move mends them, or waits for their brokers."""
    min_isr = access.patiently(min_isr_of_topics, access, placement, None)
    under = [
        move.partition
        for move in moves
        if len(placement.partitions[move.partition].isr)
        < min(min_isr[move.partition.topic].value, len(move.before))
    ]
    if under:
        access.note(f"under min.insync.replicas already: {shown(under)}")


def _check_unknown(access: ClusterAccess, placement: Placement, brokers: frozenset[int]) -> None:
    """Refuse ids that no broker has.

    A run that was killed after it had unregistered a broker has left its mark, which is removed as
    the last thing; and the metadata log has its broker, back to the last snapshot.

    Raises:
        KraftopsError: there is such an id.
    """
    unknown = brokers.difference(placement.brokers)
    if not unknown or not access.lists_fenced or any(placement.on(unknown)):
        return
    marks = access.patiently(access.marks).values()
    marked = {broker for mark in marks if mark.kind == DECOMMISSION for broker in mark.brokers}
    some = ", ".join(map(str, sorted(placement.brokers)[:_MOST_IDS]))
    more = ", …" if len(placement.brokers) > _MOST_IDS else ""
    missing = [broker for broker in sorted(unknown - marked) if not access.was_registered(broker)]
    if missing:
        raise KraftopsError(
            f"no broker has the id {_ids(missing)}, and no decommission of it has begun",
            hint=f"the cluster has {some}{more}",
            code="broker-not-registered",
            brokers=missing,
        )
    access.note(f"an earlier run has unregistered {_ids(unknown)}")


def _voters(access: ClusterAccess) -> frozenset[int]:
    """Ask who votes; without permission none, with a note to the user."""
    try:
        quorum = access.patiently(access.ask, describe_quorum)
    except AnswerError as error:
        if error.error_code != CLUSTER_AUTHORIZATION_FAILED:
            raise
        access.note("it cannot be seen whether a broker is a voter of the quorum")
        return frozenset()
    return frozenset(voter.node_id for voter in quorum.voters)


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

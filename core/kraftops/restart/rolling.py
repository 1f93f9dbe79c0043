"""A rolling restart: look, decide, act, until all nodes run as new processes.

All that the next run must know is in the cluster, so that it goes on after a kill at any moment.
"""

import os
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from kraftops.display.sizes import many
from kraftops.display.times import span_text
from kraftops.errors import KraftopsError, RefusedError
from kraftops.placement.leaders import moves_away, moves_back, preferred
from kraftops.placement.placement import Placement, placement_of
from kraftops.placement.plan import Move
from kraftops.placement.safety import MinIsr
from kraftops.reassign.access import ClusterAccess, ask_default_keys
from kraftops.reassign.events import Event, Report
from kraftops.reassign.leadership import change_leaders
from kraftops.reassign.marks import MARK_VALUE, RESTART, Mark, new_author
from kraftops.reassign.min_isr import min_isr_of_topics
from kraftops.reassign.moves import check_time
from kraftops.reassign.operations import CORDONS, THROTTLES, operations_under_way
from kraftops.restart.begun import Begun, begin_changes, begun_in, end_changes
from kraftops.restart.decide import Action, Step, View, decide, has_restarted
from kraftops.restart.hook import Hook
from kraftops.restart.nodes import Node, chosen, nodes_in
from kraftops.voters.access import QuorumAccess
from kraftops.voters.rules import VoterSet
from kraftops.voters.stop import StopRules, without_topics
from kraftops.wire.admin.configs import ConfigChange, Operation
from kraftops.wire.admin.log_dirs import ask_log_dirs
from kraftops.wire.net.deadline import Deadline

SECONDS_A_NODE = 60
"""What a restart is taken to last before the first is done: stop, start and catch up."""
_PAUSE_SECONDS = 0.5  # between two looks at nodes that take seconds to start
_PROGRESS_SECONDS = 10.0  # between two lines about the same wait: six lines a minute in a log
_MARK_SECONDS = 10.0  # for a mark to come from the broker that sets it into the metadata log
_HINT = "run the same restart again to go on; kafka-cluster operations cancel restart ends it"


@dataclass(frozen=True, slots=True)
class Restart:
    """The nodes to restart by id, and how; *excluded* topics do not count for safety."""

    nodes: Mapping[int, Node]
    hook: Hook
    stall_seconds: float
    at_once: int = 1
    allows_single_replica: bool = False
    excluded: Collection[str] = ()


def follow_log(access: ClusterAccess) -> None:
    """Follow the metadata log, which alone has incarnations.

    Raises:
        KraftopsError: the controllers are not given, and brokers do not name them.
    """
    if not access.find_controllers():
        raise KraftopsError(
            "a restart follows the metadata log, which cannot be read by the addresses of brokers",
            hint="-C gives those of controllers; the user needs CLUSTER_ACTION on the cluster",
            code="not-supported",
        )


def look(access: ClusterAccess) -> tuple[dict[int, Node], Placement]:
    """Return nodes and placement as of the same moment; errors as `ClusterAccess.placement`."""
    image = access.metadata()
    assert image is not None
    return nodes_in(image), placement_of(image)


def names_of(nodes: Sequence[Node]) -> str:
    return ", ".join(f"{node.roles.replace(',', ' and ')} {node.node_id}" for node in nodes)


def check_alone(access: ClusterAccess, *, takes_over: bool) -> frozenset[int]:
    """Refuse a restart beside others; return the nodes that an earlier run has left.

    Raises:
        RefusedError: another operation is under way, or a restart whose process may still exist.
    """
    placement = access.patiently(access.placement)
    remaining: frozenset[int] = frozenset()
    for operation in access.patiently(operations_under_way, access, placement):
        if operation.kind == RESTART and operation.author:
            user, host, pid, _ = operation.author
            if operation.is_running is not False and pid != os.getpid() and not takes_over:
                raise RefusedError(
                    f"a restart is under way, by {user}@{host} ({pid})",
                    hint="if that process has ended, --take-over goes on with what it has begun",
                )
            remaining |= frozenset(operation.brokers)
        elif operation.kind not in (THROTTLES, CORDONS):
            raise RefusedError(
                f"another operation is under way: {operation.name}",
                hint="kafka-cluster operations shows it, and cancels it",
            )
    return remaining


def refuse_impossible(view: View) -> None:
    """Refuse nodes that may not stop whatever is waited for, as the only voter.

    Raises:
        RefusedError: there is such a node.
    """
    best = {
        partition: replicas._replace(isr=replicas.target, leader=replicas.target[0])
        for partition, replicas in view.rules.placement.partitions.items()
    }
    brokers = {
        broker: place._replace(is_fenced=False)
        for broker, place in view.rules.placement.brokers.items()
    }
    quorum = view.rules.quorum and VoterSet(view.rules.quorum.voters, view.rules.quorum.voters)
    rules = replace(view.rules, placement=Placement(brokers, best), quorum=quorum)
    for stop in rules.stop_of_each():
        node = stop.nodes[0]
        if node in view.nodes and node not in view.begun and not stop.is_safe:
            name, reason = names_of([view.nodes[node]]), "; ".join(stop.reasons())
            raise RefusedError(
                f"{name} can never stop safely: {reason}",
                hint="--roles, --id, --allow-single-replica and --exclude-topic leave out what may"
                " be down",
            )


def cancel_restart(access: ClusterAccess) -> None:
    """Give the leaders back to nodes that have none because of a restart, and forget these.

    Raises:
        KraftopsError: no server answers, or not in time.
    """
    keys = access.patiently(access.ask, ask_default_keys)
    placement = access.patiently(access.placement)
    for node, begun in begun_in(keys).items():
        change_leaders(access, moves_back(placement, node, begun.leads))
        access.patiently(access.change_defaults, end_changes([node], keys))


class Rolling:
    """One run of a restart; *report* gets each step."""

    def __init__(self, access: ClusterAccess, request: Restart, report: Report) -> None:
        self._access = access
        self._request = request
        self._report = report
        self._quorum = QuorumAccess(access)
        self._mark = Mark(RESTART, new_author(), brokers=tuple(sorted(request.nodes)))
        self._is_marked = False  # as seen in the metadata log, which is behind a moment
        self._keys = access.patiently(access.ask, ask_default_keys)
        self._min_isr: Mapping[str, MinIsr] = {}
        self._drained: set[int] = set()
        self._hooked: set[int] = set()
        self._last: Step | None = None
        self._started_at = self._changed_at = time.monotonic()
        self._reported_at = 0.0
        self._finished = 0

    def view(self) -> View:
        """Look at the cluster.

        Raises:
            KraftopsError: no server answers, or it is not permitted.
        """
        access, request = self._access, self._request
        begun = begun_in(self._keys)
        nodes, placement = access.patiently(look, access)
        nodes = chosen(nodes, self._mark.brokers, None)
        if not begun or not self._min_isr:
            self._min_isr = access.patiently(min_isr_of_topics, access, placement, None)
        quorum = None
        if any(node.is_controller for node in nodes.values()):
            quorum = self._quorum.quorum()
        rules = StopRules(
            without_topics(placement, request.excluded),
            self._min_isr,
            quorum.voter_set if quorum else None,
            request.allows_single_replica,
        )
        view = View(
            begun=begun,
            nodes=nodes,
            placement=placement,
            rules=rules,
            leader=quorum.info.leader if quorum else -1,
            failed={},
            drained=frozenset(self._drained),
            hooked=frozenset(self._hooked),
            at_once=request.at_once,
        )
        return view._replace(failed=self._failed(view))

    def run(self) -> None:
        """Restart the nodes; what an earlier run has begun is brought to its end first.

        Raises:
            RefusedError: nodes must not stop, or the restart was cancelled.
            KraftopsError: a hook fails, a node does not come back, or not in time.
        """
        self._begin()
        while self._mark.brokers:
            check_time(self._access)
            self._check_mark()
            view = self.view()
            step = decide(view)
            try:
                self._act(view, step)
            except KraftopsError as error:
                error.hint = error.hint or _HINT
                raise
            self._last = step

    def _begin(self) -> None:
        """Mark the restart, in the place of an earlier run's mark.

        Raises:
            RefusedError: another restart has begun at the same moment.
        """
        access = self._access
        self._mark = self._mark._replace(partitions=len(self._mark.brokers))
        self._mark = access.patiently(access.begin_operation, self._mark)
        limit = Deadline(_MARK_SECONDS)
        while not self._is_marked and not limit.is_over:
            self._check_mark()
        marks = access.patiently(access.marks)
        if any(mark.kind == RESTART and key != self._mark.key for key, mark in marks.items()):
            deletion = ConfigChange(self._mark.key, Operation.DELETE)
            access.patiently(access.change_defaults, [deletion])
            raise RefusedError("another restart has begun at the same moment")

    def _check_mark(self) -> None:
        """Refuse to go on without the mark that was there."""
        is_there = self._mark.key in self._access.patiently(self._access.marks)
        if self._is_marked and not is_there:
            raise RefusedError("the restart was cancelled, or another process has taken it over")
        self._is_marked = is_there

    def _act(self, view: View, step: Step) -> None:
        nodes = [view.nodes[node] for node in step.nodes]
        match step.action:
            case Action.BEGIN:
                self._note_begun(view, nodes)
            case Action.DRAIN:
                self._drained.update(step.nodes)
                self._move_leaders(moves_away(view.placement, step.nodes), nodes)
            case Action.HOOK:
                self._tell("hook", "runs the command", nodes)
                self._request.hook.run(nodes)
                self._hooked.update(step.nodes)
            case Action.FINISH:
                self._finish(view, nodes)
            case Action.HOLD | Action.WAIT:
                self._wait(step, nodes)
            case Action.FAIL:
                raise KraftopsError(
                    f"{names_of(nodes)} {step.reason}",
                    hint=f"replace or mount it, and restart the node; {_HINT}",
                    code="stalled",
                )

    def _note_begun(self, view: View, nodes: Sequence[Node]) -> None:
        self._tell("begin", "begins", nodes)
        changes = [
            change
            for node in nodes
            for change in begin_changes(
                node.node_id,
                Begun(
                    frozenset(node.incarnations.values()), preferred(view.placement, node.node_id)
                ),
            )
        ]
        self._access.patiently(self._access.change_defaults, changes)
        self._keys += [change.key for change in changes]

    def _finish(self, view: View, nodes: Sequence[Node]) -> None:
        """Give a node its leaders back, and remove it from the mark (the last one ends that)."""
        node = nodes[0].node_id
        self._move_leaders(moves_back(view.placement, node, view.begun[node].leads), nodes)
        others = tuple(broker for broker in self._mark.brokers if broker != node)
        after = self._mark._replace(brokers=others)
        changes = [ConfigChange(self._mark.key, Operation.DELETE)]
        changes += [ConfigChange(after.key, Operation.SET, MARK_VALUE)] * bool(others)
        gone = end_changes([node], self._keys)
        self._access.patiently(self._access.change_defaults, [*changes, *gone])
        self._mark, self._is_marked = after, False
        self._keys = [key for key in self._keys if key not in {change.key for change in gone}]
        self._finished += 1
        seconds = (time.monotonic() - self._started_at) / self._finished * len(others)
        text = f"; {many(len(others), 'node')} to go, about {span_text(round(seconds) * 1000)}"
        self._tell("restarted", f"runs again{text if others else ''}", nodes)

    def _move_leaders(self, moves: Sequence[Move], nodes: Sequence[Node]) -> None:
        if moves:
            self._tell("leaders", f"changes the leaders of {many(len(moves), 'partition')}", nodes)
            change_leaders(self._access, moves)

    def _wait(self, step: Step, nodes: Sequence[Node]) -> None:
        """Wait for a change; nothing new for too long is an error."""
        now, limit = time.monotonic(), self._request.stall_seconds
        if step != self._last:
            self._changed_at = now
        elif now > self._changed_at + limit:
            text = f"after {limit:g} s without a change: {names_of(nodes)} {step.reason}"
            if step.action is Action.HOLD:
                raise RefusedError(text, f"mend that: {_HINT}")
            hint = f"its log tells why; start it, or restart it yourself: {_HINT}"
            raise KraftopsError(text, hint, code="stalled")
        if now > self._reported_at + _PROGRESS_SECONDS:
            self._reported_at = now
            pronoun = "it" if len(nodes) == 1 else "they"
            self._tell("waiting", f"waiting, {pronoun} {step.reason}", nodes)
        time.sleep(_PAUSE_SECONDS)

    def _failed(self, view: View) -> dict[int, list[str]]:
        """Ask brokers that have restarted for directories that failed at the start."""
        access, failed = self._access, {}
        for node in view.begun:
            if has_restarted(view, node) and view.placement.is_running(node):
                directories = access.patiently(access.ask_broker, node, ask_log_dirs, ())
                failed[node] = [place.path for place in directories if place.is_failed]
        return failed

    def _tell(self, name: str, text: str, nodes: Sequence[Node]) -> None:
        ids = [node.node_id for node in nodes]
        self._report(Event(name, f"{names_of(nodes)}: {text}", {"ids": ids}))

"""What a rolling restart does next, by nothing but what a look at the cluster has found."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from kraftops.display.sizes import many
from kraftops.placement.placement import Placement, TopicPartition, shown
from kraftops.restart.begun import Begun
from kraftops.restart.nodes import BROKER, Node, in_order
from kraftops.voters.stop import Stop, StopRules


class Action(StrEnum):
    """The next step of a restart."""

    BEGIN = "begin"
    """Note the processes and leaders of nodes."""
    DRAIN = "drain"
    HOOK = "hook"
    """Have nodes restarted by the command of the user."""
    FINISH = "finish"
    """Give a node that is back its leaders."""
    HOLD = "hold"
    """Nodes must not stop now."""
    WAIT = "wait"
    """A node is not back yet."""
    FAIL = "fail"
    """A node is back without a log directory, which no waiting brings back."""


class Step(NamedTuple):
    """An action on nodes, in words why."""

    action: Action
    nodes: tuple[int, ...] = ()
    reason: str = ""


class View(NamedTuple):
    """A look at the cluster, and what this run has done: the nodes that were *drained*, *hooked*.

    *nodes* are those that have not finished. *rules* judge stops, without topics that do not
    count; *failed* are log directories of nodes that are back.
    """

    begun: Mapping[int, Begun]
    nodes: Mapping[int, Node]
    placement: Placement
    rules: StopRules
    leader: int
    failed: Mapping[int, Sequence[str]]
    drained: frozenset[int]
    hooked: frozenset[int]
    at_once: int


def decide(view: View) -> Step:
    """Decide the next step: nodes that have begun come back before others begin."""
    begun = [*view.begun]
    waiting = [node for node in begun if not has_restarted(view, node)]
    if to_stop := tuple(node for node in waiting if node not in view.hooked):
        stop = view.rules.stop(to_stop)
        if not stop.is_safe:
            return _hold(stop)
        is_drained = view.drained.issuperset(to_stop)
        return Step(Action.HOOK if is_drained else Action.DRAIN, to_stop)
    for node in begun:
        if failed := view.failed.get(node):
            return Step(Action.FAIL, (node,), f"is back without {', '.join(failed)}")
    reasons = {node: why_not_back(view, node) for node in begun}
    for node, reason in sorted(reasons.items(), key=lambda pair: pair[1] is not None):
        return Step(Action.WAIT if reason else Action.FINISH, (node,), reason or "")
    return _next(view)


def _hold(stop: Stop) -> Step:
    return Step(Action.HOLD, tuple(stop.nodes), f"must not stop: {'; '.join(stop.reasons())}")


def has_restarted(view: View, node: int) -> bool:
    """Tell whether a node has registered in each of its roles as another process than before."""
    return view.begun[node].incarnations.isdisjoint(view.nodes[node].incarnations.values())


def why_not_back(view: View, node: int) -> str | None:
    """Return why a node that was restarted is not what it was before, or None."""
    if not has_restarted(view, node):
        return "has not registered with a new incarnation yet"
    if BROKER in view.nodes[node].incarnations:
        if view.placement.brokers[node].is_fenced:
            return "has registered, but is still fenced"
        if behind := _behind(view.rules.placement, node):
            return f"is not in sync yet: {many(len(behind), 'partition')}, {shown(behind)}"
    quorum = view.rules.quorum
    if quorum is not None and node in quorum.missing:
        return "has not caught up with the metadata log yet"
    return None


def _behind(placement: Placement, broker: int) -> list[TopicPartition]:
    """List partitions that a broker could have in sync or lead, and does not yet.

    Nobody can copy a partition without a leader whose last replica in sync is another one.
    """
    return [
        partition
        for partition, replicas in placement.partitions.items()
        if broker in replicas.target and (broker in replicas.isr) != (replicas.leader >= 0)
    ]


def _next(view: View) -> Step:
    """Begin with the next nodes: as many of a failure domain as may stop at once.

    Brokers of a rack are one; a controller is restarted alone.
    """
    first, *others = in_order(view.nodes.values(), view.leader)
    batch: tuple[int, ...] = (first.node_id,)
    if not (stop := view.rules.stop(batch)).is_safe:
        return _hold(stop)
    for node in others:
        is_same = not node.is_controller and node.rack == first.rack
        if len(batch) == view.at_once or not is_same:
            break
        if view.rules.stop((*batch, node.node_id)).is_safe:
            batch = (*batch, node.node_id)
    return Step(Action.BEGIN, batch)

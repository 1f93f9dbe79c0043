"""Stops of brokers and controllers: what is lost, and what may be."""

import pytest

from kraftops.placement.safety import MinIsr
from kraftops.voters.rules import VoterSet
from kraftops.voters.stop import StopRules, without_topics
from tests.helpers.placement import placement

THREE = frozenset({1, 2, 3})
RACKS = dict.fromkeys(range(3, 6), None)


def rules(*, down: int | None = None, allows: bool = False) -> StopRules:
    """Return the rules of brokers 3 to 5 and controllers 1 to 3: one node is both."""
    found = placement(RACKS, [(3, 4), (3,), (5, 4), (5,)])
    quorum = VoterSet(THREE, THREE - {down})
    return StopRules(found, {"t": MinIsr(1)}, quorum, allows)


def test_mixed_ids_are_judged_together() -> None:
    together = rules(allows=True).stop({1, 3, 4})

    assert [danger.partition.number for danger in together.dangers] == [0]
    assert together.reasons() == [
        "1 partition would be offline",
        "1 partition of a single replica would be offline: t-1",
        together.quorum_reason,
    ]
    assert str(together.quorum_reason).startswith("the quorum would lose its majority: 2 of 3")
    assert not together.is_safe


@pytest.mark.parametrize(("allows", "is_safe"), [(False, False), (True, True)])
def test_single_replicas_are_counted_apart(allows: bool, is_safe: bool) -> None:
    stop = rules(allows=allows).stop({5})

    assert (stop.offline, len(stop.single_replicas), stop.is_safe) == (0, 1, is_safe)


def test_excluded_topic_does_not_count() -> None:
    judged = rules()
    others = StopRules(without_topics(judged.placement, {"t"}), {}, judged.quorum)

    assert others.stop({5}).is_safe


def test_each_node_has_its_answer() -> None:
    each = rules(down=2, allows=True).stop_of_each()

    assert {stop.nodes[0]: stop.is_safe for stop in each} == {
        1: False, 2: True, 3: False, 4: True, 5: True,
    }  # fmt: skip


def test_controllers_that_may_not_be_seen_are_not_judged() -> None:
    judged = rules(allows=True)

    assert StopRules(judged.placement, {}, None, allows_single_replica=True).stop({1, 3}).is_safe

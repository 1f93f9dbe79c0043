"""What keeps the majority of a quorum: the voters that may be added, removed and stopped."""

from collections.abc import Collection
from typing import NamedTuple

from kraftops.display.sizes import named


class VoterSet(NamedTuple):
    """The ids of the voters, and of those of them that run and have the whole log."""

    voters: frozenset[int]
    caught_up: frozenset[int]

    @property
    def missing(self) -> frozenset[int]:
        """The voters that are down, or behind."""
        return self.voters - self.caught_up


def majority(count: int) -> int:
    return count // 2 + 1


def why_not_add(quorum: VoterSet, node: int) -> str | None:
    """Return why a voter must not be added now, or None.

    The newcomer counts as one that may fail: those that vote now must be a majority of the larger
    set, as etcd demands (`isReadyToAddVotingMember`). A single voter cannot be one of two.
    """
    others = quorum.voters - {node}
    needed = majority(len(others) + 1)
    running = quorum.caught_up & others
    if len(others) == 1 or len(running) >= needed:
        return None
    return (
        f"of {len(others) + 1} voters {needed} must agree, and {_only(running)}"
        f" {_are(running)} up and caught up: if controller {node} fails, the majority is lost"
    )


def why_not_remove(quorum: VoterSet, node: int) -> str | None:
    """Return why a voter must not be removed now, or None."""
    others = quorum.voters - {node}
    if not others:
        return f"controller {node} is the only voter"
    running = quorum.caught_up & others
    needed = majority(len(others))
    if len(running) >= needed:
        return None
    return (
        f"without it, {needed} of {len(others)} voters must agree, and {_only(running)}"
        f" {_are(running)} up and caught up"
    )


def why_not_stop(quorum: VoterSet, nodes: Collection[int]) -> str | None:
    """Return why controllers must not stop, all at once, or None.

    A stop of those that are down, or do not vote, changes nothing.
    """
    running = quorum.caught_up.difference(nodes)
    needed = majority(len(quorum.voters))
    if running == quorum.caught_up or len(running) >= needed:
        return None
    return (
        f"the quorum would lose its majority: {needed} of {len(quorum.voters)} voters must agree,"
        f" and {_only(running)} would be up and caught up"
    )


def _only(ids: Collection[int]) -> str:
    return f"only {named('controller', sorted(ids))}" if ids else "none"


def _are(ids: Collection[int]) -> str:
    return "is" if len(ids) <= 1 else "are"

"""A quorum as its leader knows it, with the voters that have fetched all since a first look."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from kraftops.uuids import ZERO
from kraftops.voters.rules import VoterSet
from kraftops.wire.net.deadline import PAUSE, Deadline
from kraftops.wire.rpc.cluster import QuorumInfo, ReplicaState

_LOOK_SECONDS = 2.0
"""`controller.quorum.fetch.timeout.ms`: a voter that has fetched nothing for so long becomes a
candidate (KafkaRaftClient.pollFollowerAsVoter). Those that are up fetch twice a second."""


@dataclass(frozen=True, slots=True)
class Quorum:
    """The answer of a leader; *since* is the time of the first look, in ms by its clock."""

    info: QuorumInfo
    since: int

    @property
    def is_dynamic(self) -> bool:
        """Whether the voters are in the log: kraft.version 1 knows them by their directories."""
        return all(voter.directory_id not in (None, ZERO) for voter in self.info.voters)

    @property
    def voter_set(self) -> VoterSet:
        """Who votes, and who of these has had all records since the first look."""
        return VoterSet(
            frozenset(voter.node_id for voter in self.info.voters),
            frozenset(voter.node_id for voter in self.info.voters if self.is_caught_up(voter)),
        )

    def later(self, info: QuorumInfo) -> Quorum:
        """Keep the first look's time for the same leader: another one has another clock.

        Another leader has another clock.
        """
        is_same = info.epoch == self.info.epoch
        return Quorum(info, self.since if is_same else leader_time(info))

    def is_caught_up(self, replica: ReplicaState) -> bool:
        """Tell whether a replica has had all records since the first look."""
        return replica.node_id == self.info.leader or replica.caught_up_at >= self.since

    def voter(self, node: int) -> ReplicaState | None:
        """Look a voter up by its node id."""
        return next((voter for voter in self.info.voters if voter.node_id == node), None)

    def observers(self, node: int) -> list[ReplicaState]:
        """List the directories with which a node observes, those that fetch now.

        A leader lists an observer for five minutes after its last fetch
        (LeaderState.OBSERVER_SESSION_TIMEOUT_MS).
        """
        return [
            replica
            for replica in self.info.observers
            if replica.node_id == node
            and replica.directory_id not in (None, ZERO)
            and replica.fetched_at >= self.since
        ]


def leader_time(info: QuorumInfo) -> int:
    """Take the leader's time of its answer, in ms: it has always caught up just now itself."""
    return max((v.caught_up_at for v in info.voters if v.node_id == info.leader), default=-1)


def end_offset(info: QuorumInfo) -> int:
    return max((v.end_offset for v in info.voters if v.node_id == info.leader), default=-1)


def voter_keys(info: QuorumInfo) -> set[tuple[int, bytes | None]]:
    return {(voter.node_id, voter.directory_id) for voter in info.voters}


def look(describe: Callable[[], QuorumInfo]) -> Quorum:
    """Ask until all voters have caught up since the first answer, at most two seconds.

    A voter that has just been killed looks caught up in a single answer. Errors as *describe*.
    """
    deadline = Deadline(_LOOK_SECONDS)
    info = describe()
    quorum = Quorum(info, leader_time(info))
    while quorum.voter_set.missing and not deadline.is_over:
        time.sleep(PAUSE)
        quorum = quorum.later(describe())
    return quorum

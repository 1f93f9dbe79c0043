"""The check of the quorum that runs: its leader, its majority, and the voters that lack it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from kraftops.checkup.examination import Examination
from kraftops.display.sizes import many
from kraftops.display.times import iso_time
from kraftops.errors import WireError
from kraftops.findings.catalogue import usual_finding
from kraftops.findings.finding import Evidence, Finding, Place
from kraftops.voters.access import QuorumAccess
from kraftops.voters.leaderless import SURVEY_SECONDS, without_leader
from kraftops.voters.quorum import Quorum, end_offset, look
from kraftops.voters.rules import majority
from kraftops.wire.rpc.cluster import ReplicaState, describe_quorum
from kraftops.wire.rpc.error_codes import may_pass


def quorum(examination: Examination) -> Iterator[Finding]:
    """Yield the loss of the majority or of the leader; otherwise each voter that is missing.

    Raises:
        WireError: nobody answers, or it is not permitted.
    """
    access = examination.access
    assert access is not None
    whole = access.deadline
    if whole is not None:
        # An election takes less than 5 s; the rest is for the voters, and for other checks.
        access.deadline = whole.within(whole.seconds / 2)
    try:
        live = look(partial(QuorumAccess(access).ask, describe_quorum))
    except WireError as error:
        if not may_pass(error):
            raise
        access.deadline = whole and whole.within(SURVEY_SECONDS)
        try:
            text, states = without_leader(access, error)
            yield _no_leader(text, [Evidence(*state) for state in states.items()])
        finally:
            # Brokers forward most questions to the leader: no later check waits for it again.
            access.brokers = access.controllers = None
        return
    access.deadline = whole
    voter_set = live.voter_set
    missing = [voter for voter in live.info.voters if voter.node_id in voter_set.missing]
    needed = majority(len(voter_set.voters))
    if len(voter_set.caught_up) < needed:
        evidence = [Evidence(f"voter {voter.node_id}", _state(live, voter)) for voter in missing]
        text = (
            f"the quorum has lost its majority: of {many(len(voter_set.voters), 'voter')} {needed}"
            f" must agree, and only {_running(voter_set.caught_up)} up and caught up"
        )
        yield _no_leader(text, evidence)
        return
    is_last = len(voter_set.caught_up) == needed
    for voter in missing:
        is_down, state = _is_down(live, voter), _state(live, voter)
        missed = usual_finding(
            "voter-down" if is_down else "voter-behind",
            f"voter {voter.node_id} {state}",
            Place(node=voter.node_id),
        )
        consequence = "the quorum loses its majority with the next voter" if is_last else ""
        yield replace(missed, consequence=consequence)


def _is_down(live: Quorum, voter: ReplicaState) -> bool:
    return voter.fetched_at < live.since


def _state(live: Quorum, voter: ReplicaState) -> str:
    """Return what a voter that is missing does, in words."""
    if _is_down(live, voter):
        # A leader that was elected after it stopped has never seen it.
        since = f" since {iso_time(voter.fetched_at)}" if voter.fetched_at > 0 else ""
        return f"has fetched nothing{since}"
    return f"is {many(end_offset(live.info) - voter.end_offset, 'offset')} behind the leader"


def _running(nodes: frozenset[int]) -> str:
    names = ", ".join(map(str, sorted(nodes)))
    return f"voters {names} are" if len(nodes) > 1 else f"voter {names} is"


def _no_leader(text: str, evidence: Sequence[Evidence]) -> Finding:
    return replace(usual_finding("no-leader", text, Place()), evidence=tuple(evidence))

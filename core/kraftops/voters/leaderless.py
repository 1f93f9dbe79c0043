"""What a quorum without a leader still shows: the controllers that answer."""

from collections.abc import Mapping

from kraftops.errors import WireError
from kraftops.reassign.access import ClusterAccess
from kraftops.voters.access import QuorumAccess
from kraftops.wire.quorum.survey import survey
from kraftops.wire.rpc.cluster import describe_quorum
from kraftops.wire.rpc.leader import no_leader

SURVEY_SECONDS = 3.0
"""A follower that has lost its leader names it for `controller.quorum.fetch.timeout.ms`, 2 s."""


def require_leader(access: ClusterAccess) -> None:
    """Ask for the leader, so that wrong addresses or a lost quorum fail at once.

    Raises:
        WireError: no server answers, or none leads, or it is not permitted.
    """
    try:
        QuorumAccess(access).ask(describe_quorum)
    except WireError as error:
        if error.code not in ("no-leader", "no-answer"):
            raise
        refusal = error.with_traceback(None)  # whose frames keep an answer of up to 100 MiB
        refusal.__context__ = None
    else:
        return
    text, states = without_leader(access, refusal)
    hint = no_leader(1, len(states)).hint
    raise WireError(text, hint, code="no-leader", addresses=[*states])


def without_leader(access: ClusterAccess, error: WireError) -> tuple[str, Mapping[str, str]]:
    """Say which controllers answer although no leader does, and what each answers.

    Raises:
        WireError: no server answers at all, so that nothing is known.
    """
    endpoints = access.controllers
    if endpoints is not None:
        addresses = {(*named.address,): named.node_id for named in endpoints.bootstrap}
        answers = survey(addresses, endpoints.settings, endpoints.cluster_id, SURVEY_SECONDS)
        answering = {answer.address: answer.refusal or "it answers" for answer in answers}
        if answering:
            names = [str(named.address) for named in endpoints.bootstrap]
            states = {name: answering.get(name, "it does not answer") for name in names}
            return no_leader(len(answering), len(states)).message, states
    if access.brokers is None:
        raise error
    access.renew_deadline()
    access.check()
    return f"the quorum has no leader that answers: {error.message}", {"brokers": "one answers"}

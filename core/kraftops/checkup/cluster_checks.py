"""Checks of a cluster, running or by its metadata log: problems, incidents, its quorum."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

from kraftops.checkup.examination import Examination, is_packed
from kraftops.display.sizes import many, named
from kraftops.display.times import DAY_MS, iso_time
from kraftops.engine.timeline_contract import MIN_ISR
from kraftops.errors import DecodeError, WireError
from kraftops.fileio.mounts import archive_of
from kraftops.fileio.reading import read_whole
from kraftops.findings.catalogue import usual_finding
from kraftops.findings.finding import Evidence, Finding, Place, Severity
from kraftops.image.load.loading import limits_of
from kraftops.image.load.log_size import log_size, newest_time
from kraftops.image.state.image import MetadataImage
from kraftops.placement.disks import Disks
from kraftops.placement.metadata_facts import facts_of
from kraftops.placement.placement import placement_of
from kraftops.placement.problems import Cause, Problem, State, find_problems
from kraftops.placement.problems import Evidence as ProblemEvidence
from kraftops.reassign.access import ClusterAccess, configs_in, marks_in_image
from kraftops.reassign.disks import disks_of
from kraftops.reassign.min_isr import logged_min_isr, min_isr_of_topics
from kraftops.reassign.operations import State as OperationState
from kraftops.reassign.operations import operations_of, operations_under_way
from kraftops.storage.logdirs.node import voter_ids
from kraftops.timeline.answer import incident_text
from kraftops.timeline.changes import read_changes
from kraftops.timeline.incidents import incidents_of
from kraftops.voters.access import SURVEY_SECONDS, QuorumAccess, without_leader
from kraftops.voters.quorum import Quorum, end_offset, look
from kraftops.voters.rules import majority
from kraftops.wire.auth.tls import validities
from kraftops.wire.rpc.cluster import ReplicaState, describe_quorum
from kraftops.wire.rpc.error_codes import may_pass

_LARGEST_LOG = 64 << 20
"""Bytes of a metadata log that a light examination replays for incidents: about a second."""
_CERTIFICATE_DAYS = 30
"""Many authorities take weeks, and certificates of 90 days are renewed at 30."""
_LARGEST_STORE = 1 << 20  # key stores have some kB; a wrong file may have any size


_TEXTS = {
    Cause.BROKER_DOWN: ("broker-down", "broker {broker} {be} down{since}"),
    Cause.DIRECTORY_FAILED: (
        "directory-failed",
        "a log directory of broker {broker} has failed{since}",
    ),
    Cause.CORDONED: ("broker-cordoned", "broker {broker} takes no replicas"),
    Cause.FOLLOWER_BEHIND: ("follower-behind", "broker {broker} is behind its leaders"),
    Cause.MIN_ISR: (
        "min-isr-above-replicas",
        f"{MIN_ISR} is larger than the number of replicas",
    ),
    Cause.REASSIGNMENT: ("reassignment", "a reassignment is under way"),
    Cause.OTHER_LEADER: ("other-leader", "replicas other than the preferred ones lead"),
}
"""The codes of problems by their causes, and what they are called."""


def problems(examination: Examination) -> Iterator[Finding]:
    """Yield why replicas are not in sync, a finding for each cause."""
    if access := examination.answers:
        yield from _live_problems(access)
    elif examination.image is not None:
        yield from _logged_problems(examination, examination.image)


def _live_problems(access: ClusterAccess) -> Iterator[Finding]:
    placement = access.placement()
    disks: Disks = {}
    if access.brokers:
        try:
            disks = disks_of(access, placement)
        except WireError:
            # For its controller a killed broker runs until its session ends (9 s): now it does not.
            access.renew_deadline()
            placement = access.placement()
            disks = disks_of(access, placement)
    image = access.metadata()
    facts = facts_of(image, placement)
    needed = min_isr_of_topics(access, placement, None)
    for problem in find_problems(placement, needed, ProblemEvidence(disks, disks, facts)):
        yield _problem_finding(problem)


def _logged_problems(examination: Examination, image: MetadataImage) -> Iterator[Finding]:
    """Yield the problems at the end of a log; nodes that are here, and stopped, are not down."""
    placement = placement_of(image)
    fenced = {broker for broker, place in placement.brokers.items() if place.is_fenced}
    shut_down = {
        broker
        for broker in fenced
        if image.broker_state(image.brokers[broker], whole=False)["inControlledShutdown"]
    }
    is_running = {node.config.node_id: examination.is_running(node) for node in examination.nodes}
    stopped = {node_id for node_id in is_running if not is_running[node_id]}
    unreported = fenced - shut_down - stopped
    if fenced == placement.brokers.keys():  # the whole cluster was stopped
        if unreported:
            severity = Severity.RISK if any(is_running.values()) else Severity.NOTE
            yield _fenced_finding(unreported, severity, "as all others are")
        return
    needed = logged_min_isr(image, image.sorted_topics)
    evidence = ProblemEvidence(log=facts_of(image, placement))
    is_old = _may_be_old(examination)
    for problem in find_problems(placement, needed, evidence):
        is_down = problem.cause is Cause.BROKER_DOWN
        if is_down and problem.broker in stopped:
            continue
        unreported.discard(problem.broker if is_down and problem.broker is not None else -1)
        in_order = is_down and problem.broker in shut_down
        yield _problem_finding(problem, is_note=in_order, is_old=is_old)
    if unreported:
        yield _fenced_finding(unreported, Severity.NOTE, "and no partition is affected")


def _fenced_finding(brokers: Collection[int], severity: Severity, text: str) -> Finding:
    """Return a finding: brokers are fenced, and were not shut down cleanly."""
    return Finding(
        "broker-down",
        severity,
        f"{named('broker', sorted(brokers))} {'is' if len(brokers) == 1 else 'are'} fenced, {text}",
        cure="see whether this is still so: start what is down, unregister what is gone for good",
        commands=("kafka-cluster describe -b HOST:PORT",),
    )


def _may_be_old(examination: Examination) -> bool:
    """Tell whether the cluster may have gone on without the nodes that are named, all stopped.

    It has not without most of its voters. An archive may be of a server that ran, and followed.
    """
    nodes = examination.nodes
    voters = voter_ids(nodes)
    stopped = voters & {node.config.node_id for node in nodes}
    follows = any(examination.is_running(node) or is_packed(node) for node in nodes)
    return bool(voters) and not follows and 2 * len(stopped) <= len(voters)


def _problem_finding(problem: Problem, *, is_note: bool = False, is_old: bool = False) -> Finding:
    """Return the finding of a problem; a broker that was stopped in order is a note.

    So is what *is_old*: the log of a stopped node does not tell how the cluster is now.
    """
    code, text = _TEXTS[problem.cause]
    counts = Counter(affected.state for affected in problem.affected)
    states = ", ".join(f"{many(count, 'partition')} {state}" for state, count in counts.items())
    topics = sorted({affected.partition.topic for affected in problem.affected})
    since = f" since {iso_time(problem.change.time)}" if problem.change else ""
    text = text.format(broker=problem.broker, since=since, be="has been" if since else "is")
    place = Place(node=problem.broker, topic=topics[0] if len(topics) == 1 else None)
    finding = usual_finding(
        code, f"{text}: {states}", place, broker=problem.broker, topic=topics[0]
    )
    finding = replace(finding, evidence=tuple(Evidence("topics", topic) for topic in topics[:5]))
    if is_old:
        cure = "see whether this is still so: it is the end of a stopped node's log"
        commands = ("kafka-cluster problems -b HOST:PORT",)
        return replace(finding, severity=Severity.NOTE, cure=cure, commands=commands)
    if is_note:  # its replicas need no other place
        return replace(finding, severity=Severity.NOTE, cure="start it", commands=())
    if finding.is_severe and (counts[State.OFFLINE] or counts[State.UNDER_MIN_ISR]):
        consequence = "producers or consumers of these stand still"
        return replace(finding, severity=Severity.STOPS, consequence=consequence)
    return finding


def incidents(examination: Examination) -> Iterator[Finding]:
    """Yield what happened on the last day of the metadata log, of a running cluster or on disk."""
    names, folder = _incident_log(examination)
    if not names:
        return
    end = newest_time(names) or examination.now
    since, budget = limits_of(None, end - DAY_MS), examination.budget
    changes = read_changes(names, since=since, budget=budget, is_for_incidents=True)
    for incident in incidents_of(changes):
        place = Place(
            node=incident.brokers[0] if len(incident.brokers) == 1 else None,
            file=folder,
            offset=incident.first_offset,
            time=incident.begin,
        )
        source = (folder,) if folder else ("-C", "HOST:PORT")
        text = incident_text(incident)
        happened = usual_finding("incident", text, place, source=source)
        if not incident.unclean:
            yield happened
        elif incident.is_at_risk:
            yield usual_finding("unclean-elections", text, place, source=source)
        else:
            # Replicas that are back and in sync have cut what their new leaders lacked: nothing is
            # left to save. Those that are away still have it, until they start.
            yield replace(happened, code="unclean-elections")


def _incident_log(examination: Examination) -> tuple[Sequence[str], str | None]:
    """Return a metadata log's names: live controllers', or a directory's, and that directory."""
    access, folder = examination.answers, examination.metadata_log
    if access and access.controllers:
        return access.live_image().names, None
    return ([folder] if folder else []), folder


def too_long_for_incidents(examination: Examination) -> str | None:
    """Return why a light examination does not replay the metadata log, if it does not."""
    _, folder = _incident_log(examination)
    if folder is None or examination.is_deep or log_size([folder]).segment_bytes <= _LARGEST_LOG:
        return None
    return "the metadata log is larger than 64 MiB: --deep, or kraftops incidents, reads it"


def operations(examination: Examination) -> Iterator[Finding]:
    """Yield operations without a process, and throttles or cordons that others left behind."""
    access, image = examination.answers, examination.image
    if access:
        under_way = operations_under_way(access, access.placement())
    elif image is not None:
        placement, configs = placement_of(image), configs_in(image)
        by_broker = {broker: configs.get(broker, {}) for broker in placement.brokers}
        under_way = operations_of(placement, marks_in_image(image).values(), by_broker, None)
    else:
        under_way = []
    for operation in under_way:
        if operation.state is OperationState.LEFT_OVER:
            node = operation.brokers[0] if len(operation.brokers) == 1 else None
            yield usual_finding(
                "operation-left", f"{operation.name} was left over", Place(node=node)
            )


def certificates(examination: Examination) -> Iterator[Finding]:
    """Yield the certificates in the key stores of nodes that have expired or soon will."""
    for config in examination.loaded[0]:
        if archive_of(config.path):
            continue  # its key stores are on another host
        for key, prop in config.given.items():
            if not key.endswith("ssl.keystore.location") or not prop.value.strip():
                continue
            password = config.given.get(key.removesuffix("location") + "password")
            yield from _ending(
                examination, prop.value.strip(), password.value if password else None
            )


def _ending(examination: Examination, path: str, password: str | None) -> Iterator[Finding]:
    try:
        ends = validities(read_whole(path, _LARGEST_STORE), password)
    except (OSError, DecodeError):
        return  # `verify` and the start of a server say so
    now = datetime.fromtimestamp(examination.now / 1000, UTC)
    for certificate in ends:
        if certificate.end - now > timedelta(days=_CERTIFICATE_DAYS):
            continue
        is_over = certificate.end <= now
        ending = usual_finding(
            "certificate-ends",
            f"the certificate of {certificate.subject} "
            f"{'has ended' if is_over else 'ends'} at {certificate.end:%Y-%m-%d %H:%M} UTC",
            Place(file=path),
        )
        yield replace(ending, severity=Severity.STOPS) if is_over else ending


def quorum(examination: Examination) -> Iterator[Finding]:
    """Yield the loss of the majority or of the leader; otherwise each voter that is missing.

    Raises:
        WireError: no server answers, or it is not permitted.
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
    """Say in words whether a voter is down, and since when, or how far it is behind."""
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

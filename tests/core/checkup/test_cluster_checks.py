"""The quorum that runs: voters that are down or behind, no majority, no leader."""

from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest

import kraftops
from kraftops.checkup.checks import CHECKS, run_checks
from kraftops.checkup.diagnosis import Diagnosis, Selection, diagnosis_of
from kraftops.checkup.examination import Examination
from kraftops.errors import AnswerError, WireError
from kraftops.findings.finding import Evidence, Severity
from kraftops.placement.placement import TopicPartition
from kraftops.reassign.access import ClusterAccess
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, Bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.endpoints import Endpoints
from tests.helpers.logs.incidents import (
    INCIDENT,
    TOPIC,
    Incident,
    change,
    fencing,
    incident_directory,
)
from tests.helpers.logs.random_logs import new_record, uuid
from tests.helpers.wire.moving_cluster import MovingCluster
from tests.helpers.wire.peers import CLUSTER_ID, answer, described, free_port
from tests.helpers.wire.quorums import Log
from tests.helpers.wire.quorums import quorum as controllers_of
from tests.helpers.wire.voting_quorum import VotingQuorum

LIVE = [check for check in CHECKS if check.name in ("quorum", "problems", "operations")]


def diagnosed(access: ClusterAccess, count: int = 1) -> Diagnosis:
    examination = Examination(access=access)
    return diagnosis_of(examination, run_checks(examination, LIVE[:count]), Selection())


def judged(voters: VotingQuorum) -> Diagnosis:
    with patch("time.sleep"), patch("kraftops.voters.quorum._LOOK_SECONDS", 0.002):
        return diagnosed(voters.access().cluster)


def test_quorum_whose_voters_all_run_has_no_finding() -> None:
    diagnosis = judged(VotingQuorum(3))

    assert (diagnosis.findings, diagnosis.exit_code) == ([], 0)


def test_voter_that_is_down_is_a_risk_and_one_that_lags_another() -> None:
    voters = VotingQuorum(5)
    voters.down, voters.behind = {3}, {5}

    diagnosis = judged(voters)

    assert [(finding.code, finding.place.node) for finding in diagnosis.findings] == [
        ("voter-down", 3),
        ("voter-behind", 5),
    ]
    assert {finding.severity for finding in diagnosis.findings} == {Severity.RISK}
    assert diagnosis.findings[1].text == "voter 5 is 40 offsets behind the leader"
    assert "with the next voter" in diagnosis.findings[0].consequence
    assert diagnosis.exit_code == 2


def test_two_of_three_voters_that_have_just_been_killed_are_one_finding() -> None:
    """Their leader answers until it notices that nobody follows it."""
    voters = VotingQuorum(3)
    voters.down = {2, 3}

    (finding,) = judged(voters).findings

    assert (finding.code, finding.severity) == ("no-leader", Severity.STOPS)
    assert "of 3 voters 2 must agree, and only voter 1 is up" in finding.text
    assert [fact.source for fact in finding.evidence] == ["voter 2", "voter 3"]


def leaderless(controllers: list[Address], brokers: list[Address] | None = None) -> ClusterAccess:
    """Return access to a cluster that waits a second for answers."""
    settings = Settings(timeout=1.0, connect_timeout=0.5)
    endpoints = [
        Endpoints([Bootstrap(address) for address in addresses], settings) if addresses else None
        for addresses in (brokers, controllers)
    ]
    return ClusterAccess(*endpoints, settings, deadline=Deadline(1.0))


def test_controllers_without_a_leader_are_told_from_those_that_do_not_answer() -> None:
    with ExitStack() as stack:
        running = stack.enter_context(controllers_of(Log(leader=-1, epoch=4), 1))
        dead = Address("localhost", stack.enter_context(free_port()))
        alive = running.address(1)
        node = {"broker_id": 1, "host": alive.host, "port": alive.port, "rack": None}
        running.more = {
            55: lambda version, correlation, _: answer(
                "DescribeQuorum", version, correlation, error_code=6, topics=[]
            ),
            60: lambda version, correlation, _: described(
                correlation, version, cluster_id=CLUSTER_ID, brokers=[node], controller_id=-1,
                endpoint_type=2,
            ),
        }  # fmt: skip

        diagnosis = diagnosed(leaderless([alive, dead]), len(LIVE))

    (finding,) = diagnosis.findings
    assert (finding.code, diagnosis.exit_code) == ("no-leader", 2)
    # They would wait for it once more.
    assert {run.reason for run in diagnosis.runs[1:]} == {"the quorum has no leader that answers"}
    assert "1 of 2 controllers answers" in finding.text
    assert finding.evidence == (
        Evidence(str(alive), "it answers"),
        Evidence(str(dead), "it does not answer"),
    )


def test_quorum_that_cannot_be_reached_is_not_called_lost() -> None:
    with free_port() as port:
        diagnosis = diagnosed(leaderless([Address("localhost", port)]))

    assert (diagnosis.findings, diagnosis.exit_code) == ([], 5)
    assert diagnosis.verdict.startswith(f"nothing could be examined: localhost:{port}: ")


def test_quorum_that_does_not_answer_a_broker_that_runs_has_no_leader() -> None:
    voters = VotingQuorum(3)
    access = voters.access().cluster
    with (
        patch.object(type(access), "ask", side_effect=WireError("b:1: no answer")),
        patch.object(type(access), "check"),
    ):
        (finding,) = diagnosed(access).findings

    assert finding.code == "no-leader"
    assert finding.evidence == (Evidence("brokers", "one answers"),)


@pytest.mark.parametrize("code", [31, 35])
def test_question_that_is_not_permitted_or_supported_is_told(code: int) -> None:
    voters = VotingQuorum(3)
    access = voters.access().cluster
    with patch.object(type(access), "ask", side_effect=AnswerError("b:1: no", error_code=code)):
        diagnosis = diagnosed(access)

    assert (diagnosis.findings, diagnosis.exit_code) == ([], 1)
    assert diagnosis.verdict.startswith("nothing could be examined: b:1: no")


def test_brokers_that_are_named_tell_the_room_of_their_disks() -> None:
    moving = MovingCluster(range(1, 3), {TopicPartition("a", 0): (1, 2)}, is_old=False)
    moving.directories = {1: {"/d": 1 << 20}, 2: {"/d": 1 << 49}}
    room = [check for check in CHECKS if check.name == "room"]
    with moving.reached() as access:
        examination = Examination(access=access)
        findings = diagnosis_of(examination, run_checks(examination, room), Selection()).findings

    assert [(finding.code, finding.place.node) for finding in findings] == [("disk-full-soon", 1)]
    assert findings[0].commands == ("kraftops disk -b b:1,b:2",)


ALONE = new_record(
    "PartitionRecord",
    topicId=TOPIC,
    partitionId=0,
    replicas=[1],
    isr=[1],
    leader=1,
    directories=[uuid(7)],
)
ONLY_REPLICA: Incident = [
    *INCIDENT[:2],
    (1, [new_record("TopicRecord", name="alone", topicId=TOPIC), ALONE]),
    (10, [fencing(1, 1), change(0, leader=-1)]),
    (12, [fencing(1, -1), change(0, leader=1, leaderRecoveryState=1)]),
    (13, [fencing(1, 1), change(0, leader=-1)]),
]
"""A broker goes, comes back, leads its only replica again, and goes once more."""


@pytest.mark.parametrize(
    ("log", "severity"), [(INCIDENT, "note"), (INCIDENT[:12], "loss"), (ONLY_REPLICA, "note")]
)
def test_unclean_election_is_a_loss_while_a_broker_with_its_records_is_away(
    log: Incident, severity: str, tmp_path: Path
) -> None:
    folder = str(incident_directory(tmp_path, log))

    findings = kraftops.doctor(folder).findings

    severities = {finding.severity for finding in findings if finding.code == "unclean-elections"}
    assert severities == {severity}


def test_controllers_that_are_named_tell_the_incidents_of_their_log(tmp_path: Path) -> None:
    folder = str(incident_directory(tmp_path, INCIDENT))
    access = ClusterAccess(None, Endpoints([Bootstrap(Address("c", 9093))], Settings()))
    checks = [check for check in CHECKS if check.name == "incidents"]
    with patch.object(ClusterAccess, "live_image", lambda _: SimpleNamespace(names=[folder])):
        examination = Examination(access=access)
        findings = diagnosis_of(examination, run_checks(examination, checks), Selection()).findings

    assert "incident" in {finding.code for finding in findings}
    assert {finding.commands for finding in findings} == {("kraftops incidents -C c:9093",)}


@pytest.mark.parametrize(
    ("is_broker", "reasons"),
    [
        (True, {"incidents": "-C or a metadata log on disk tells it"}),
        (False, {"room": "-b or a log directory tells it"}),
    ],
)
def test_check_that_needs_the_other_address_says_so(
    is_broker: bool, reasons: dict[str, str]
) -> None:
    endpoints = Endpoints([Bootstrap(Address("b", 1))], Settings())
    examination = Examination(
        access=ClusterAccess(*((endpoints, None) if is_broker else (None, endpoints)))
    )
    checks = [check for check in CHECKS if check.name in reasons]

    assert {run.check.name: run.reason for run in run_checks(examination, checks)} == reasons

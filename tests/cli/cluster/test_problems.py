"""`kafka-cluster problems` from a metadata log on disk, and its text."""

import json
from pathlib import Path

import pytest

from kraftops.placement.placement import Replicas, TopicPartition
from kraftops.placement.problems import Affected, Cause, Problem, State
from kraftops_cli.cluster.problems import Problems, cause_text, cure_of
from tests.helpers.logs.incidents import INCIDENT, at, broker, change, fencing, incident_directory
from tests.helpers.logs.random_logs import new_record, uuid
from tests.helpers.tools.fake_cluster import cluster

BEGIN = INCIDENT[:7]
A, B = uuid(201), uuid(202)  # the first hundred name no directory


def affected(**fields: bool) -> list[Affected]:
    replicas = Replicas((1, 2), (2,), 2)
    return [Affected(TopicPartition("t", 0), State.UNDER_REPLICATED, replicas, 2048, **fields)]


def test_log_tells_since_when_and_by_which_change(tmp_path: Path) -> None:
    folder = incident_directory(tmp_path, [*BEGIN, *INCIDENT[7:11]])

    done = cluster("problems", "--snapshot", str(folder), "--format", "json")
    text = cluster("problems", "--snapshot", str(folder)).text

    answer = json.loads(done.text)
    down, behind = answer["problems"]
    assert (done.code, answer["offline"], answer["underReplicated"]) == (2, 1, 1)
    assert answer["underMinIsr"] == 0
    assert (down["cause"], down["brokerId"]) == ("broker-down", 1)
    assert down["since"]["time"] == at(10)
    assert down["since"]["record"] == "BROKER_REGISTRATION_CHANGE_RECORD"
    states = {(p["partition"], p["state"]) for p in down["partitions"]}
    assert states == {(0, "offline"), (1, "under-replicated")}
    assert down["commands"] == ["kafka-cluster repair -b HOST:PORT --id 1"]
    assert {p["lastChange"]["time"] for p in down["partitions"]} == {at(10), at(13)}
    assert (behind["cause"], behind["brokerId"]) == ("follower-behind", 3)
    assert "broker 1 has been down since 2026" in text
    assert "by BROKER_REGISTRATION_CHANGE_RECORD at offset" in text


def test_broker_that_registers_fenced_is_down_since_it_was_fenced_again(tmp_path: Path) -> None:
    """Kafka's brokers register fenced; what a later change has undone is not in the image."""
    begin = [INCIDENT[0], (0.0, [broker(1, fenced=True), broker(2), broker(3)]), *INCIDENT[2:3]]
    records = [(3.0, [fencing(1, -1)]), (9.0, [fencing(1, 1), change(0, isr=[2, 3], leader=2)])]
    folder = incident_directory(tmp_path, [*begin, *records])

    done = cluster("problems", "--snapshot", str(folder), "--format", "json")

    (problem,) = json.loads(done.text)["problems"]
    assert problem["since"]["time"] == at(9)


def test_directory_that_a_broker_has_no_more_is_told_by_the_log(tmp_path: Path) -> None:
    records = [
        (0.0, [broker(1, logDirs=[A, B]), broker(2, logDirs=[A]), broker(3, logDirs=[A])]),
        *BEGIN[2:3],
        (4.0, [change(0, directories=[B, A, A]), change(1, directories=[A, A, A])]),
        (
            5.0,
            [
                new_record(
                    "BrokerRegistrationChangeRecord", brokerId=1, brokerEpoch=1, logDirs=[A]
                ),
                change(0, isr=[2, 3], leader=2),
            ],
        ),
    ]
    folder = incident_directory(tmp_path, [*BEGIN[:1], *records])

    done = cluster("problems", "--snapshot", str(folder), "--format", "json")

    (problem,) = json.loads(done.text)["problems"]
    assert (problem["cause"], problem["brokerId"]) == ("directory-failed", 1)
    assert problem["since"]["time"] == at(5)
    assert len(problem["directories"]) == 1
    assert [p["partition"] for p in problem["partitions"]] == [0]


def test_healthy_log_has_no_problems(tmp_path: Path) -> None:
    folder = incident_directory(tmp_path, BEGIN)

    done = cluster("problems", "--snapshot", str(folder))

    assert (done.code, done.err) == (0, "")
    assert done.text.startswith("offline: 0, under min ISR: 0, under-replicated: 0,")


def test_source_and_cluster_do_not_go_together() -> None:
    done = cluster("problems", "--snapshot", "x", "-b", "h:1")

    assert (done.code, done.text) == (1, "")
    assert "--snapshot and --bootstrap-server do not go together" in done.err


@pytest.mark.parametrize("cause", Cause)
def test_every_cause_has_a_sentence_and_a_cure_to_paste(cause: Cause) -> None:
    problem = Problem(cause, 1, (), affected())

    cure = cure_of(problem, "b:9092; rm x")

    assert cause_text(problem)
    assert cure.commands
    assert all("'b:9092; rm x'" in command for command in cure.commands)


def test_follower_that_does_not_catch_up_is_no_case_for_waiting() -> None:
    slow = Problem(Cause.FOLLOWER_BEHIND, 1, (), affected(is_catching_up=False))
    fast = Problem(Cause.FOLLOWER_BEHIND, 1, (), affected(is_catching_up=True))

    assert cause_text(slow) == "broker 1 is behind: 2.0 KiB, 1 replica not catching up"
    assert cause_text(fast) == "broker 1 is behind: 2.0 KiB, catching up"
    assert "broker's log" in cure_of(slow, "b:1").text
    assert cure_of(fast, "b:1").text == "wait"


def test_moves_and_other_leaders_alone_are_no_findings() -> None:
    harmless = [Problem(cause, None, (), affected()) for cause in (
        Cause.REASSIGNMENT, Cause.OTHER_LEADER
    )]  # fmt: skip

    assert Problems(harmless, "b:1").exit_code == 0
    assert Problems([*harmless, Problem(Cause.CORDONED, 1, (), [])], "b:1").exit_code == 2

"""`kafka-cluster unregister`: refusals, and the question on a terminal."""

import json
import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from kraftops.wire.net.deadline import Deadline
from tests.helpers.nodes.lost_quorums import broker as registration
from tests.helpers.tools.console import CLUSTER, ENVIRONMENT, Done
from tests.helpers.tools.fake_cluster import NODES, cluster, serving
from tests.helpers.wire.metadata_quorums import MetadataLog
from tests.helpers.wire.peers import Peer, answer, described
from tests.helpers.wire.quorums import quorum


def test_hidden_state_is_refused_with_the_missing_permission() -> None:
    with serving([*NODES]) as peer:
        done = cluster("unregister", "-b", str(peer.address), "-i", "22")
        forced = cluster("unregister", "-b", str(peer.address), "-i", "22", "--force")

    assert (done.code, done.text) == (1, "")
    assert "that needs DESCRIBE on the topics" in done.errors[0]
    assert (forced.code, forced.text) == (0, "Broker 22 is no longer registered.\n")


def test_question_on_a_terminal_is_answered(tmp_path: Path) -> None:
    """The question is asked only there."""
    import pty

    nodes = [{**NODES[1], "broker_id": 7}]
    with serving(nodes) as peer:
        for typed, code in (("n\n", 3), ("\x04", 3), ("y\n", 0)):
            master, slave = pty.openpty()
            command = [CLUSTER, "unregister", "-b", str(peer.address), "-i", "7", "--force"]
            with subprocess.Popen(
                command, stdin=slave, stdout=subprocess.PIPE, stderr=slave, env=ENVIRONMENT
            ) as asking:
                os.write(master, typed.encode())
                out, _ = asking.communicate(timeout=60)
            shown = ""
            while select.select([master], [], [], 0)[0]:
                shown += os.read(master, 4096).decode()
            os.close(slave)
            os.close(master)

            assert "Unregister broker 7?" in shown
            assert ("kafka-cluster: nothing is changed\r\n" in shown) == (code == 3)
            assert asking.returncode == code
            assert bool(out) == (code == 0)


# Several brokers, each with its outcome


def fenced(*ids: int, rack: str | None = None) -> list[dict[str, object]]:
    return [{**NODES[1], "broker_id": each, "rack": rack} for each in ids]


def unregister(peer: Peer, *args: str) -> Done:
    return cluster("unregister", "-b", str(peer.address), "--force", "--timeout", "0.6", *args)


def lines(done: Done) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.text.splitlines()]


def outcomes(done: Done) -> dict[int, str]:
    (answer,) = lines(done)
    return {broker["id"]: broker["outcome"] for broker in answer["brokers"]}


def test_several_are_reported_one_by_one() -> None:
    with serving(fenced(*range(101, 105))) as peer:
        text = unregister(peer, "--id", "101,103-104")
        data = unregister(peer, "--id", "102", "-i", "9", "--if-registered", "--format", "json")

    assert (text.code, text.err) == (0, "")
    assert text.text == "".join(
        f"Broker {broker} is no longer registered.\n" for broker in (101, 103, 104)
    )
    assert outcomes(data) == {9: "already", 102: "done"}
    assert lines(data)[-1]["changed"] is True


def test_all_problems_are_listed_and_nothing_is_changed() -> None:
    nodes = [*fenced(7), {**NODES[0], "broker_id": 8}]
    with serving(nodes) as peer:
        done = cluster("unregister", "-b", str(peer.address), "-i", "7-9")
        data = cluster("unregister", "-b", str(peer.address), "-i", "7-9", "--format", "json")

    start = f"kafka-cluster: {peer.address}: "
    assert [line for line in done.errors if "hint" not in line] == [
        f"{start}it cannot be seen whether broker 7 is still needed: that needs DESCRIBE on the topics",
        f"{start}broker 8 is running: it is not fenced, and would go on outside the cluster",
        f"{start}Broker ID 9 is not currently registered",
    ]
    assert outcomes(data) == {7: "refused", 8: "refused", 9: "failed"}
    (answer,) = lines(data)
    assert answer["error"] == "broker-not-registered"
    assert [broker["error"] for broker in answer["brokers"]] == [
        "broker-not-visible", "broker-running", "broker-not-registered",
    ]  # fmt: skip
    assert lines(data)[-1]["changed"] is False
    assert (done.code, data.code) == (1, 4)
    assert len(nodes) == 2


def test_dry_run_says_what_force_overrides() -> None:
    nodes = [{**NODES[0], "broker_id": 8}]
    with serving(nodes) as peer:
        text = unregister(peer, "--id", "8", "--dry-run")
        data = unregister(peer, "--id", "8", "--dry-run", "--format", "json")

    assert text.text == (
        "Broker 8 would be unregistered, although broker 8 is running: it is not fenced, and would"
        " go on outside the cluster.\n"
    )
    (broker,) = lines(data)[0]["brokers"]
    assert broker.pop("overridden")["error"] == "broker-running"
    assert broker == {"id": 8, "wasRegistered": True, "outcome": "untried"}
    assert len(nodes) == 1


def test_brokers_are_chosen_by_rack_and_state() -> None:
    nodes = [*fenced(1, 2, rack="r1"), *fenced(3, rack="r2"), {**NODES[0], "broker_id": 4}]
    with serving(nodes) as peer:
        rack = unregister(peer, "--rack", "r1", "--dry-run", "--format", "json")
        every = unregister(peer, "--all-fenced", "--format", "json")
        none = unregister(peer, "--all-fenced", "--format", "json")

    assert [*outcomes(rack)] == [1, 2]
    assert outcomes(every) == {1: "done", 2: "done", 3: "done"}
    assert (none.code, lines(none)[-1]["brokers"], lines(none)[-1]["changed"]) == (0, [], False)
    assert [node["broker_id"] for node in nodes] == [4]


def test_rack_without_brokers_is_not_found() -> None:
    """A misspelt rack must not look like work that is done."""
    with serving(fenced(1, rack="r1")) as peer:
        data = unregister(peer, "--rack", "r1", "--rack", "R1", "--format", "json")
        text = unregister(peer, "--rack", "R1", "--all-fenced")
        wanted = unregister(peer, "--rack", "R1", "--if-registered", "--format", "json")

    (failure,) = lines(data)
    assert (data.code, failure["error"], failure["rack"]) == (4, "broker-not-registered", "R1")
    assert failure["hint"] == "racks are: r1"
    assert (text.code, text.text) == (1, "")
    assert (wanted.code, lines(wanted)[-1]["brokers"]) == (0, [])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "argument --id/-i is required"),
        (("--id", "3", "--fenced-for", "1h"), "goes with --all-fenced or --rack"),
        (("--all-fenced", "--fenced-for", "1h"), "needs --bootstrap-controller"),
        (("--all-fenced", "--fenced-for", "soon"), "is not a time"),
    ],
)
def test_choice_that_cannot_be_made_is_refused(arguments: tuple[str, ...], reason: str) -> None:
    done = cluster("unregister", "-b", "localhost:1", *arguments)

    assert (done.code, done.text) == (1, "")
    assert reason in done.errors[0]


def test_request_without_an_answer_is_unknown_and_ends_the_work() -> None:
    nodes = fenced(1, 2, 3, 4)
    with serving(nodes, silent=[2]) as peer:
        data = unregister(peer, "--id", "1-4", "--format", "json")
        text = unregister(peer, "--id", "2-4")

    assert (data.code, text.code) == (6, 6)
    assert outcomes(data) == {1: "done", 2: "unknown", 3: "untried", 4: "untried"}
    assert lines(data)[-1]["error"] == "unknown-outcome"
    assert "no answer within 0.6 s, after the request was sent" in data.errors[0]
    assert text.text == ""
    assert text.errors[1:] == [
        "hint: it may still be done: check before you try again",
        "kafka-cluster: not tried: broker 3, 4",
    ]
    assert len(nodes) == 3


def test_request_without_an_answer_that_was_done_is_seen() -> None:
    with serving(fenced(1, 2, 3), silent=[2], is_late=True) as peer:
        data = unregister(peer, "--id", "1-3", "--format", "json")

    assert (data.code, data.err) == (0, "")
    assert outcomes(data) == {1: "done", 2: "done", 3: "done"}


def test_missing_permission_leaves_the_others_untried() -> None:
    with serving(fenced(1, 2, 3), denied=[2]) as peer:
        data = unregister(peer, "--id", "1-3", "--format", "json")

    assert data.code == 1
    assert outcomes(data) == {1: "done", 2: "failed", 3: "untried"}
    assert lines(data)[-1]["permission"] == "ALTER"
    assert lines(data)[-1]["changed"] is True


def test_several_are_a_table_on_a_terminal() -> None:
    import pty

    with serving(fenced(1, 20)) as peer:
        master, slave = pty.openpty()
        arguments = ["-b", str(peer.address), "-i", "1,20", "--force", "--yes"]
        done = subprocess.run(
            [CLUSTER, "unregister", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=slave,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            timeout=20,
            check=False,
        )
        shown = os.read(master, 4096).decode().splitlines()
        os.close(slave)
        os.close(master)

    assert (done.returncode, done.stderr) == (0, b"")
    assert shown == [
        "BROKER  \x1b[1mOUTCOME\x1b[0m",
        "1       \x1b[32mdone   \x1b[0m  Broker 1 is no longer registered.",
        "20      \x1b[32mdone   \x1b[0m  Broker 20 is no longer registered.",
    ]


# A broker that comes back before its turn


def test_broker_that_came_back_is_refused_by_an_answer_that_is_asked_anew() -> None:
    """The others are unregistered; with --force nobody looks."""
    nodes = fenced(1, 2, 3)
    with serving(nodes, returning=2, sees_all=True) as peer:
        done = cluster("unregister", "-b", str(peer.address), "-i", "1-3", "--format", "json")
        forced = unregister(peer, "-i", "2")

    assert outcomes(done) == {1: "done", 2: "refused", 3: "done"}
    assert (done.code, lines(done)[0]["error"]) == (3, "broker-running")
    assert "broker 2 is running" in done.errors[0]
    assert (forced.code, forced.text) == (0, "Broker 2 is no longer registered.\n")
    assert nodes == []


def test_broker_that_came_back_is_refused_by_the_log_that_is_followed() -> None:
    log = MetadataLog()
    log.add(registration(1), registration(2), registration(3))
    gone: list[int] = []

    def unregistered(version: int, correlation: int, body: bytes) -> bytes:
        gone.append(int.from_bytes(body[1:5], signed=True))
        if gone == [1]:
            back = {"brokerId": 2, "brokerEpoch": 2, "fenced": -1}
            log.add(("BrokerRegistrationChangeRecord", back))
            limit = Deadline(10)
            while log.asked[-1] != ("fetch", (1, log.end, 1)):
                assert not limit.is_over
                time.sleep(0.01)
        return answer("UnregisterBroker", version, correlation, error_code=0)

    with quorum(log, 1) as controllers:
        address = controllers.address(1)
        node = {"broker_id": 1, "host": address.host, "port": address.port, "rack": None}
        controllers.more = {
            60: lambda version, correlation, _: described(correlation, version, brokers=[node]),
            64: unregistered,
        }
        done = cluster("unregister", "-C", str(address), "--all-fenced", "--format", "json")

    assert outcomes(done) == {1: "done", 2: "refused", 3: "done"}
    assert (done.code, lines(done)[0]["error"], gone) == (3, "broker-running", [1, 3])

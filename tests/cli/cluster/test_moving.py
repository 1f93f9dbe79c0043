"""Options and output of the subcommands that move replicas."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from kraftops.errors import KraftopsError, RefusedError
from kraftops.placement.plan import Limits, plan_removal
from kraftops.placement.reassignment_json import checked_plan, plan_json, read_plan
from kraftops.reassign.access import ClusterAccess
from kraftops.reassign.events import Event
from kraftops_cli.cluster.moving import access, drain
from kraftops_cli.cluster.moving.access import EventPrinter, Work, limits_of
from kraftops_cli.cluster.options import AccessOptions, PlanOptions
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.status import Status
from tests.helpers.placement import placement
from tests.helpers.tools.fake_cluster import NODES, cluster, serving
from tests.helpers.tools.own_terminal import OwnTerminal
from tests.helpers.wire.peers import Peer, free_port, silent

RACKS = dict.fromkeys(range(1, 5), None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("decommission", "--id", "1"), "--bootstrap-server/-b is required"),
        (("decommission", "-b", "h:1"), "argument --id/-i is required"),
        (("decommission", "-b", "h:1", "--id", "1,x"), "could not convert 'x' to Integer"),
        (("decommission", "-b", "h:1", "--id", "1", "--batch", "0"), "not a number from 1 to"),
        (
            ("decommission", "-b", "h:1", "--id", "1", "--throttle", "0"),
            "not a size from 1 to 1024t",
        ),
        (("decommission", "-b", "h:1", "--id", "1", "--wait", "--no-wait"), "do not go together"),
        (("decommission", "-b", "h:1", "--id", "1", "--plan", "p", "--to", "2"), "go together"),
        (("decommission", "status", "-b", "h:1", "--to", "2"), "--to and status do not go"),
        (("decommission", "status", "-b", "h:1", "--batch", "100"), "--batch and status do not"),
        (("decommission", "cancel", "-b", "h:1", "--no-wait"), "--no-wait and cancel do not go"),
        (("decommission", "cancel", "-b", "h:1", "--throttle", "9"), "goes with --plan for cancel"),
        (("safe-to-stop", "--id", "1"), "one of -b and -C is required"),
        (("drain", "-b", "h:1", "--id", "1"), "argument --save is required"),
        (("wait", "-b", "h:1"), "argument --for is required"),
        (("wait", "-b", "h:1", "--for", "x"), "'x' is not a condition"),
        (("wait", "-b", "h:1", "--for", "brokers=x"), "'brokers=x' is not a condition"),
        (("operations", "cancel", "-b", "h:1"), "cancel needs the names of operations"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[str, ...], message: str) -> None:
    done = cluster(*arguments)

    assert (done.code, done.text) == (1, "")
    assert message in done.err


@pytest.mark.parametrize("command", ["decommission", "drain", "rebalance", "safe-to-stop"])
def test_nobody_answers_at_once(command: str, tmp_path: Path) -> None:
    ids = () if command == "rebalance" else ("--id", "1")
    save = ("--save", str(tmp_path / "f")) if command == "drain" else ()
    with free_port() as port:
        done = cluster(command, "-b", f"localhost:{port}", *ids, *save, "--format", "json")

    assert done.code == 5
    assert json.loads(done.text)["error"] == "no-answer"
    assert "connection refused" in done.errors[0]


def test_saved_plan_replaces_links_and_no_neighbours(tmp_path: Path) -> None:
    path, other, neighbour = (tmp_path / name for name in ("plan", "other", "plan.tmp"))
    neighbour.write_text("another's")
    path.symlink_to(other)

    drain._save(str(path), [])

    assert not path.is_symlink()
    assert read_plan(str(path)) == {}
    assert not other.exists()
    assert neighbour.read_text() == "another's"


def test_plan_is_saved_to_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    drain._save("/dev/stdout", [])

    assert json.loads(capfd.readouterr().out)["partitions"] == []
    assert Path("/dev/stdout").is_symlink()


@pytest.mark.parametrize(("sees_all", "code"), [(True, 0), (False, 2)])
def test_all_permissions_are_named_together(sees_all: bool, code: int) -> None:
    with serving(NODES, sees_all=sees_all) as peer:
        ask = ("rebalance", "-b", str(peer.address), "--check-permissions")
        text, answer = cluster(*ask), cluster(*ask, "--format", "json")

    permissions = json.loads(answer.text)["permissions"]
    assert (text.code, answer.code) == (code, code)
    assert {each["operation"]: each["isGranted"] for each in permissions} == dict.fromkeys(
        ("DESCRIBE", "DESCRIBE_CONFIGS", "ALTER", "ALTER_CONFIGS", "ALL"), sees_all
    )
    assert ("kafka-acls --add --cluster --operation DESCRIBE" in text.text) is not sees_all


@pytest.mark.parametrize("option", ["-b", "-C"])
def test_timeout_is_kept_where_nobody_answers(option: str) -> None:
    with Peer(silent) as peer:
        done = cluster("safe-to-stop", option, str(peer.address), "--id", "1", "--timeout", "0.5")

    assert done.code == 5
    assert "gives no answer within 0.5 s" in done.errors[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"topic": "gone"}, "partition gone-0 does not exist"),
        ({"replicas": [2, 9]}, "broker 9 is not registered"),
        ({"replicas": [2, 1]}, "broker 1 would not be empty"),
        ({"replicas": [2], "log_dirs": ["any"]}, "it has 2 replicas, and would have 1"),
        ({"previous": [3, 4]}, "it has other replicas than the plan was made for"),
    ],
)
def test_plan_that_does_not_fit_is_refused(
    change: dict[str, object], message: str, tmp_path: Path
) -> None:
    found = placement(RACKS, [(1, 2)])
    (partition,) = plan_json(plan_removal(found, {1}, Limits()).moves)["partitions"]  # type: ignore[misc,attr-defined]
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"partitions": [{**partition, **change}]}))

    with pytest.raises(KraftopsError, match=re.escape(message)) as raised:
        checked_plan(str(path), found, {1})

    is_missing = "does not exist" in message or "not registered" in message
    assert (raised.value.exit_code == 4) is is_missing


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (PlanOptions(exclude_topic=("gone",)), "not-found"),
        (PlanOptions(to=(9,)), "broker-not-registered"),
    ],
)
def test_topic_or_broker_that_does_not_exist_is_not_found(options: PlanOptions, code: str) -> None:
    with pytest.raises(KraftopsError) as raised:
        limits_of(placement(RACKS, [(1, 2)]), options, {})

    assert (raised.value.code, raised.value.exit_code) == (code, 4)


def test_person_agrees_by_typing_the_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["103, 104", "yes", ""])
    monkeypatch.setattr(os, "isatty", lambda _: True)
    monkeypatch.setattr("builtins.input", lambda: next(answers))

    work = Work(Terminal("t"), AccessOptions(), ClusterAccess(None))
    work.confirm("103,104", "go on")
    for _ in range(2):
        with pytest.raises(RefusedError, match="nothing is changed") as raised:
            work.confirm("103,104", "go on")
        assert (raised.value.code, raised.value.exit_code) == ("not-confirmed", 3)


def test_nobody_can_be_asked_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "isatty", lambda _: False)

    work = Work(Terminal("t"), AccessOptions(yes=True), ClusterAccess(None))
    work.confirm("1", "go on")
    with pytest.raises(RefusedError, match="there is no terminal to ask whether to go on"):
        replace(work, options=AccessOptions()).confirm("1", "go on")


def test_progress_without_news_is_not_repeated(capfd: pytest.CaptureFixture[str]) -> None:
    times = iter([0.0, 1.0, 11.0])
    printer = EventPrinter(Terminal("t"), clock=lambda: next(times))

    for _ in range(3):
        printer(Event("progress", "a"))

    assert capfd.readouterr().err == "a\na\n"


def test_progress_on_a_terminal_is_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "is_seen", lambda _: True)
    with OwnTerminal(100) as screen:
        terminal = Terminal("t")
        terminal._status = Status(screen.fd)
        times = iter(range(0, 1000, 10))
        printer = EventPrinter(terminal, clock=lambda: float(next(times)))

        printer(Event("progress", "in flight: 10", {"partitions": 10, "waiting": 50}))
        printer(Event("progress", "in flight: 5", {"partitions": 5, "waiting": 10}))
        line = re.sub(r"\x1b\[[\d;]*[mK]", "", screen.shown()).rpartition("\r")[2]

    assert "━" in line
    assert " 75%  45 of 60 partitions" in line
    assert line.endswith("in flight: 5")

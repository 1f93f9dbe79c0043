"""`kafka-cluster restart`: options, the table of the order, and its JSON."""

import json

import pytest

from kraftops.answers.fields import json_of
from kraftops.placement.safety import MinIsr
from kraftops.restart.decide import View
from kraftops.restart.hook import Hook
from kraftops.restart.rolling import Restart
from kraftops.voters.stop import StopRules
from kraftops_cli.cluster.restart import NODE, ORDER, RestartAnswer
from kraftops_terminal.console import Console
from kraftops_terminal.tables import table_of, table_text
from tests.helpers.project.json_schemas import check_output
from tests.helpers.tools.fake_cluster import cluster
from tests.helpers.wire.peers import free_port
from tests.helpers.wire.restarting_cluster import RestartingCluster


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-b", "h:1"), "--hook is required"),
        (("-b", "h:1", "--hook", "x", "--at-once", "0"), "'0'"),
        (("-b", "h:1", "--hook", "x", "--roles", "voters"), "'voters'"),
        (("-C", "h:1", "--hook", "x"), "--bootstrap-server/-b is required"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[str, ...], message: str) -> None:
    done = cluster("restart", *arguments)

    assert (done.code, done.text) == (1, "")
    assert message in done.err


@pytest.mark.parametrize("role", ["brokers", "broker", "controllers", "controller"])
def test_roles_are_taken_as_process_roles_has_them_and_nobody_answers(role: str) -> None:
    with free_port() as port:
        done = cluster(
            "restart", "-b", f"localhost:{port}", "--hook", "x", "--timeout", "0.5",
            "--roles", role, "--format", "json",
        )  # fmt: skip

    assert (done.code, json.loads(done.text)["error"]) == (5, "no-answer")


def test_order_with_what_may_not_stop() -> None:
    model = RestartingCluster(3, 1)
    nodes = model.nodes()
    rules = StopRules(model.placement(), {"t": MinIsr(2)}, model.voter_set())
    view = View({}, nodes, model.placement(), rules, 1, {}, frozenset(), frozenset(), 1)
    request = Restart(nodes, Hook("ssh {host} restart {role}", 1), 1)
    answer = RestartAnswer(request, view, is_dry=True)

    console = Console(lambda _: None, -1, is_terminal=False)
    lines = table_text(console, table_of(NODE, answer.rows())).splitlines()
    order = {"command": "restart", "formatVersion": 2, **json_of(ORDER, answer)}

    assert lines[0].split() == ["NODE", "STOP", "REASON", "ROLES", "RACK", "COMMAND"]
    assert [line.split()[0] for line in lines[1:]] == ["102", "103", "101", "1"]
    assert lines[4].split()[1:3] == ["not", "safe"]
    assert lines[1].split()[-4:] == ["ssh", "host-102", "restart", "broker"]
    assert answer.estimate() == "4 nodes, about 4 min if each takes a minute\n"
    check_output("cluster", ["--format", "json"], json.dumps(order))

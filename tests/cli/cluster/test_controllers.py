"""`kafka-cluster controllers`: options, table and JSON."""

import json
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from kraftops.answers.fields import json_of
from kraftops.voters.access import QuorumAccess
from kraftops_cli.cluster.broker_states import KeptState
from kraftops_cli.cluster.controllers import (
    ALREADY,
    CONTROLLERS,
    ControllersAnswer,
    _listener,
    controllers_text,
    members_of,
)
from kraftops_cli.cluster.health import NodeFacts
from kraftops_terminal.console import Console
from tests.helpers.project.json_schemas import check_output
from tests.helpers.tools.fake_cluster import cluster
from tests.helpers.wire.peers import free_port
from tests.helpers.wire.voting_quorum import VotingQuorum


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-C", "h:1", "--id", "1"), "--id does not go with a look at the controllers"),
        (("remove", "-C", "h:1"), "argument --id/-i is required"),
        (("remove", "-C", "h:1", "--id", "1", "--by", "2"), "--by does not go with remove"),
        (("add", "-C", "h:1", "--id", "1", "--listener", "h:1"), "is not NAME://HOST:PORT"),
        (("add", "--id", "1"), "one of -b and -C is required"),
        (("grow", "-C", "h:1"), "'grow'"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[str, ...], message: str) -> None:
    done = cluster("controllers", *arguments)

    assert (done.code, done.text) == (1, "")
    assert message in done.err


@pytest.mark.parametrize("option", ["-b", "-C"])
def test_nobody_answers(option: str) -> None:
    with free_port() as port:
        done = cluster(
            "controllers", option, f"localhost:{port}", "--timeout", "0.5", "--format", "json"
        )

    assert (done.code, json.loads(done.text)["error"]) == (5, "no-answer")


def test_listener_has_a_name_and_an_address() -> None:
    assert _listener("CONTROLLER://[::1]:9093") == ("CONTROLLER", ("::1", 9093))


def answer(quorum: VotingQuorum, outcome: str | None = None) -> ControllersAnswer:
    image = SimpleNamespace(controllers={}, brokers={101: None})
    facts = dict.fromkeys([*quorum.voters, 101], NodeFacts("4.3"))
    access = quorum.access()
    with (
        patch.object(QuorumAccess, "image", lambda _: image),
        patch.object(QuorumAccess, "joins_itself", lambda _, node, __: node == 2),
        patch.object(KeptState, "facts", lambda _, __: facts),
        patch("kraftops.voters.quorum._LOOK_SECONDS", 0.0),
    ):
        found = access.quorum()
        return ControllersAnswer(found, members_of(access, found), outcome)


def test_voters_and_observers_are_a_table() -> None:
    quorum = VotingQuorum(3)
    quorum.observe(101)
    quorum.behind.add(3)

    text = controllers_text(answer(quorum, ALREADY), Console(lambda _: None, -1, is_terminal=False))
    lines = text.splitlines()

    assert lines[:2] == [
        "nothing to do: it is done already", "leader 1, epoch 3, dynamic voters",
    ]  # fmt: skip
    assert "LAST CONTACT" in lines[2]
    assert [line.split()[:4] for line in lines[3:]] == [
        ["1", "leader", "4.3", "100"], ["2", "voter", "4.3", "100"], ["3", "voter", "4.3", "60"],
        ["101", "observer", "4.3", "100"],
    ]  # fmt: skip


def test_json_has_its_schema() -> None:
    members = answer(VotingQuorum(3, is_static=True))
    fields = json_of(CONTROLLERS.fields, members)

    assert fields["isDynamic"] is False
    check_output(
        "kafka-cluster",
        ("controllers", "--format", "json"),
        json.dumps({"command": "controllers", "formatVersion": 2, **fields}),
    )

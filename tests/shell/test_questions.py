"""Questions of operators, each answered by a command, with answers computed from rows alone."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from kraftops_shell.grammar.registry import COMMANDS
from tests.helpers.incidents.replayed import Replayed, replayed
from tests.helpers.tools.corpus import DATA
from tests.helpers.tools.shell_session import LOG, Shell

EARLIER = 300
"""An offset at which the session has been asked for the state."""
RACKS = DATA / "incidents/racks-4.1/00000000000000000000.log"


class Question(NamedTuple):
    """A question, the command that answers it, what of its rows is the answer, and the answer."""

    text: str
    words: tuple[str, ...]
    of_row: Callable[[dict[str, Any]], Any]
    answer: Callable[[Replayed], list[Any]]
    at: int | None = None


def place(row: dict[str, Any]) -> tuple[str, int]:
    return row["topic"], row["partition"]


def where(test: Callable[[dict[str, Any]], bool]) -> Callable[[Replayed], list[Any]]:
    """Return the function to the partitions that pass a test."""
    return lambda state: [key for key, one in state.partitions.items() if test(one)]


def partitions(text: str, condition: str, test: Callable[[dict[str, Any]], bool]) -> Question:
    return Question(text, ("partitions", "--where", condition), place, where(test))


def changed(kind: str, test: Callable[[Any, Any], bool]) -> Callable[[Replayed], list[Any]]:
    """Return the function to the offsets of changes of a kind that pass a test."""
    return lambda state: [
        offset
        for offset, of, _, before, after in state.changes
        if of == kind and test(before, after)
    ]


def offset(row: dict[str, Any]) -> int:
    number: int = row["offset"]
    return number


def fewest(state: Replayed) -> dict[str, int]:
    """Return the lowest number of replicas of each topic."""
    sizes: dict[str, list[int]] = {}
    for (topic, _), one in state.partitions.items():
        sizes.setdefault(topic, []).append(len(one["replicas"]))
    return {topic: min(counts) for topic, counts in sizes.items()}


QUESTIONS = (
    Question("Which topics are there?", ("topics",), lambda row: row["topic"],
             lambda state: [*state.topics.values()]),
    Question("How many partitions has each topic?", ("topics",),
             lambda row: (row["topic"], row["partitions"]),
             lambda state: [*Counter(topic for topic, _ in state.partitions).items()]),
    Question("Which topics have too few replicas?", ("topics", "--where", "replication < 3"),
             lambda row: row["topic"],
             lambda state: [topic for topic, count in fewest(state).items() if count < 3]),
    Question("Which topics have partitions without a leader?", ("topics", "--where", "offline > 0"),
             lambda row: (row["topic"], row["offline"]),
             lambda state: [*Counter(topic for topic, _ in state.named(leader=-1)).items()]),
    partitions("Which partitions have no leader?", "leader = -1", lambda one: one["leader"] == -1),
    partitions("Which partitions lack replicas in sync?", "len(isr) < len(replicas)",
               lambda one: len(one["isr"]) < len(one["replicas"])),
    partitions("Which have one replica in sync left?", "len(isr) = 1 and len(replicas) > 1",
               lambda one: len(one["isr"]) == 1 < len(one["replicas"])),
    partitions("Where is broker 2 out of sync?", "2 in replicas and not 2 in isr",
               lambda one: 2 in one["replicas"] and 2 not in one["isr"]),
    partitions("What is on brokers 1 and 2 alone?", "only(replicas, 1, 2)",
               lambda one: {*one["replicas"]} <= {1, 2}),
    partitions("What has just these replicas?", "replicas = [1, 2, 3]",
               lambda one: one["replicas"] == [1, 2, 3]),
    partitions("What does another than the preferred broker lead?",
               "leader != preferred and leader != -1",
               lambda one: one["leader"] not in (-1, one["replicas"][0])),
    partitions("What has eligible leader replicas?", "len(elr) > 0", lambda one: one["elr"] != []),
    partitions("What is being moved?", "reassigning",
               lambda one: bool(one["adding"] or one["removing"])),
    Question("What does broker 1 lead?", ("partitions", "--broker", "1", "--leader"), place,
             where(lambda one: one["leader"] == 1)),
    Question("What does broker 3 follow?", ("partitions", "--broker", "3", "--follower"), place,
             where(lambda one: 3 in one["replicas"] and one["leader"] != 3)),
    Question("What is on broker 2?", ("partitions", "--broker", "2"), place,
             where(lambda one: 2 in one["replicas"])),
    Question("Which brokers are there?", ("brokers",), lambda row: row["broker"],
             lambda state: [*state.brokers]),
    Question("Which brokers are fenced?", ("brokers", "--where", "state != 'active'"),
             lambda row: row["broker"],
             lambda state: [id_ for id_, one in state.brokers.items() if one["fenced"]]),
    Question("How many replicas has each broker?", ("brokers",),
             lambda row: (row["broker"], row["replicas"]),
             lambda state: [
                 (id_, sum(id_ in one["replicas"] for one in state.partitions.values()))
                 for id_ in state.brokers
             ]),
    Question("How many leaders has each broker?", ("brokers",),
             lambda row: (row["broker"], row["leaders"]),
             lambda state: [(id_, len(state.named(leader=id_))) for id_ in state.brokers]),
    Question("What is configured of topics?", ("configs", "--where", "type = 'TOPIC'"),
             lambda row: (row["name"], row["key"], row["value"]),
             lambda state: [
                 (name, key, value) for (kind, name, key), value in state.configs.items() if kind == 2
             ]),
    Question("Who may do what?", ("acls",), lambda row: (row["principal"], row["name"]),
             lambda state: [(one["principal"], one["resourceName"]) for one in state.acls.values()]),
    Question("Who may write?", ("acls", "--where", "operation in ('ALL', 'WRITE')"),
             lambda row: row["id"],
             lambda state: [id_ for id_, one in state.acls.items() if one["operation"] in (2, 4)]),
    Question("Which quotas are there?", ("quotas",), lambda row: (row["key"], row["value"]),
             lambda state: [(key, value) for (_, key), value in state.quotas.items()]),
    Question("Which partitions had no leader then?", ("partitions", "--where", "leader = -1"), place,
             where(lambda one: one["leader"] == -1), EARLIER),
    Question("Which topics were deleted?", ("changes", "--kind", "topic", "--where", "new is null"),
             offset, changed("topic", lambda _, after: after is None)),
    Question("Which ACLs were removed?", ("changes", "--kind", "acl", "--where", "new is null"),
             offset, changed("acl", lambda _, after: after is None)),
    Question("When was a configuration changed?", ("changes", "--kind", "config", "--where",
             "old is not null and new is not null"), offset,
             changed("config", lambda before, after: None not in (before, after)
                     and before != after)),
    Question("When did partitions lose their leaders?",
             ("changes", "--kind", "leader", "--where", "new = 'no leader'"), offset,
             changed("partition", lambda before, after: before["leader"] != -1 == after["leader"])),
    Question("When did a partition lose its leader?",
             ("log", "--where", "about ~ '^orders-' and value.leader = -1"), offset,
             lambda state: [
                 number for number, kind, what, before, after in state.changes
                 if kind == "partition" and what[0] == "orders" and before["leader"] != -1 == after["leader"]
             ]),
    Question("What goes offline without broker 1?", ("what-if", "--lose", "1"), place,
             where(lambda one: one["leader"] != -1 and not {*one["isr"], *one["elr"]} - {1})),
)  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.text)
def test_a_command_answers(question: Question) -> None:
    name = question.words[0]
    shell = Shell(LOG) if question.at is None else Shell(LOG, at_offset=question.at)
    answer = shell(*question.words, "--format", "json").out

    if name == "log":
        rows = [json.loads(line) for line in answer.splitlines()]
    else:
        rows = json.loads(answer)["partitions" if name == "what-if" else name]
    state = replayed(LOG) if question.at is None else replayed(LOG, question.at)
    if name == "what-if":
        rows = [row for row in rows if row["result"] == "offline"]
    assert Counter(map(question.of_row, rows)) == Counter(question.answer(state))
    assert name in {command.name for command in COMMANDS}  # which help lists


def test_what_is_still_wrong_is_what_is_out_of_sync_at_the_end() -> None:
    """A broker that is fenced, and one that lost a log directory."""
    shell = Shell(RACKS)
    incidents = json.loads(shell("incidents", "--format", "json").out)["incidents"]
    partitions = replayed(RACKS).partitions.values()

    lasting = [broker for one in incidents if one["end"] is None for broker in one["brokers"]]
    assert sorted(lasting) == sorted(
        {broker for state in partitions for broker in {*state["replicas"]} - {*state["isr"]}}
    )
    assert {id_ for id_, one in replayed(RACKS).brokers.items() if one["fenced"]} < {*lasting}


def test_there_are_thirty_questions_and_most_have_an_answer() -> None:
    state = replayed(LOG)

    assert len(QUESTIONS) >= 30
    assert sum(bool(one.answer(state)) for one in QUESTIONS) >= 24

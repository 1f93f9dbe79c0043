"""The commands what-if and skew."""

import json

import pytest

from kraftops.errors import UsageError
from tests.helpers.project.json_schemas import problems
from tests.helpers.tools.corpus import DATA
from tests.helpers.tools.shell_session import NODE, Shell


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell(NODE, at_offset=300)


def test_loss_has_a_line_and_tables_of_topics_and_partitions(shell: Shell) -> None:
    found = shell("what-if", "--lose", "1", "--limit", "2")

    moment, *lines = found.lines
    assert moment.startswith("State of 2026-")
    assert lines == [
        "Without broker 1, of 36 partitions",
        "        5 go offline",
        "        5 keep no replica",
        "        5 lose their last replica in sync",
        "        8 end below their min ISR",
        "        5 get another leader",
        "",
        "topic      noReplica  offline  lastInSync  underMinIsr",
        "Aa                 1        1           1            0",
        "elr.topic          0        0           0            1",
        "and 3 more topics; --limit shows others",
        "",
        "topic      partition  result         leader  isr  left  replicas  minIsr",
        "Aa                 0  no-replica          1  1          1              1",
        "elr.topic          2  under-min-isr       1  1,2  2     1,2            2",
        "and 11 more partitions; --limit shows others",
    ]
    assert found.code == 2


def test_rack_is_its_brokers(shell: Shell) -> None:
    both = shell("what-if", "--lose-rack", "r1,r4", "--format", "csv").out

    assert both == shell("what-if", "--lose", "4,1", "--format", "csv").out
    assert both == shell("what-if", "--lose", "4", "--lose-rack", "r1", "--format", "csv").out
    assert len(both.splitlines()) > 10


def test_json_has_totals_topics_and_partitions(shell: Shell) -> None:
    found = shell("what-if", "--lose", "1", "--format", "json")
    told = json.loads(found.out)

    assert problems("metadata-shell-what-if", found.out) == []

    assert (told["offset"] > 40, told["fenced"]) == (True, [])
    assert (told["brokers"], told["offline"], told["noReplica"]) == ([1], 5, 5)
    assert sum(topic["underMinIsr"] for topic in told["topics"]) == told["underMinIsr"] == 8
    assert len(told["partitions"]) == 13
    assert told["partitions"][0] == {
        "topic": "Aa",
        "partition": 0,
        "result": "no-replica",
        "leader": 1,
        "isr": [1],
        "left": [],
        "replicas": [1],
        "minIsr": 1,
    }


def test_harmless_loss_is_said() -> None:
    found = Shell(NODE)("what-if", "--lose", "3", "--format", "csv")

    assert found.lines[0].startswith("topic,partition,result")
    nobody = Shell(NODE, at_offset=40)("what-if", "--lose", "4")
    moment, *lines = nobody.lines
    assert moment == f"State of 2026-11-21T10:47:41.247Z, offset 40, by the log of {NODE}."
    assert lines == ["Without broker 4: no partition is harmed; 0 leaders move."]


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (("--lose", "9"), "there is no broker 9", 4),
        (("--lose", "2147483647"), "there is no broker 2147483647", 4),
        (("--lose-rack", "b"), "there is no rack 'b'", 4),
        (("--lose", "one"), "'one' is not an id of a broker", 1),
    ],
)
def test_unknown_names_are_refused(
    shell: Shell, words: tuple[str, ...], message: str, code: int
) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        shell("what-if", *words)

    assert caught.value.exit_code == code


def test_nothing_to_lose_is_refused(shell: Shell) -> None:
    assert shell("what-if").code == 1


def test_skew_has_bars_for_brokers_and_racks(shell: Shell) -> None:
    found = shell("skew")

    assert found.lines[0].split() == ["broker", "rack", "leaders", "preferred", "replicas"]
    assert found.lines[1].split() == ["1", "r1", "10", "█" * 20, "10", "15", "█" * 20]
    assert found.lines[3].split() == ["3", "r3", "8", "█" * 16, "8", "14", "█" * 19]
    assert found.lines[5] == ""
    assert found.lines[6].split() == ["rack", "leaders", "preferred", "replicas"]
    text = shell("skew", "--format", "json").out
    assert problems("metadata-shell-skew", text) == []
    rows = json.loads(text)["shares"]
    assert len(rows) == 8
    assert rows[0] == {
        "of": "broker",
        "name": "1",
        "rack": "r1",
        "leaders": 10,
        "preferred": 10,
        "replicas": 15,
    }
    assert len(shell("skew", "--format", "csv").lines) == len(rows) + 1 == 9


def test_loss_of_a_controller_is_one_of_the_quorum() -> None:
    with pytest.raises(UsageError, match="1 is a controller, and has no partitions") as caught:
        Shell(str(DATA / "incidents/three"))("what-if", "--lose", "1")

    assert "safe-to-stop -C HOST:PORT --id 1" in (caught.value.hint or "")

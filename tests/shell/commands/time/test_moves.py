"""The commands at, next and prev."""

import json
from pathlib import Path
from random import Random

import pytest

from kraftops.errors import UsageError
from kraftops.image.load.loading import load
from kraftops.tree.layout import tree_of
from kraftops.tree.node import leaves_by_raw_path
from kraftops.tree.view import Form
from tests.helpers.logs.metadata_logs import write_log
from tests.helpers.logs.random_logs import LogBatch, new_record, uuid
from tests.helpers.project.json_schemas import problems
from tests.helpers.tools.shell_session import LOG, NODE, SNAPSHOT, Shell

ORDERS = "/image/topics/byName/orders"
BROKER = "/image/cluster/brokers/2"


def _leaves(shell: Shell) -> dict[str, object]:
    return {path: leaf.data for path, leaf in leaves_by_raw_path(shell.session.root)}


@pytest.mark.parametrize("source", [LOG, NODE], ids=["log", "with-snapshots"])
def test_moves_show_what_fresh_loads_show(source: Path) -> None:
    shell, random = Shell(source), Random(7)

    for _ in range(100):
        offset = random.randrange(30, 583)
        shell("at", f"@{offset}")
        image = load(source, at_offset=offset)
        wanted = tree_of(image, form=Form.OURS, version="1")
        assert _leaves(shell) == {path: leaf.data for path, leaf in leaves_by_raw_path(wanted)}


def test_a_move_is_told_by_a_line_and_the_prompt() -> None:
    shell = Shell()

    assert shell("at", "@300").out == "@300  2026-11-21T10:48:28.044Z  epoch 1\n"
    assert shell.session.prompt_prefix == "@300 2026-11-21 10:48:28 "
    assert shell("at", "now").out == "@583  2026-11-21T10:50:12.198Z  epoch 1\n"
    assert shell.session.prompt_prefix == ""


def test_an_offset_that_the_log_does_not_have_is_told() -> None:
    at_end, note = Shell()("at", "@9999999").lines

    assert at_end.startswith("@583 ")
    assert note == "the log has no change between that and @9999999"


def test_a_moment_is_an_offset_a_time_or_a_duration() -> None:
    shell = Shell()

    assert shell("at", "300").lines == shell("at", "@2026-11-21T10:48:28.500Z").lines
    assert shell("at", "1h").out.startswith("@583 ")  # the log has ended before
    assert shell("at", "-1m").out.startswith("@429 ")  # a minute before its end
    with pytest.raises(UsageError, match="it has nothing that old"):
        shell("at", "-1000d")
    with pytest.raises(UsageError, match="'xyz' is not a valid time"):
        shell("at", "xyz")


def test_the_working_directory_stays_or_goes_up() -> None:
    shell = Shell()
    shell("cd", ORDERS)

    assert len(shell("at", "@300").lines) == 1
    assert shell("pwd").out == f"{ORDERS}\n"
    assert shell("at", "@20").lines[1:] == [
        f"{ORDERS} does not exist here: now in /image/topics/byName"
    ]
    assert shell("pwd").out == "/image/topics/byName\n"


def test_a_command_at_a_moment_does_not_move() -> None:
    shell = Shell()
    shell("cd", ORDERS)

    found = shell("at", "@300", "ls", "-l", ORDERS)

    assert found.lines == Shell(at_offset=300)("ls", "-l", ORDERS).lines
    assert shell("pwd").out == f"{ORDERS}\n"
    assert shell("ls", "-l", ORDERS).lines == Shell()("ls", "-l", ORDERS).lines
    assert shell.session.prompt_prefix == ""


def test_the_place_has_the_events_of_the_log_with_a_mark() -> None:
    shell = Shell()
    shell("at", "@300")

    lines = shell("at").lines

    assert lines[:4] == [
        "offset  300",
        "time    2026-11-21T10:48:28.044Z",
        "epoch   1",
        "log     0 to 583",
    ]
    assert lines[5].startswith("events  ")
    assert lines[6].index("^") == len("events  ") + 11  # of buckets of 5 seconds
    text = shell("at", "--format", "json").out
    assert problems("metadata-shell-at", text) == []
    told = json.loads(text)
    assert (told["offset"], told["firstOffset"], told["lastOffset"]) == (300, 0, 583)
    assert sum(told["events"]) > 100


def test_next_and_prev_print_what_changed() -> None:
    shell = Shell()
    shell("at", "@349")

    after = shell("next")
    again = shell("next"), shell("prev")

    assert after.lines == [
        "@350  2026-11-21T10:48:49.846Z  epoch 1",
        (
            f"350  2026-11-21T10:48:49.846Z  PARTITION_CHANGE_RECORD  {ORDERS}/0  isr [4,1] → [1];"
            " eligibleLeaderReplicas [] → [4]; leader 4 → 1; leaderEpoch 0 → 1; partitionEpoch 2 → 3"
        ),
    ]
    assert again[1] == after


def test_steps_may_be_several_and_end_with_the_log() -> None:
    shell = Shell()
    shell("at", "@344")

    assert shell("next", "3").lines[0].startswith("@347 ")
    assert shell("prev", "2").lines[0].startswith("@345 ")
    assert shell("next", "1000").lines[-1].startswith("no more than ")
    end = shell("next")
    assert (end.code, end.out, end.err) == (1, "", ["next: the log has no such change [not-found]"])
    assert shell("next", "many").code == 1


def test_steps_print_what_changed_on_the_way_oldest_first() -> None:
    shell, several = Shell(), Shell()
    shell("at", "@344")
    several("at", "@344")

    singly = [shell("next").lines for _ in range(3)]
    on, back = several("next", "3").lines, several("prev", "2").lines

    assert on == [singly[2][0], *(line for lines in singly for line in lines[1:])]
    assert back == [singly[0][0], *(line for lines in singly[:2] for line in lines[1:])]


def test_of_many_steps_the_nearest_to_the_end_are_printed() -> None:
    shell = Shell()
    shell("at", "@30")

    on, back = shell("next", "150"), shell("prev", "149")

    for told, offset in ((on, on.lines[-1].split()[0]), (back, back.lines[1].split()[0])):
        assert told.lines[0].startswith(f"@{offset} ")
        assert len({line.split()[0] for line in told.lines[1:]}) == 100
    assert on.err == ["next: 50 changes on the way are not shown"]


def test_before_the_first_change_there_is_no_offset() -> None:
    shell = Shell()

    assert shell("at", "@0").out == "@0  the state before the first change\n"
    assert shell.session.prompt_prefix == "@0 "
    assert shell("at").lines[0] == "offset  none: the state before the first change"
    assert shell("at").lines[1].startswith("log  ")


def test_changes_of_a_path_or_type_are_found() -> None:
    shell = Shell()
    shell("at", "@300")

    assert shell("next", "--path", BROKER).lines[0].startswith("@565 ")
    assert shell("prev", "--path", BROKER).lines[0].startswith("@26 ")
    found = shell("next", "--type", "partitionChange")
    assert "PARTITION_CHANGE_RECORD" in found.lines[1]
    assert "CONFIG_RECORD" in shell("next", "--type", "CONFIG_RECORD").lines[1]
    with pytest.raises(UsageError) as caught:
        shell("next", "--type", "PARTITION_CHANG")
    assert caught.value.hint == "near it are: PARTITION_CHANGE_RECORD, PARTITION_RECORD"
    with pytest.raises(UsageError, match="no history of its own"):
        shell("next", "--path", "/local")


def test_changes_of_all_nodes_of_a_pattern_are_found() -> None:
    shell = Shell()
    found = []
    for pattern in ("/image/cluster/brokers/{1,3}", "/image/topics/byName/orders/*"):
        shell("at", "@300")
        found.append(shell("next", "--path", pattern).lines[0].split()[0])

    assert found == ["@395", "@350"]  # brokers 1 and 3 change at 549 and 395


def test_changes_can_be_json() -> None:
    shell = Shell()
    shell("at", "@349")

    (line,) = shell("next", "--format", "json").lines
    assert problems("metadata-shell-history-of", line) == []
    answer = json.loads(line)
    (told,) = answer["changes"]

    assert answer["command"] == "next"
    assert (told["offset"], told["path"], told["change"]) == (350, f"{ORDERS}/0", "changed")


def test_the_beginning_of_a_snapshot_is_the_earliest_place() -> None:
    shell = Shell(SNAPSHOT)

    assert shell("prev").code == 1


def test_a_transaction_is_one_change_at_its_end(tmp_path: Path) -> None:
    topic = new_record("TopicRecord", topicId=uuid(1), name="t")
    config = new_record("ConfigRecord", resourceType=2, resourceName="t", name="k", value="v")
    batches = (
        [new_record("NoOpRecord")],
        [new_record("BeginTransactionRecord")],
        [topic, config],
        [new_record("EndTransactionRecord")],
        [new_record("NoOpRecord")],
    )
    made, offset = [], 0
    for records in batches:
        made.append(bytes(LogBatch(offset, records)))
        offset += len(records)
    write_log(tmp_path, {0: made})
    shell = Shell(tmp_path)

    before = shell("prev")

    assert before.lines[0].startswith("@4 ")
    assert [line.split()[0] for line in before.lines[1:]] == ["2", "2", "3"]
    assert shell("prev").code == 1


def test_now_returns_to_the_image_that_follows_a_log() -> None:
    shell = Shell()
    present = shell.session.root, shell.session.image_source

    def go_home() -> None:
        shell.session.root, shell.session.image_source = present

    shell.session.go_home = go_home
    shell("at", "@300")
    assert shell.session.standing == 300

    shell("at", "now")

    assert shell.session.standing is None
    assert shell.session.root is present[0]

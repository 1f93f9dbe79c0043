"""Completion of the text before the cursor."""

from pathlib import Path

import pytest

from kraftops.tree.layout import tree_of
from kraftops.tree.node import Directory
from kraftops_shell.grammar.command import Values
from kraftops_shell.grammar.registry import COMMANDS
from kraftops_shell.repl import completion
from kraftops_shell.repl.completion import candidates
from kraftops_shell.repl.values import values_of
from kraftops_shell.session.session import Session
from tests.helpers.logs.random_logs import new_record
from tests.helpers.tools.shell_session import SNAPSHOT, Shell
from tests.helpers.tree.reading import image_of
from tests.helpers.tree.small_trees import session

TREE = {
    "image": {
        "topics": {"byName": {"orders": {"0": 1, "id": 2}, "or der": {"0": 1}, "a/b": {"0": 1}}},
        "provenance": 3,
        "users": {"it's": 1, "user(*)": 2, "user(a)": 3, 'q"q': 4, "x!y": 5},
    },
    "local": {"version": 4},
}


def texts(before: str, *working: str, kafka: bool = False) -> list[str]:
    """Return the lines that a line may become."""
    one, _, _ = session(TREE, kafka=kafka)
    one.working = working
    return [before[: len(before) - found.length] + found.text for found in candidates(one, before)]


@pytest.mark.parametrize("kafka", [False, True])
@pytest.mark.parametrize(
    ("before", "lines"),
    [
        ("pw", ["pwd "]),
        ("pwd", ["pwd "]),
        ("xyz", []),
        ("nope /im", []),
        ("ls /im", ["ls /image/"]),
        ("ls  /im", ["ls  /image/"]),
        ("ls ", ["ls image/", "ls local/"]),
        ("ls /", ["ls /image/", "ls /local/"]),
        ("ls /image/prov", ["ls /image/provenance "]),
        ("ls /local im", ["ls /local image/"]),
        ("ls /nope/", []),
        ("ls /local/version/", []),
        ("ls ..", ["ls ../"]),
        ("ls /image/../lo", ["ls /image/../local/"]),
        ("ls //image//pro", ["ls //image//provenance "]),
        ("ls /i*/to", ["ls /i*/topics/"]),
        ("cd im x", []),
        ("man tr", ["man tree "]),
        ("history 1", []),
        ("pwd ", []),
    ],
)
def test_commands_and_paths_are_completed(before: str, lines: list[str], kafka: bool) -> None:
    assert texts(before, kafka=kafka) == lines


def test_nothing_typed_offers_all_commands() -> None:
    assert {"cat ", "cd ", "tree "} <= set(texts(""))
    assert "grep " in texts("")
    assert "grep " not in texts("", kafka=True)


def test_paths_begin_at_the_working_directory() -> None:
    assert texts("ls byName/o", "image", "topics") == [
        "ls byName/or\\ der/",
        "ls byName/orders/",
    ]


@pytest.mark.parametrize(
    ("before", "lines"),
    [
        ("ls /image/topics/byName/or\\ ", ["ls /image/topics/byName/or\\ der/"]),
        ("ls '/image/topics/byName/or ", ["ls '/image/topics/byName/or der/"]),
        ("ls '/image/prov", ["ls '/image/provenance' "]),
        ('ls "/image/prov', ['ls "/image/provenance" ']),
        ("ls /image/topics/byName/a", ["ls /image/topics/byName/a\\\\/b/"]),
        ("ls '/image/topics/byName/a", ["ls '/image/topics/byName/a\\/b/"]),
        ("ls '/image/topics/byName/a\\/", ["ls '/image/topics/byName/a\\/b/"]),
        ("cat /image/users/i", ["cat /image/users/it\\'s "]),
        ("cat '/image/users/i", ["cat '/image/users/it'\\''s' "]),
        ("cat /image/users/q", ['cat /image/users/q\\"q ']),
        ('cat "/image/users/q', ['cat "/image/users/q\\"q" ']),
        ("cat '/image/users/user(*", ["cat '/image/users/user(\\*)' "]),
        ("cat /image/users/x", ["cat /image/users/x!y "]),
    ],
)
def test_completions_mean_their_names_in_our_form(before: str, lines: list[str]) -> None:
    assert texts(before) == lines


@pytest.mark.parametrize(
    ("before", "lines"),
    [
        ("ls /image/topics/byName/or\\ ", ["ls /image/topics/byName/or\\ der/"]),
        ("ls '/image/topics/byName/or ", ["ls '/image/topics/byName/or der/"]),
        ("cat '/image/users/i", ["cat '/image/users/it\\'s' "]),
        ("cat /image/users/x", ["cat /image/users/x\\!y "]),
        ("ls >im", []),
    ],
)
def test_completions_mean_their_names_in_kafkas_form(before: str, lines: list[str]) -> None:
    assert texts(before, kafka=True) == lines


@pytest.mark.parametrize(
    ("before", "lines"),
    [
        ("ls --s", ["ls --sort "]),
        ("ls --sort n", ["ls --sort name ", "ls --sort natural "]),
        ("ls --sort natural /im", ["ls --sort natural /image/"]),
        ("ls -l /im", ["ls -l /image/"]),
        ("find -ty", ["find -type "]),
        ("find -type ", ["find -type d ", "find -type f "]),
        ("find -name im", []),
        ("grep im", []),
        ("grep im /im", ["grep im /image/"]),
        ("grep -i im /im", ["grep -i im /image/"]),
        ("export --format nd", ["export --format ndjson "]),
        ("diff @1 /im", ["diff @1 /image/"]),
    ],
)
def test_flags_and_their_values_are_completed(before: str, lines: list[str]) -> None:
    assert texts(before) == lines


def test_kafkas_form_has_no_flags() -> None:
    assert texts("ls -", kafka=True) == []


@pytest.mark.parametrize(
    ("before", "lines"),
    [
        ("ls | grep x > no", ["ls | grep x > notes.txt "]),
        ("ls >no", ["ls >notes.txt "]),
        ("ls >> log", ["ls >> logs/"]),
        ("ls > logs/0", ["ls > logs/00.log "]),
        ("ls > nowhere/", []),
        ("export --output no", ["export --output notes.txt "]),
        ("verify lo", ["verify logs/"]),
        ("verify --log-dirs logs lo", ["verify --log-dirs logs logs/"]),
        (
            "verify --log-dirs logs --for",
            ["verify --log-dirs logs --for ", "verify --log-dirs logs --format "],
        ),
        ("diff source:lo", ["diff source:logs/"]),
    ],
)
def test_files_of_the_system_are_completed(
    before: str, lines: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.txt").touch()
    (tmp_path / ".hidden").touch()
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "00.log").touch()
    monkeypatch.chdir(tmp_path)

    assert texts(before) == lines


def test_directory_of_many_names_is_listed_once() -> None:
    """Its children are not listed, and only the first is made."""
    listed: list[str] = []
    made: list[str] = []

    def names() -> list[str]:
        listed.append("/")
        return [f"topic-{number}" for number in range(10_000)]

    def child(name: str) -> Directory:
        made.append(name)
        return Directory(lambda: listed.append(name) or (), lambda _: None)

    one, _, _ = session({})
    one.root = Directory(names, child)

    found = candidates(one, "ls /topic-")

    assert len(found) == 200
    assert found[0].text == "/topic-0/"
    assert listed == ["/"]
    assert made == ["topic-0"]


def test_children_of_flat_directories_are_not_read() -> None:
    one, _, _ = session({})
    one.root = Directory(lambda: ["a", "b"], lambda _: pytest.fail("looked at"), is_known_flat=True)

    assert [found.text for found in candidates(one, "cat ")] == ["a ", "b "]


@pytest.mark.parametrize(
    ("before", "lines"),
    [
        ("pwd; ls /im", ["pwd; ls /image/"]),
        ("pwd > x; gre", ["pwd > x; grep "]),
        ("pwd | x; gre", []),
        ("mine /im", ["mine /image/"]),
        ("min", ["mine "]),
        ("watch -n 5 ls /im", ["watch -n 5 ls /image/"]),
        ("watch -n 5 gre", ["watch -n 5 grep "]),
        ("watch ls --sort na", ["watch ls --sort name ", "watch ls --sort natural "]),
        ("at @3 ls /im", ["at @3 ls /image/"]),
        ("at @3 gre", ["at @3 grep "]),
        ("set mou", ["set mouse "]),
        ("set mouse o", ["set mouse off ", "set mouse on "]),
        ("unalias m", ["unalias mine "]),
        ("help ti", ["help time "]),
        ("help gr", ["help grep "]),
        ("log --columns offset,ti", ["log --columns offset,timestamp"]),
        ("log --where 'off", ["log --where 'offset"]),
    ],
)
def test_values_are_completed(before: str, lines: list[str]) -> None:
    one, _, _ = session(TREE)
    one.settings.aliases["mine"] = "ls -l"

    found = candidates(one, before)

    assert set(lines) <= {before[: len(before) - each.length] + each.text for each in found}
    assert bool(found) is bool(lines)


def test_names_of_the_image_are_completed() -> None:
    one = Shell(SNAPSHOT).session
    topics = sorted(one.source.image.topic_ids)
    row = next(row for row in COMMANDS if row.name == "partitions")

    for values, word, expected in (
        (Values.TOPICS, topics[0][:2], topics[0]),
        (Values.BROKERS, "", str(min(map(str, one.source.image.brokers)))),
        (Values.RECORD_TYPES, "PARTITION_", "PARTITION_CHANGE_RECORD"),
        (Values.COLUMNS, "leader,i", "leader,isr"),
        (Values.CONDITION, "leader = 1 and is", "leader = 1 and isr"),
    ):
        found = values_of(one, values, row, ["x"], word)
        assert expected in [each.text for each in found]


def test_commands_and_flags_have_phrases() -> None:
    one, _, _ = session(TREE)

    assert candidates(one, "grep")[0].phrase == "Search for values."
    assert all(each.phrase for each in candidates(one, "grep -"))


def test_no_more_are_found_than_asked_for() -> None:
    one, _, _ = session({str(number): {} for number in range(300)})

    assert len(candidates(one, "ls /", 10)) == 10


def test_of_many_names_some_are_offered_that_begin_as_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """What all have in common is inserted, and no more: the last name is among them."""
    monkeypatch.setattr(completion, "_MOST", 3)
    ids = [bytes([number] * 16) for number in range(12)]
    image = image_of(
        *(
            new_record("TopicRecord", name=f"t-{number}", topicId=topic_id)
            for number, topic_id in enumerate(ids)
        ),
        *(
            new_record("PartitionRecord", partitionId=0, topicId=topic_id, replicas=[1], leader=1)
            for topic_id in ids
        ),
    )
    session = Session(tree_of(image), str, str, is_kafka=False)
    asked: list[object] = []
    with_role = image.fold.with_role
    monkeypatch.setattr(
        image.fold,
        "with_role",
        lambda role, brokers, topics: asked.append(len(topics)) or with_role(role, brokers, topics),
    )

    topics = [one.text for one in candidates(session, "ls /image/topics/byName/")]
    led = [one.text for one in candidates(session, "ls /image/byBroker/1/leader/")]

    assert topics == [f"/image/topics/byName/t-{number}/" for number in (0, 1, 9)]
    assert led == [f"/image/byBroker/1/leader/t-{number}-0 " for number in (0, 1, 9)]
    assert asked == [4, 4]
    assert [one.text for one in candidates(session, "ls /image/byBroker/1/leader/t-1")] == [
        f"/image/byBroker/1/leader/t-{number}-0 " for number in (1, 10, 11)
    ]

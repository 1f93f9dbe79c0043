"""The command tree in our form."""

import json

import pytest

from tests.helpers.tools.shell_session import LOG, Shell

ORDERS = "/image/topics/byName/orders"


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell(LOG)


def test_tree_stops_at_a_level(shell: Shell) -> None:
    assert shell("tree", "-L", "1", "/").lines == ["image:", "local:"]
    two = shell("tree", "-L", "2", "/").lines
    assert two[-6:-4] == ["local:", "  commitId:"]
    assert two[-3:] == ["  findings:", "  version:", '    "1"']
    assert "  topics:" in two
    assert not any(line.startswith("    byName") for line in two)
    assert shell("tree", "-L", "99", "/").out == shell("tree", "/").out
    assert shell("tree", "-L", "0", "/").out == ""
    assert shell("tree", "-L", "x", "/").err == ["argument -L: 'x' is not a number [usage]"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("cd", "/image/topics/byname"), "no such directory. Did you mean byName? [not-found]"),
        (
            ("ls", "/image/topcis/byName"),
            "no such file or directory. Did you mean topics? [not-found]",
        ),
        (
            ("cat", "/image/topics/byName/ordres/0"),
            "No such file or directory. Did you mean orders? [not-found]",
        ),
        (("cd", "/nothing/like/it"), "no such directory. [not-found]"),
    ],
)
def test_a_path_that_does_not_exist_suggests_another(
    shell: Shell, words: tuple[str, ...], error: str
) -> None:
    assert shell(*words).err == [f"{words[0]}: {words[1]}: {error}"]
    assert Shell(kafka=True)(*words).out.endswith(f"{error.partition('.')[0]}.\n")


@pytest.mark.parametrize(
    "words",
    [
        ("ls", "/image/features"),
        ("ls", "-l", "/image/features"),
        ("find", "/image/features", "-type", "f"),
        ("grep", ".", "/image/features"),
        ("cat", "/image/features/*"),
    ],
)
def test_commands_that_print_nodes_have_the_same_json(shell: Shell, words: tuple[str, ...]) -> None:
    rows = json.loads(shell(*words, "--format", "json").out)["nodes"]

    assert shell(*words, "--format", "ndjson").lines == [
        json.dumps(row, separators=(",", ":")) for row in rows
    ]
    level = next(row for row in rows if row["path"].endswith("/metadataVersion"))
    assert level == {**level, "sort": "leaf", "value": "4.3-IV0", "size": 9}
    assert {row["sort"] for row in rows} == {"leaf"}


def test_json_of_a_tree_goes_down_to_its_level(shell: Shell) -> None:
    rows = json.loads(shell("tree", "-L", "1", "/", "--format", "json").out)["nodes"]

    assert [row["path"] for row in rows] == ["/", "/image", "/local"]
    assert rows[1] == {"path": "/image", "sort": "directory", "children": 14}


def test_json_of_nodes_has_the_failure_too(shell: Shell) -> None:
    done = shell("cat", "/image/features/metadataVersion", "/nope", "--format", "json")
    answer = json.loads(done.out)

    assert (done.code, len(answer["nodes"]), answer["error"]) == (1, 1, "not-found")

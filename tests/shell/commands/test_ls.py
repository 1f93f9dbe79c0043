"""The commands ls, tree, stat and grep of ours."""

import json
from pathlib import Path

import pytest

from tests.helpers.logs.metadata_logs import snapshot_bytes, write_log
from tests.helpers.logs.random_logs import Lot, made
from tests.helpers.tools.shell_session import LOG, SNAPSHOT, Shell

ORDERS = "/image/topics/byName/orders"


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell(LOG)


def test_names_may_be_sorted_by_their_numbers(shell: Shell) -> None:
    numbers = [str(number) for number in range(12)]

    assert shell("ls", "--sort", "natural", ORDERS).lines == [*numbers, "id", "name"]
    assert shell("ls", "--sort", "name", ORDERS).out == shell("ls", ORDERS).out
    assert shell("ls", ORDERS).lines[:3] == ["0", "1", "10"]


def test_long_lists_tell_of_size_and_last_change(shell: Shell) -> None:
    long = shell("ls", "-l", ORDERS).lines

    size = len(shell("cat", f"{ORDERS}/0").out) - 1
    assert long[0].split() == ["-", str(size), "555", "2026-11-21T10:50:11.725Z", "0"]
    assert long[-1].split() == ["-", "8", "71", "2026-11-21T10:47:56.840Z", "name"]


def test_directories_are_as_large_as_what_is_in_them_and_as_new(shell: Shell) -> None:
    lines = {
        line.split()[-1]: line.split() for line in shell("ls", "-l", "/image/topics/byName").lines
    }

    newest = max(int(line.split()[2]) for line in shell("ls", "-l", ORDERS).lines)
    assert lines["orders"][:3] == ["d", "14", str(newest)]


def test_what_no_record_made_has_no_change(shell: Shell) -> None:
    assert shell("ls", "-l", "/local/version").lines == ["- 3  -  -  version"]


def test_what_a_snapshot_has_was_there_by_its_end() -> None:
    assert shell_line(Shell(SNAPSHOT), ORDERS + "/0").split()[2] == "<=412"


def shell_line(shell: Shell, path: str) -> str:
    (line,) = shell("ls", "-l", path).lines
    return line


def test_empty_directories_print_nothing(tmp_path: Path) -> None:
    write_log(tmp_path, {0: [bytes(Lot(0, [made("NoOpRecord")]))]})

    assert Shell(tmp_path)("ls", "-l", "/image/acls/byId").out == ""


def test_tree_goes_down_some_levels(shell: Shell) -> None:
    assert shell("tree", "-L", "1", "/").lines == ["image:", "local:"]
    two = shell("tree", "-L", "2", "/").lines
    assert two[-4:] == ["local:", "  findings:", "  version:", '    "1"']
    assert "  topics:" in two
    assert not any(line.startswith("    byName") for line in two)
    assert shell("tree", "-L", "99", "/").out == shell("tree", "/").out
    assert shell("tree", "-L", "0", "/").out == ""
    assert shell("tree", "-L", "x", "/").err == ["argument -L: 'x' is no number"]


def test_stat_tells_of_the_record_that_made_a_leaf(shell: Shell) -> None:
    found = dict(line.split(maxsplit=1) for line in shell("stat", f"{ORDERS}/0").lines)

    assert found["path:"] == f"{ORDERS}/0"
    assert found["offset:"] == "555"
    assert found["timestamp:"] == "2026-11-21T10:50:11.725Z"
    assert found["recordType:"] == "PARTITION_CHANGE_RECORD"
    assert found["records:"] == "5"
    assert found["source:"] == str(LOG)


def test_stat_tells_of_several_nodes(shell: Shell) -> None:
    told = [
        json.loads(line) for line in shell("stat", "--format", "json", "/image", "/local").lines
    ]

    assert [one["path"] for one in told] == ["/image", "/local"]
    assert told[0]["sort"] == "directory"
    assert told[0]["children"] == 11
    assert shell("stat", "/image", "/local").out.count("\n\n") == 1
    assert shell("stat", "/nope").err == ["stat: /nope: no such file or directory."]


def test_stat_of_a_snapshots_record_says_how_much_is_known() -> None:
    shell = Shell(SNAPSHOT)

    assert "<=412" in shell("stat", ORDERS).out
    assert json.loads(shell("stat", ORDERS, "--format", "json").out)["isInSnapshot"] is True


def test_grep_prints_what_it_finds(shell: Shell) -> None:
    found = shell("grep", '"ord.rs"', "/image/topics/byName", "/image/features")

    assert found.lines == [f'{ORDERS}/name: "orders"']
    assert found.code == 0
    assert shell("grep", "-l", '"ORDERS"', "-i", "/image/topics/byName").lines == [f"{ORDERS}/name"]


def test_grep_looks_at_the_working_directory(shell: Shell) -> None:
    shell("cd", "/image/features")

    assert shell("grep", "4.3-IV0").lines == ['/image/features/metadataVersion: "4.3-IV0"']

    shell("cd", "/")


@pytest.mark.parametrize(
    ("words", "err"),
    [
        (["nothing of the kind", "/image"], []),
        (["x", "/nope"], ["grep: /nope: no such file or directory."]),
        (["(", "/image"], ["grep: PATTERN: (: missing ), unterminated subpattern"]),
        ([], ["too few arguments"]),
    ],
)
def test_grep_fails_where_it_finds_nothing(shell: Shell, words: list[str], err: list[str]) -> None:
    found = shell("grep", *words)

    assert (found.out, found.err, found.code) == ("", err, 1)


def test_default_quotas_can_be_reached(shell: Shell) -> None:
    assert shell("cat", "/image/clientQuotas/user<default>/consumer_byte_rate").code == 0
    assert len(shell("cat", "/image/clientQuotas/*default*/*").lines) == 4


def test_secrets_stay_hidden(tmp_path: Path) -> None:
    config = made(
        "ConfigRecord", resourceType=4, resourceName="1", name="ssl.key.password", value="x4711x"
    )
    batch = bytes(Lot(1, [config]))
    write_log(tmp_path, {}, {(2, 1): snapshot_bytes(batch, end=2)})
    shell = Shell(tmp_path)

    assert "redacted" in shell("cat", "/image/configs/BROKER:1/*").out
    for words in (
        ["grep", "4711", "/"],
        ["find", "/", "-value", "4711"],
        ["export", "/"],
        ["tree", "/"],
        ["history-of", "/image/configs/BROKER:1"],
        ["diff", "/image/acls", "/image/configs"],
    ):
        assert "4711" not in shell(*words).out, words

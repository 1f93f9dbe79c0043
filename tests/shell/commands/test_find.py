"""The command find."""

import re
from pathlib import Path

import pytest

from kraftops.errors import UsageError
from tests.helpers.logs.metadata_logs import write_log
from tests.helpers.logs.random_logs import LogBatch, new_record
from tests.helpers.tools.shell_session import LOG, Shell


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell(LOG)


def test_paths_match_a_walk(shell: Shell) -> None:
    """The short way, which prints whole directories, and the one that asks each node."""
    assert shell("find", "/").out == shell("find", "/", "-maxdepth", "99").out
    assert len(shell("find", "/").lines) > 300


@pytest.mark.parametrize(
    ("tests", "paths"),
    [
        (["-name", "orders"], ["/image/topics/byName/orders"]),
        (["-name", "o*s", "-type", "d"], ["/image/topics/byName/orders"]),
        (
            ["-name", "{id,name}", "-path", "*/orders/*"],
            [
                "/image/topics/byName/orders/id",
                "/image/topics/byName/orders/name",
            ],
        ),
        (["-path", "/image/topics/byName/orders"], ["/image/topics/byName/orders"]),
        (["-path", "*byName"], ["/image/topics/byName"]),
        (["-type", "f", "-value", '"orders"'], ["/image/topics/byName/orders/name"]),
        (["-maxdepth", "0"], ["/image/topics/byName"]),
        (["-name", "nope"], []),
    ],
)
def test_nodes_that_pass_all_tests_are_printed(
    shell: Shell, tests: list[str], paths: list[str]
) -> None:
    found = shell("find", "/image/topics/byName", *tests)

    assert (found.lines, found.err, found.code) == (paths, [], 0)


def test_depth_is_counted_from_the_start(shell: Shell) -> None:
    found = shell("find", "/image/topics/byName", "-maxdepth", "1").lines

    assert "/image/topics/byName/orders" in found
    assert not any("orders/" in path for path in found)


def test_escaped_wildcards_match_themselves(tmp_path: Path) -> None:
    records = [
        new_record("TopicRecord", name=name, topicId=bytes([at] * 16))
        for at, name in enumerate(("a*", "ab", "a/b"), 1)
    ]
    write_log(tmp_path, {0: [bytes(LogBatch(0, records))]})
    shell = Shell(tmp_path)

    found = shell("find", "/image/topics/byName", "-name", "a?", "-type", "d")

    assert found.lines == ["/image/topics/byName/a\\*", "/image/topics/byName/ab"]
    assert shell("find", found.lines[0], "-maxdepth", "0").lines == found.lines[:1]
    slashed = shell("find", "/image/topics/byName", "-name", "a/b").lines
    assert slashed == ["/image/topics/byName/a\\/b"]
    assert shell("cat", f"{slashed[0]}/name").out == '"a/b"\n'


@pytest.mark.parametrize(
    ("moment", "count"),
    [("548", 2), ("9999", 0), ("2026-11-21T10:50:11.800Z", 2), ("2030-01-01", 0)],
)
def test_leaves_changed_after_a_moment_are_found(shell: Shell, moment: str, count: int) -> None:
    found = shell("find", "/image/cluster/brokers", "-newer-than", moment)

    assert len(found.lines) == count, found.lines


def test_durations_are_before_now(shell: Shell) -> None:
    """The log is of some eleven hours before the time of these tests."""
    assert shell("find", "/image/cluster/brokers", "-newer-than", "1h").lines == []
    assert shell("find", "/image/cluster/brokers", "-newer-than", "2d").lines != []


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["/nope"], "find: /nope: no such file or directory. [not-found]"),
        (["/image", "-maxdepth", "x"], "argument -maxdepth: 'x' is not a number [usage]"),
        (
            ["/image", "-value", "("],
            "find: -value: (: `(` without `)`, at character 2 of it [usage]",
        ),
        (
            ["/image", "-type", "x"],
            "argument -type: invalid choice: 'x' (choose from 'd', 'f') [usage]",
        ),
        (["/image", "-name"], "argument -name: expected one argument [usage]"),
    ],
)
def test_bad_arguments_are_errors(shell: Shell, words: list[str], complaint: str) -> None:
    found = shell("find", *words)

    assert (found.out, found.err, found.code) == ("", [complaint], 1)


def test_malformed_moments_are_errors(shell: Shell) -> None:
    with pytest.raises(UsageError, match=re.escape("'tomorrow' is not a valid time")):
        shell("find", "/image", "-newer-than", "tomorrow")


def test_kafkas_find_has_no_flags() -> None:
    found = Shell(LOG, kafka=True)("find", "/image", "-name", "x")

    assert (found.out, found.code) == ("unrecognized arguments: '-name x'\n", 0)

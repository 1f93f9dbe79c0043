"""The command grep."""

import pytest

from tests.helpers.tools.shell_session import LOG, Shell

ORDERS = "/image/topics/byName/orders"


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell(LOG)


def test_grep_prints_matching_leaves(shell: Shell) -> None:
    found = shell("grep", '"ord.rs"', "/image/topics/byName", "/image/features")

    assert found.lines == [f'{ORDERS}/name: "orders"']
    assert found.code == 0
    assert shell("grep", "-l", '"ORDERS"', "-i", "/image/topics/byName").lines == [f"{ORDERS}/name"]


def test_grep_searches_the_working_directory(shell: Shell) -> None:
    shell("cd", "/image/features")

    assert shell("grep", "4.3-IV0").lines == ['/image/features/metadataVersion: "4.3-IV0"']

    shell("cd", "/")


@pytest.mark.parametrize(
    ("words", "err"),
    [
        (["nothing of the kind", "/image"], []),
        (["x", "/nope"], ["grep: /nope: no such file or directory."]),
        (["(", "/image"], ["grep: PATTERN: (: missing ), unterminated subpattern"]),
    ],
)
def test_grep_without_match_fails(shell: Shell, words: list[str], err: list[str]) -> None:
    found = shell("grep", *words)

    assert (found.out, found.err, found.code) == ("", err, 1)

"""The command diff."""

import json

import pytest

from kraftops.errors import SourceError, UsageError
from tests.helpers.tools.shell_session import LOG, SNAPSHOT, Shell

ORDERS = "/image/topics/byName/orders"


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell(LOG)


def test_differences_of_two_moments_are_printed(shell: Shell) -> None:
    found = shell("diff", "@300", "@350", f"{ORDERS}/0")

    assert found.code == 2
    assert found.out == (
        f"~ {ORDERS}/0  isr [4,1] → [1]; eligibleLeaderReplicas [] → [4]; leader 4 → 1; "
        "leaderEpoch 0 → 1; partitionEpoch 2 → 3\n"
    )


def test_derived_nodes_are_not_compared(shell: Shell) -> None:
    found = shell("diff", "@278", "@279")

    assert len(found.lines) == 1
    assert found.lines[0].startswith("- /image/scram/SCRAM-SHA-256/zed  {")
    assert shell("diff", "@279", "@278").lines[0].startswith("+ /image/scram/SCRAM-SHA-256/zed  {")


def test_equal_states_do_not_differ(shell: Shell) -> None:
    assert shell("diff", "@413", f"source:{SNAPSHOT}", "/image/topics").code == 0
    assert shell("diff", f"source:{LOG}", "@583").out == ""


def test_times_are_moments_too(shell: Shell) -> None:
    by_time = shell("diff", "@2026-11-21T10:48:00Z", "@2026-11-21T10:49:00Z")

    assert by_time.code == 2
    assert by_time.lines


def test_nodes_are_compared_with_nodes_and_with_other_moments(shell: Shell) -> None:
    assert shell("diff", ORDERS, ORDERS).code == 0
    assert (
        f'~ {ORDERS}/name  "orders" → "payments"'
        in shell("diff", ORDERS, "/image/topics/byName/payments").lines
    )
    assert shell("diff", "@350", f"{ORDERS}/0").lines[0].startswith(f"~ {ORDERS}/0  isr [1] → []")
    assert shell("diff", f"{ORDERS}/0", "@350").lines[0].startswith(f"~ {ORDERS}/0  isr [] → [1]")


def test_added_leaf_has_the_path_of_the_newer_node(shell: Shell) -> None:
    small, large = "/image/topics/byName/a", ORDERS

    added = [line.split()[1] for line in shell("diff", small, large).lines if line[0] == "+"]
    removed = [line.split()[1] for line in shell("diff", large, small).lines if line[0] == "-"]

    assert added
    assert added == removed
    assert all(path.startswith(f"{large}/") for path in added)


def test_now_is_the_newest_state(shell: Shell) -> None:
    assert shell("diff", "@300", "now").lines == shell("diff", "@300", "@583").lines
    assert shell("diff", "now", "@now").lines == []


def test_differences_can_be_json(shell: Shell) -> None:
    found = shell("diff", "@300", "@350", f"{ORDERS}/0", "--format", "json")
    (told,) = json.loads(found.out)["differences"]

    assert told["change"] == "changed"
    assert told["path"] == f"{ORDERS}/0"
    assert told["fields"][0] == {"field": "isr", "old": [4, 1], "new": [1]}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["/nope", "@1"], "diff: /nope: no such file or directory."),
        (["/image/*", "@1"], "diff: /image/*: several nodes"),
        (["@x", "@1"], "'x' is not a valid time"),
        (["source:/nope", "@1"], "cannot read /nope: No such file or directory"),
        ([ORDERS, "@1", "/image"], "a path goes after two states, not after nodes"),
    ],
)
def test_sides_of_different_kinds_are_an_error(
    shell: Shell, words: list[str], message: str
) -> None:
    with pytest.raises((UsageError, SourceError)) as raised:
        shell("diff", *words)

    assert raised.value.message == message


def test_path_in_neither_state_is_an_error(shell: Shell) -> None:
    found = shell("diff", "@1", "@2", "/image/nope")

    assert (found.err, found.code) == (
        ["diff: /image/nope: no such file or directory. [not-found]"],
        1,
    )

"""`kraftops coordinator-partition`: where a group or a transaction is kept."""

import json
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from kraftops_cli.root import root
from tests.helpers.tools.console import COMMANDS, Done, run_command, run_here

KRAFTOPS = str(Path(sys.executable).with_name("kraftops"))


def run(*args: str) -> Done:
    """Run the command in this process."""
    with patch.dict(COMMANDS, {KRAFTOPS: root}):
        return run_here("coordinator-partition", *args, program=KRAFTOPS)


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (["--group", "connect-cluster"], "__consumer_offsets-13"),
        (["--group=connect-cluster"], "__consumer_offsets-13"),
        (["--group", "my-app", "--partitions", "7"], "__consumer_offsets-2"),
        (["--group", "日本語グループ"], "__consumer_offsets-31"),
        (["--group", "@x"], "__consumer_offsets-4"),
        (["--group", ""], "__consumer_offsets-0"),
        (["--group=-a"], "__consumer_offsets-42"),
        (["--txn-id", "ghost-xyz"], "__transaction_state-27"),
        (["--txn-id", "polygenelubricants", "--partitions=1"], "__transaction_state-0"),
    ],
)
def test_partition_is_reported(args: list[str], line: str) -> None:
    done = run(*args)

    assert (done.code, done.text, done.err) == (0, f"{line}\n", "")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (
            ["--group", "my-app"],
            {"group": "my-app", "topic": "__consumer_offsets", "partition": 0, "partitions": 50},
        ),
        (
            ["--txn-id", "ümlaut", "--partitions", "7"],
            {
                "transactionalId": "ümlaut",
                "topic": "__transaction_state",
                "partition": 6,
                "partitions": 7,
            },
        ),
    ],
)
def test_json_has_all_fields(args: list[str], told: dict[str, object]) -> None:
    done = run(*args, "--format", "json")

    expected = {"command": "coordinator-partition", "formatVersion": 2, **told}
    assert done.code == 0
    assert json.loads(done.text) == expected


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "one of the arguments --group --txn-id is required"),
        (["--group", "a", "--txn-id", "b"], "--txn-id: not allowed with argument --group"),
        (["--group", "a", "--partitions", "0"], "'0' is not a number from 1 to 2147483647"),
        (["--group", "a", "--partitions", "many"], "'many' is not a number"),
        (["--group", "a", "b"], "unrecognized arguments: 'b'"),
        (["--group"], "expected one argument"),
    ],
)
def test_bad_arguments_are_refused(args: list[str], message: str) -> None:
    done = run(*args)

    assert (done.code, done.text) == (1, "")
    assert message in done.errors[0]
    assert done.errors[1].startswith("hint: ")


def test_bytes_that_are_no_text_are_those_that_a_broker_would_have() -> None:
    """It replaces them when it reads the request."""
    args = ("coordinator-partition", "--group")

    raw = run_command(*args, b"a\xff", program=KRAFTOPS)
    replaced = run_command(*args, "a\ufffd", program=KRAFTOPS)

    assert raw.code == 0
    assert raw.out == replaced.out

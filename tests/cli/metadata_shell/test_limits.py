"""Limits of the metadata shell for hostile files, and their costs."""

import json
import re
import sys
from functools import cache
from itertools import cycle
from pathlib import Path
from random import Random

import pytest

from kraftops.engine.choice import why_not_native
from kraftops.log.batch import CONTROL, Record
from kraftops.log.codecs import CODECS
from kraftops_shell.grammar.command import Task
from kraftops_shell.grammar.registry import commands
from tests.helpers.logs.costly_files import (
    LEADER_CHANGE,
    MIB,
    broker_with_endpoints,
    control_key,
    leader_with_voters,
    measured,
    packed,
    snapshot_around,
)
from tests.helpers.logs.random_logs import new_record, uuid
from tests.helpers.logs.segments import plain_record
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.console import METADATA_SHELL, Done
from tests.helpers.tools.distribution import long_after, long_but

KRAFTOPS = str(Path(sys.executable).with_name("kraftops"))
ENGINE = "reference" if why_not_native() else "native"
MOST_RESIDENT = 160 * MIB  # 150 here, and some for another allocator
NO_OP = b"\x01\x14\0\0"
TOPIC = new_record("TopicRecord", topicId=uuid(1), name="a").value
ARGUMENTS = {
    "cat": ["/image/provenance"],
    "diff": ["/image", "/image"],
    "find": ["/image"],
    "grep": [".", "/"],
    "ls": ["/image"],
    "stat": ["/image"],
    "tree": ["/image"],
}
"""The words after the commands that need some here."""
ELSEWHERE = ("at", "blame", "browse", "changes", "history-of", "incidents", "log", "next", "prev")
"""A command for terminals, and those that need a log and have tests of their own."""
TABLES = (Task.CLUSTER, Task.RISK)
"""The tasks of commands that show tables of a state, as `topics` does; `summary` counts."""
COMMANDS = {
    name: (METADATA_SHELL if command.is_kafkas else KRAFTOPS, name, *ARGUMENTS.get(name, ()))
    for name, command in commands(kafka=False, one_shot=True).items()
    if name not in ELSEWHERE and (command.task not in TABLES or name in ("summary", "topics"))
}
"""The tool and the words for each command of a single use, Kafka's commands in Kafka's form."""

WITHOUT_VALUES = ("ls", "find", "summary", "verify")
each_command_without_values = pytest.mark.parametrize(
    ("command", "is_snapshot"),
    long_after(
        len(WITHOUT_VALUES),
        [
            *zip(WITHOUT_VALUES, cycle([False, True]), strict=False),
            *zip(WITHOUT_VALUES, cycle([True, False]), strict=False),
        ],
    ),
)
"""Commands that do not print values, and need not read them."""
FIRST = ("verify", "export", "ls", "find")
"""Commands that run without `--long`: they tell of damage in three ways. One loader reads for all."""
TURNS = list(
    zip(sorted(COMMANDS, key=lambda name: name not in FIRST), cycle([False, True]), strict=False)
)
"""Commands with a kind of file each, in turn."""


def written(folder: Path, record: bytes, *, is_snapshot: bool, is_control: bool = False) -> str:
    """Write a file that has a batch of this record, and one of a topic before."""
    attributes = CONTROL if is_control else 0
    batch = packed(record, first=int(is_snapshot) + 1, attributes=attributes)
    return written_batch(folder, batch, is_snapshot=is_snapshot)


@cache
def endless(codec: str, first: int) -> bytes:
    """Return a batch that inflates to 200 MiB."""
    return packed(plain_record(0, bytes(200 * MIB)), codec, first=first)


def written_batch(folder: Path, batch: bytes, *, is_snapshot: bool) -> str:
    """Write a file that has this batch, and one of a topic before."""
    topic = batch_bytes([Record(int(is_snapshot), 0, None, TOPIC)])
    batches = topic + batch
    if is_snapshot:
        path = folder / "00000000000000000100-0000000001.checkpoint"
        path.write_bytes(snapshot_around(batches, 3))
    else:
        path = folder / "00000000000000000000.log"
        path.write_bytes(batches + batch_bytes([Record(2, 0, None, NO_OP)]))
    return str(path)


def run(command: str, path: str) -> Done:
    """Run a command on a file, and hold it to what it may cost."""
    return run_words(path, *COMMANDS[command])


def run_words(path: str, program: str, *words: str) -> Done:
    """Run a command with its words on a file, and hold it to what it may cost."""
    tool = ["metadata-shell"] if program == KRAFTOPS else []
    done, peak = measured(ENGINE, program, *tool, "-s", path, *words)
    assert "Traceback" not in done.err
    assert peak < MOST_RESIDENT
    return done


def is_told(done: Done, command: str, path: str, reason: str) -> bool:
    """Tell whether a command says what is wrong with a file, as it should."""
    if command == "verify":
        return done.code == 2 and reason in done.text
    if command == "export":
        findings = json.loads(done.text)["local"]["findings"].values()
        return [reason in finding["text"] for finding in findings] == [True]
    return len(done.errors) == 1 and path in done.err


@pytest.mark.parametrize(
    ("command", "codec", "is_snapshot"),
    long_after(
        len(FIRST),
        [
            *((command, "zstd", is_snapshot) for command, is_snapshot in TURNS),
            *(
                ("verify", codec, is_snapshot)
                for codec in CODECS[1:4]
                for is_snapshot in (False, True)
            ),
        ],
    ),
)
def test_batch_that_inflates_without_end_is_a_finding(
    command: str, codec: str, is_snapshot: bool, tmp_path: Path
) -> None:
    batch = endless(codec, int(is_snapshot) + 1)
    path = written_batch(tmp_path, batch, is_snapshot=is_snapshot)

    done = run(command, path)

    assert is_told(done, command, path, "the batch inflates beyond 67108864 bytes")


@pytest.mark.parametrize(
    ("command", "is_snapshot", "size", "is_control"),
    long_after(
        2 * len(FIRST),
        [
            (command, is_snapshot, 9 if is_snapshot else 63, is_control)
            for command, is_small in TURNS
            for is_snapshot, is_control in ((is_small, False), (not is_small, True))
        ],
    ),
)
def test_record_that_is_too_large_is_a_finding(
    command: str, is_snapshot: bool, size: int, is_control: bool, tmp_path: Path
) -> None:
    if is_control:
        record = plain_record(0, leader_with_voters(size * MIB), control_key(LEADER_CHANGE))
    else:
        record = plain_record(0, broker_with_endpoints(size * MIB))
    path = written(tmp_path, record, is_snapshot=is_snapshot, is_control=is_control)

    done = run(command, path)

    assert is_told(done, command, path, "is not decoded, only up to 8388608")


@each_command_without_values
def test_control_record_is_not_kept_in_memory(
    command: str, is_snapshot: bool, tmp_path: Path
) -> None:
    """A million and a half of voters in 7 MiB; only who looks at them needs them."""
    record = plain_record(0, leader_with_voters(7 * MIB), control_key(LEADER_CHANGE))
    path = written(tmp_path, record, is_snapshot=is_snapshot, is_control=True)

    done = run(command, path)

    assert (done.code, done.err) == (2 if command == "verify" else 0, "")


@pytest.mark.skipif(ENGINE == "reference", reason="it holds a record that it reads")
@each_command_without_values
def test_registration_is_not_kept_in_memory(
    command: str, is_snapshot: bool, tmp_path: Path
) -> None:
    """A million of endpoints in 7 MiB; only who shows them needs them."""
    record = plain_record(0, broker_with_endpoints(7 * MIB))
    path = written(tmp_path, record, is_snapshot=is_snapshot)

    done = run(command, path)

    assert (done.code, done.err) == (2 if command == "verify" else 0, "")


@cache
def _records_without_end() -> bytes:
    """Return a batch of six million records, and one with a key, larger than all others compressed."""
    record = plain_record(0, NO_OP)
    large = plain_record(0, NO_OP, Random(0).randbytes(MIB))
    count = 62 * MIB // len(record)
    return packed(record * count + large, count=count + 1)


@pytest.mark.parametrize("command", long_but(FIRST, COMMANDS))
def test_records_without_end_cost_no_more_than_their_batch(command: str, tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(_records_without_end())

    done = run(command, str(path))

    assert done.code == (2 if command == "verify" else 0)
    assert done.err == f"{path}: 1 record could not be applied\n"


def test_more_records_than_a_batch_can_hold_are_refused(tmp_path: Path) -> None:
    record = plain_record(0, NO_OP)
    count = MIB
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(packed(record * count, count=count))

    done = run("ls", str(path))

    assert done.code == 1
    assert re.fullmatch(r"kafka-metadata-shell: .*position 0.* records .*\n", done.err)


def test_history_ends_before_a_batch_that_inflates_without_end(tmp_path: Path) -> None:
    path = written_batch(tmp_path, endless("zstd", 1), is_snapshot=False)

    done = run_words(path, KRAFTOPS, "history-of", "/image/topics/byName/a")

    assert [line.split()[2] for line in done.text.splitlines()] == ["TOPIC_RECORD", "TOPIC_RECORD"]
    assert len(done.errors) == 1


def test_newest_records_end_before_a_batch_that_inflates_without_end(tmp_path: Path) -> None:
    path = written_batch(tmp_path, endless("zstd", 1), is_snapshot=False)

    done = run_words(path, KRAFTOPS, "log")

    assert "the batch inflates beyond 67108864 bytes" in done.err

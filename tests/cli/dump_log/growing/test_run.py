"""`--summary --follow`: a screen on a terminal, blocks or JSON lines elsewhere."""

import json
import re
import signal
import subprocess
from pathlib import Path

from kraftops.log.batch import Record
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.console import DUMP_LOG, ENVIRONMENT, run_here
from tests.helpers.tools.emulator import Emulator
from tests.helpers.wire.metadata_quorums import MetadataLog, topic


def append(directory: Path, first: int, count: int) -> None:
    directory.mkdir(exist_ok=True)
    with (directory / f"{0:020}.log").open("ab") as file:
        file.write(batch_bytes([Record(first + n, 5000, None, b"v") for n in range(count)]))


def test_table_is_updated_in_place_and_printed_at_the_end(tmp_path: Path) -> None:
    append(tmp_path / "a-0", 0, 10)
    append(tmp_path / "b-0", 0, 10)
    with Emulator(DUMP_LOG, "--summary", "--follow", str(tmp_path), columns=100) as screen:
        screen.wait_for("2 logs, ")
        assert not screen.is_as_before
        append(tmp_path / "b-0", 10, 1234)
        screen.wait_for("1,244")
        assert screen.text.count("TOPIC") == 1
        screen.send("\x1b[B\r")
        screen.wait_for("log b-0")
        screen.wait(lambda shown: re.search("^records +1,244", shown.text, re.MULTILINE))
        screen.send("\x1b")
        screen.wait_for("TOPIC")

        screen.send("q")
        assert screen.wait_for_end() == 0
        assert screen.is_as_before
        assert screen.raw.rpartition(b"\x1b[?1049l")[2].count(b"1,244") == 1


def test_interrupt_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    append(tmp_path / "a-0", 0, 10)
    with Emulator(DUMP_LOG, "--summary", "--follow", str(tmp_path / "a-0")) as screen:
        screen.wait_for("records      10")
        screen.send("\x03")

        assert screen.wait_for_end() == 130
        assert screen.is_as_before


def test_pipe_has_a_block_for_each_change(tmp_path: Path) -> None:
    append(tmp_path / "a-0", 0, 10)
    command = [DUMP_LOG, "--summary", "--follow", "--format", "json", str(tmp_path / "a-0")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT, text=True) as run:
        assert run.stdout
        first = json.loads(run.stdout.readline())
        append(tmp_path / "a-0", 10, 5)
        second = json.loads(run.stdout.readline())
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 130

    assert [each["logs"][0]["records"]["count"] for each in (first, second)] == [10, 15]


def test_checkpoints_beside_a_log_are_not_counted(tmp_path: Path) -> None:
    log = MetadataLog()
    for number in range(5):
        log.add(*topic(number))
    log.snapshot(drop=False)
    folder = log.write(tmp_path)
    command = [DUMP_LOG, "--summary", "--follow", "--format", "json", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT, text=True) as run:
        assert run.stdout
        first = json.loads(run.stdout.readline())
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 130

    assert [each["records"]["count"] for each in first["logs"]] == [log.end]


def test_what_cannot_be_followed_is_refused(tmp_path: Path) -> None:
    append(tmp_path / "a-0", 0, 1)

    tail = run_here("--summary", "--follow", "--tail", "0", str(tmp_path / "a-0"))
    limit = run_here("--summary", "--follow", "--limit", "1", str(tmp_path / "a-0"))
    stdin = run_here("--summary", "--follow", "-")
    live = run_here("--summary", "--follow", "--controllers", "localhost:1")

    for done, text in ((tail, "--tail"), (limit, "--limit"), (stdin, "not -"), (live, "for files")):
        assert done.code == 1
        assert text in done.errors[0]


def test_conditions_choose_among_appended_records(tmp_path: Path) -> None:
    """Also in a segment that is added."""
    append(tmp_path / "a-0", 0, 3)
    asked = ["--where", "offset in (1, 4, 7) and value = 'v'", "--format", "json"]
    command = [DUMP_LOG, "--follow", *asked, str(tmp_path / "a-0")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT, text=True) as run:
        assert run.stdout
        found = [json.loads(run.stdout.readline())["offset"]]
        append(tmp_path / "a-0", 3, 3)
        found.append(json.loads(run.stdout.readline())["offset"])
        later = batch_bytes([Record(6 + n, 5000, None, b"v") for n in range(3)])
        (tmp_path / "a-0" / f"{6:020}.log").write_bytes(later)
        found.append(json.loads(run.stdout.readline())["offset"])
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 130

    assert found == [1, 4, 7]

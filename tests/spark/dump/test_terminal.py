"""A dump on Spark at a terminal: progress, messages and Ctrl-C."""

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.helpers.logs.segments import IN
from tests.helpers.spark.compare_local import LAST_LINE, LOG, METADATA, SMALLEST, parts
from tests.helpers.spark.java import java_options
from tests.helpers.tools.console import DUMP_LOG, run_here
from tests.helpers.tools.hostile import NAME, check_shown
from tests.helpers.tools.terminal_program import Screen

DAMAGED = str(IN / "dmg/len-neg/00000000000000000000.log")
_PROGRESS = r"(?:[━╸╺]+  )? *\d+%  ([\d,]+) of ([\d,]+) splits(?:  [\d:]+ left)?  \d running"
_CTRL_C = "\x03"
_SECONDS = 60.0  # in which nothing may be left of an interrupted dump

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@contextmanager
def dumping(*args: str) -> Iterator[tuple[Screen, int]]:
    """Dump on a terminal; give it, and the session that all processes are of."""
    pytest.importorskip("pyspark")
    environment = {"JDK_JAVA_OPTIONS": java_options()}
    master = ("--master", "local[2,4]", "--conf", "spark.driver.memory=512m")
    command = ("sh", "-c", 'echo "$$"; exec "$@"', "sh", DUMP_LOG, METADATA, "--spark", *master)
    with Screen(*command, *args, columns=200, environment=environment) as screen:
        yield screen, int(screen.wait_for("\n").partition("\n")[0])


def processes(session: int) -> list[str]:
    """Return what runs in a session."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append((entry / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


def number(text: str) -> int:
    return int(text.replace(",", ""))


def wait_for_nothing(session: int) -> None:
    """Wait until no process of a session is left."""
    latest = time.monotonic() + _SECONDS
    while left := processes(session):
        assert time.monotonic() < latest, left
        time.sleep(0.05)


def test_progress_and_ctrl_c_in_the_middle(tmp_path: Path) -> None:
    output = tmp_path / "out"
    with dumping(*SMALLEST, "--output", str(output), DAMAGED, *[LOG] * 20) as (screen, session):
        screen.wait_for("Spark starts …")
        text = screen.wait(lambda screen: re.search(_PROGRESS, screen.text))
        shown = re.findall(_PROGRESS, text)
        running = processes(session)
        screen.clear()
        screen.send(_CTRL_C)
        code = screen.wait_for_end()
        wait_for_nothing(session)

    assert code == 130
    assert any("java" in one for one in running)
    assert any("pyspark.daemon" in one for one in running)
    assert all(number(done) < number(total) for done, total in shown)
    assert os.listdir(tmp_path) == []
    assert re.fullmatch(rf"(\n|\^C|{_PROGRESS})*", screen.text)


def test_ctrl_c_while_spark_starts(tmp_path: Path) -> None:
    with dumping("--output", str(tmp_path / "out"), LOG) as (screen, session):
        screen.wait(lambda _: any("SparkSubmit" in one for one in processes(session)))
        screen.send(_CTRL_C)
        code = screen.wait_for_end()
        wait_for_nothing(session)

    assert code == 130
    assert "Traceback" not in screen.text
    assert os.listdir(tmp_path) == []


@pytest.mark.long
def test_last_line_and_the_words_of_spark(tmp_path: Path) -> None:
    """The log of Spark is shown only on request; names from data are escaped in all lines."""
    output = tmp_path / "out"
    folder = tmp_path / f"{NAME}-0"
    folder.mkdir()
    logs = [shutil.copy(LOG, folder), shutil.copy(DAMAGED, folder / "00000000000000000009.log")]
    with dumping("--verbose", "--output", str(output), *map(str, logs)) as (screen, _):
        code = screen.wait_for_end()

    assert code == 1
    damage, last = screen.raw.rstrip().rpartition("\x1b[K")[2].split("\r\n")
    assert "00000000000000000009.log: position 109: " in damage
    assert re.fullmatch(rf"{LAST_LINE}: {re.escape(str(output))}", last)
    assert "log4j" in screen.text
    assert "a\\x1b]0;title" in screen.text
    check_shown(screen.raw.replace("\r\n", "\n"))
    assert parts(output) == run_here(METADATA, *map(str, logs)).out

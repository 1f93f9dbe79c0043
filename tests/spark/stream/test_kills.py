"""Streams whose driver, planner and workers are killed: each record is written once.

The gate kills the Python processes of a session. The whole campaign kills drivers, too, the first
one in its first batch, and each finds a new partition when it starts again:

    KRAFTOPS_STREAM_KILLS=20 KRAFTOPS_STREAM_SINKS=parquet,delta,iceberg \
        python -m pytest -s tests/spark/stream/test_kills.py

Delta and Iceberg run with the newest PySpark that they support (`tests.helpers.spark.lakes`).
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kraftops.spark.session.session import Session
from tests.helpers.spark.connect import environment_of, release_python
from tests.helpers.spark.lakes import LAKES
from tests.helpers.spark.stream_program import COLUMNS, start
from tests.helpers.spark.streams import LATE, GrowingLog, table
from tests.helpers.tools.distribution import long_after

pytestmark = pytest.mark.spark

KILLS = int(os.environ.get("KRAFTOPS_STREAM_KILLS", "0"))
SINKS = os.environ.get("KRAFTOPS_STREAM_SINKS", "parquet").split(",")
SECONDS = 600
MOMENTS = {
    "planned": "checkpoint/offsets/[0-9]*",
    "writing": "table/part-*",
    "written": "table/_spark_metadata/[0-9]*",
    "committed": "checkpoint/commits/[0-9]*",
}
"""Files whose coming is a moment of a batch.

Of a stream that dies before its first offset is written, Spark 4.3 refuses the checkpoint.
"""
MOMENTS_OF = {
    "delta": {**MOMENTS, "written": "table/_delta_log/[0-9]*.json"},
    "iceberg": {
        **MOMENTS,
        "writing": "table/data/*.parquet",
        "written": "table/metadata/v*.metadata.json",
    },
}


@contextmanager
def growing(folder: Path, *, pause: float) -> Iterator[list[GrowingLog]]:
    """Let three logs grow and roll until the end of the block."""
    logs = [GrowingLog(folder / f"orders-{number}") for number in range(3)]
    done = threading.Event()

    def grow() -> None:
        random = Random(1)
        while not done.wait(pause):
            log = random.choice(logs)
            log.append(random.randrange(1, 40), bytes(random.randrange(60)))
            if random.random() < 0.05:
                log.roll()

    for log in logs:
        log.append(20)
    thread = threading.Thread(target=grow)
    thread.start()
    try:
        yield logs
    finally:
        done.set()
        thread.join()


def wait_for(is_there: Callable[[], bool], seconds: float = SECONDS) -> None:
    latest = time.monotonic() + seconds
    while not is_there():
        assert time.monotonic() < latest
        time.sleep(0.002)


def python_processes(parent: int) -> list[int]:
    """Return Spark's workers below a process, and who plans streams; not who forks them."""
    found: dict[int, tuple[int, bytes]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
                found[int(entry.name)] = int(stat[1]), (entry / "cmdline").read_bytes()
            except OSError:
                continue

    def is_below(pid: int) -> bool:
        while pid in found and pid != parent:
            pid = found[pid][0]
        return pid == parent

    def is_worker(pid: int) -> bool:
        above, command = found[pid]
        if b"-m\0pyspark." not in command or not is_below(pid):
            return False
        return b"pyspark.daemon" not in command or b"pyspark.daemon" in found[above][1]

    return [pid for pid in found if is_worker(pid)]


@pytest.mark.parametrize("moments", long_after(1, [["writing"], ["planned", "writing"]]), ids=len)
def test_each_record_is_written_once_by_a_stream_whose_processes_are_killed(
    session: Session, tmp_path: Path, moments: list[str]
) -> None:
    spark: Any = session.spark
    target = tmp_path / "target"
    with growing(tmp_path / "logs", pause=0.05):
        query = start(spark, str(tmp_path / "logs"), target, "parquet", "200k")
        for moment in moments:
            known = set(target.glob(MOMENTS[moment]))
            wait_for(lambda: set(target.glob(MOMENTS[moment])) - known or not query.isActive)  # noqa: B023
            while query.isActive:  # with the one that plans it ends
                for pid in python_processes(os.getpid()):
                    _kill(pid)
                time.sleep(0.05)
            query = start(spark, str(tmp_path / "logs"), target, "parquet", "200k")
    while query.isActive or query.exception():
        try:
            query.processAllAvailable()
            query.stop()
        except Exception as error:
            if LATE not in str(error):  # pyspark's own class, which not every environment has
                raise
            query = start(spark, str(tmp_path / "logs"), target, "parquet", "200k")

    written = spark.read.parquet(str(target / "table")).collect()

    whole = table(str(tmp_path / "logs"), decoder="user", columns=",".join(COLUMNS))
    assert len(written) >= 60
    assert sorted((row.topic, row.partition, row.offset) for row in written) == sorted(
        (row["topic"], row["partition"], row["offset"]) for row in whole
    )


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Program:
    """The driver of a stream, in a process of its own."""

    def __init__(self, logs: Path, target: Path, form: str) -> None:
        python = release_python(LAKES[form].release) if form in LAKES else sys.executable
        command = [python, "-m", "tests.helpers.spark.stream_program"]
        self._log = (target / "stderr").open("ab")
        self.process = subprocess.Popen(
            [*command, str(logs), str(target), form, "20k"],
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,
            env=environment_of(target, python),
        )

    def kill(self) -> None:
        """Kill the driver, its JVM and their Python processes at once."""
        workers = python_processes(self.process.pid)
        os.killpg(self.process.pid, signal.SIGKILL)
        for pid in workers:
            _kill(pid)
        self.process.wait()

    def kill_workers(self) -> None:
        for pid in python_processes(self.process.pid):
            _kill(pid)

    def close(self) -> str:
        out, _ = self.process.communicate(timeout=SECONDS)
        self._log.close()
        return str(out.decode())

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None


@pytest.mark.timeout(0)
@pytest.mark.skipif(not KILLS, reason="KRAFTOPS_STREAM_KILLS is not set")
@pytest.mark.parametrize("form", SINKS)
def test_each_record_is_written_once_by_drivers_that_are_killed(tmp_path: Path, form: str) -> None:
    target = tmp_path / "target"
    target.mkdir()
    moments = MOMENTS_OF.get(form, MOMENTS)
    random = Random(form)
    killed: list[str] = []
    with growing(tmp_path / "logs", pause=0.1) as logs:
        program = Program(tmp_path / "logs", target, form)
        while len(killed) < KILLS:
            moment = [*moments][len(killed) % len(moments)]
            _wait_for_files(target, moments[moment], 1, program)
            time.sleep(random.choice((0, 0, 0.02, 0.2)))
            if program.is_alive:
                is_driver = not killed or random.random() < 0.4
                killed.append(f"{'driver' if is_driver else 'workers'} {moment}")
                sys.stderr.write(f"{form}: kill {len(killed)}, {killed[-1]}\n")
                if is_driver:
                    program.kill()
                else:
                    program.kill_workers()
            if not program.is_alive:
                program.close()
                new_log = GrowingLog(tmp_path / "logs" / f"orders-{len(logs)}")
                new_log.append(5)
                logs.append(new_log)
                program = Program(tmp_path / "logs", target, form)
    (target / "end").touch()
    text = program.close()
    if not text:  # its workers were killed
        text = Program(tmp_path / "logs", target, form).close()

    found = json.loads(text)
    batches = len([*target.glob(MOMENTS["committed"])])
    sys.stderr.write(f"{form}: {Counter(killed)}, {found}, {batches} batches\n")
    assert (found["lost"], found["surplus"]) == (0, 0)
    assert found["rows"] > 60


def _wait_for_files(target: Path, pattern: str, count: int, program: Program) -> None:
    """Wait until *count* times a file has come, or the program has died."""
    for _ in range(count):
        known = set(target.glob(pattern))
        wait_for(lambda: bool(set(target.glob(pattern)) - known) or not program.is_alive)  # noqa: B023

"""Output in an object store, seen by a reader who lists it while jobs run and processes die.

On a cluster of two workers, with 10,000 small files and a large one, so many executors, workers
and drivers are killed in turn:

    KRAFTOPS_SPARK_KILLS=6 python -m pytest tests/spark/dump/test_listed_output.py
"""

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from kraftops.query.query import Query
from kraftops.spark.dump import dump_job as dump_module
from kraftops.spark.dump.dump_job import Output, dump
from kraftops.spark.session.session import Session
from tests.helpers.logs.segments import IN
from tests.helpers.spark.cluster import CONF, Cluster, running_cluster
from tests.helpers.spark.output_reader import Place, reading_all_the_time
from tests.helpers.tools.console import DUMP_LOG, run_here
from tests.spark.dump.test_worker_crashes import LOG, CrashingOnce, splits_of

KILLS = int(os.environ.get("KRAFTOPS_SPARK_KILLS", "0"))
SMALL_FILES = 10_000
SEED = 20261123
_NUMBERS = count()

pytestmark = pytest.mark.spark


def records_of(*paths: str) -> Counter[Place]:
    """Return the records of logs by the local tool."""
    done = run_here("--format", "json", *paths)
    rows = map(json.loads, done.text.splitlines())
    return Counter((row["file"], row["offset"]) for row in rows)


def test_listing_reader_sees_each_record_once(
    session: Session, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two jobs write into two directories at once, and a worker of each dies."""
    folder = f"{store}/listed-{next(_NUMBERS)}"
    monkeypatch.setattr(dump_module, "DumpWork", CrashingOnce)
    splits = splits_of(LOG)
    query = Query("metadata", form="parquet", deep_iteration=True)

    with reading_all_the_time(folder) as reader, ThreadPoolExecutor(2) as pool:
        begun = [
            pool.submit(dump, session, [splits], query, Output(f"{folder}/{name}"))
            for name in ("one", "two")
        ]
        records = [job.result().records for job in begun]

    expected = records_of("--cluster-metadata-decoder", LOG)
    assert reader.problems == []
    assert reader.listings > 1
    assert reader.look() == {"one": expected, "two": expected}
    assert records == [expected.total()] * 2


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.skipif(not KILLS, reason="KRAFTOPS_SPARK_KILLS=6 kills so many processes")
def test_killed_processes_of_a_cluster_leave_nothing_that_is_read(
    store: str, tmp_path: Path
) -> None:
    """The answers are those of the local tool, whoever dies; a driver that dies leaves nothing."""
    logs = tmp_path / "logs"
    large, expected = small_and_large_logs(logs)
    folder = f"{store}/cluster-{next(_NUMBERS)}"
    choice = random.Random(SEED)
    aws = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    seen: list[tuple[str, int, list[int]]] = []
    (tmp_path / "cluster").mkdir()
    with running_cluster(tmp_path / "cluster") as cluster, reading_all_the_time(folder) as reader:
        for number in range(KILLS):
            victim = ("executor", "worker", "driver")[number % 3]
            jobs = [
                begun(cluster, aws, f"{folder}/{number}-{name}", str(path))
                for name, path in (("small", logs / "small"), ("large", large))
            ]
            try:
                killed = kill_one(victim, jobs, cluster, choice)
                codes = [job.wait(1200) for job in jobs]
            finally:
                for job in jobs:
                    job.kill()
            seen.append((victim, killed, codes))
            found = reader.look()
            for name, code in zip(("small", "large"), codes, strict=True):
                records = found.get(f"{number}-{name}", Counter())
                assert records == (Counter() if code else expected[name]), (seen, name)
        assert reader.problems == []
    assert all(codes == [0, 0] for victim, _, codes in seen if victim != "driver"), seen


def small_and_large_logs(folder: Path) -> tuple[Path, dict[str, Counter[Place]]]:
    """Write 10,000 partitions of a segment each, and a large segment; return it, and all records."""
    data = (IN / "user/none/00000000000000000000.log").read_bytes()
    for number in range(SMALL_FILES):
        place = folder / "small" / f"t-{number}"
        place.mkdir(parents=True)
        (place / "00000000000000000000.log").write_bytes(data)
    large = folder / "large-0" / "00000000000000000000.log"
    large.parent.mkdir()
    large.write_bytes(data)
    one = {offset for _, offset in records_of(str(large))}
    small = Counter(
        (str(folder / "small" / f"t-{number}" / large.name), offset)
        for number in range(SMALL_FILES)
        for offset in one
    )
    with large.open("ab") as file:
        for number in range(1, 40 << 20 >> 12):
            moved = bytearray(data)
            move_offsets(moved, number * 1000)
            file.write(moved)
    return large, {"small": small, "large": records_of(str(large))}


def move_offsets(data: bytearray, distance: int) -> None:
    """Add to the base offsets of batches, which no CRC covers."""
    position = 0
    while position < len(data):
        base = int.from_bytes(data[position : position + 8])
        data[position : position + 8] = (base + distance).to_bytes(8)
        position += 12 + int.from_bytes(data[position + 8 : position + 12])


def begun(
    cluster: Cluster, aws: dict[str, str], output: str, source: str
) -> subprocess.Popen[bytes]:
    """Begin a dump on a core of the cluster."""
    conf = [*CONF, ("spark.cores.max", "1"), ("spark.kraftops.splitBytes", "16000000")]
    conf += [(f"spark.executorEnv.{name}", value) for name, value in aws.items()]
    options = [text for name, value in conf for text in ("--conf", f"{name}={value}")]
    command = [DUMP_LOG, "--spark", "--master", cluster.master, "--shared-paths", *options]
    return subprocess.Popen(
        [*command, "--format", "parquet", "--output", output, source],
        env={**cluster.environment, **aws},
        stderr=subprocess.DEVNULL,
    )


def kill_one(
    victim: str, jobs: list[subprocess.Popen[bytes]], cluster: Cluster, choice: random.Random
) -> int:
    """Kill a process somewhere in the middle of the jobs; return its id."""
    latest = time.monotonic() + 120
    while len(cluster.executors()) < len(jobs) and time.monotonic() < latest:
        assert all(job.poll() is None for job in jobs)
        time.sleep(0.2)
    time.sleep(choice.uniform(1, 15))
    executors = cluster.executors()
    if victim == "driver":
        pid = jobs[1].pid
    elif victim == "worker":
        pid = next(worker.pid for worker in cluster.workers if worker.poll() is None)
    else:
        pid = choice.choice([*executors.values()])
    os.kill(pid, signal.SIGKILL)
    if victim == "worker":
        cluster.start_worker()
        cluster.wait_for_workers()
    return pid

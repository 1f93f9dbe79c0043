"""A cluster of two workers with full disks, a huge file and a damaged one, by hand, ten minutes:

    KRAFTOPS_SPARK_CAMPAIGN=1 python -m pytest -s tests/spark/dump/test_cluster_campaign.py

Full disks are file systems in memory, which only root may mount. Kills of processes, 10,000 small
files and a reader by DuckDB are the campaign of `test_listed_output.py`.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kraftops.spark.session.session import Session, started
from kraftops.spark.session.settings import Settings
from tests.helpers.logs.segments import IN
from tests.helpers.spark.cluster import CONF, Cluster, running_cluster
from tests.helpers.spark.compare_local import SOME, parts
from tests.helpers.tools.console import Done, run_here
from tests.spark.dump.test_listed_output import move_offsets

LOG = str(IN / "meta/00000000000000000000.log")
USER_LOG = IN / "user/none/00000000000000000000.log"
METADATA = "--cluster-metadata-decoder"
HUGE = 3 << 30
"""Bytes of the huge file."""
MIDDLE = HUGE // 2 + 1000

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(
        not os.environ.get("KRAFTOPS_SPARK_CAMPAIGN"), reason="KRAFTOPS_SPARK_CAMPAIGN=1 runs it"
    ),
]


@contextmanager
def session_on(cluster: Cluster) -> Iterator[Session]:
    """Start a session on a cluster, which commands of this process use."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in cluster.environment.items():
            patch.setenv(name, value)
        settings = Settings(cluster.master, CONF)
        with started(settings) as session:
            yield session


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have commands of this process run on a cluster, until the end of a test that asks for it."""
    with running_cluster(tmp_path_factory.mktemp("cluster")) as found, session_on(found):
        yield


def run(*args: str) -> Done:
    """Run a dump; tell how long it took, and how it ended."""
    begun = time.monotonic()
    done = run_here(*args)
    sys.stderr.write(f"{time.monotonic() - begun:.0f} s, code {done.code}: {done.errors[-2:]}\n")
    return done


@contextmanager
def small_disk(path: Path, kilobytes: int) -> Iterator[Path]:
    """Mount a small file system in memory."""
    path.mkdir()
    if os.geteuid():
        pytest.skip("only root mounts file systems")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(path)]
    if subprocess.run(mount, check=False).returncode:
        pytest.skip("no file system can be mounted")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    "options",
    [
        ("--format", "text"),
        ("--format", "parquet"),
        ("--format", "text", "--single-file"),
        ("--format", "json", "--partition-by", "type"),
        ("--format", "parquet", "--partition-by", "type"),
    ],
    ids=" ".join,
)
def test_full_output(tmp_path: Path, options: tuple[str, ...]) -> None:
    """One line and a code; what was there stays, and nothing else."""
    with small_disk(tmp_path / "disk", 64) as disk:
        out = disk / "out"
        earlier = out if "--single-file" in options else out / "part-00000.txt"
        earlier.parent.mkdir(exist_ok=True)
        earlier.write_bytes(b"earlier")

        args = ("--spark", METADATA, *options, "--overwrite", "--output", str(out))
        done = run(*args, *SOME, *[LOG] * 60)

        assert done.code == 1
        assert "No space left on device" in done.errors[-1]
        assert len(done.errors) == 2  # the first says that the log is small
        assert (os.listdir(disk), earlier.read_bytes()) == (["out"], b"earlier")


def test_full_disk_of_a_worker(tmp_path: Path) -> None:
    """Where it shuffles and has our code: other workers do its tasks, or one line says why not."""
    sql = "SELECT value, offset, count(*) AS n FROM log GROUP BY ALL ORDER BY offset, value"
    (tmp_path / "cluster").mkdir()
    logs = [METADATA, *[LOG] * 60]
    with (
        small_disk(tmp_path / "disk", 16) as disk,
        running_cluster(tmp_path / "cluster", workers=1) as found,
    ):
        found.start_worker(SPARK_LOCAL_DIRS=str(disk))
        found.wait_for_workers()
        with session_on(found):
            text = run("--spark", "--output", str(tmp_path / "text"), *SOME, *logs)
            rows = run("--spark", "--sql", sql, "--format", "csv", *SOME, *logs)

    for done in (text, rows):
        assert "Traceback" not in done.err
        assert done.code == 0 or (done.code == 1 and len(done.errors) <= 3)
    if not text.code:
        assert parts(tmp_path / "text") == run_here(*logs).out
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


@pytest.mark.parametrize("form", ["text", "parquet"])
def test_full_disks_of_all_workers(tmp_path: Path, form: str) -> None:
    """There is no room for our code: one line says so, and what was there stays."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "part-00000.txt").write_bytes(b"earlier")
    (tmp_path / "cluster").mkdir()
    with (
        small_disk(tmp_path / "disk", 1000) as disk,
        running_cluster(tmp_path / "cluster", workers=0) as found,
    ):
        found.start_worker(SPARK_LOCAL_DIRS=str(disk), TMPDIR=str(disk))
        found.wait_for_workers()
        with session_on(found):
            options = ("--format", form, "--overwrite", "--output", str(out))
            done = run("--spark", METADATA, *options, *SOME, LOG)

    assert (done.code, len(done.errors)) == (1, 2)  # the first says that the log is small
    assert "No space left on device" in done.errors[-1]
    assert [path.read_bytes() for path in out.iterdir()] == [b"earlier"]
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


@pytest.fixture(scope="module")
def huge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of some GB, of segments behind each other."""
    path = tmp_path_factory.mktemp("huge") / "t-0" / USER_LOG.name
    path.parent.mkdir()
    data, block = USER_LOG.read_bytes(), b""
    for number in range((8 << 20) // len(data)):
        moved = bytearray(data)
        move_offsets(moved, number * 1000)
        block += moved
    with path.open("wb") as file:
        for number in range(HUGE // len(block) + 1):
            moved = bytearray(block)
            move_offsets(moved, number * 100_000_000)
            file.write(moved)
    return path


@pytest.mark.usefixtures("cluster")
def test_huge_file(huge: Path, tmp_path: Path) -> None:
    """Both workers read it, and the text is that of the local tool."""
    out, local = tmp_path / "out", tmp_path / "local"

    done = run("--spark", "--output", str(out), str(huge))

    alone = run("--output", str(local), str(huge))
    assert (done.code, done.errors[:-1]) == (alone.code, alone.errors)  # Kafka's ends after 2 GiB
    assert int(re.findall(r"lines of (\d+) splits", done.err)[0]) >= 8
    with local.open("rb") as whole:
        for part in sorted(out.iterdir()):
            data = part.read_bytes()
            assert (data == whole.read(len(data))) is True
        assert not whole.read(1)


@pytest.mark.usefixtures("cluster")
def test_huge_file_that_is_damaged(huge: Path) -> None:
    """Bits in the middle are flipped, and the end is cut off."""
    with huge.open("r+b") as file:
        file.seek(MIDDLE)
        before = file.read(4000)
        file.seek(MIDDLE)
        file.write(bytes(byte ^ 0x55 for byte in before))
        file.truncate(huge.stat().st_size - 7)

    summary = ("--summary", "--format", "json", "--salvage", str(huge))
    local = run(*summary)
    done = run("--spark", *summary)

    assert (done.code, done.text) == (local.code, local.text)
    assert local.code == 2

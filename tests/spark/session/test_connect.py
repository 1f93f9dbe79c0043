"""Jobs on a server of Spark Connect, and with other releases of PySpark.

`KRAFTOPS_SPARK_RELEASES` has releases besides the one that is installed, separated by commas.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from click import Command, Context

from kraftops.errors import KraftopsError
from kraftops.spark.session.session import connected
from kraftops.spark.session.settings import Settings
from kraftops_cli.spark.options import SparkOptions, spark_request
from tests.helpers.spark import compare_local, compare_source
from tests.helpers.spark.cluster import bare_python, free_port, wait
from tests.helpers.spark.compare_local import METADATA, SHORT_LOG, SMALLEST
from tests.helpers.spark.connect import ROOT, environment_of, release_python, running_server

pytestmark = [pytest.mark.spark, pytest.mark.slow]
RELEASES = [one for one in os.environ.get("KRAFTOPS_SPARK_RELEASES", "").split(",") if one]
LOCAL = "local[2,4]"
_DUMP = "from kraftops_cli.main import kafka_dump_log; kafka_dump_log()"


class Server(NamedTuple):
    """A server, its directory, and a Python of its release."""

    url: str
    python: str
    environment: dict[str, str]
    directory: Path


@pytest.fixture(scope="module", params=["", *RELEASES])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    directory = tmp_path_factory.mktemp("connect")
    if request.param:
        python = workers = release_python(request.param)
    else:
        pytest.importorskip("pyspark")
        pytest.importorskip("grpc_status")
        python, workers = sys.executable, str(bare_python(directory))
    with running_server(directory, python, workers) as url:
        yield Server(url, python, environment_of(directory, python), directory)


def compare(program: ModuleType, python: str, master: str, directory: Path) -> None:
    """Run a program that compares, in a release's Python."""
    done = subprocess.run(
        [python, "-m", program.__name__, master, str(directory)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment_of(directory, python),
        timeout=550,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-4000:]


def test_answers_are_the_local_ones(server: Server, tmp_path: Path) -> None:
    """Dump, find, check, summary, SQL and partitions, in one session; workers get our code."""
    compare(compare_local, server.python, server.url, tmp_path)

    wait(lambda: not kept_results(server), server.directory / "server.log")


def kept_results(server: Server) -> list[Path]:
    """Return the files of what a search keeps between its passes."""
    return [*server.directory.rglob("rdd_*")]


def test_ctrl_c_ends_the_jobs_and_nothing_is_left(server: Server, tmp_path: Path) -> None:
    output = tmp_path / "out"
    command = [server.python, "-c", _DUMP, "--spark", "--master", server.url, "--shared-paths"]
    command += [*SMALLEST, METADATA, "--output", str(output), *[SHORT_LOG] * 20]
    with subprocess.Popen(
        command, env=server.environment, cwd=ROOT, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr
        latest = time.monotonic() + 120
        while not list(tmp_path.glob(".out.*.tmp/part-*")):
            assert time.monotonic() < latest
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        errors = process.stderr.read()
        code = process.wait()

    assert (code, b"Traceback" in errors) == (130, False), errors
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("release", RELEASES)
def test_release_answers_without_a_server(release: str, tmp_path: Path) -> None:
    compare(compare_local, release_python(release), LOCAL, tmp_path)


@pytest.mark.parametrize("is_connect", [False, True], ids=["classic", "connect"])
@pytest.mark.parametrize("release", ["", *RELEASES] if RELEASES else [])
def test_release_has_the_same_tables_and_streams(
    release: str, tmp_path: Path, *, is_connect: bool
) -> None:
    """Whoever plans a stream is not among the workers, so that a server needs our package."""
    python = release_python(release) if release else sys.executable
    with ExitStack() as stack:
        server = running_server(tmp_path, python, python, has_package=True)
        compare(
            compare_source, python, stack.enter_context(server) if is_connect else LOCAL, tmp_path
        )


class TestBadServer:
    """Errors come soon, and without the parameters of the URL, which may be secret."""

    def error_of(self, url: str) -> str:
        with pytest.raises(KraftopsError) as error, connected(Settings(f"{url}/;token=secret")):
            pass
        assert "secret" not in f"{error.value.message}{error.value.hint}"
        return error.value.message

    def test_that_nobody_is(self) -> None:
        url = f"sc://127.0.0.1:{free_port()}"

        assert self.error_of(url).startswith(f"cannot reach the master {url}: ")

    @pytest.mark.parametrize("url", ["sc://", "sc://:1", "sc://host:x"])
    def test_that_is_no_address(self, url: str) -> None:
        assert self.error_of(url) == f"{url!r} is not a master"

    def test_environment_names_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SPARK_REMOTE", "sc://host:1")

        request = spark_request(Context(Command("c")), SparkOptions(spark=True))

        assert request is not None
        assert request.settings().is_connect

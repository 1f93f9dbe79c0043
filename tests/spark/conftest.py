"""Session of Spark for all tests of a process, and an object store on loopback."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from kraftops.errors import UsageError
from kraftops.spark.session.launch import java_home
from kraftops.spark.session.session import Session, started
from kraftops.spark.session.settings import Settings
from tests.helpers.spark.java import java_options


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Return the settings of Spark for tests."""
    pytest.importorskip("pyspark")
    cache = str(tmp_path_factory.mktemp("java"))
    try:
        java_home(os.environ, cache)
    except UsageError as error:
        pytest.skip(error.message)
    conf = (
        ("spark.driver.memory", "512m"),
        ("spark.sql.shuffle.partitions", "2"),
        ("spark.default.parallelism", "2"),
        ("spark.local.dir", str(tmp_path_factory.mktemp("local"))),
        ("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse"))),
        ("spark.eventLog.enabled", "true"),  # for test_secrets.py
        ("spark.eventLog.compress", "false"),
        ("spark.eventLog.dir", tmp_path_factory.mktemp("events").as_uri()),
    )
    return Settings("local[2,4]", conf)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every JVM of a test start quickly, and workers import the tests' code."""
    _set_environment(monkeypatch)


def _set_environment(patch: pytest.MonkeyPatch) -> None:
    patch.setenv("JDK_JAVA_OPTIONS", java_options())
    patch.setenv("PYTHONPATH", str(Path(__file__).parents[2]), prepend=os.pathsep)


@pytest.fixture(scope="session")
def session(settings: Settings, store: str) -> Iterator[Session]:
    """Return a session that commands in this process use; its workers know the store."""
    assert store
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            _set_environment(patch)
            found = stack.enter_context(started(settings))
        assert found.spark
        yield found


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URI of a bucket in an S3 server, which the environment names."""
    pytest.importorskip("moto.server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    log = tmp_path_factory.mktemp("moto") / "log"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as server:
        try:
            _wait_for(url, server, log)
            with pytest.MonkeyPatch.context() as patch:
                for name, value in {
                    "AWS_ENDPOINT_URL": url,
                    "AWS_ACCESS_KEY_ID": "test",
                    "AWS_SECRET_ACCESS_KEY": "test",
                    "AWS_DEFAULT_REGION": "us-east-1",
                }.items():
                    patch.setenv(name, value)
                from pyarrow.fs import S3FileSystem

                system = S3FileSystem(
                    endpoint_override=url, region="us-east-1", allow_bucket_creation=True
                )
                system.create_dir("logs")
                yield "s3://logs"
        finally:
            server.terminate()


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    latest = time.monotonic() + 60
    while time.monotonic() < latest and server.poll() is None:
        try:
            urlopen(url, timeout=5).close()
        except (URLError, OSError):
            time.sleep(0.1)
        else:
            return
    raise AssertionError(log.read_text(errors="replace"))

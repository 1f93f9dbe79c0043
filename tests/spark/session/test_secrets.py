"""Marked secrets go through Spark, and neither its outputs, plans nor event logs have them."""

import os
from pathlib import Path
from urllib.parse import urlparse

import pytest

from kraftops.spark.session.session import Session
from tests.helpers.logs.marked_secrets import PUBLIC, leaks, write_marked_log
from tests.helpers.spark.compare_local import METADATA
from tests.helpers.tools.console import KRAFTOPS, run_here

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_spark_shows_no_secret(session: Session, tmp_path: Path) -> None:
    write_marked_log(tmp_path)
    log = str(tmp_path / "__cluster_metadata-0")
    spark = (METADATA, log, "--spark")
    commands = (
        (*spark, "--format", "json", "--output", str(tmp_path / "json")),
        (*spark, "--sql", "select type, value from log where key is null", "--format", "json"),
        (*spark, "--sql", "select value from log", "--dry-run"),
        (*spark, "--summary"),
    )
    done = [run_here(*command) for command in commands]
    shell = ("metadata-shell", "-s", log, "--spark", "find", "/image/configs")
    done.append(run_here(*shell, program=KRAFTOPS))

    out = b"".join(one.out + one.err.encode() for one in done)
    out += b"".join(path.read_bytes() for path in (tmp_path / "json").iterdir() if path.is_file())
    folder = urlparse(dict(session.settings.conf)["spark.eventLog.dir"]).path
    events = b"".join(
        Path(at, name).read_bytes() for at, _, names in os.walk(folder) for name in names
    )
    assert leaks(out) == []
    assert PUBLIC.encode() in out
    assert leaks(events) == []
    assert b"SparkListenerJobEnd" in events

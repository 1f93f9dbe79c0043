"""Plain logs are counted many at a time, and stand in the table as all others."""

import os
from pathlib import Path

import pytest

from kraftops.dump.sources.names import expand
from kraftops.dump.summary.logs import readings
from kraftops.dump.summary.plain import plain_rows
from kraftops.engine.choice import why_not_native
from kraftops.query.query import Query
from tests.helpers.engine.choice import using
from tests.helpers.logs.bundles import KINDS, files_in
from tests.helpers.logs.plain_logs import OTHERS, PLAIN, write
from tests.helpers.tools.console import run_here

pytestmark = pytest.mark.skipif(why_not_native() is not None, reason="there is one engine")

COUNTED = {*PLAIN, "gap", "gap-between", "behind-its-name", "idempotent", "__consumer_offsets"}
"""Logs of which a table has nothing but numbers."""


def test_a_table_has_the_same_rows_of_plain_logs_as_of_others(tmp_path: Path) -> None:
    write(tmp_path / "logs", PLAIN | OTHERS)
    archive = tmp_path / "log.tar.gz"
    KINDS[archive.name](archive, files_in(tmp_path / "logs"))

    for source in (tmp_path / "logs", archive):
        ours = run_here("--summary", "--sort", "bytes", str(source))
        with using("reference"):
            assert run_here("--summary", "--sort", "bytes", str(source)) == ours, source


def test_only_logs_that_are_not_plain_are_counted_by_themselves(tmp_path: Path) -> None:
    write(tmp_path, PLAIN | OTHERS)
    files = readings(expand([str(tmp_path)]), Query(), [], details=False)

    decoders = {file.path: file.log.decoder for file in files}
    rows = plain_rows(files, lambda path: Query().for_source(decoders[path]))

    assert {log.topic for log in rows} == COUNTED


def test_a_table_counts_a_file_that_is_named_twice_as_twice_read(tmp_path: Path) -> None:
    write(tmp_path, PLAIN)
    paths = [str(path) for path in sorted(tmp_path.glob("*/*.log"))]

    ours = run_here("--summary", *paths, *paths)
    with using("reference"):
        assert run_here("--summary", *paths, *paths) == ours


def test_one_plain_log_that_can_be_read_has_all_its_numbers(tmp_path: Path) -> None:
    write(tmp_path, {"one": PLAIN["one"], "torn": OTHERS["torn"]})
    fifo = next(tmp_path.glob("torn-0/*"))
    fifo.unlink()
    os.mkfifo(fifo)

    done = run_here("--summary", *map(str, sorted(tmp_path.glob("*/*"))))

    assert "is not a regular file" in done.err
    assert "EPOCH  FIRST OFFSET" in done.text

"""The first or last records of a dump, with their header lines."""

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from kraftops.dump.report import Report
from kraftops.dump.scan.record_lines import RecordLine
from kraftops.dump.sources.names import Source
from kraftops.log.batch import Record
from kraftops.query.query import Query
from kraftops_cli.dump_log.limited import write_limited
from kraftops_cli.dump_log.plan import Plan, Run
from kraftops_cli.dump_log.run import run_follow
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.console import MemoryTerminal

FILE, FIRST, SECOND = b"file\n", b"batch 0\n", b"batch 1\n"
LINES = [
    RecordLine(FILE, FIRST, b"record 0\n"),
    RecordLine(FILE, FIRST, b"record 1\n"),
    RecordLine(FILE, SECOND, b"record 2\n"),
]


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"limit": 0}, ""),
        ({"limit": 1}, "file batch 0 record 0"),
        ({"limit": 2}, "file batch 0 record 0 record 1"),
        ({"limit": 9}, "file batch 0 record 0 record 1 batch 1 record 2"),
        ({"tail": 0}, ""),
        ({"tail": 1}, "file batch 1 record 2"),
        ({"tail": 2}, "file batch 0 record 1 batch 1 record 2"),
    ],
    ids=str,
)
def test_header_lines_come_once_and_only_with_records(
    limits: dict[str, int], text: str, tmp_path: Path
) -> None:
    path = tmp_path / "out"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        write_limited(Plan(sources=(), query=Query(), **limits), fd, iter(LINES))
    finally:
        os.close(fd)

    assert path.read_text().split() == text.split()


def test_records_after_the_limit_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "out"
    lines = iter(LINES)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        write_limited(Plan(sources=(), query=Query(), limit=1), fd, lines)
    finally:
        os.close(fd)

    assert next(lines) is LINES[1]


# A limit of a log that is followed


class InterruptedFollow(Exception):
    """The end of a run that would go on for ever."""


@pytest.mark.parametrize(("tail", "expected"), [(None, [0, 1]), (0, [1])])
def test_new_records_follow_those_that_are_there(
    tail: int | None, expected: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "0.log"
    log.write_bytes(batch_bytes([Record(0, 0, None, b"old")]))

    def waits() -> Iterator[None]:
        with log.open("ab") as file:
            file.write(batch_bytes([Record(1, 0, None, b"new")]))
        yield
        raise InterruptedFollow

    waiting = waits()
    clock = SimpleNamespace(sleep=lambda _: next(waiting))
    monkeypatch.setattr("kraftops_cli.dump_log.run.time", clock)
    query = Query("user", form="json", deep_iteration=True)
    plan = Plan(
        sources=(Source(str(log), None, None, None, 0),), query=query, follow=True, tail=tail
    )
    run = Run(plan, MemoryTerminal("kafka-dump-log", io.BytesIO()), Report())
    out = os.open(tmp_path / "out", os.O_CREAT | os.O_WRONLY)

    with pytest.raises(InterruptedFollow):
        run_follow(run, out)
    os.close(out)

    lines = (tmp_path / "out").read_text().splitlines()
    assert [json.loads(line)["offset"] for line in lines] == expected

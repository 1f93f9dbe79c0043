"""The first or last records of a dump, with their header lines."""

import os
from pathlib import Path

import pytest

from kraftops.dump.scan.record_lines import RecordLine
from kraftops.query.query import Query
from kraftops_cli.dump_log.limited import write_limited
from kraftops_cli.dump_log.plan import Plan

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

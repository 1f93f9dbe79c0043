"""The text of ranges, by one thread or several, joins to the text of the whole log."""

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kraftops.dump.report import Report
from kraftops.dump.scan.part_printer import PartPrinter, text_chunks
from kraftops.dump.sources import parts as parts_module
from kraftops.dump.sources.parts import PartResult, ReportMerger, job_count, plan_parts, total_size
from kraftops.errors import SourceError
from kraftops.log import log_file
from kraftops.log.batch import Record
from kraftops.log.ranges import ByteRange
from kraftops.parallel.ordered import run_ordered
from kraftops.query.query import NO_LIMIT, Query
from tests.helpers.logs.cuts import cut_file
from tests.helpers.logs.segments import IN, batch_around, batches_of, patched
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.distribution import long_but
from tests.helpers.tools.dump_file import LOG_NAME, QUERIES, Dump

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")

FILES = sorted(path for path in IN.rglob("*") if path.is_file())
LOGS = [path for path in FILES if ".log" in path.name or ".checkpoint" in path.name]
SIZES = [1, 333, 1 << 40]
SPLITS = [(2, 1), (4, 777), (2, 1 << 40)]


def batch(offset: int, count: int = 1, value: bytes = b"v") -> bytes:
    return batch_bytes([Record(offset + n, 0, None, value) for n in range(count)])


def whole(paths: Iterable[Path], query: Query) -> Dump:
    """Dump files as they are."""
    report = Report()
    text, lines = "", []
    for path in paths:
        for chunk in text_chunks(str(path), query, report):
            text += chunk.decode("utf-8", "surrogateescape")
            lines += report.take_lines()
        lines += report.take_lines()
    return Dump(text, lines, list(report.summary()), report.has_failed)


def in_parts(parts: Iterable[ByteRange], query: Query, out: Path, jobs: int = 1) -> Dump:
    """Dump parts of files."""
    report, lines = Report(), list[str]()
    findings = ReportMerger(report)
    with out.open("w+b") as file:
        run_ordered(
            parts,
            lambda turn: closing(PartPrinter(query, turn)),
            file.fileno(),
            jobs,
            lambda f: lines.extend(findings.add(f)),
        )
    text = out.read_bytes().decode("utf-8", "surrogateescape")
    return Dump(text, lines, list(report.summary()), report.has_failed)


def cut(paths: Iterable[Path], size: int, limit: int = NO_LIMIT) -> Iterator[ByteRange]:
    return plan_parts(map(str, paths), size, limit)


def name_of(path: Path) -> str:
    return str(path.relative_to(IN))


# The corpus


@pytest.mark.parametrize("path", long_but(LOGS[::3], LOGS), ids=name_of)
def test_parts_of_a_log_are_the_log(path: Path, tmp_path: Path) -> None:
    """Text, lines of standard error, summaries and exit code, for all queries."""
    out = tmp_path / "out"
    for name, query in QUERIES.items():
        expected = whole([path], query)
        for size in SIZES:
            assert in_parts(cut([path], size), query, out) == expected, (name, size)


@pytest.mark.parametrize("folder", sorted({path.parent for path in FILES}), ids=name_of)
def test_threads_make_the_text_of_one(folder: Path, tmp_path: Path) -> None:
    """For all files of a folder, logs or not, and logs split between threads."""
    out = tmp_path / "out"
    paths = [path for path in FILES if path.parent == folder]
    for name in ("batches", "text", "metadata"):
        expected = whole(paths, QUERIES[name])
        for jobs, size in SPLITS:
            assert in_parts(cut(paths, size), QUERIES[name], out, jobs) == expected, (name, size)


@pytest.mark.parametrize("name", ["batches", "text", "metadata"])
def test_several_files_have_the_output_of_each(name: str, tmp_path: Path) -> None:
    expected = whole(FILES, QUERIES[name])

    for jobs, size in ((1, 1), (2, 1000), (4, 100)):
        assert in_parts(cut(FILES, size), QUERIES[name], tmp_path / "out", jobs) == expected


def test_parts_are_splits() -> None:
    for path in LOGS:
        for size in SIZES:
            parts = list(cut([path], size))

            assert {p.start for p in parts} <= {p.start for p in cut_file(str(path), 1)}
            assert [p.stop for p in parts] == [*(p.start for p in parts[1:]), path.stat().st_size]
            assert [p.is_last for p in parts] == [False] * (len(parts) - 1) + [True]


def test_batch_shorter_than_its_header_keeps_what_follows(tmp_path: Path) -> None:
    """Kafka's tool shows the content of the bytes after it."""
    path = tmp_path / LOG_NAME
    one = batch(0)
    short = patched(one, 8, (30).to_bytes(4))[:42]
    path.write_bytes(one + short + short + one + one + short)
    for query in (QUERIES["batches"], QUERIES["text"]):
        expected = whole([path], query)
        assert in_parts(cut([path], 1), query, tmp_path / "out") == expected

    size = len(one)
    assert [part.start for part in cut([path], 1)] == [0, size, 2 * size + 84, 3 * size + 84]


# Limits


@pytest.mark.parametrize("limit", [0, 1, 17, 100, 2000, 35_789, 35_790, 40_000])
def test_limit_of_bytes_holds_for_the_file(limit: int, tmp_path: Path) -> None:
    path = IN / "meta" / LOG_NAME
    query = Query(decoder="metadata", deep_iteration=True, max_bytes=limit)
    expected = whole([path], query)
    for size in (1, 1000, 1 << 30):
        for jobs in (1, 2):
            assert in_parts(cut([path], size, limit), query, tmp_path / "out", jobs) == expected


def test_file_larger_than_kafkas_tool_reads_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / LOG_NAME
    path.write_bytes(b"".join(batch(n) for n in range(20)))
    monkeypatch.setattr("kraftops.dump.scan.part_printer.NO_LIMIT", 1000)
    query = Query(deep_iteration=True, max_bytes=1000)
    expected = whole([path], query)

    assert in_parts(cut([path], 200), query, tmp_path / "out") == expected
    assert len(expected.notes) == 1


# Seams


def test_gap_at_a_seam_is_a_gap(tmp_path: Path) -> None:
    """It is among the gaps of the ranges; of several gaps after one offset, the last counts."""
    path = tmp_path / LOG_NAME
    path.write_bytes(
        batch(0) + batch(5) + batch(6) + batch(9, 3) + batch(5) + batch(8) + batch(5) + batch(7)
    )
    query = QUERIES["records"]
    expected = whole([path], query)

    assert expected.summary[1:] == [
        "  0 is followed by 5",
        "  5 is followed by 7",
        "  6 is followed by 9",
        "  8 is followed by 5",
        "  11 is followed by 5",
    ]
    for size in range(1, 400, 7):
        assert in_parts(cut([path], size), query, tmp_path / "out") == expected
    assert in_parts(cut([path], 1), query, tmp_path / "out", 3) == expected


def test_offsets_that_wrap_at_a_seam_are_no_gap(tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    path.write_bytes(batch((1 << 63) - 1) + batch(-1 << 63))

    found = in_parts(cut([path], 1), QUERIES["records"], tmp_path / "out")

    assert found.text.count("baseOffset: ") == 2
    assert found.summary == []


def test_batches_without_records_are_no_seam(tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    empty = batch_around(b"", 0, base_offset=1)
    path.write_bytes(batch(0) + empty + empty + batch(7))
    query = QUERIES["records"]
    expected = whole([path], query)

    assert expected.summary[1:] == ["  0 is followed by 7"]
    assert in_parts(cut([path], 1), query, tmp_path / "out") == expected


def test_files_do_not_follow_each_other(tmp_path: Path) -> None:
    """Nor is the same file after a change."""
    (tmp_path / "other").mkdir()
    one, two = tmp_path / LOG_NAME, tmp_path / "other" / LOG_NAME
    one.write_bytes(batch(0) + batch(1))
    two.write_bytes(batch(90) + batch(91))

    found = in_parts(cut([one, one, two, one], 1), QUERIES["records"], tmp_path / "out")

    assert found.text.count("baseOffset: ") == 8
    assert found.summary == []


def test_damage_is_reported_before_the_file_ends(tmp_path: Path) -> None:
    """Lines are printed before a large file ends, and gaps are the same."""
    path = tmp_path / LOG_NAME
    bad = patched(batch(0), 57, b"\0\0\0\x09")
    path.write_bytes((batch(3, 8000) + bad + batch(9)) * 9)
    query = QUERIES["records"]
    expected = whole([path], query)
    told: list[PartResult] = []
    for _ in PartPrinter(query)(ByteRange(str(path)), told.append):
        pass

    report = Report()
    findings = ReportMerger(report)
    lines = [line for found in told for line in findings.add(found)]

    assert len(told) > 4
    assert sum(found.size for found in told) == path.stat().st_size
    assert (lines, list(report.summary())) == (expected.notes, expected.summary)


# Files that change


def changed(path: Path, change: object, tmp_path: Path) -> Dump:
    """Dump a log of which the parts are planned and the first one read before the change."""
    parts = list(cut([path], 1))

    def in_time() -> Iterator[ByteRange]:
        yield parts[0]
        assert callable(change)
        change()
        yield from parts[1:]

    return in_parts(in_time(), QUERIES["records"], tmp_path / "out")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / LOG_NAME
    path.write_bytes(b"".join(batch(n) for n in range(9)))
    return path


def test_file_that_goes_is_read_to_its_end_by_who_has_it(log: Path, tmp_path: Path) -> None:
    expected = whole([log], QUERIES["records"])

    assert changed(log, log.unlink, tmp_path) == expected


def test_file_that_is_replaced_is_read_to_its_end_by_who_has_it(log: Path, tmp_path: Path) -> None:
    expected = whole([log], QUERIES["records"])
    other = tmp_path / "other"
    other.write_bytes(batch(70) * 9)

    assert changed(log, lambda: other.replace(log), tmp_path) == expected


def test_file_that_is_gone_is_reported_once(log: Path, tmp_path: Path) -> None:
    parts = list(cut([log], 1))
    log.unlink()

    found = in_parts(parts, QUERIES["records"], tmp_path / "out")

    assert found.notes == [f"cannot read {log}: No such file or directory"]
    assert found.has_failed


def test_ranges_that_were_read_before_a_file_is_deleted_count(log: Path) -> None:
    """The file is not among those that could not be read."""
    first, *rest = cut([log], 1)
    report = Report()
    findings = ReportMerger(report)
    read: list[PartResult] = []
    texts = PartPrinter(QUERIES["records"])
    b"".join(texts(first, read.append))
    log.unlink()
    texts.close()
    texts = PartPrinter(QUERIES["records"])
    for part in rest:
        b"".join(texts(part, read.append))

    lines = [line for found in read for line in findings.add(found)]

    assert len(lines) == 1
    assert report.has_failed
    assert report.refused == 0


def test_file_that_cannot_be_read_on_is_left_to_who_reads_it(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other files are read."""
    expected = whole([log, log], QUERIES["records"])

    def fail(*_: object) -> bytes:
        raise SourceError("cannot read it: Input/output error")

    monkeypatch.setattr(log_file.LogFile, "read_at", fail)

    assert [part.start for part in cut([log], 1)] == [0]
    for jobs in (1, 2):
        assert in_parts(cut([log, log], 1), QUERIES["records"], tmp_path / "o", jobs) == expected


def test_another_file_is_never_taken_for_the_one_that_was_split(log: Path, tmp_path: Path) -> None:
    parts = list(cut([log], 1))
    other = tmp_path / "other"
    other.write_bytes(batch(70) * 9)
    other.replace(log)

    found = in_parts(parts, QUERIES["records"], tmp_path / "out")

    assert "baseOffset" not in found.text
    assert found.notes == [f"cannot read {log}: another file has replaced it"]
    assert found.has_failed


def test_file_that_grows_is_read_to_where_it_ended(log: Path, tmp_path: Path) -> None:
    expected = whole([log], QUERIES["records"])

    def grow() -> None:
        with log.open("ab") as more:
            more.write(batch(9))

    assert changed(log, grow, tmp_path) == expected


def test_parts_of_a_file_that_grows_are_read_as_they_come(log: Path) -> None:
    """Without the identity of the file, each range opens the present file."""
    texts = PartPrinter(QUERIES["records"])
    before = log.stat().st_size
    first = b"".join(texts(ByteRange(str(log), 0, before, is_last=False), lambda _: None))
    with log.open("ab") as more:
        more.write(batch(9))
    after = log.stat().st_size
    told: list[PartResult] = []
    second = b"".join(texts(ByteRange(str(log), before, after, is_last=False), told.append))

    assert first.count(b"baseOffset: ") == 9
    assert second.count(b"baseOffset: 9 ") == 1
    assert [found.report.take_lines() for found in told] == [[]]


def test_file_that_shrinks_says_what_it_lost(log: Path, tmp_path: Path) -> None:
    size = log.stat().st_size // 9

    found = changed(log, lambda: os.truncate(log, 5 * size), tmp_path)

    assert found.text.count("baseOffset: ") == 5
    assert len(found.notes) == 4
    assert all(note.endswith(f"the file lost {size} bytes") for note in found.notes)
    assert not found.has_failed


def test_missing_file_is_reported(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in (LOG_NAME, "0.index", "1-2.checkpoint", "x")]
    (tmp_path / "1-2.checkpoint").mkdir()
    for query in (QUERIES["batches"], QUERIES["records"]):
        expected = whole(paths, query)
        for jobs in (1, 2):
            assert in_parts(cut(paths, 1), query, tmp_path / "out", jobs) == expected


def test_no_descriptor_stays_open(log: Path, tmp_path: Path) -> None:
    before = set(os.listdir("/proc/self/fd"))
    texts = PartPrinter(QUERIES["records"])
    for part in cut([log, log], 1):
        assert b"".join(texts(part, lambda _: None))
    stopped = texts(next(iter(cut([log], 1))), lambda _: None)
    for _ in range(2):
        next(stopped)
    stopped.close()  # type: ignore[attr-defined]

    assert set(os.listdir("/proc/self/fd")) == before


# How much


def test_parts_are_about_as_large_as_asked(tmp_path: Path) -> None:
    one = batch(0)
    path = tmp_path / LOG_NAME
    path.write_bytes(one * 10_000)

    sizes = [part.stop - part.start for part in cut([path], 100 * len(one)) if part.stop]

    assert sizes == [100 * len(one)] * 100


def test_plan_reads_no_more_than_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first part of a large file must not wait for the last one."""
    path = tmp_path / LOG_NAME
    path.write_bytes(batch(0, value=bytes(10_000)) * 1000)
    asked = 0
    read_at = log_file.LogFile.read_at

    def counted(log: log_file.LogFile, position: int, size: int) -> bytes:
        nonlocal asked
        asked += size
        return read_at(log, position, size)

    monkeypatch.setattr(log_file.LogFile, "read_at", counted)
    parts = cut([path], 100_000)

    next(parts)

    assert asked < 300_000
    parts.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("cores", "size", "jobs"),
    [(8, 0, 1), (8, 7_000_000, 1), (8, 9_000_000, 2), (8, 1 << 40, 8), (1, 1 << 40, 1)],
)
def test_jobs_are_as_many_as_cores_but_few_for_small_files(
    cores: int, size: int, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts_module, "engine_name", lambda: "native")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    assert job_count(size) == jobs

    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert job_count(size) == jobs


def test_size_is_that_of_the_files_that_are_there(log: Path, tmp_path: Path) -> None:
    paths = [str(log), str(tmp_path / "none"), str(log)]

    assert total_size(paths) == 2 * log.stat().st_size
    assert [part.path for part in parts_module.whole_files(["a//b/", "c"])] == ["a/b", "c"]
    assert len(batches_of(log.read_bytes())) == 9


def test_memory_does_not_grow_with_long_records(tmp_path: Path) -> None:
    """Two lines can be a megabyte."""
    path = tmp_path / LOG_NAME
    path.write_bytes(batch(0, value=bytes(400_000)) * 40)

    sizes = [len(chunk) for chunk in text_chunks(str(path), QUERIES["text"], Report())]

    assert max(sizes) < 3 << 20

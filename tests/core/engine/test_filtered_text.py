"""Text with filters has lines of Kafka's text, and no others."""

from pathlib import Path
from typing import Any

import pytest

from kraftops.dump.report import Report
from kraftops.dump.scan.part_printer import PartPrinter, file_head
from kraftops.dump.scan.record_lines import record_lines
from kraftops.dump.sources.parts import PartResult, plan_parts
from kraftops.log.batch import Record
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import Filter, normal_type
from kraftops.query.query import Query
from tests.helpers.logs.corpus_rows import EVERY_LOG, LOGS, decoder_of, name_of, query_of, rows
from tests.helpers.logs.segments import IN, batch_around, patched, resealed
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.dump_file import dump

LOG_NAME = "00000000000000000000.log"
each_log = pytest.mark.parametrize("path", [pytest.param(p, id=name_of(p)) for p in LOGS])


def chosen(path: Path | str, query: Query) -> tuple[str, Report]:
    results: list[PartResult] = []
    text = b"".join(PartPrinter(query)(ByteRange(str(path)), results.append)).decode()
    report = Report()
    for found in results:
        report.merge(found.report)
    return text, report


def query(decoder: str | None = "user", *, deep: bool = True, **asked: Any) -> Query:
    return Query(decoder=decoder, deep_iteration=deep, filter=Filter(**asked))


def lines_with_batches(path: Path, asked: Query) -> dict[int, tuple[str, list[str]]]:
    """Return the line of each batch in Kafka's text and those of its records, by position."""
    found: dict[int, tuple[str, list[str]]] = {}
    whole = Query(decoder=asked.decoder, deep_iteration=True)
    lines = found.setdefault(-1, ("", []))[1]
    for line in dump(path, whole).text.split("\n")[2:-1]:
        if line.startswith(("baseOffset: ", "offset: ")):
            position = int(line.split(" position: ")[1].split(" ")[0])
            lines = found.setdefault(position, (line, []))[1]
        elif line.startswith("| offset: "):
            lines.append(line)
        elif lines and not line.startswith("Found "):
            lines[-1] += f"\n{line}"  # a value with newlines
    return found


@each_log
def test_selected_records_come_with_the_line_of_their_batch(path: Path) -> None:
    decoder = decoder_of(path)
    every = rows(path, query_of(path))
    known = lines_with_batches(path, query(decoder))
    offsets = [row.offset for row in every if row.offset is not None]
    times = [row.timestamp for row in every if row.timestamp is not None]
    asks: list[dict[str, Any]] = [{"where": "control = false"}]
    if offsets:
        asks.append({"first_offset": offsets[len(offsets) // 3], "last_offset": offsets[-1] - 1})
    if times:
        asks.append({"since": sorted(times)[len(times) // 2]})
    types = {normal_type(row.type) for row in every if row.type and not row.error}
    asks += [{"types": frozenset({name})} for name in types]
    for asked in asks:
        wanted = {(row.position, row.offset) for row in every if Filter(**asked).matches(row)}

        text, _ = chosen(path, query(decoder, **asked))

        expected = []
        for position, (batch, lines) in known.items():
            kept = [one for one in lines if (position, int(one.split()[2])) in wanted]
            expected += [batch, *kept] if kept else []
        assert text.split("\n")[2:-1] == [line for one in expected for line in one.split("\n")]


@pytest.mark.parametrize("path", [pytest.param(p, id=name_of(p)) for p in EVERY_LOG])
def test_filter_that_all_records_match_gives_the_same_records(path: Path) -> None:
    decoder = decoder_of(path)
    asked = query(decoder, where=f"file = '{path}'")

    text, report = chosen(path, asked)

    whole = dump(path, Query(decoder=decoder, deep_iteration=True))
    assert text.count("\n| offset: ") <= whole.text.count("\n| offset: ")
    if not report.has_failed:
        assert text.count("\n| offset: ") == whole.text.count("\n| offset: ")


def test_file_without_a_match_has_its_two_lines() -> None:
    path = IN / "user/none" / LOG_NAME

    text, report = chosen(path, query(first_offset=10_000))

    assert text == f"Dumping {path}\nLog starting offset: 0\n"
    assert not report.has_failed


def test_without_records_batches_are_selected_by_offset_and_time(tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    batches = [
        batch_bytes([Record(10 * n + k, 100 * n + k, None, b"v") for k in range(3)])
        for n in range(4)
    ]
    path.write_bytes(b"".join(batches))
    for asked, numbers in (
        ({"first_offset": 12, "last_offset": 20}, [1, 2]),
        ({"first_offset": 13, "last_offset": 19}, []),
        ({"since": 102}, [1, 2, 3]),
        ({"since": 103}, [2, 3]),
        ({"last_offset": 0}, [0]),
    ):
        text, _ = chosen(path, query(None, deep=False, **asked))

        found = [int(line.split()[1]) for line in text.split("\n")[2:-1]]
        assert found == [10 * number for number in numbers], asked


def test_batch_that_begins_too_late_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    path.write_bytes(batch_bytes([Record(0, 500, None, b"v")]))

    text, _ = chosen(path, query(None, deep=False, until=500))

    assert "baseOffset" not in text


def test_time_before_the_first_of_a_batch_is_found(tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    times = [50, 20, 60]
    path.write_bytes(batch_bytes([Record(n, time, None, b"v") for n, time in enumerate(times)]))

    text, _ = chosen(path, query(since=40))

    assert [line.split()[2] for line in text.split("\n") if line.startswith("| ")] == ["0", "2"]


def test_offsets_outside_the_filter_are_no_gaps(tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    path.write_bytes(batch_bytes([Record(n, 0, b"ab"[n % 2 :][:1], b"v") for n in range(9)]))

    _, report = chosen(path, query(keys=frozenset({"a"})))

    assert list(report.summary()) == []


def test_selected_record_that_cannot_be_decoded_is_reported(tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    path.write_bytes(batch_bytes([Record(n, 0, None, b"v") for n in range(3)]))

    text, report = chosen(path, query("offsets", first_offset=1, last_offset=1))

    assert text.count("<undecodable: ") == 1
    (line,) = report.take_lines()
    assert "offset 1" in line
    assert report.has_failed


@pytest.mark.parametrize("check", [False, True])
def test_damage_in_a_batch_is_reported(check: bool, tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    good = batch_bytes([Record(9, 0, None, b"last")])
    path.write_bytes(batch_around(b"\xff" * 20, 1) + good)
    asked = Query(decoder="user", deep_iteration=True, check=check, filter=Filter(until=1 << 40))

    text, report = chosen(path, asked)

    assert text.count("\n| offset: ") == 1
    assert report.has_failed
    assert "record 1 of 1: " in report.take_lines()[0]


def test_salvaged_batch_of_an_unknown_codec_has_the_beginning_of_its_line(tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    good = batch_bytes([Record(0, 0, None, b"v")])
    path.write_bytes(resealed(patched(good, 22, b"\6")) + batch_bytes([Record(1, 0, None, b"v")]))

    text, report = chosen(path, Query(decoder="user", deep_iteration=True, salvage=True))

    lines = text.split("\n")[2:]
    assert lines[0].endswith(" <undecodable: unknown codec 6>")
    assert lines[1].startswith("baseOffset: 1 ")
    assert report.has_failed


@pytest.mark.parametrize("name", ["0.index", "0.snapshot", "what.txt"])
def test_file_without_records_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()

    text, report = chosen(tmp_path / name, query(first_offset=1))

    assert text == f"Dumping {tmp_path / name}\n"
    assert report.refused == 1


@pytest.mark.parametrize("size", [1, 3000])
def test_parts_make_the_text_of_the_whole_file(size: int) -> None:
    path = IN / "meta" / LOG_NAME
    asked = query("metadata", types=frozenset({"topic", "partitionchange"}))

    parts = plan_parts([str(path)], part_bytes=size)

    printer = PartPrinter(asked)
    text = b"".join(chunk for part in parts for chunk in printer(part, lambda _: None))
    assert text.decode() == chosen(path, asked)[0]


def test_units_of_a_batch_share_its_line() -> None:
    path = IN / "meta" / LOG_NAME
    asked = query("metadata", types=frozenset({"partition"}))

    part = ByteRange(str(path))
    found = list(record_lines(part, asked, Report(), file_head(part, asked, Report())))

    assert len(found) > 3
    assert {unit.file for unit in found} == {f"Dumping {path}\nLog starting offset: 0\n".encode()}
    assert len({id(unit.batch) for unit in found}) == len({unit.batch for unit in found})
    assert all(b'"PARTITION_RECORD"' in unit.line for unit in found)

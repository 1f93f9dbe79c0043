"""Batches to rows: all of them, no more decoded than must be, and what is damaged."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kraftops.dump.report import Report
from kraftops.dump.scan.part_printer import PartPrinter
from kraftops.dump.scan.part_rows import part_rows
from kraftops.dump.sources.parts import PartResult, plan_parts
from kraftops.errors import SourceError, UsageError
from kraftops.log import legacy
from kraftops.log.batch import CONTROL, Record, records
from kraftops.log.ranges import ByteRange, file_id
from kraftops.memory import USUAL
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from tests.helpers.logs.corpus_rows import (
    EVERY_LOG,
    engine_json,
    lines_of,
    name_of,
    parsed,
    query_of,
    rows,
)
from tests.helpers.logs.metadata_logs import no_ops, records_batch
from tests.helpers.logs.segments import IN, batch_around, batches_of, patched, resealed, walk
from tests.helpers.logs.written import batch_bytes, message_bytes

LOG_NAME = "00000000000000000000.log"
TOPIC_ID = bytes(range(16))


def user_batch(offset: int, *values: bytes, attributes: int = 0) -> bytes:
    found = [Record(offset + n, 1000 + offset + n, b"k", value) for n, value in enumerate(values)]
    return batch_bytes(found, attributes=attributes)


def broken_batch(offset: int) -> bytes:
    """Return a batch whose records cannot be inflated, though its checksum holds."""
    return resealed(patched(user_batch(offset, bytes(200), attributes=1), 61, b"not gzip"))


def write(directory: Path, *batches: bytes) -> Path:
    path = directory / LOG_NAME
    path.write_bytes(b"".join(batches))
    return path


def scanned(path: Path, *, check: bool = False, **asked: Any) -> tuple[list[int | None], Report]:
    """Return the offsets of the rows of a file, and what was reported."""
    report = Report()
    query = Query(form="json", check=check, filter=Filter(**asked))
    return [row.offset for row in part_rows(ByteRange(str(path)), query, report)], report


@pytest.mark.parametrize("path", [pytest.param(p, id=name_of(p)) for p in EVERY_LOG])
def test_every_record_of_a_batch_is_a_row(path: Path) -> None:
    if "dmg" in path.parts or path.parent.name == "magic1-small-wrapper":
        pytest.skip("its batches hold other than they say")
    expected = []
    for batch in walk(path):
        inside = (
            (message.record for message in legacy.records(batch, USUAL.meter()))
            if batch.is_legacy
            else records(batch)
        )
        expected += [(batch.position, one.offset) for one in inside]

    found = rows(path, query_of(path))

    assert [(row.position, row.offset) for row in found if row.kind != "damage"] == expected


@pytest.mark.parametrize("size", [1, 100, 5000])
@pytest.mark.parametrize("name", ["meta", "user/none", "consumer_offsets"])
def test_parts_of_a_log_make_the_rows_of_all_of_it(name: str, size: int) -> None:
    path = IN / name / LOG_NAME
    for form in ("json", "csv"):
        query = query_of(path, form=form)
        parts = plan_parts([str(path)], part_bytes=size)

        printer = PartPrinter(query)
        text = b"".join(chunk for part in parts for chunk in printer.chunks(part, Report()))

        assert text.decode() == engine_json(path, query)


# Filters that need no look at the records


@pytest.mark.parametrize(
    "asked",
    [
        {"first_offset": 5, "last_offset": 6},
        {"since": 1005, "until": 1007},
        {"first_offset": 5, "until": 1007},
    ],
)
def test_batch_that_cannot_match_is_not_inflated(asked: dict[str, int], tmp_path: Path) -> None:
    batches = [user_batch(5, b"five", b"six")]
    if "last_offset" in asked or "since" in asked:
        batches.insert(0, broken_batch(0))
    if "last_offset" in asked:
        batches.append(broken_batch(9))
    path = write(tmp_path, *batches)

    offsets, report = scanned(path, **asked)

    assert offsets == [5, 6]
    assert not report.has_failed


@pytest.mark.parametrize(
    ("key", "text"),
    [(b"plain", "plain"), ("ü".encode(), "ü"), (b"\xff\0", "/wA="), (b"{x", "{x"), (b"", "")],
)
def test_key_is_found_as_it_is_shown(key: bytes, text: str, tmp_path: Path) -> None:
    path = write(tmp_path, batch_bytes([Record(0, 0, key, b"v"), Record(1, 0, b"other", b"v")]))

    assert scanned(path, keys=frozenset({text}))[0] == [0]


def test_types_are_found_among_many_others(tmp_path: Path) -> None:
    """Frequent or rare, alone or in runs, in batches of more records than a varint of one byte."""
    kinds = {
        "n": ("NoOpRecord", {}),
        "t": ("TopicRecord", {"name": "t", "topicId": TOPIC_ID}),
        "r": ("RemoveTopicRecord", {"topicId": TOPIC_ID}),
    }
    for pattern in ("n" * 300 + "t", "t" + "n" * 99, "ntr" * 100, "t" * 70 + "r", "n" * 9000 + "t"):
        for attributes in (0, 4):
            batch = records_batch(0, *(kinds[one] for one in pattern))
            if attributes:
                (whole,) = batches_of(batch)
                batch = batch_bytes(records(whole), attributes=attributes)
            path = write(tmp_path, batch, no_ops(len(pattern), 5))
            for types in ({"topic"}, {"removetopic"}, {"topic", "removetopic"}, {"leaderchange"}):
                query = Query(
                    decoder="metadata", form="json", filter=Filter(types=frozenset(types))
                )

                text = engine_json(path, query)

                names = {"topic": "t", "removetopic": "r", "leaderchange": "-"}
                letters = {names[one] for one in types}
                expected = [n for n, one in enumerate(pattern) if one in letters]
                assert [row["offset"] for row in parsed(text)] == expected
                everything = lines_of(engine_json(path, replace(query, filter=Filter())))
                assert lines_of(text) == [everything[n] for n in expected]


def test_type_of_a_control_record_is_found_beside_those_of_the_decoder() -> None:
    path = IN / "meta/00000000000000000000.log"

    found = rows(path, query_of(path, types=frozenset({"leaderchange"})))

    assert found
    assert {row.type for row in found} == {"LEADER_CHANGE"}
    assert {row.kind for row in found} == {"control"}


# Damage


@pytest.mark.parametrize("check", [False, True])
def test_damage_is_reported_and_the_next_batch_read(check: bool, tmp_path: Path) -> None:
    path = write(tmp_path, user_batch(0, b"a"), broken_batch(1), user_batch(2, b"b"))

    offsets, report = scanned(path, check=check)

    assert offsets == [0, None, 2]
    assert (report.has_failed, report.has_damage) == (True, True)
    (line,) = report.take_lines()
    assert line.startswith(f"{path}: position {len(user_batch(0, b'a'))}: ")


def test_records_before_damage_in_a_batch_are_rows(tmp_path: Path) -> None:
    good = user_batch(0, b"a", b"b")
    body = good[61:] + b"\xff\xff"
    path = write(tmp_path, batch_around(body, 3), user_batch(3, b"next"))

    offsets, report = scanned(path)

    assert offsets == [0, 1, None, 3]
    assert report.has_failed


def test_batch_with_bytes_left_over_is_damaged(tmp_path: Path) -> None:
    path = write(tmp_path, batch_around(user_batch(0, b"a", b"b")[61:], 1))

    assert scanned(path)[0] == [0, None]


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_wrong_checksum_is_a_finding(magic: int, tmp_path: Path) -> None:
    good = user_batch(0, b"value")
    if magic < 2:
        good = message_bytes(Record(0, 5, b"k", b"value"), magic)
    path = write(tmp_path, good[:-2] + b"X" + good[-1:])

    for form in ("json", "csv"):
        for check in (False, True):
            report = Report()
            query = Query(form=form, check=check)
            text = b"".join(PartPrinter(query).chunks(ByteRange(str(path)), report))

            assert text
            assert (report.has_damage, report.has_failed) == (True, False)
            assert report.take_lines() == [f"{path}: position 0: the CRC does not match"]


def test_record_that_cannot_be_decoded_is_a_finding_of_a_check_only(tmp_path: Path) -> None:
    path = write(tmp_path, user_batch(0, b"no frame"))
    for check in (False, True):
        report = Report()
        query = Query(decoder="metadata", form="json", check=check)

        (row,) = part_rows(ByteRange(str(path)), query, report)

        assert row.error
        assert report.has_damage is check
        assert len(report.take_lines()) == check


def test_padding_is_a_note_and_no_row(tmp_path: Path) -> None:
    path = write(tmp_path, user_batch(0, b"a"), bytes(500))

    offsets, report = scanned(path, check=True)

    assert offsets == [0]
    assert not report.has_damage
    assert len(report.take_lines()) == 1


@pytest.mark.parametrize(("over", "count"), [(-1, 0), (0, 1), (1, 1), (70, 2)])
@pytest.mark.parametrize("form", ["json", "csv"])
def test_only_the_first_bytes_are_read(form: str, over: int, count: int, tmp_path: Path) -> None:
    """And that the limit cuts a batch is no damage."""
    first = user_batch(0, b"a")
    path = write(tmp_path, first, user_batch(1, b"b"))
    report = Report()
    query = Query(form=form, max_bytes=len(first) + over)

    text = b"".join(PartPrinter(query).chunks(ByteRange(str(path)), report))

    assert text.count(b"\n") == count
    assert not report.has_failed


def test_control_batch_is_not_given_to_the_decoder(tmp_path: Path) -> None:
    marker = Record(0, 0, b"\0\0\0\1", b"\0\0\0\0\0\7")
    path = write(tmp_path, batch_bytes([marker], attributes=CONTROL))

    for decoder in ("metadata", "offsets", "user"):
        (row,) = rows(path, Query(decoder=decoder))

        assert (row.kind, row.type, row.value) == ("control", "COMMIT", '{"coordinatorEpoch":7}')


# Files that have no rows


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("5.log", SourceError, "cannot read {path}: No such file or directory"),
        ("0.index", UsageError, "{path}: only logs and snapshots have records"),
        ("0.timeindex", UsageError, "{path}: only logs and snapshots have records"),
        ("0.txnindex", UsageError, "{path}: only logs and snapshots have records"),
        ("0.snapshot", UsageError, "{path}: only logs and snapshots have records"),
        ("notes.txt", UsageError, "{path}: its name is that of no log or snapshot"),
    ],
)
def test_file_without_rows_is_refused(
    name: str, error: type[Exception], words: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    if error is UsageError:
        path.touch()
    expected = words.format(path=path)

    with pytest.raises(error) as caught:
        rows(path)
    told: list[PartResult] = []
    text = b"".join(PartPrinter(Query(form="json"))(ByteRange(str(path)), told.append))

    assert caught.value.args[0] == expected
    assert text == b""
    assert told[0].report.take_lines() == [expected]
    assert told[0].report.refused == 1


def test_part_of_a_file_that_another_has_replaced_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, user_batch(0, b"a"))
    part = ByteRange(str(path), 0, path.stat().st_size, file_id=file_id(str(path)))
    other = tmp_path / "other"
    other.write_bytes(user_batch(7, b"b"))
    other.rename(path)

    with pytest.raises(SourceError, match="another file has replaced it"):
        list(part_rows(part, Query(), Report()))

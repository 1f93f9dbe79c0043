"""Rows are written as lines or columns, and damage as a row among them."""

import json
from typing import Any

import pytest

from kraftops.engine.columns import rows_of
from kraftops.engine.reference.output import Output
from kraftops.engine.reference.row_scan import RowScan, row_scan
from kraftops.engine.scan_contract import MAX_OUTPUT, MAX_ROWS, NoteKind, Outcome, Request, Why
from kraftops.log.batch import Batch, Record
from kraftops.memory import USUAL
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.query.row import Row
from tests.helpers.logs.segments import batches_of, patched
from tests.helpers.logs.written import batch_bytes, message_bytes


def batch(*values: bytes, offset: int = 0) -> Batch:
    records = [Record(offset + at, 0, None, value) for at, value in enumerate(values)]
    (found,) = batches_of(batch_bytes(records))
    return found


def damaged(position: int = 5) -> Batch:
    """Return a batch that counts a record more than it holds."""
    data = patched(batch(b"a", offset=40).data, 57, (2).to_bytes(4))
    return Batch(position, len(data), data)


def scanned(*batches: Batch, **asked: Any) -> tuple[list[dict[str, Any]], Outcome]:
    """Return the JSON rows of batches, and the outcome."""
    output = Output(marks=False)
    scan, _ = row_scan(
        Request("f", Query(**{"decoder": "user", "form": "json"} | asked)),
        output,
        USUAL.meter(),
    )
    for each in batches:
        assert list(scan.batch(each)) == []
    outcome = output.take(0, Why.MORE)
    return [json.loads(line) for line in outcome.out.splitlines()], outcome


def test_rows_before_damage_are_kept_and_the_damage_is_a_row() -> None:
    rows, outcome = scanned(damaged(), batch(b"c", offset=50))

    assert [row["kind"] for row in rows] == ["user", "damage", "user"]
    assert rows[1]["baseOffset"] == 40
    assert rows[1]["error"].startswith("position 5, ")
    assert "record 2 of 2" in rows[1]["error"]
    assert [row["crcValid"] for row in rows] == [False, False, True]
    assert [(note.kind, note.position) for note in outcome.notes] == [
        (NoteKind.FINDING, 5),
        (NoteKind.FAILURE, 5),
    ]


def test_damage_outside_of_files_is_named_by_its_offset() -> None:
    rows, _ = scanned(damaged(-1))

    assert rows[1]["position"] is None
    assert rows[1]["error"].startswith("offset 40, ")


def test_damage_is_left_out_by_a_filter_that_it_does_not_match() -> None:
    rows, outcome = scanned(damaged(), filter=Filter(keys=frozenset({"k"})))

    assert rows == []
    assert [note.kind for note in outcome.notes] == [NoteKind.FINDING, NoteKind.FAILURE]


@pytest.mark.parametrize("check", [True, False])
def test_wrong_checksum_is_noted(check: bool) -> None:
    good = batch(b"v")
    wrong = Batch(0, good.size, patched(good.data, 17, bytes(4)))

    rows, outcome = scanned(wrong, check=check)

    assert [(row["value"], row["crcValid"]) for row in rows] == [("v", False)]
    assert [note.reason for note in outcome.notes] == ["the CRC does not match"]


def test_batch_with_a_wrong_checksum_can_be_left_out() -> None:
    good = batch(b"v")
    wrong = Batch(0, good.size, patched(good.data, 17, bytes(4)))

    rows, outcome = scanned(wrong, good, skip_invalid=True)

    assert [(row["value"], row["crcValid"]) for row in rows] == [("v", True)]
    assert [note.reason for note in outcome.notes] == ["the CRC does not match; it is left out"]


def test_batch_that_a_filter_rules_out_is_not_looked_at() -> None:
    good = batch(b"v")
    wrong = Batch(0, good.size, patched(good.data, 17, bytes(4)))

    rows, outcome = scanned(wrong, filter=Filter(first_offset=1000))

    assert (rows, outcome.notes) == ([], [])


def test_error_of_a_record_is_a_finding_of_a_check() -> None:
    rows, outcome = scanned(batch(b"\1\x63\0"), decoder="metadata", check=True)

    assert [(note.kind, note.reason) for note in outcome.notes] == [
        (NoteKind.FINDING, rows[0]["error"])
    ]


def test_batch_outside_of_the_offsets_is_not_inflated() -> None:
    """Damage in it is not found."""
    rows, outcome = scanned(damaged(), filter=Filter(last_offset=39))

    assert (rows, outcome.notes) == ([], [])


def test_messages_of_old_magics_are_rows() -> None:
    (old,) = batches_of(message_bytes(Record(3, 0, None, b"v"), 1))

    rows, _ = scanned(old)

    assert [(row["offset"], row["value"]) for row in rows] == [(3, "v")]


@pytest.mark.parametrize("form", ["json", "csv"])
def test_scan_pauses_within_a_batch_when_there_is_enough_output(form: str) -> None:
    output = Output(marks=False)
    scan, _ = row_scan(Request("f", Query(decoder="user", form=form)), output, USUAL.meter())
    going = scan.batch(batch(bytes(MAX_OUTPUT), b"last"))

    next(going)
    outcomes = [output.take(0, Why.FULL), *(output.take(0, Why.FULL) for _ in going)]
    outcomes.append(output.take(0, Why.MORE))

    assert len(outcomes) > 1
    assert b"last" in outcomes[-1].out
    assert all(b"last" not in one.out for one in outcomes[:-1])


class TestColumns:
    def scan(self, output: Output, *batches: Batch, **asked: Any) -> Outcome:
        query = Query(decoder="user", form="parquet", **asked)
        scan, columns = row_scan(Request("f", query), output, USUAL.meter())
        assert columns
        for each in batches:
            for _ in scan.batch(each):
                assert columns.is_full
        return columns.take(output.take(0, Why.MORE))

    def test_rows_are_columns(self) -> None:
        outcome = self.scan(Output(marks=False), batch(b"a", b"b"))

        assert outcome.columns is not None
        assert (outcome.rows, outcome.out) == (2, b"")
        assert [row.value for row in rows_of(outcome.columns, 2)] == ["a", "b"]

    def test_only_the_columns_of_the_query_are_made(self) -> None:
        outcome = self.scan(Output(marks=False), batch(b"a"), columns=frozenset({"offset", "type"}))

        assert outcome.columns is not None
        assert list(outcome.columns) == ["offset", "type"]

    @pytest.mark.parametrize(
        ("row", "most"),
        [
            pytest.param(Row("f", 0), MAX_ROWS, id="rows"),
            pytest.param(Row("f", 0, value_size=(8 << 20) - 201), 2, id="bytes"),
        ],
    )
    def test_columns_are_full_by_rows_or_by_bytes(self, row: Row, most: int) -> None:
        _, columns = row_scan(
            Request("f", Query(form="parquet")), Output(marks=False), USUAL.meter()
        )
        assert columns
        for _ in range(most - 1):
            columns.add(row)
        assert not columns.is_full

        columns.add(row)

        assert columns.is_full
        columns.take(Outcome(b"", 0, Why.FULL, []))
        assert not columns.is_full


def test_scan_of_rows_has_no_offsets_of_kafkas_text() -> None:
    scan, columns = row_scan(Request("f", Query(form="json")), Output(marks=False), USUAL.meter())

    assert isinstance(scan, RowScan)
    assert (scan.first_offset, scan.last_offset, columns) == (None, None, None)

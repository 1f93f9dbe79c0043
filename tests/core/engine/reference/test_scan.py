"""The reference ends a call after output of a certain size, and goes on with the next call."""

from dataclasses import replace

import pytest

from kraftops.engine.reference.scan import ReferenceScan
from kraftops.engine.scan_contract import NoteKind, Outcome, Request, Why
from kraftops.log.batch import Batch, Record
from kraftops.memory import USUAL
from kraftops.query.query import Query
from tests.helpers.logs.written import batch_bytes

DEEP = Query(decoder="user", deep_iteration=True)


def batch(offset: int) -> bytes:
    return batch_bytes([Record(offset + n, 0, None, b"v") for n in range(2)])


@pytest.mark.parametrize("form", ["text", "json", "csv", "parquet"])
def test_call_ends_by_size_and_the_next_one_goes_on(form: str) -> None:
    """Also within a batch, and within a value; each line has a mark where it ends."""
    values = [bytes([65 + n]) * (700_000 * n) for n in range(6)]
    data = batch_bytes([Record(n, 0, None, value) for n, value in enumerate(values)]) + batch(6)
    for marks in (False, True):
        query = replace(DEEP, form=form)
        scan = ReferenceScan(Request("0.log", query, marks), USUAL.meter())
        made: list[Outcome] = []
        start = 0
        while not made or made[-1].why == Why.FULL:
            made.append(scan.feed(data, start, start))
            start = made[-1].next

        assert start == len(data)
        assert len(made) > 1
        if form == "parquet":
            assert sum(one.rows for one in made) == 8
        else:
            lines = b"".join(one.out for one in made).count(b"\n")
            assert max(len(one.out) for one in made) < 1_300_000
            assert sum(len(one.marks) // 4 for one in made) == (lines if marks else 0)
        if form == "text":
            assert b"".join(one.out for one in made).count(b"\n| offset: ") == 8


def test_call_ends_after_a_batch_with_a_note() -> None:
    damaged = batch(0)[:-1] + b"\xff"
    data = damaged + batch(2)
    scan = ReferenceScan(Request("0.log", replace(DEEP, check=True)), USUAL.meter())

    first = scan.feed(data, 0, 0)

    assert (first.why, first.next) == (Why.FULL, len(damaged))
    assert first.notes[0][:2] == (NoteKind.FINDING, 0)
    assert scan.feed(data, first.next, first.next).notes == []


def test_batch_without_a_header_is_a_failure() -> None:
    scan = ReferenceScan(Request("0.log", DEEP), USUAL.meter())

    (outcome,) = scan.add(Batch(7, 20, bytes(16) + b"\2" + bytes(3)))

    assert outcome.out == b""
    assert [(note.kind, note.position) for note in outcome.notes] == [(NoteKind.FAILURE, 7)]

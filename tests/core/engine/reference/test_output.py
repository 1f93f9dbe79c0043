"""Output counts lines, rows and notes, and is empty after it was taken."""

from array import array

from kraftops.engine.reference.output import Output
from kraftops.engine.scan_contract import MAX_OUTPUT, NoteKind, Why


def test_outcome_has_lines_notes_and_marks_and_is_taken_once() -> None:
    output = Output(marks=True)
    output.line("batch\n", is_batch=True)
    output.line("é\n")
    output.finding(7, "odd")
    output.gaps.extend((1, 3))

    outcome = output.take(9, Why.FULL)

    assert (outcome.out, outcome.next, outcome.why) == ("batch\né\n".encode(), 9, Why.FULL)
    assert [tuple(note) for note in outcome.notes] == [(NoteKind.FINDING, 7, "odd", 9)]
    assert list(array("i", outcome.marks)) == [-6, 9]
    assert list(array("q", outcome.gaps)) == [1, 3]
    assert output.take(9, Why.MORE)[:4] == (b"", 9, Why.MORE, [])


def test_long_line_pauses_when_the_output_is_full() -> None:
    output = Output(marks=False)
    pieces = ["x" * MAX_OUTPUT, "y", "\n"]

    writing = output.long_line(pieces)

    next(writing)
    assert output.is_full
    assert output.take(0, Why.FULL).out == pieces[0].encode()
    assert list(writing) == []
    assert output.take(0, Why.MORE).out == b"y\n"


def test_long_line_is_marked_where_it_ends() -> None:
    output = Output(marks=True)
    writing = output.long_line(["x" * MAX_OUTPUT, "y\n"])

    next(writing)
    assert output.take(0, Why.FULL).marks == b""
    assert list(writing) == []
    assert list(array("i", output.take(0, Why.MORE).marks)) == [2]


def test_line_beyond_the_limit_fills_the_output() -> None:
    output = Output(marks=False)
    output.line("x" * (MAX_OUTPUT - 1))
    assert not output.is_full

    output.line("yz\n")

    assert output.is_full


def test_note_is_behind_the_rows_before_it() -> None:
    output = Output(marks=False)
    output.count_row()
    output.failure(7, "odd")
    output.count_row()

    assert [note.output_position for note in output.take(9, Why.MORE).notes] == [1]

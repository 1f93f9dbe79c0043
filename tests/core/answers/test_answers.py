"""From one definition come JSON, and the columns and cells of tables."""

from __future__ import annotations

from typing import NamedTuple

from kraftops.answers.cells import cell_of, cells_of, column_at, columns_of
from kraftops.answers.fields import (
    Answer,
    boolean,
    json_of,
    levels,
    number,
    numbers,
    part,
    parts,
    text,
    texts,
    time,
)
from kraftops.display.columns import Bytes, Column, Styled
from kraftops.views.entries import BROKER_COLUMNS


class Segment(NamedTuple):
    base_offset: int
    size: int
    written: int | None
    state: str = "clean"


class Log(NamedTuple):
    topic: str
    segments: list[Segment]
    leader: int | None = None
    features: dict[str, int] | None = None


SEGMENT = (
    number("baseOffset", "its first offset", column="BASE", get=lambda one: one.base_offset),
    number("bytes", "its size", numeral="size", column=("SIZE", 1), get=lambda one: one.size),
    time("written?", "its last change", get=lambda one: one.written),
    text(
        "state",
        "how it is",
        values=("clean", "damaged"),
        column="STATE",
        get=lambda one: one.state,
        cell=lambda one: Styled(one.state, "good"),
    ),
)
ANSWER = Answer(
    (
        text("topic", "its name", get=lambda log: log.topic),
        parts("segments", "its files", SEGMENT, get=lambda log: log.segments),
        part(
            "newest?",
            "the newest file",
            SEGMENT,
            get=lambda log: log.segments[-1] if log.segments else None,
        ),
        number("leader?", "its leader", get=lambda log: log.leader),
        boolean("isEmpty", "whether it has no files", get=lambda log: not log.segments),
        levels("features?", "levels", get=lambda log: log.features),
        texts("names", "names of files", get=lambda log: [str(one.size) for one in log.segments]),
        numbers("sizes", "sizes of files", get=lambda log: [one.size for one in log.segments]),
    ),
    help="null is not known.",
)
LOGS = (
    Log("a", [Segment(0, 2048, 7), Segment(5, 10, None, "damaged")], 3, {"x": 1}),
    Log("b", []),
)


def test_json_has_all_fields_of_nested_things() -> None:
    full, empty = (json_of(ANSWER.fields, log) for log in LOGS)

    segments = [
        {"baseOffset": 0, "bytes": 2048, "written": 7, "state": "clean"},
        {"baseOffset": 5, "bytes": 10, "written": None, "state": "damaged"},
    ]
    assert full == {
        "topic": "a",
        "segments": segments,
        "newest": segments[-1],
        "leader": 3,
        "isEmpty": False,
        "features": {"x": 1},
        "names": ["2048", "10"],
        "sizes": [2048, 10],
    }
    assert (empty["newest"], empty["leader"], empty["segments"]) == (None, None, [])


def test_table_has_the_fields_with_a_column() -> None:
    assert [column.title for column in columns_of(SEGMENT)] == ["BASE", "SIZE", "STATE"]
    assert cells_of(SEGMENT, LOGS[0].segments[0]) == ["0", Bytes(2048), Styled("clean", "good")]


def test_values_are_shown_by_their_types() -> None:
    assert cell_of(number("n", "", numeral="amount"), 1234) == 1234  # with a comma, in the end
    assert cell_of(number("n", ""), 1234) == "1234"
    assert cell_of(time("t", ""), 0) == "1970-01-01T00:00:00.000Z"
    assert cell_of(boolean("b", ""), True) == "true"
    assert cell_of(numbers("l", ""), [1, 2]) == "1,2"
    assert cell_of(number("n", ""), 0.5) == "0.5"
    assert cell_of(text("t", ""), None) is None


def test_column_of_a_table_of_any_fields_gives_way_by_its_place() -> None:
    assert column_at(number("n", ""), 2) == Column("n", 2, "right")
    assert column_at(text("t", "", gives_way=3), 1) == Column("t", 4, is_folded=True)


def test_column_by_its_title_is_aligned_by_the_type() -> None:
    assert number("n", "", column=("SIZE", 1)).column == Column("SIZE", 1, "right")
    assert text("t?", "", column="STATE").column == Column("STATE")


def test_name_says_whether_a_field_may_be_null() -> None:
    assert [(field.name, field.may_be_null) for field in (text("a?", ""), text("b", ""))] == [
        ("a", True),
        ("b", False),
    ]


def test_states_are_not_cut_within_a_word() -> None:
    state, endpoints = (
        column_at(field, 0) for field in BROKER_COLUMNS if field.name in ("state", "endpoints")
    )

    assert (state.is_folded, endpoints.is_folded) == (False, True)

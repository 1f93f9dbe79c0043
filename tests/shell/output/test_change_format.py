"""The text and JSON of changes."""

from kraftops.image.state.changes import Change
from kraftops.image.state.fields import FieldChange
from kraftops_shell.output.change_format import change_data, change_text, fields_data, fields_text

CHANGE = Change(7, 0, 3, is_upper_bound=False)
FIELDS = [FieldChange("leader", 1, 2), FieldChange("", "a", None)]


def test_upper_bound_is_marked() -> None:
    assert change_text(CHANGE) == "7  1970-01-01T00:00:00.000Z"
    assert change_text(CHANGE._replace(is_upper_bound=True)).startswith("<=7  ")
    assert change_text(CHANGE._replace(timestamp=1 << 62)) == "7  -"


def test_data_has_offset_and_epoch() -> None:
    data = change_data(CHANGE)

    assert (data["offset"], data["leaderEpoch"], data["isInSnapshot"]) == (7, 3, False)


def test_fields_are_on_one_line() -> None:
    assert fields_text(FIELDS) == 'leader 1 → 2; "a" → null'


def test_field_without_name_has_none_in_json() -> None:
    assert fields_data(FIELDS) == [
        {"field": "leader", "old": 1, "new": 2},
        {"field": None, "old": "a", "new": None},
    ]

"""Differences between two values of a node."""

from kraftops.image.state.fields import FieldChange, field_changes


def test_fields_that_differ_are_named_in_their_order() -> None:
    old, new = {"a": 1, "b": 2, "c": 3}, {"b": 2, "c": 4, "d": 5}

    assert field_changes(old, new) == (
        FieldChange("a", 1, None),
        FieldChange("c", 3, 4),
        FieldChange("d", None, 5),
    )


def test_value_without_fields_is_one_field_without_name() -> None:
    assert field_changes("x", "y") == (FieldChange("", "x", "y"),)
    assert field_changes({"a": 1}, None) == (FieldChange("", {"a": 1}, None),)
    assert field_changes("x", "x") == ()

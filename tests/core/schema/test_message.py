"""Notation of the message tables."""

import pytest

from kraftops.schema.message import Versions, parse, present

TABLE = """
ThingRecord 7 1-3 2+
  number int32 =-5
  flag bool 2+ =true
  names []string? 2-2 =null
  inner Inner
    id uuid
    deeper []Deeper
      raw bytes
    level int8 3+ #4 =1
  note string? #0 =null

ThingKey - 0 none
  id int64
"""


def test_line_of_a_message_is_parsed() -> None:
    messages = parse(TABLE)

    thing, key = messages["ThingRecord"], messages["ThingKey"]
    assert list(messages) == ["ThingRecord", "ThingKey"]
    assert (thing.key, thing.versions, thing.flexible) == (7, Versions(1, 3), Versions(2, None))
    assert (key.key, key.versions, key.flexible) == (None, Versions(0, 0), None)
    assert [thing.is_flexible(version) for version in (1, 2, 3)] == [False, True, True]
    assert not key.is_flexible(0)


def test_line_of_a_field_is_parsed() -> None:
    number, flag, names, inner, note = parse(TABLE)["ThingRecord"].fields

    assert (number.type, number.default, number.versions) == ("int32", -5, Versions(1, 3))
    assert (flag.type, flag.default, flag.versions) == ("bool", True, Versions(2, None))
    assert (names.type, names.array, names.nullable, names.default) == ("string", True, True, None)
    assert names.versions == Versions(2, 2)
    assert (inner.type, inner.default, inner.array) == ("Inner", {}, False)
    assert (note.tag, note.nullable, note.default) == (0, True, None)
    assert [field.tag for field in (number, flag, names, inner)] == [None] * 4


def test_indented_fields_belong_to_the_struct_above() -> None:
    inner = parse(TABLE)["ThingRecord"].fields[3]

    assert [field.name for field in inner.fields] == ["id", "deeper", "level"]
    assert [field.name for field in inner.fields[1].fields] == ["raw"]
    assert inner.fields[1].default == ()
    assert (inner.fields[2].tag, inner.fields[2].default) == (4, 1)


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        ("bool", False),
        ("int8", 0),
        ("uint16", 0),
        ("int64", 0),
        ("float64", 0.0),
        ("string", ""),
        ("bytes", b""),
        ("uuid", bytes(16)),
        ("[]int32", ()),
        ("Struct", {}),
    ],
)
def test_default_is_nothing_unless_given(kind: str, default: object) -> None:
    (field,) = parse(f"Thing - 0 0+\n  it {kind}")["Thing"].fields

    assert field.default == default
    assert type(field.default) is type(default)


@pytest.mark.parametrize(
    ("kind", "is_fixed", "is_struct"),
    [
        ("int32", True, False),
        ("uuid", True, False),
        ("[]int32", False, False),
        ("string", False, False),
        ("bytes", False, False),
        ("Other", False, True),
        ("[]Other", False, True),
    ],
)
def test_kinds_of_types(kind: str, is_fixed: bool, is_struct: bool) -> None:
    (field,) = parse(f"Thing - 0 0+\n  it {kind}")["Thing"].fields

    assert (field.is_fixed, field.is_struct) == (is_fixed, is_struct)


def test_present_keeps_the_order_and_the_versions() -> None:
    fields = parse(TABLE)["ThingRecord"].fields

    assert [field.name for field in present(fields, 1)] == ["number", "inner", "note"]
    assert [field.name for field in present(fields, 2)] == [f.name for f in fields]
    assert [field.name for field in present(fields, 3)] == ["number", "flag", "inner", "note"]


@pytest.mark.parametrize(
    ("versions", "inside", "outside"),
    [
        (Versions(0, 0), [0], [-1, 1]),
        (Versions(1, 3), [1, 2, 3], [0, 4]),
        (Versions(2, None), [2, 99], [1]),
    ],
)
def test_versions_are_ranges(versions: Versions, inside: list[int], outside: list[int]) -> None:
    assert all(versions.has(version) for version in inside)
    assert not any(versions.has(version) for version in outside)


def test_wrong_indentation_is_refused() -> None:
    with pytest.raises(AssertionError, match="indented too far"):
        parse("Thing - 0 0+\n    it int32")

"""Names and types of conditions: the nearest name, the place, times, and what can be compared."""

import pytest

from kraftops.answers.types import LIST, NUMBER, TEXT, FieldType, list_of, merged, of_kind
from kraftops.errors import UsageError
from kraftops.query.conditions.parser import parse_condition
from kraftops.query.conditions.row_types import row_types
from kraftops.query.conditions.syntax import text_of
from kraftops.query.conditions.types import checked
from kraftops.records.decoder import Decoder
from kraftops.records.decoders import decoder_named

NOW = 1_800_000_000_000
METADATA = decoder_named("metadata")
SEVERAL = frozenset({METADATA, decoder_named("offsets"), decoder_named("user")})


def check(text: str, decoders: frozenset[Decoder] = frozenset({METADATA})) -> str:
    return text_of(checked(parse_condition(text), text, row_types(decoders), NOW))


@pytest.mark.parametrize(
    "text",
    [
        "value.leader = 3",
        "value.leader < value.partitionId",
        "value.isr.0 = 1",
        "1 in value.isr",
        "len(value.isr) < len(value.replicas)",
        "value.voters.0.voterId = 1",  # of control records
        "key.group = 'a' and value.members.0.subscription.topics.0 = 't'",
        "headers.anything ~ '^a' and len(headers) > 0",
        "topicId = 'FtsZDiFGTVq7Uw6noLjD7g' or value.topicId is null",
        "control and not transactional",
        "type = 'UNKNOWN(99)' or kind = 'damage'",
        "value ~ 'x' and key != ''",
        "timestamp = offset",
    ],
)
def test_conditions_that_can_be_decided(text: str) -> None:
    assert check(text, SEVERAL) == text_of(parse_condition(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("timestamp >= '2027-01-15T08:00:00Z'", "timestamp >= 1800000000000"),
        ("'2h' < timestamp", "1799992800000 < timestamp"),
        ("timestamp in ('1d', 5)", "timestamp in (1799913600000, 5)"),
        ("timestamp > 12", "timestamp > 12"),
    ],
)
def test_times_become_milliseconds(text: str, expected: str) -> None:
    assert check(text) == expected


@pytest.mark.parametrize(
    ("text", "place", "reason", "hint"),
    [
        ("value.leadr = 3", 1, "value has no field 'leadr'", "perhaps leader"),
        ("not (control or vale.x = 1)", 17, "there is no column 'vale'", "perhaps value"),
        ("topicid = 'x'", 1, "there is no column 'topicid'", "perhaps topicId"),
        ("key = xyz", 7, "there is no column 'xyz'", "text is quoted: 'xyz'"),
        ("value.leader.x = 3", 1, "value.leader is a number and has no field 'x'", None),
        ("value.isr.x = 3", 1, "value.isr is a list and has no field 'x'", None),
        ("value.leader = '3'", 14, "value.leader is a number, and '3' is text", None),
        ("'3' = value.leader", 5, "'3' is text, and value.leader is a number", None),
        ("offset = true", 8, "offset is a number, and true is a boolean", None),
        ("value.isr = 3", 11, "value.isr is a list, and 3 is a number", "a list has a length"),
        ("value.isr = value.replicas", 11, "is a list", "a list has a length"),
        ("len(value.leader) = 3", 1, "value.leader is a number: only a list", None),
        ("value.leader ~ '3'", 14, "value.leader is a number, and a pattern matches text", None),
        ("3 in value.leader", 3, "value.leader is a number, and no list", "as in value.isr"),
        ("'a' in value.isr", 5, "'a' is text, and value.isr has items of a number", None),
        ("value.leader in (1, 'a')", 14, "value.leader is a number, and 'a' is text", None),
        ("control < true", 9, "control is a boolean, which is not compared by <", None),
        ("value.name", 1, "value.name is text, and true is a boolean", None),
        (
            "timestamp > 'soon'",
            13,
            "'soon' is not a valid time",
            "for example 2026-11-21T10:00:00Z",
        ),
        ("timestamp > true", 13, "true is a boolean, and no time", None),
        (
            "type = 'TOPC_RECORD'",
            8,
            "'TOPC_RECORD' is not one of the values",
            "perhaps TOPIC_RECORD",
        ),
        ("type in ('topic_record')", 10, "'topic_record' is not one", "perhaps TOPIC_RECORD"),
        ("codec = 'zst'", 9, "'zst' is not one of the values", "perhaps zstd"),
    ],
)
def test_others_are_refused_with_the_place_and_the_nearest_name(
    text: str, place: int, reason: str, hint: str | None
) -> None:
    with pytest.raises(UsageError) as caught:
        check(text)

    message = caught.value.message
    assert f"at character {place}: " in message
    assert reason in message
    assert str(caught.value.hint).startswith(str(hint))


def test_fields_of_one_name_have_all_their_kinds() -> None:
    found = merged([of_kind(TEXT), list_of(of_kind(NUMBER))])

    assert found == FieldType(frozenset({TEXT, LIST}), items=of_kind(NUMBER))

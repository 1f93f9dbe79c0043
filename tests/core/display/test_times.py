"""Times as people and programs read them."""

import pytest

from kraftops.display.times import iso_time, span_text, time_fields


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_760_000_000_123, "2025-10-09T08:53:20.123Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        (253_402_300_800_000, None),
        (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        (-62_135_596_800_001, None),
        (1 << 62, None),
        (None, None),
    ],
)
def test_time_is_iso_8601_as_long_as_it_has_a_year(time: int | None, text: str | None) -> None:
    assert iso_time(time) == text


def test_time_comes_in_two_fields() -> None:
    assert time_fields("last", 5) == {"lastMs": 5, "last": "1970-01-01T00:00:00.005Z"}


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1 s"),
        (1_050, "1 s 50 ms"),
        (60_000, "1 min"),
        (3_600_000 + 59_000, "1 h"),
        (86_400_000 * 3 + 3_600_000 * 4 + 1, "3 d 4 h"),
    ],
)
def test_span_has_its_two_largest_units(span: int, text: str) -> None:
    assert span_text(span) == text

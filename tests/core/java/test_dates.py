"""Dates as Java prints them."""

import time

import pytest

from kraftops.java.dates import date_text, iso_time_text


def test_date_has_english_names_of_day_and_month() -> None:
    moment = time.struct_time((2026, 3, 5, 7, 8, 9, 3, 64, 0))

    shown = date_text(moment)

    assert shown.startswith("Thu Mar 05 07:08:09 ")
    assert shown.endswith(" 2026")


@pytest.mark.parametrize(
    ("timestamp", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (100, "1970-01-01T00:00:00.1Z"),
        (120, "1970-01-01T00:00:00.12Z"),
        (1_700_000_000_001, "2023-11-14T22:13:20.001Z"),
        (951_782_400_000, "2000-02-29T00:00:00Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        (253_402_300_800_000, "+10000-01-01T00:00:00Z"),
        (-62_135_596_800_001, "0000-12-31T23:59:59.999Z"),
        (-62_167_219_200_001, "-0001-12-31T23:59:59.999Z"),
        ((1 << 63) - 1, "+292278994-08-17T07:12:55.807Z"),
        (-(1 << 63), "-292275055-05-16T16:47:04.192Z"),
    ],
)
def test_time_is_shown_as_by_java(timestamp: int, text: str) -> None:
    assert iso_time_text(timestamp) == text

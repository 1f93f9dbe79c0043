"""Offsets and times in arguments."""

import pytest

from kraftops.errors import UsageError
from kraftops_shell.grammar.moments import first_moment, read_moment

NOW = 1_795_300_000_000


@pytest.mark.parametrize(
    ("text", "offset", "time"),
    [
        ("0", 0, None),
        ("1234567890", 1_234_567_890, None),
        ("2h", None, NOW - 2 * 3_600_000),
        ("2026-01-01T00:00:00Z", None, 1_767_225_600_000),
    ],
)
def test_short_numbers_are_offsets(text: str, offset: int | None, time: int | None) -> None:
    assert read_moment(text, NOW) == (offset, time)


def test_other_text_is_refused() -> None:
    with pytest.raises(UsageError):
        read_moment("tomorrow", NOW)


@pytest.mark.parametrize(
    ("line", "moment", "command"),
    [
        ("yesterday 14:02", "yesterday 14:02", []),
        ("2026-11-21 10:00:05 pwd", "2026-11-21 10:00:05", ["pwd"]),
        ("2026-11-21 ls /image", "2026-11-21", ["ls", "/image"]),
        ("14:02 pwd", "14:02", ["pwd"]),
    ],
)
def test_a_day_and_a_time_of_day_are_one_moment(line: str, moment: str, command: list[str]) -> None:
    assert first_moment(line.split()) == (moment, command)

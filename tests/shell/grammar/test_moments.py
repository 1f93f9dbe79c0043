"""Offsets and times in arguments."""

import pytest

from kraftops.errors import UsageError
from kraftops_shell.grammar.moments import read_moment

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
        read_moment("yesterday", NOW)

"""Moments in arguments: offsets and times."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from kraftops.query.times import parse_time

_OFFSET = re.compile(r"\d{1,10}")
_DAY = re.compile(r"@?(yesterday|\d{4}-\d\d-\d\d)")
_TIME_OF_DAY = re.compile(r"\d{1,2}:\d\d.*")
NOW = "now"
"""The word for the newest state."""


class Moment(NamedTuple):
    """An offset of the log, or a time in ms since the epoch; both are None for the newest state."""

    offset: int | None
    time: int | None


def read_moment(text: str, now: int, end: Callable[[], int | None] = lambda: None) -> Moment:
    """Return the moment of a text: an offset, a time as `parse_time` takes it, or `now`.

    A number of up to ten digits is an offset. An @ may stand before a moment. *end* returns the
    newest time in the log.

    Raises:
        UsageError: it is none of these.
    """
    text = text.removeprefix("@")
    if text == NOW:
        return Moment(None, None)
    if _OFFSET.fullmatch(text):
        return Moment(int(text), None)
    return Moment(None, parse_time(text, now, end))


def first_moment(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the text of the moment that words begin with, and the words after it.

    A day and a time of day are two words that need no quotes.
    """
    if len(words) > 1 and _DAY.fullmatch(words[0]) and _TIME_OF_DAY.fullmatch(words[1]):
        return f"{words[0]} {words[1]}", words[2:]
    return words[0], words[1:]

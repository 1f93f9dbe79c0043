"""Moments in arguments: offsets and times."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from kraftops.query.times import parse_time

_OFFSET = re.compile(r"\d{1,10}")
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

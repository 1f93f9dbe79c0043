"""Moments in arguments: offsets, and times as ISO 8601 or as a duration before now."""

from __future__ import annotations

import re
from typing import NamedTuple

from kraftops.query.times import is_duration, parse_time

_OFFSET = re.compile(r"\d{1,10}")
_NOW = "now"


class Moment(NamedTuple):
    """An offset of the log, or a time in ms since the epoch; both are None for the newest state."""

    offset: int | None
    time: int | None


def read_moment(text: str, now: int) -> Moment:
    """Return the moment of a text: an offset, a time, a duration before now, or `now`.

    A number of up to ten digits is an offset. An @ may stand before a moment, and a minus before a
    duration.

    Raises:
        UsageError: it is none of these.
    """
    text = text.removeprefix("@")
    if text == _NOW:
        return Moment(None, None)
    if text.startswith("-") and is_duration(text[1:]):
        text = text[1:]
    if _OFFSET.fullmatch(text):
        return Moment(int(text), None)
    return Moment(None, parse_time(text, now))

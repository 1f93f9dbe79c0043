"""Moments in arguments: offsets, and times as ISO 8601 or as a duration before now."""

from __future__ import annotations

import re
from typing import NamedTuple

from kraftops.query.times import parse_time

_OFFSET = re.compile(r"\d{1,10}")


class Moment(NamedTuple):
    """An offset of the log, or a time in ms since the epoch; one of them is None."""

    offset: int | None
    time: int | None


def read_moment(text: str, now: int) -> Moment:
    """Return the moment of a text; a number of up to ten digits is an offset.

    Raises:
        UsageError: it is neither an offset nor a time.
    """
    if _OFFSET.fullmatch(text):
        return Moment(int(text), None)
    return Moment(None, parse_time(text, now))

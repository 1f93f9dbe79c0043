"""Options of a stream, parsed; the names are those of Spark's own sources."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from kraftops.errors import UsageError
from kraftops.spark.source.options import CLIENT_PREFIX, STREAM_OPTIONS, SourceOptions, flag
from kraftops.spark.stream.quorum import quorum_of
from kraftops.wire.quorum.quorum_target import QuorumTarget

EARLIEST, LATEST = "earliest", "latest"
DIED_AT_START = "a query from latest on that died in its first batch needs a new checkpointLocation"
_NUMBERS = {-2: EARLIEST, -1: LATEST}
"""Offsets that stand for a beginning or an end, as Spark's kafka source has them."""
_SIZE = re.compile(r"([0-9]{1,15})\s*([kmgt]?)b?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
HAS_LIMITS = bool(find_spec("pyspark.sql.streaming.datasource"))
"""Whether this release of Spark asks sources for a part of what is there: since 4.2."""

Starts = Mapping[tuple[str, int], int | str]
"""Offsets by topic and partition, or `EARLIEST` or `LATEST`."""


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """Parsed options: *starts* are `EARLIEST`, `LATEST`, or those of each partition.

    *quorum* is whose log is followed, or None for logs in directories.
    """

    starts: str | Starts = EARLIEST
    max_bytes: int | None = None
    fails_on_loss: bool = True
    quorum: QuorumTarget | None = None


def stream_options(options: Mapping[str, str], source: SourceOptions) -> StreamOptions:
    """Return the parsed options of a stream; their names may be in any case.

    Raises:
        UsageError: one has a wrong value, means nothing in a stream, or not in this release.
    """
    given = {name.lower(): value for name, value in options.items()}
    if source.pushdown:
        raise UsageError("pushdown means nothing in a stream: Spark asks no stream for filters")
    return StreamOptions(
        _starts(given.get("startingoffsets", EARLIEST)),
        _max_bytes(given.get("maxbytespertrigger")),
        flag(given, "failOnDataLoss", default=True),
        quorum_of(given, source),
    )


def refuse_in_batch(options: Mapping[str, str]) -> None:
    """Refuse options of streams for a table.

    Raises:
        UsageError: there is one.
    """
    given = {name.lower() for name in options}
    for name in (*STREAM_OPTIONS, *(name for name in given if name.startswith(CLIENT_PREFIX))):
        if name.lower() in given:
            raise UsageError(f"{name} is an option of spark.readStream, not of spark.read")


def _starts(text: str) -> str | Starts:
    if text.lower() in (EARLIEST, LATEST):
        return text.lower()
    try:
        found = json.loads(text)
        return {
            (topic, int(number)): _NUMBERS.get(offset, offset)
            for topic, offsets in found.items()
            for number, offset in offsets.items()
            if _checked(offset)
        }
    except (ValueError, AttributeError):
        raise UsageError(
            f'startingOffsets is earliest, latest or {{"TOPIC":{{"0":OFFSET}}}}, not {text!r}'
        ) from None


def _checked(offset: object) -> bool:
    if type(offset) is not int or offset < min(_NUMBERS):
        raise ValueError
    return True


def _max_bytes(text: str | None) -> int | None:
    if text is None:
        return None
    found = _SIZE.fullmatch(text.strip())
    size = int(found[1]) * _UNITS[found[2].lower()] if found else 0
    if not size:
        raise UsageError(f"maxBytesPerTrigger is a number of bytes, as 64m, not {text!r}")
    if not HAS_LIMITS:
        import pyspark

        raise UsageError(
            f"maxBytesPerTrigger needs pyspark 4.2 or later, and this is {pyspark.__version__}",
            hint="without it, a batch has all that is there",
        )
    return size

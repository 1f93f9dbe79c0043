"""Offsets by partition in options, as Spark's source `kafka` has them: `{"TOPIC":{"0":OFFSET}}`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from kraftops.errors import UsageError
from kraftops.query.filters import Filter

EARLIEST, LATEST = "earliest", "latest"
_STARTING, _ENDING = "startingOffsets", "endingOffsets"
_NUMBERS = {-2: EARLIEST, -1: LATEST}
"""Offsets that stand for a beginning or an end."""

Starts = Mapping[tuple[str, int], int | str]
"""Offsets by topic and partition, or `EARLIEST` or `LATEST`."""


def partition_offsets(name: str, text: str) -> str | Starts:
    """Return the offsets of an option: `EARLIEST`, `LATEST`, or those of each partition.

    Raises:
        UsageError: it has others.
    """
    if text.lower() in (EARLIEST, LATEST):
        return text.lower()
    try:
        return {
            (topic, int(number)): _NUMBERS.get(offset, offset)
            for topic, offsets in json.loads(text).items()
            for number, offset in offsets.items()
            if _checked(offset)
        }
    except (ValueError, AttributeError):
        raise UsageError(
            f'{name} is earliest, latest or {{"TOPIC":{{"0":OFFSET}}}}, not {text!r}'
        ) from None


def _checked(offset: object) -> bool:
    if type(offset) is not int or offset < min(_NUMBERS):
        raise ValueError
    return True


@dataclass(frozen=True, slots=True)
class PartitionLimits:
    """The offsets with which the partitions of a table begin, and those before which they end.

    Partitions that are not in it are read whole.
    """

    starts: Mapping[tuple[str, int], int]
    ends: Mapping[tuple[str, int], int]

    def narrowed(self, selection: Filter, topic: str | None, partition: int | None) -> Filter:
        """Narrow a filter to the offsets of a partition; the end is exclusive."""
        key = (topic or "", partition or 0)
        first = max(selection.first_offset, self.starts.get(key, selection.first_offset))
        last = min(selection.last_offset, self.ends.get(key, selection.last_offset + 1) - 1)
        return replace(selection, first_offset=first, last_offset=last)


NO_LIMITS = PartitionLimits({}, {})


def partition_limits(options: Mapping[str, str]) -> PartitionLimits:
    """Return the limits of a table by its options startingOffsets and endingOffsets.

    Raises:
        UsageError: one is not offsets of partitions.
    """
    by_name = {name.lower(): text for name, text in options.items()}
    starts, ends = _STARTING.lower(), _ENDING.lower()
    return PartitionLimits(
        _limits(_STARTING, by_name.get(starts, EARLIEST), EARLIEST),
        _limits(_ENDING, by_name.get(ends, LATEST), LATEST),
    )


def _limits(name: str, text: str, whole: str) -> dict[tuple[str, int], int]:
    offsets = partition_offsets(name, text)
    by_partition = {} if isinstance(offsets, str) else offsets
    for offset in (offsets, *by_partition.values()):
        if isinstance(offset, str) and offset != whole:
            raise UsageError(f"{name} of a table cannot be {offset}")
    return {key: offset for key, offset in by_partition.items() if isinstance(offset, int)}

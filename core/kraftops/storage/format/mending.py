"""Data directories that lost their meta.properties: `format --ignore-formatted` mends them."""

from __future__ import annotations

from collections.abc import Sequence

from kraftops.server.formatted import partition_data
from kraftops.server.log_directory import LogDirectory


def directories_to_mend(directories: Sequence[LogDirectory]) -> list[LogDirectory]:
    """Return the directories that hold partitions and are not formatted, where all others are sane.

    The metadata directory is none of them: a voter without its log would be trusted.
    """
    metadata = next(directory for directory in directories if directory.is_metadata)
    if metadata.meta is None or any(directory.problem for directory in directories):
        return []
    return [directory for directory in directories if not directory.meta and _holds_data(directory)]


def _holds_data(directory: LogDirectory) -> bool:
    try:
        return partition_data(directory.path) is not None
    except OSError:
        return False  # the check of the plan says why

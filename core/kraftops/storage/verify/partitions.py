"""Checks of what lies in a log directory, by the names alone (Kafka's `LogManager`)."""

from __future__ import annotations

import os
from collections.abc import Iterator

from kraftops.findings.finding import Finding, Place, stop_finding
from kraftops.log.files import BOOTSTRAP_CHECKPOINT, METADATA_PARTITION
from kraftops.server import meta_properties
from kraftops.server.loader.load_plan import parse_folder_name
from kraftops.server.partition_files import topic_id_of
from kraftops.storage.logdirs.inspector import DirectoryState

_INDEX_CACHE = "remote-log-index-cache"


def is_partition(name: str) -> bool:
    """Tell whether a name is that of a partition's directory."""
    return parse_folder_name(name) is not None


def data_findings(state: DirectoryState, owners: dict[tuple[str, bytes], str]) -> Iterator[Finding]:
    """Yield the problems that keep a broker from loading a log directory.

    *owners* has the log directory of each partition, and gets those of this one.
    """
    with os.scandir(state.directory.path) as entries:
        is_directory = {entry.name: entry.is_dir() for entry in entries}
    known = {METADATA_PARTITION, _INDEX_CACHE, meta_properties.FILE_NAME}
    if state.directory.is_metadata:
        known.add(BOOTSTRAP_CHECKPOINT)
    for name in sorted(is_directory.keys() - known):
        place = Place(directory=os.path.join(state.path, name))
        if not is_directory[name]:
            if is_partition(name):
                problem = "a file where a partition's directory belongs"
                yield stop_finding("file-for-partition", problem, place, "move it away")
        elif not is_partition(name):
            problem = "it is not the directory of a partition: a broker stops"
            cure = "move it, or use a directory below the mount point"
            yield stop_finding("unknown-directory", problem, place, cure)
        # Without topic id, or of another topic, a broker only renames it as a stray.
        elif topic_id := topic_id_of(os.path.join(state.directory.path, name)):
            owner = owners.setdefault((name, topic_id), state.path)
            if owner != state.path:
                problem = f"the partition is in {owner} too"
                yield stop_finding("partition-twice", problem, place, "move one of them away")

"""Data in a log directory, which a format must keep; an earlier format's own files are not data."""

import os
import re

from kraftops.log.files import METADATA_PARTITION
from kraftops.server.loader.load_plan import parse_folder_name

# The file that formatting writes, and the temporary one that a killed format leaves.
_FORMATTED_PARTITION = re.compile(r"0{20}-0{10}\.checkpoint(\.part)?")


def has_metadata_log(path: str) -> bool:
    """Tell whether a server has written a metadata log into a directory."""
    try:
        names = os.listdir(os.path.join(path, METADATA_PARTITION))
    except (OSError, ValueError):
        return False
    return any(not _FORMATTED_PARTITION.fullmatch(name) for name in names)


def partition_data(path: str) -> str | None:
    """Return a partition directory under *path* that holds data; None if there is none.

    The files of a format are not data.

    Raises:
        OSError: the directory cannot be listed.
    """
    for name in sorted(os.listdir(path)):
        if not parse_folder_name(name) or not os.path.isdir(os.path.join(path, name)):
            continue
        for file in os.listdir(os.path.join(path, name)):
            if name != METADATA_PARTITION or not _FORMATTED_PARTITION.fullmatch(file):
                return name
    return None

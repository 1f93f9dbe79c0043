"""Names of files that are like one that does not exist."""

from __future__ import annotations

import os


def nearest_path(path: str) -> str | None:
    """Return the path of what is named most like *path*, from its first missing part on."""
    from difflib import get_close_matches

    head, missing = os.path.normpath(path), ""
    while head and not os.path.isdir(head):
        parent, name = os.path.split(head)
        if parent == head:
            return None
        head, missing = parent, name
    try:
        names = os.listdir(head or ".")
    except OSError:
        return None
    near = get_close_matches(missing, names, 1)
    return os.path.join(head, near[0]) if near else None

"""Names of files and directories that name nothing, or no log."""

import os
from collections.abc import Iterable
from itertools import chain, islice

from kraftops.dump.sources.remote import WILD
from kraftops.errors import SourceError, UsageError
from kraftops.log.files import STANDARD_INPUT
from kraftops.uris import is_remote, local_path

_LIKENESS = 0.75  # "orders-1" and "node-1" have 0.71
_MOST_FOLDERS = 2000  # that are looked into for a name: 20 ms


def refuse_missing(names: Iterable[str], hint: str | None = None) -> None:
    """Refuse names of nothing; patterns and what URIs name are left alone.

    Raises:
        SourceError: there is no such file or directory; the hint has a name that is like it, or is
            *hint*.
    """
    missing = [name for name in names if _is_missing(name)]
    if "" in missing:
        empty = "a variable of the shell may be empty"
        raise SourceError("an empty name names no file", empty, code="not-found", path="")
    if missing:
        near = nearest_path(missing[0])
        raise SourceError(
            f"cannot read {', '.join(missing)}: No such file or directory",
            f"is it {near}?" if near else hint,
            code="not-found",
            path=missing[0],
        )


def refuse_configurations(names: Iterable[str], hint: str) -> None:
    """Refuse files that are configurations, where logs are read.

    Raises:
        UsageError: there is one; {} in the *hint* stands for its name.
    """
    for name in names:
        is_ours = os.path.basename(name) == "meta.properties"  # a file of a log directory
        if name.endswith(".properties") and not is_ours and os.path.isfile(name):
            raise UsageError(f"{name} is a configuration, and not a log", hint.format(name))


def _is_missing(name: str) -> bool:
    path = local_path(name) if "://" in name else name
    is_elsewhere = name == STANDARD_INPUT or is_remote(path)
    return not (is_elsewhere or WILD.search(path) or os.path.lexists(path))


def nearest_path(path: str) -> str | None:
    """Return where *path* is below its first part that exists, or what is named most like it."""
    from difflib import get_close_matches

    head, missing = os.path.normpath(path), ""
    while head and not os.path.isdir(head):
        parent, name = os.path.split(head)
        if parent == head:
            return None
        head, missing = parent, os.path.join(name, missing) if missing else name
    names = _names_in(head)
    # At the root are mounts, which may not answer.
    folders = [] if head == os.sep else [os.path.join(head, name) for name in names]
    inner = (os.path.join(folder, name) for folder in folders for name in _names_in(folder))
    for folder in islice(chain(folders, inner), _MOST_FOLDERS):
        if os.path.lexists(below := os.path.join(folder, missing)):
            return below
    near = get_close_matches(missing.partition(os.sep)[0], names, 1, _LIKENESS)
    return os.path.join(head, near[0]) if near else None


def _names_in(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder or "."))
    except OSError:  # a file, or not permitted
        return []

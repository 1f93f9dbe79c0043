"""The copy of a metadata log that is made before it is changed, and what is noted beside it.

It is a directory of its own, and whole as soon as it has its name. In the directory of a partition
a server looks at files alone, and of these at those whose names it knows: there it is in no way.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kraftops.fileio.atomic import Owner, make_directories, sync_directory
from kraftops.recovery.copying import TEMPORARY, State, copied, put, state_of
from kraftops.recovery.refusal import Refused
from kraftops.recovery.steps import Put, Step
from kraftops.storage.logdirs import meta_properties
from kraftops.storage.logdirs.directories import LogDirectory, read_file
from kraftops.uuids import to_text

PREFIX = "before-recover-"
NOTES = "recover.json"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Backup:
    """The copy, and what was to be done when it was made.

    Attributes:
        place: the directory.
        files: what was there.
        steps: names of the files that were to be made, and their sizes; -1 where one was to go.
    """

    place: str
    files: State
    steps: Sequence[tuple[str, int]]

    @property
    def drops(self) -> set[str]:
        """The names of the files that were to go, some of them for others of their name."""
        return {name for name, size in self.steps if size < 0}


def backup_place(folder: str, named: str | None, now: int) -> str:
    """Return where the copy of a log goes, in *named* or beside it; *now* is the time in ms."""
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 1000))
    return os.path.join(named or folder, f"{PREFIX}{stamp}.{now % 1000:03}Z")


def save(
    directory: LogDirectory, folder: str, steps: Sequence[Step], place: str, owner: Owner | None
) -> Backup:
    """Copy a log, and note what is to be done.

    Raises:
        OSError: it cannot be copied; then nothing stays.
    """
    unfinished = place + TEMPORARY
    files = state_of(folder)
    planned = [(one.name, one.size if isinstance(one, Put) else -1) for one in steps]
    made: list[str] = []
    try:
        make_directories(unfinished, owner, made)
        for name in files:
            put(os.path.join(unfinished, name), [copied(os.path.join(folder, name))], owner)
        meta = copied(directory.meta_path)
        put(os.path.join(unfinished, meta_properties.FILE_NAME), [meta], owner)
        told = {
            "version": _VERSION,
            "directory": _identity(directory),
            "files": files,
            "steps": planned,
        }
        put(os.path.join(unfinished, NOTES), [json.dumps(told, indent=1).encode()], owner)
        os.rename(unfinished, place)
        sync_directory(os.path.dirname(place))
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return Backup(place, files, planned)


def remove_unfinished(folder: str) -> None:
    """Remove what killed runs have left in the directory of a partition.

    Raises:
        OSError: it cannot be removed.
    """
    with suppress(FileNotFoundError):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if not name.endswith(TEMPORARY):
                continue
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)


def find(directory: LogDirectory, folder: str, named: str | None) -> Backup:
    """Return the newest copy of a log, in *named* or beside it.

    Raises:
        Refused: there is none, or it is that of another log.
    """
    places = [named or folder]
    with suppress(OSError):
        names = sorted(os.listdir(places[0]), reverse=True)
        places += [os.path.join(places[0], name) for name in names if name.startswith(PREFIX)]
    for place in places:
        told = _read(os.path.join(place, NOTES))
        if told is None:
            continue
        if told["directory"] != _identity(directory):
            raise Refused(
                "other-backup",
                f"{place} is the copy of another directory: {told['directory']}",
                "name the one of this node with --backup",
            )
        files = {name: (size, changed) for name, (size, changed) in told["files"].items()}
        return Backup(place, files, [(name, size) for name, size in told["steps"]])
    raise Refused(
        "no-backup",
        f"{places[0]} has no copy of a log that was recovered",
        "name the directory that was given as --backup, if one was",
    )


def _read(path: str) -> Any:
    try:
        found = json.loads(read_file(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise Refused("unreadable", f"cannot read {path}: {error}") from None
    if not isinstance(found, dict) or found.get("version") != _VERSION:
        raise Refused("unreadable", f"{path} is not what this version writes")
    return found


def _identity(directory: LogDirectory) -> str:
    assert directory.meta
    assert directory.meta.directory_id
    return f"{directory.meta.node_id}:{to_text(directory.meta.directory_id)}"

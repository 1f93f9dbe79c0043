"""Files that the user of a server cannot use, as after a restore by root."""

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from kraftops.display import quoting
from kraftops.display.sizes import NAMES_IN_LINE, first_names, many
from kraftops.fileio.directories import Owner
from kraftops.fileio.mounts import names_in
from kraftops.findings.finding import Finding, stop_finding
from kraftops.log.files import METADATA_PARTITION
from kraftops.server.locks import FILE_NAME as LOCK
from kraftops.server.log_directory import LogDirectory
from kraftops.storage.logdirs.node import Node

_READ, _WRITE, _CHANGE = 0o4, 0o6, 0o7  # bits of files, and of directories
_WRITTEN = (".log", ".index", ".timeindex", ".txnindex", LOCK)
"""What a server opens with "rw" (`RandomAccessFile`, 4.3.1); others it reads, or renames over."""


def owner_findings(node: Node) -> Iterator[Finding]:
    """Yield the log directories with files that the owner of most files of the node cannot use.

    Groups beside that of these files are not known: what a group may do is not told.
    """
    statuses = {
        directory: dict(_statuses(directory))
        for directory in node.directories
        if directory.status and directory.is_readable
    }
    owner = _usual_owner(status for files in statuses.values() for status in files.values())
    # A server of root may have directories of another user: it writes everything.
    is_possible = not owner[0]
    if is_possible:
        owner = _usual_owner(files[directory.path] for directory, files in statuses.items())
    user, group = owner
    for directory, files in statuses.items() if user else ():
        closed = [path for path, status in files.items() if _is_closed(path, status, user)]
        if not closed:
            continue
        is_foreign = any(files[path].st_uid != user for path in closed)
        # A log directory, or that of a partition, may be a link: -L follows it.
        place = quoting.quote_path(os.path.join(directory.path, ""))
        is_shut = any(not _may(files[path].st_mode >> 6, path, files[path]) for path in closed)
        commands = [f"chown -RL {user}:{group} {place}"] if is_foreign else []
        commands += [f"find -L {place} ! -type l -exec chmod u+rwX {{}} +"] if is_shut else []
        names = [os.path.relpath(path, directory.path) for path in closed]
        owns = "the log directories" if is_possible else "most files of this node"
        finding = stop_finding(
            "not-writable",
            f"user {user}, who owns {owns}, cannot use {many(len(names), 'file')} in it:"
            f" {first_names(names, NAMES_IN_LINE)}",
            directory.place,
            "if that is the user of the server, give them to it",
            tuple(commands),
        )
        yield replace(finding, is_possible=is_possible)


def _usual_owner(statuses: Iterable[os.stat_result]) -> Owner:
    owners = Counter((status.st_uid, status.st_gid) for status in statuses)
    return max(owners, key=owners.__getitem__, default=(0, 0))


def _is_closed(path: str, status: os.stat_result, user: int) -> bool:
    mode = status.st_mode
    return not _may(mode >> 6 if status.st_uid == user else mode | mode >> 3, path, status)


def _may(bits: int, path: str, status: os.stat_result) -> bool:
    is_directory = stat.S_ISDIR(status.st_mode)
    needed = _CHANGE if is_directory else _WRITE if path.endswith(_WRITTEN) else _READ
    return bits & needed == needed


def _statuses(directory: LogDirectory) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the paths and statuses of a log directory, its files, its partitions and theirs."""
    partitions = [partition.path for partition in directory.partitions()]
    folders = [directory.path, os.path.join(directory.path, METADATA_PARTITION), *partitions]
    for folder in folders:
        with suppress(OSError):
            yield folder, os.stat(folder)
            for name in names_in(folder):
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    yield path, os.stat(path)

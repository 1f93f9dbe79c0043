"""Formats and rewrites as plain data for JSON."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kraftops.fileio.atomic import StagedFile
from kraftops.java.text import path_text
from kraftops.server.locks import FILE_NAME as LOCK_NAME
from kraftops.storage.bootstrap.releases import METADATA_VERSION
from kraftops.storage.format.plan import FormatPlan, Target
from kraftops.storage.format.rewrite import Rewrite
from kraftops.uuids import to_text


class NewEntry(NamedTuple):
    """A file or directory that a format makes; *bytes* is None of a directory."""

    path: str
    bytes: int | None
    mode: int


def describe_format(plan: FormatPlan, done: list[Target], *, is_dry: bool) -> dict[str, object]:
    """Return a format as plain data; *done* are the directories that it has formatted."""
    targets = {target.directory.path: target for target in plan.targets}
    creates = dict(zip(targets, new_entries(plan.targets), strict=True))
    directories: list[dict[str, object]] = []
    for directory in plan.directories:
        data: dict[str, object] = {"path": directory.path, "isMetadata": directory.is_metadata}
        target = targets.get(directory.path)
        if target:
            entries = None if target in done else creates[target.directory.path]
            data |= _target(target, entries)
            data["mends"] = directory.path in plan.mended
        elif directory.meta:
            identity = directory.meta.directory_id
            data |= {"action": "keep", "directoryId": identity and to_text(identity)}
        else:
            data |= {"action": "ignore", "problem": directory.problem}
        directories.append(data)
    return {
        "changed": bool(plan.targets if is_dry else done),
        "clusterId": plan.cluster_id,
        "nodeId": plan.config.node_id,
        "bootstrap": _bootstrap(plan) if targets else None,
        "directories": directories,
    }


def _bootstrap(plan: FormatPlan) -> dict[str, object]:
    initial = plan.bootstrap
    levels = {name: level for name, level in initial.features.items() if name != METADATA_VERSION}
    return {
        "metadataVersion": {"level": initial.version.level, "name": initial.version.name},
        "features": levels,
        "scramUsers": [credential.name for credential in initial.credentials],
        "voters": None if plan.voters is None else [str(voter) for voter in plan.voters],
    }


def describe_rewrites(rewrites: Sequence[Rewrite], *, is_dry: bool) -> dict[str, object]:
    return {
        "dryRun": is_dry,
        "changed": not is_dry and any(rewrite.changes for rewrite in rewrites),
        "directories": [
            {
                "path": rewrite.directory.path,
                "isMetadata": rewrite.directory.is_metadata,
                "changes": [
                    {"key": key, "before": before, "after": after}
                    for key, (before, after) in rewrite.changes.items()
                ],
                "properties": dict(rewrite.after),
            }
            for rewrite in rewrites
        ],
    }


def new_entries(targets: Sequence[Target]) -> list[list[NewEntry]]:
    """Return the files and directories that a format makes, for each target, none twice."""
    umask = os.umask(0)
    os.umask(umask)
    new_modes: dict[str, int] = {}  # of directories that do not exist yet
    entries_by_target = []
    for target in targets:
        path = path_text(target.directory.path)
        folders = [path, *(os.path.dirname(file.path) for file in target.files)]
        entries = [entry for folder in folders for entry in _new_folders(folder, umask, new_modes)]
        lock = os.path.join(path, LOCK_NAME)
        if not os.path.exists(lock):
            entries.append(NewEntry(lock, 0, 0o666 & ~umask))
        entries += [
            NewEntry(path_text(file.path), len(file.data), _mode(file, umask))
            for file in target.files
        ]
        entries_by_target.append(entries)
    return entries_by_target


def _new_folders(path: str, umask: int, new_modes: dict[str, int]) -> Iterator[NewEntry]:
    """Yield the missing directories of *path*, the outermost first."""
    path = path_text(path)
    normal_path = os.path.normpath(path)
    if os.path.isdir(path) or normal_path in new_modes:
        return
    parent = os.path.dirname(path) or "."
    yield from _new_folders(parent, umask, new_modes)
    above = new_modes.get(os.path.normpath(parent))
    if above is None:
        above = os.stat(parent).st_mode if os.path.isdir(parent) else 0
    # The group of a directory goes on to those below it.
    new_modes[normal_path] = 0o777 & ~umask | above & stat.S_ISGID
    yield NewEntry(path, None, new_modes[normal_path])


def _mode(file: StagedFile, umask: int) -> int:
    return 0o666 & ~umask if file.mode is None else file.mode


def _target(target: Target, entries: Sequence[NewEntry] | None) -> dict[str, object]:
    data: dict[str, object] = {
        "action": "formatted" if entries is None else "format",
        "kind": target.kind,
        "directoryId": to_text(target.directory_id),
    }
    if target.removes:
        data["removes"] = list(target.removes)
    if entries is not None:
        data["creates"] = [
            {"path": path, "bytes": size, "mode": f"{mode:04o}"} for path, size, mode in entries
        ]
    return data

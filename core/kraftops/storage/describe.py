"""Formats, rewrites, directories and findings as plain data for JSON."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kraftops.java.text import path_text
from kraftops.storage.bootstrap.releases import METADATA_VERSION
from kraftops.storage.logdirs.locks import FILE_NAME as LOCK_NAME
from kraftops.uuids import to_text

if TYPE_CHECKING:
    from kraftops.fileio.atomic import StagedFile
    from kraftops.storage.format.formatter import FormatPlan, Target
    from kraftops.storage.format.rewrite import Rewrite
    from kraftops.storage.logdirs.inspector import DirectoryState, Finding


class NewEntry(NamedTuple):
    """Something that formatting makes: *bytes* is None of a directory."""

    path: str
    bytes: int | None
    mode: int


def describe(plan: FormatPlan, done: list[Target], *, is_dry: bool) -> dict[str, object]:
    """Return what a format changed, or would change: *done* are the directories it formatted."""
    targets = {target.directory.path: target for target in plan.targets}
    creates = dict(zip(targets, new_entries(plan.targets), strict=True))
    directories: list[dict[str, object]] = []
    for directory in plan.directories:
        told: dict[str, object] = {"path": directory.path, "isMetadata": directory.is_metadata}
        target = targets.get(directory.path)
        if target:
            entries = None if target in done else creates[target.directory.path]
            told |= _target(target, entries)
        elif directory.meta:
            identity = directory.meta.directory_id
            told |= {"action": "keep", "directoryId": identity and to_text(identity)}
        else:
            told |= {"action": "ignore", "problem": directory.problem}
        directories.append(told)
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


def describe_state(state: DirectoryState) -> dict[str, object]:
    """Return all that is known of a log directory; what is not known is null."""
    meta, place, holder, log = state.meta, state.place, state.holder, state.log
    told: dict[str, object] = {
        "path": state.directory.path,
        "isMetadata": state.directory.is_metadata,
        "exists": state.exists,
        "isFormatted": meta is not None,
        "version": meta and meta.version,
        "clusterId": meta and meta.cluster_id,
        "nodeId": meta and meta.node_id,
        "directoryId": meta and meta.directory_id and to_text(meta.directory_id),
        "problem": state.directory.problem or state.problem,
        "partitions": state.partitions,
        "user": place and _user_name(place.user),
        "group": place and _group_name(place.group),
        "mode": place and f"{place.mode:04o}",
        "freeBytes": place and place.free,
        "sizeBytes": place and place.size,
        "lockHolder": holder and {**holder._asdict(), "text": str(holder)},
        "bootstrap": None,
        "metadataLog": None,
    }
    if state.bootstrap:
        told["bootstrap"] = {
            "features": state.bootstrap.features,
            "scramUsers": list(state.bootstrap.scram_users),
            "damage": state.bootstrap.damage,
            "isUsable": state.bootstrap.is_usable,
        }
    if log:
        voters = log.quorum.voters
        told["metadataLog"] = {
            "endOffset": log.end_offset,
            "snapshots": [
                {"endOffset": one.end_offset, "epoch": one.epoch, "bytes": one.size}
                for one in log.snapshots
            ],
            "segments": [
                {"baseOffset": one.base_offset, "bytes": one.size} for one in log.segments
            ],
            "kraftVersion": log.quorum.kraft_version,
            "voters": None if voters is None else [str(voter) for voter in voters],
            "damage": [str(damage) for damage in log.damage],
        }
    return told


def describe_finding(finding: Finding) -> dict[str, object]:
    """Return a finding; its path is null where it is of no one directory."""
    return {**finding._asdict(), "path": finding.path or None}


def describe_rewrites(rewrites: Sequence[Rewrite], *, is_dry: bool) -> dict[str, object]:
    """Return what a rewrite changed, or would change."""
    return {
        "dryRun": is_dry,
        "changed": not is_dry and any(one.changes for one in rewrites),
        "directories": [
            {
                "path": one.directory.path,
                "isMetadata": one.directory.is_metadata,
                "changes": [
                    {"key": key, "before": before, "after": after}
                    for key, (before, after) in one.changes.items()
                ],
                "properties": dict(one.after),
            }
            for one in rewrites
        ],
    }


def _user_name(number: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _group_name(number: int) -> str:
    import grp

    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def new_entries(targets: Sequence[Target]) -> list[list[NewEntry]]:
    """Return everything that formatting makes, for each target; nothing is named twice."""
    umask = os.umask(0)
    os.umask(umask)
    named: dict[str, int] = {}  # modes of directories that are not there yet
    found = []
    for target in targets:
        path = path_text(target.directory.path)
        folders = [path, *(os.path.dirname(file.path) for file in target.files)]
        entries = [entry for folder in folders for entry in _new_folders(folder, umask, named)]
        lock = os.path.join(path, LOCK_NAME)
        if not os.path.exists(lock):
            entries.append(NewEntry(lock, 0, 0o666 & ~umask))
        entries += [
            NewEntry(path_text(file.path), len(file.data), _mode(file, umask))
            for file in target.files
        ]
        found.append(entries)
    return found


def _new_folders(path: str, umask: int, named: dict[str, int]) -> Iterator[NewEntry]:
    """Yield the directories that are to be made for *path*, the outermost first."""
    path = path_text(path)
    place = os.path.normpath(path)
    if os.path.isdir(path) or place in named:
        return
    parent = os.path.dirname(path) or "."
    yield from _new_folders(parent, umask, named)
    above = named.get(os.path.normpath(parent))
    if above is None:
        above = os.stat(parent).st_mode if os.path.isdir(parent) else 0
    # The group of a directory goes on to those below it.
    named[place] = 0o777 & ~umask | above & stat.S_ISGID
    yield NewEntry(path, None, named[place])


def _mode(file: StagedFile, umask: int) -> int:
    return 0o666 & ~umask if file.mode is None else file.mode


def _target(target: Target, entries: Sequence[NewEntry] | None) -> dict[str, object]:
    told: dict[str, object] = {
        "action": "formatted" if entries is None else "format",
        "kind": target.kind,
        "directoryId": to_text(target.directory_id),
    }
    if target.removes:
        told["removes"] = list(target.removes)
    if entries is not None:
        told["creates"] = [
            {"path": path, "bytes": size, "mode": f"{mode:04o}"} for path, size, mode in entries
        ]
    return told
